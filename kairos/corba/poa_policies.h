// SPDX-License-Identifier: Apache-2.0
//
// What else there is to POAs' policies: the one that Kairos adds, how objects are found, and what
// they mean to an adapter.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb_types.h"
#include "kairos/corba/poa_policy_objects.h"
#include "kairos/corba/servant.h"
#include "kairos/poa/policies.h"

#include <vector>

namespace kairos::corba {

class AdapterListener;

/// What policies of other modules implement that POAs understand.
class KAIROS_API AdapterPolicy {
  public:
    /// Adds the policy to those of a POA. False: no POA of this ORB can have it.
    [[nodiscard]] virtual bool add_to(poa::Policies& policies, orb::Orb& orb) const = 0;

  protected:
    ~AdapterPolicy() = default;
};

/// A policy for create_POA: how the POA finds its objects (docs/poa.md). `known_ids` are those of
/// IdStrategy::perfect, which refuses all others. Owned by the caller.
[[nodiscard]] KAIROS_API CORBA::Policy_ptr
create_demultiplexing_policy(poa::IdStrategy strategy,
                             const std::vector<PortableServer::ObjectId>& known_ids = {});

/// The policies of a list, the rest as create_POA has them by default. Policies that `listener`, if
/// any, has POAs keep are passed over. Throws POA::InvalidPolicy.
[[nodiscard]] KAIROS_API poa::Policies policies_of(const CORBA::PolicyList& list,
                                                   poa::IdStrategy strategy, orb::Orb& orb,
                                                   const AdapterListener* listener);

/// Makes the policy of this type that is one of `policies`; nil for a type other than those of
/// module PortableServer. Owned by the caller.
[[nodiscard]] CORBA::Policy_ptr policy_in(const poa::Policies& policies, CORBA::PolicyType type);

/// Returns whether create_poa_policy makes policies of this type.
[[nodiscard]] constexpr bool is_poa_policy(CORBA::PolicyType type) noexcept
{
    return type >= PortableServer::THREAD_POLICY_ID &&
           type <= PortableServer::REQUEST_PROCESSING_POLICY_ID;
}

/// Makes a policy of POAs from what ORB::create_policy is given; nil for a type that is none.
/// Throws PolicyError.
[[nodiscard]] KAIROS_API CORBA::Policy_ptr create_poa_policy(CORBA::PolicyType type,
                                                             const CORBA::Any& value);

} // namespace kairos::corba
