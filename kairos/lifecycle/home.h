// SPDX-License-Identifier: Apache-2.0
//
// Where objects with a life cycle live: a POA that knows where those that moved away have gone, so
// that their references stay valid (Life Cycle Service 1.2, 1.3.2). Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/portable_server.h"
#include "kairos/lifecycle/CosLifeCycle.h"

namespace kairos::lifecycle {

class KAIROS_API Home {
  public:
    /// Creates the POA `name` below `parent`, with the parent's POAManager: system ids, servants
    /// for one object each. `finder` finds factories for those who copy or move an object and name
    /// no place; nil: there are none. Throws as create_POA. The POA is destroyed like any other.
    Home(PortableServer::POA_ptr parent, const char* name,
         CosLifeCycle::FactoryFinder_ptr finder = CosLifeCycle::FactoryFinder::_nil());

    /// Activates an object and returns a reference, owned by the caller. The POA becomes an owner
    /// of the servant.
    [[nodiscard]] CORBA::Object_ptr activate(PortableServer::Servant servant);

    [[nodiscard]] PortableServer::POA_ptr poa() const { return poa_.in(); }
    [[nodiscard]] CosLifeCycle::FactoryFinder_ptr finder() const { return finder_.in(); }

    /// The servant's object lives at `there` from now on: it is deactivated here, and whoever calls
    /// it is sent there, for as long as the POA lives. Throws OBJECT_NOT_EXIST if it is not active.
    void moved(PortableServer::Servant servant, CORBA::Object_ptr there);
    /// The servant's object is no more. Throws OBJECT_NOT_EXIST if it is not active.
    void removed(PortableServer::Servant servant);

  private:
    class Forwarder;

    PortableServer::POA_var poa_;
    Forwarder* forwarder_ = nullptr; // the POA's servant activator, which poa_ keeps
    const CosLifeCycle::FactoryFinder_var finder_;
};

} // namespace kairos::lifecycle
