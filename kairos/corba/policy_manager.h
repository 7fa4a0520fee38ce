// SPDX-License-Identifier: Apache-2.0
//
// CORBA::Current, PolicyManager and PolicyCurrent (CORBA 3.3 part 1, 8.8 and 8.9). Written by hand,
// so that whoever names the managers links policies.cpp, which implements them, and nobody else
// does. The rest of idl/orb.idl is in orb_types.h, which includes this.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"

namespace CORBA {

class Current;
typedef Current* Current_ptr;
typedef kairos::mapping::ObjectVar<Current> Current_var;
typedef kairos::mapping::ObjectOut<Current> Current_out;

class KAIROS_API Current : public virtual LocalObject {
  public:
    typedef Current_ptr _ptr_type;
    typedef Current_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/Current:1.0";

    static Current_ptr _duplicate(Current_ptr object) { return kairos::corba::duplicate(object); }
    static Current_ptr _narrow(Object_ptr object)
    {
        return kairos::corba::narrow_local<Current>(object);
    }
    static Current_ptr _nil() { return nullptr; }

    bool _kairos_supports(std::string_view repository_id) const override
    {
        return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
    }

  protected:
    Current() = default;
};

class PolicyManager;
typedef PolicyManager* PolicyManager_ptr;
typedef kairos::mapping::ObjectVar<PolicyManager> PolicyManager_var;
typedef kairos::mapping::ObjectOut<PolicyManager> PolicyManager_out;

/// What an ORB overrides: resolve_initial_references("ORBPolicyManager").
class KAIROS_API PolicyManager : public virtual LocalObject {
  public:
    typedef PolicyManager_ptr _ptr_type;
    typedef PolicyManager_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/PolicyManager:1.0";

    static PolicyManager_ptr _duplicate(PolicyManager_ptr object);
    static PolicyManager_ptr _narrow(Object_ptr object);
    static PolicyManager_ptr _nil() { return nullptr; }

    /// The policies of these types that are set, or all for no type. Owned by the caller.
    virtual PolicyList* get_policy_overrides(const PolicyTypeSeq& types) = 0;
    /// Sets these policies, instead of those before or, with ADD_OVERRIDE, beside them. Throws
    /// InvalidPolicies, BAD_PARAM 30: see Object::_set_policy_overrides.
    virtual void set_policy_overrides(const PolicyList& policies, SetOverrideType how) = 0;

    bool _kairos_supports(std::string_view repository_id) const override;

  protected:
    PolicyManager() = default;
};

class PolicyCurrent;
typedef PolicyCurrent* PolicyCurrent_ptr;
typedef kairos::mapping::ObjectVar<PolicyCurrent> PolicyCurrent_var;
typedef kairos::mapping::ObjectOut<PolicyCurrent> PolicyCurrent_out;

/// What the calling thread overrides: resolve_initial_references("PolicyCurrent").
class KAIROS_API PolicyCurrent : public virtual PolicyManager, public virtual Current {
  public:
    typedef PolicyCurrent_ptr _ptr_type;
    typedef PolicyCurrent_var _var_type;
    static constexpr const char* _kairos_id = "IDL:omg.org/CORBA/PolicyCurrent:1.0";

    static PolicyCurrent_ptr _duplicate(PolicyCurrent_ptr object);
    static PolicyCurrent_ptr _narrow(Object_ptr object);
    static PolicyCurrent_ptr _nil() { return nullptr; }

    bool _kairos_supports(std::string_view repository_id) const override;

  protected:
    PolicyCurrent() = default;
};

} // namespace CORBA
