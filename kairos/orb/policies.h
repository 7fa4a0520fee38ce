// SPDX-License-Identifier: Apache-2.0
//
// Policies that a program set for one reference, as the core carries them: with the reference, from
// stub to stub. What they are is the façade's business (kairos/corba/policies.h), but for those
// that calls heed. Immutable.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/orb/call_policies.h"

namespace kairos::orb {

class PolicyOverrides : public RefCounted {
  public:
    [[nodiscard]] const CallPolicies& calls() const noexcept { return calls_; }

  protected:
    PolicyOverrides() = default;
    ~PolicyOverrides() override = default;

    CallPolicies calls_; // set by the constructor of who derives from it
};
using PolicyOverridesPtr = IntrusivePtr<const PolicyOverrides>;

} // namespace kairos::orb
