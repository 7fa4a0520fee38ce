// SPDX-License-Identifier: Apache-2.0
//
// Policies of object adapters that a program gives its ORB (Real-Time CORBA 1.2, 5.7, 5.12 and
// 5.15): POAs made from then on have them, unless they are made with one of the same type. Private;
// linked with policies.cpp. Any thread, no lock held: policies are asked for their types.
#pragma once

#include "kairos/corba/policies.h"
#include "kairos/poa/policies.h"

namespace kairos::corba {

/// Whether a POA can have those of `given`, with what else is in `all`: what the ORB is about to
/// have. What is about its connections holds from here on if it listens. Throws InvalidPolicies
/// with indices in `given`.
void check_default_policies(orb::Orb& orb, const CORBA::PolicyList& given, const PolicySet& all);

/// Adds what the ORB has and `stated` says nothing of. Null is the RootPOA, with which the ORB
/// begins to listen. Throws INV_POLICY if no POA can have it any more. Weak for those who are
/// linked without policies.cpp: then there is nothing to add.
[[gnu::weak]] void add_default_policies(orb::Orb& orb, const CORBA::PolicyList* stated,
                                        poa::Policies& policies);

} // namespace kairos::corba
