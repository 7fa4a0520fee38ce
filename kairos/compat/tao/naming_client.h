// SPDX-License-Identifier: Apache-2.0
//
// TAO_Naming_Client: the naming context of "NameService". Programs link Kairos::naming too.
#pragma once

#include "kairos/compat/tao/tao.h"
#include "kairos/naming/CosNaming.h"

class TAO_Naming_Client {
  public:
    /// 0, or -1 if the ORB knows of no naming service: say -ORBInitRef NameService=…, for nobody is
    /// asked by multicast. Throws what calls throw.
    int init(CORBA::ORB_ptr orb)
    {
        try {
            const CORBA::Object_var object = orb->resolve_initial_references("NameService");
            context_ = CosNaming::NamingContext::_narrow(object.in());
        } catch (const CORBA::ORB::InvalidName&) {
            context_ = CosNaming::NamingContext::_nil();
        }
        return CORBA::is_nil(context_.in()) ? -1 : 0;
    }
    /// Borrowed.
    CosNaming::NamingContext_ptr operator->() const { return context_.in(); }
    /// Owned by the caller.
    [[nodiscard]] CosNaming::NamingContext_ptr get_context() const
    {
        return CosNaming::NamingContext::_duplicate(context_.in());
    }

  private:
    CosNaming::NamingContext_var context_;
};
