// SPDX-License-Identifier: Apache-2.0
//
// The policies that calls heed (Messaging.h, KairosPolicies.h) as objects, and what they say in the
// core's terms. Programs make them by ORB::create_policy.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb_types.h"
#include "kairos/orb/call_policies.h"

namespace kairos::corba {

/// Returns whether create_call_policy makes policies of this type.
[[nodiscard]] bool is_call_policy(CORBA::PolicyType type) noexcept;

/// Makes a policy that calls heed from what ORB::create_policy is given; nil for a type that is
/// none. Owned by the caller. Throws PolicyError.
[[nodiscard]] KAIROS_API CORBA::Policy_ptr create_call_policy(CORBA::PolicyType type,
                                                              const CORBA::Any& value);

/// Adds what calls heed of a policy, if anything.
KAIROS_API void add_call_policy(orb::CallPolicies& calls, CORBA::Policy_ptr policy);

} // namespace kairos::corba
