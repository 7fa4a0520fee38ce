// SPDX-License-Identifier: Apache-2.0
//
// PortableServer::Current (CORBA 3.3 part 1, 15.3.10): what the calling thread is serving. Any
// thread; what it tells is the calling thread's.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/policy_manager.h"
#include "kairos/corba/servant.h"
#include "kairos/mapping/user_exception.h"

namespace PortableServer {

class Current;
typedef Current* Current_ptr;
typedef kairos::mapping::ObjectVar<Current> Current_var;
typedef kairos::mapping::ObjectOut<Current> Current_out;

/// resolve_initial_references("POACurrent"). Each operation throws NoContext outside of requests.
class KAIROS_API Current : public virtual CORBA::Current {
  public:
    typedef Current_ptr _ptr_type;
    typedef Current_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/PortableServer/Current:1.0";
    KAIROS_EMPTY_EXCEPTION("PortableServer/Current", NoContext)

    static Current_ptr _duplicate(Current_ptr object) { return kairos::corba::duplicate(object); }
    static Current_ptr _narrow(CORBA::Object_ptr object)
    {
        return kairos::corba::narrow_local<Current>(object);
    }
    static Current_ptr _nil() { return nullptr; }

    /// The POA of the object that is being called. Owned by the caller.
    POA_ptr get_POA();
    ObjectId* get_object_id();
    CORBA::Object_ptr get_reference();
    Servant get_servant();

    [[nodiscard]] bool _kairos_supports(std::string_view repository_id) const override;
};

} // namespace PortableServer
