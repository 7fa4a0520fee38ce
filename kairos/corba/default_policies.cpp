// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/default_policies.h"

#include "kairos/corba/orb.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/orb/orb.h"

namespace kairos::corba {

namespace {

/// What it is for ORBs and POAs; both null for other policies.
struct Kinds {
    const OrbPolicy* of_orb = nullptr;
    const AdapterPolicy* of_poa = nullptr;

    explicit Kinds(CORBA::Policy_ptr policy)
        : of_orb(dynamic_cast<OrbPolicy*>(policy)), of_poa(dynamic_cast<AdapterPolicy*>(policy))
    {
    }
    [[nodiscard]] bool are(OrbPolicy::Use use) const
    {
        return of_orb != nullptr && of_poa != nullptr && of_orb->use() == use;
    }
};

class Refusals {
  public:
    void add(CORBA::ULong index)
    {
        auto& indices = invalid_.indices;
        indices.length(indices.length() + 1);
        indices[indices.length() - 1] = static_cast<CORBA::UShort>(index);
    }
    void raise_any() const
    {
        if (invalid_.indices.length() != 0) throw invalid_;
    }

  private:
    CORBA::InvalidPolicies invalid_;
};

bool states(const CORBA::PolicyList& policies, CORBA::PolicyType type)
{
    for (const CORBA::Policy_ptr policy : policies)
        if (policy->policy_type() == type) return true;
    return false;
}

} // namespace

void check_default_policies(orb::Orb& orb, const CORBA::PolicyList& given, const PolicySet& all)
{
    poa::Policies together;
    Refusals refusals;
    for (CORBA::ULong i = 0; i < given.length(); ++i) {
        const Kinds kinds(given[i]);
        if (kinds.are(OrbPolicy::Use::by_poas) && !kinds.of_poa->add_to(together, orb))
            refusals.add(i);
    }
    refusals.raise_any();
    all.for_each([&](CORBA::PolicyType type, CORBA::Policy_ptr policy) {
        const Kinds kinds(policy);
        // A thread pool may be gone meanwhile: who makes a POA is told.
        if (kinds.are(OrbPolicy::Use::by_poas) && !states(given, type))
            (void)kinds.of_poa->add_to(together, orb);
    });
    const bool contradict = poa::conflict_of(together).has_value();
    const bool listens = orb.adapter() != nullptr; // the RootPOA was made
    for (CORBA::ULong i = 0; i < given.length(); ++i) {
        const Kinds kinds(given[i]);
        if (contradict && kinds.are(OrbPolicy::Use::by_poas)) refusals.add(i);
        if (!contradict && listens && kinds.are(OrbPolicy::Use::by_orb) &&
            !kinds.of_poa->add_to(together, orb))
            refusals.add(i);
    }
    refusals.raise_any();
}

void add_default_policies(orb::Orb& orb, const CORBA::PolicyList* stated, poa::Policies& policies)
{
    const CORBA::ORB_var facade = orb_of(orb);
    if (CORBA::is_nil(facade.in())) return; // it was destroyed
    const PolicySetPtr of_orb = facade->_kairos_policies().of_orb();
    if (!of_orb) return;
    of_orb->for_each([&](CORBA::PolicyType type, CORBA::Policy_ptr policy) {
        const Kinds kinds(policy);
        if (stated == nullptr && kinds.are(OrbPolicy::Use::by_orb))
            (void)kinds.of_poa->add_to(policies, orb); // once it serves it was done before
        if (!kinds.are(OrbPolicy::Use::by_poas)) return;
        if (stated != nullptr && states(*stated, type)) return;
        if (!kinds.of_poa->add_to(policies, orb))
            throw CORBA::INV_POLICY(0, CORBA::COMPLETED_NO,
                                    "the ORB's policies name a thread pool that is not there");
    });
}

} // namespace kairos::corba
