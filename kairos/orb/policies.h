// SPDX-License-Identifier: Apache-2.0
//
// Policies that a program set for one reference, as the core carries them: with the reference, from
// stub to stub. What they are is the façade's business (kairos/corba/policies.h). Immutable.
#pragma once

#include "kairos/base/intrusive_ptr.h"

namespace kairos::orb {

class PolicyOverrides : public RefCounted {
  protected:
    ~PolicyOverrides() override = default;
};
using PolicyOverridesPtr = IntrusivePtr<const PolicyOverrides>;

} // namespace kairos::orb
