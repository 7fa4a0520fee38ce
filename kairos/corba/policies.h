// SPDX-License-Identifier: Apache-2.0
//
// Policies (CORBA 3.3 part 1, 8.9): sets of them, as a reference, a thread or an ORB overrides
// them; the two policy managers; and the kinds that an ORB can make, by their numbers. Nothing here
// is on the path of a call: what a call must know of its policies is worked out when they are set.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb_types.h"
#include "kairos/orb/policies.h"

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace kairos::corba {

/// Who overrides policies.
enum class PolicyScope { reference, thread, orb };

/// At most one policy of each type. Immutable; any thread.
class PolicySet final : public orb::PolicyOverrides {
  public:
    /// Makes a set without policies.
    PolicySet() = default;
    /// Makes a set of `policies` and, with ADD_OVERRIDE, those of `former`, if any, that are of
    /// other types. Throws InvalidPolicies with the indices of nil policies, BAD_PARAM 30 for two
    /// of one type, NO_PERMISSION for policies of object adapters, except for an OrbPolicy where
    /// `scope` is the ORB.
    PolicySet(const PolicySet* former, const CORBA::PolicyList& policies,
              CORBA::SetOverrideType how, PolicyScope scope);

    /// The policy of this type, owned by the caller; nil if there is none.
    [[nodiscard]] CORBA::Policy_ptr find(CORBA::PolicyType type) const;
    /// The policies of these types, or all for no type, in the order of their types. Owned by the
    /// caller.
    [[nodiscard]] CORBA::PolicyList* list(const CORBA::PolicyTypeSeq& types) const;
    /// Calls `visit(type, policy)` for each policy, in the order of their types.
    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (const Entry& entry : entries_)
            visit(entry.type, entry.policy.in());
    }

  private:
    ~PolicySet() override = default;

    struct Entry {
        CORBA::PolicyType type;
        CORBA::Policy_var policy;
    };
    void add_all(const std::vector<Entry>& entries);

    std::vector<Entry> entries_; // in the order of their types
};
using PolicySetPtr = IntrusivePtr<const PolicySet>;

/// The ORB's "PolicyCurrent" (`of_thread`) or "ORBPolicyManager". Owned by the caller.
[[nodiscard]] KAIROS_API CORBA::Object_ptr policy_service(CORBA::ORB& orb, bool of_thread);

/// Makes a policy out of what a program says about it. Throws PolicyError.
using PolicyFactory =
    std::function<CORBA::Policy_ptr(CORBA::PolicyType type, const CORBA::Any& value)>;

/// Makes a policy of this type out of what a reference says of its object's. Owned by the caller;
/// nil if it says nothing of the type.
using ExposedPolicyFactory = CORBA::Policy_ptr (*)(CORBA::PolicyType type,
                                                   const ior::ExposedPolicies& exposed);

/// What policies of other modules implement that say how references share connections.
class KAIROS_API BindingPolicy {
  public:
    virtual void add_to(orb::BindingPolicies& policies) const = 0;

  protected:
    ~BindingPolicy() = default;
};

/// What those policies of object adapters implement that an ORB can have, too (Real-Time CORBA 1.2,
/// 5.7, 5.12 and 5.15).
class KAIROS_API OrbPolicy {
  public:
    enum class Use {
        by_poas, ///< POAs have it that are made from then on without one of its type
        by_orb,  ///< it is about what the ORB's POAs share
    };
    [[nodiscard]] virtual Use use() const noexcept = 0;

  protected:
    ~OrbPolicy() = default;
};

class OrbPolicyManager;
class ThreadPolicyManager;

/// The policies of one ORB; made when a program first asks for any. Any thread.
class Policies {
  public:
    explicit Policies(orb::Orb& orb);
    Policies(const Policies&) = delete;
    Policies& operator=(const Policies&) = delete;
    ~Policies();

    /// Makes create_policy know a type. False if it is known already, be it the ORB's own.
    KAIROS_API bool add_factory(CORBA::PolicyType type, PolicyFactory factory);
    /// Returns whether create_policy makes policies of this type, or POAs have them.
    [[nodiscard]] KAIROS_API bool knows(CORBA::PolicyType type) const;
    /// Makes a policy, owned by the caller. Throws PolicyError: BAD_POLICY_TYPE for types that
    /// nobody added.
    [[nodiscard]] CORBA::Policy_ptr create(CORBA::PolicyType type, const CORBA::Any& value) const;

    /// Makes `exposed` know what references say. To be called before anybody else has these
    /// policies.
    void set_exposed_factory(ExposedPolicyFactory factory) noexcept { exposed_factory_ = factory; }
    /// The policy of this type that a reference says its object has, owned by the caller; nil if
    /// the reference says nothing of this type.
    [[nodiscard]] CORBA::Policy_ptr exposed(CORBA::PolicyType type,
                                            const ior::ExposedPolicies& exposed) const;

    /// The ORB's "ORBPolicyManager". Owned by the caller.
    [[nodiscard]] CORBA::PolicyManager_ptr manager() const;
    /// The ORB's "PolicyCurrent". Owned by the caller.
    [[nodiscard]] CORBA::PolicyCurrent_ptr current() const;

    /// What the ORB overrides; null for nothing.
    [[nodiscard]] PolicySetPtr of_orb() const;
    /// The policy of this type that a call heeds: of `overrides`, what the reference overrides
    /// (null: nothing), else the calling thread's, else the ORB's, but none of object adapters.
    /// Owned by the caller; nil if nobody set any.
    [[nodiscard]] CORBA::Policy_ptr effective(const PolicySet* overrides,
                                              CORBA::PolicyType type) const;

  private:
    const mapping::ObjectVar<OrbPolicyManager> manager_;
    const mapping::ObjectVar<ThreadPolicyManager> current_;
    ExposedPolicyFactory exposed_factory_ = nullptr;
    mutable std::mutex mutex_; // guards what follows
    std::vector<std::pair<CORBA::PolicyType, PolicyFactory>> factories_;
};

} // namespace kairos::corba
