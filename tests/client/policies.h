// SPDX-License-Identifier: Apache-2.0
//
// The policies of calls as a program makes them and sets them.
#pragma once

#include "tests/malformed/fake_server.h"

#include "kairos/corba/KairosPolicies.h"
#include "kairos/corba/Messaging.h"

namespace kairos::orb_testing {

template <typename Value>
[[nodiscard]] CORBA::Policy_ptr make_policy(CORBA::ORB_ptr orb, CORBA::PolicyType type, Value value)
{
    CORBA::Any any;
    any <<= value;
    return orb->create_policy(type, any);
}

[[nodiscard]] inline TimeBase::TimeT in_units(std::chrono::milliseconds time)
{
    return static_cast<TimeBase::TimeT>(time / std::chrono::nanoseconds(100));
}

[[nodiscard]] inline CORBA::Policy_ptr round_trip(CORBA::ORB_ptr orb, std::chrono::milliseconds max)
{
    return make_policy(orb, Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE, in_units(max));
}

/// Of one policy, whose count it takes.
[[nodiscard]] inline CORBA::PolicyList list_of(CORBA::Policy_ptr policy)
{
    CORBA::PolicyList list;
    list.length(1);
    list[0] = policy;
    return list;
}

[[nodiscard]] inline Probe::Target_ptr with(Probe::Target_ptr target, CORBA::Policy_ptr policy)
{
    const CORBA::Object_var object =
        target->_set_policy_overrides(list_of(policy), CORBA::ADD_OVERRIDE);
    return Probe::Target::_unchecked_narrow(object);
}

inline void set_for_orb(CORBA::ORB_ptr orb, CORBA::Policy_ptr policy)
{
    const CORBA::Object_var object = orb->resolve_initial_references("ORBPolicyManager");
    const CORBA::PolicyManager_var manager = CORBA::PolicyManager::_narrow(object);
    manager->set_policy_overrides(list_of(policy), CORBA::ADD_OVERRIDE);
}

inline void set_for_thread(CORBA::ORB_ptr orb, CORBA::Policy_ptr policy)
{
    const CORBA::Object_var object = orb->resolve_initial_references("PolicyCurrent");
    const CORBA::PolicyCurrent_var current = CORBA::PolicyCurrent::_narrow(object);
    current->set_policy_overrides(list_of(policy), CORBA::ADD_OVERRIDE);
}

} // namespace kairos::orb_testing
