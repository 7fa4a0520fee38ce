// SPDX-License-Identifier: Apache-2.0
//
// Policies that a program set for one reference, as the core carries them: with the reference, from
// stub to stub. What they are is the façade's business (kairos/corba/policies.h), but for those
// that calls heed, and those that say what its connections are. Immutable.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/ior/policies.h"
#include "kairos/orb/call_policies.h"

#include <vector>

namespace kairos::orb {

/// How a reference's calls share connections (Real-Time CORBA 1.2, 5.13 and 5.14).
struct BindingPolicies {
    bool private_connection = false;      ///< with no other reference
    std::vector<ior::PriorityBand> bands; ///< only calls of one band with each other; none: all
    [[nodiscard]] bool is_empty() const noexcept { return !private_connection && bands.empty(); }
};

class PolicyOverrides : public RefCounted {
  public:
    [[nodiscard]] const CallPolicies& calls() const noexcept { return calls_; }
    [[nodiscard]] const BindingPolicies& binding() const noexcept { return binding_; }

  protected:
    PolicyOverrides() = default;
    ~PolicyOverrides() override = default;

    // Set by the constructor of who derives from it.
    CallPolicies calls_;
    BindingPolicies binding_;
};
using PolicyOverridesPtr = IntrusivePtr<const PolicyOverrides>;

} // namespace kairos::orb
