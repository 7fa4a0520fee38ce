// SPDX-License-Identifier: Apache-2.0
//
// Policies that a program set for one reference, as the core carries them: with the reference, from
// stub to stub. What they are is the façade's business (kairos/corba/policies.h), but for those
// that calls heed, and those that say what its connections are. Immutable.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/ior/policies.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/tcp_properties.h"

#include <optional>
#include <vector>

namespace kairos::orb {

/// Which connections a reference's calls have, and how they share them (Real-Time CORBA 1.2, 5.13
/// to 5.15).
struct BindingPolicies {
    bool private_connection = false;      ///< with no other reference
    std::vector<ior::PriorityBand> bands; ///< only calls of one band with each other; none: all
    std::optional<TcpProperties> tcp;     ///< then they are private as well

    /// Returns these policies with those of a more special level in front: its bands and properties
    /// count if it has any, and a connection is private if either level says so.
    [[nodiscard]] BindingPolicies overridden_by(const BindingPolicies& special) const
    {
        return {.private_connection = private_connection || special.private_connection,
                .bands = special.bands.empty() ? bands : special.bands,
                .tcp = special.tcp ? special.tcp : tcp};
    }
    friend bool operator==(const BindingPolicies&, const BindingPolicies&) = default;
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
