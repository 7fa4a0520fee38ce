// SPDX-License-Identifier: Apache-2.0
//
// Where the objects of a service are: its POAs, and the ORB's table of objects with short names.
// Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"

#include <string>

namespace kairos::events {

class KAIROS_API ServiceAdapters {
  public:
    /// Makes the POAs, which serve at once. Throws AdapterAlreadyExists for a second service of
    /// this name in the same ORB. If it `keeps` objects, references of all are valid in later runs
    /// that activate them again, and calls wait for serve().
    ServiceAdapters(CORBA::ORB_ptr orb, const char* name, bool keeps = false);
    /// Takes over POAs of a share (forwarding_adapters.h): it keeps objects. A name that is bound
    /// stays so, for whoever asks by it is sent on.
    ServiceAdapters(CORBA::ORB_ptr orb, PortableServer::POA_ptr named,
                    PortableServer::POA_ptr others);
    ServiceAdapters(const ServiceAdapters&) = delete;
    ServiceAdapters& operator=(const ServiceAdapters&) = delete;
    /// As destroy().
    ~ServiceAdapters() { destroy(); }

    /// The POA of objects whose references are valid in later runs, by the ids that they are given.
    [[nodiscard]] PortableServer::POA_ptr named() const noexcept { return named_.in(); }
    /// The POA of all others.
    [[nodiscard]] PortableServer::POA_ptr others() const noexcept { return others_.in(); }

    [[nodiscard]] bool keeps() const noexcept { return keeps_; }
    /// An id for one of the others, which no object has had in any run. Owned by the caller.
    [[nodiscard]] static PortableServer::ObjectId* new_id();
    /// Calls do not wait any more.
    void serve() const;
    /// Calls from here on are TRANSIENT: the objects will be there again.
    void discard() const noexcept;

    /// Return the object's reference, owned by the caller, and set `id`; the first activates it by
    /// the id, of an earlier run, where that is set. Throw ObjectAlreadyActive where there is one
    /// of that name.
    [[nodiscard]] CORBA::Object_ptr activate(PortableServer::Servant servant,
                                             PortableServer::ObjectId_var& id) const;
    [[nodiscard]] CORBA::Object_ptr activate_named(PortableServer::Servant servant,
                                                   const char* name,
                                                   PortableServer::ObjectId_var& id) const;
    /// Does nothing for an id that was not set, or after the ORB's end.
    static void deactivate(PortableServer::POA_ptr poa, PortableServer::ObjectId_var& id) noexcept;
    /// Has the object found as "corbaloc:…/name". Throws AlreadyBound.
    void bind(const char* name, CORBA::Object_ptr object) const;
    void unbind(const char* name) const noexcept;
    /// Waits for the calls in progress. After it nothing is served.
    void destroy() noexcept;

  private:
    const CORBA::ORB_var orb_;
    const bool keeps_;
    const bool is_share_ = false;
    PortableServer::POA_var named_;
    PortableServer::POA_var others_;
    PortableServer::POAManager_var manager_; // of both
    IORTable::Table_var table_;
};

} // namespace kairos::events
