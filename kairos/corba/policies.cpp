// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/policies.h"

#include "kairos/base/export.h"
#include "kairos/base/thread_owned.h"
#include "kairos/corba/orb_state.h"

#include "kairos/corba/call_policies.h"
#include "kairos/corba/default_policies.h"
#include "kairos/corba/invocation.h"
#include "kairos/corba/orb.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"
#include "kairos/orb/thread_storage.h"

#include <algorithm>
#include <atomic>

namespace kairos::corba {

/// Of kairos/rtcorba, if that is linked.
[[gnu::weak]] KAIROS_API void add_real_time_policies(Policies& policies);
/// Of kairos/ssliop, if that is linked.
[[gnu::weak]] KAIROS_API void add_tls_policies(Policies& policies);

using mapping::omg_minor;

// --- PolicySet -----------------------------------------------------------------------------------

namespace {

void refuse_nil(const CORBA::PolicyList& policies)
{
    CORBA::InvalidPolicies invalid;
    for (CORBA::ULong i = 0; i < policies.length(); ++i) {
        if (!CORBA::is_nil(policies[i])) continue;
        invalid.indices.length(invalid.indices.length() + 1);
        invalid.indices[invalid.indices.length() - 1] = static_cast<CORBA::UShort>(i);
    }
    if (invalid.indices.length() != 0) throw invalid;
}

/// Whether only object adapters have policies of this kind.
bool is_of_adapters(CORBA::Policy_ptr policy)
{
    if (is_poa_policy(policy->policy_type())) return true;
    return dynamic_cast<AdapterPolicy*>(policy) != nullptr &&
           dynamic_cast<BindingPolicy*>(policy) == nullptr;
}

/// CORBA 3.3 part 1, 8.3: only what concerns calls at the client can be overridden. Of an ORB,
/// Real-Time CORBA adds some.
void refuse_those_of_adapters(const CORBA::PolicyList& policies, PolicyScope scope)
{
    for (const CORBA::Policy_ptr policy : policies) {
        if (!is_of_adapters(policy)) continue;
        const bool may_be = dynamic_cast<OrbPolicy*>(policy) != nullptr;
        if (may_be && scope == PolicyScope::orb) continue;
        throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO,
                                   may_be ? "a policy of object adapters: for create_POA or the ORB"
                                          : "a policy of object adapters: for create_POA");
    }
}

} // namespace

PolicySet::PolicySet(const PolicySet* former, const CORBA::PolicyList& policies,
                     CORBA::SetOverrideType how, PolicyScope scope)
{
    refuse_nil(policies);
    refuse_those_of_adapters(policies, scope);
    for (const CORBA::Policy_ptr policy : policies)
        entries_.push_back({policy->policy_type(), CORBA::Policy::_duplicate(policy)});
    std::ranges::sort(entries_, {}, &Entry::type);
    if (std::ranges::adjacent_find(entries_, {}, &Entry::type) != entries_.end())
        throw CORBA::BAD_PARAM(omg_minor(30), CORBA::COMPLETED_NO, "two policies of one type");
    if (former != nullptr && how == CORBA::ADD_OVERRIDE) add_all(former->entries_);
    for (const Entry& entry : entries_) {
        add_call_policy(calls_, entry.policy.in());
        if (const auto* binding = dynamic_cast<BindingPolicy*>(entry.policy.in()))
            binding->add_to(binding_);
    }
}

/// Those of whose types there are none yet.
void PolicySet::add_all(const std::vector<Entry>& entries)
{
    for (const Entry& entry : entries) {
        const auto at = std::ranges::lower_bound(entries_, entry.type, {}, &Entry::type);
        if (at == entries_.end() || at->type != entry.type) entries_.insert(at, entry);
    }
}

CORBA::Policy_ptr PolicySet::find(CORBA::PolicyType type) const
{
    const auto at = std::ranges::lower_bound(entries_, type, {}, &Entry::type);
    if (at == entries_.end() || at->type != type) return CORBA::Policy::_nil();
    return CORBA::Policy::_duplicate(at->policy.in());
}

CORBA::PolicyList* PolicySet::list(const CORBA::PolicyTypeSeq& types) const
{
    CORBA::PolicyList_var found = new CORBA::PolicyList;
    for (const Entry& entry : entries_) {
        const auto* const end = types.begin() + types.length();
        if (types.length() != 0 && std::find(types.begin(), end, entry.type) == end) continue;
        found->length(found->length() + 1);
        found[found->length() - 1] = CORBA::Policy::_duplicate(entry.policy.in());
    }
    return found._retn();
}

// --- The managers --------------------------------------------------------------------------------

namespace {

/// Of this thread, by the serial numbers of the ORBs' managers, which no two ever share.
PolicySetPtr& set_of_thread(std::uint64_t serial)
{
    using Sets = std::vector<std::pair<std::uint64_t, PolicySetPtr>>;
    Sets& sets = ThreadOwned<Sets>::get();
    const auto known =
        std::ranges::find(sets, serial, &std::pair<std::uint64_t, PolicySetPtr>::first);
    return known != sets.end() ? known->second : sets.emplace_back(serial, PolicySetPtr()).second;
}

CORBA::PolicyList* list_of(const PolicySetPtr& set, const CORBA::PolicyTypeSeq& types)
{
    return set ? set->list(types) : new CORBA::PolicyList;
}

} // namespace

/// The ORB's overrides. Any thread.
class OrbPolicyManager final : public CORBA::PolicyManager {
  public:
    explicit OrbPolicyManager(orb::Orb& orb) : orb_(&orb) {}
    static OrbPolicyManager* _duplicate(OrbPolicyManager* manager) { return duplicate(manager); }

    CORBA::PolicyList* get_policy_overrides(const CORBA::PolicyTypeSeq& types) override
    {
        return list_of(set(), types);
    }
    void set_policy_overrides(const CORBA::PolicyList& policies,
                              CORBA::SetOverrideType how) override
    {
        // Policies are asked for their types, and that is code of the program's: no lock is held.
        // Where two threads set at once, the later one begins again.
        for (bool done = false; !done;) {
            const PolicySetPtr former = set();
            PolicySetPtr next =
                make_intrusive<const PolicySet>(former.get(), policies, how, PolicyScope::orb);
            check_default_policies(*orb_, policies, *next);
            const std::lock_guard lock(mutex_);
            done = set_.get() == former.get();
            if (!done) continue;
            orb_->set_call_policies(next->calls());
            orb_->set_binding_policies(next->binding());
            std::swap(set_, next);
        }
    }
    [[nodiscard]] PolicySetPtr set() const
    {
        const std::lock_guard lock(mutex_);
        return set_;
    }

  private:
    const IntrusivePtr<orb::Orb> orb_;
    mutable std::mutex mutex_; // guards set_, and that the core hears of it in order; outside Orb's
    PolicySetPtr set_;         // null for none
};

/// The calling thread's overrides, for calls on references of one ORB.
class ThreadPolicyManager final : public CORBA::PolicyCurrent {
  public:
    explicit ThreadPolicyManager(orb::Orb& orb) : orb_(&orb) {}
    static ThreadPolicyManager* _duplicate(ThreadPolicyManager* manager)
    {
        return duplicate(manager);
    }

    CORBA::PolicyList* get_policy_overrides(const CORBA::PolicyTypeSeq& types) override
    {
        return list_of(set(), types);
    }
    void set_policy_overrides(const CORBA::PolicyList& policies,
                              CORBA::SetOverrideType how) override
    {
        const PolicySetPtr former = set();
        const auto next =
            make_intrusive<const PolicySet>(former.get(), policies, how, PolicyScope::thread);
        if (!(next->binding() == orb::BindingPolicies{}))
            throw CORBA::NO_PERMISSION(0, CORBA::COMPLETED_NO,
                                       "policies of connections are a reference's or the ORB's");
        orb::ThreadStorage::current().set_call_policies(*orb_, next->calls());
        if (!next->calls().is_empty()) orb_->note_call_policies();
        set_of_thread(serial_) = next;
    }
    [[nodiscard]] PolicySetPtr set() const { return set_of_thread(serial_); }

  private:
    static std::uint64_t next_serial()
    {
        static std::atomic<std::uint64_t> last{0};
        return last.fetch_add(1, std::memory_order_relaxed) + 1;
    }

    const IntrusivePtr<orb::Orb> orb_;
    const std::uint64_t serial_ = next_serial();
};

// --- Policies ------------------------------------------------------------------------------------

Policies::Policies(orb::Orb& orb)
    : manager_(new OrbPolicyManager(orb)), current_(new ThreadPolicyManager(orb))
{
    if (&add_real_time_policies != nullptr) add_real_time_policies(*this);
    if (&add_tls_policies != nullptr) add_tls_policies(*this);
}

Policies::~Policies() = default;

bool Policies::add_factory(CORBA::PolicyType type, PolicyFactory factory)
{
    if (is_poa_policy(type) || is_call_policy(type)) return false;
    const std::lock_guard lock(mutex_);
    for (const auto& [known, its_factory] : factories_)
        if (known == type) return false;
    factories_.emplace_back(type, std::move(factory));
    return true;
}

bool Policies::knows(CORBA::PolicyType type) const
{
    if (is_poa_policy(type) || is_call_policy(type)) return true;
    const std::lock_guard lock(mutex_);
    return std::ranges::find(factories_, type, &decltype(factories_)::value_type::first) !=
           factories_.end();
}

CORBA::Policy_ptr Policies::create(CORBA::PolicyType type, const CORBA::Any& value) const
{
    PolicyFactory factory;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [known, its_factory] : factories_)
            if (known == type) factory = its_factory;
    }
    if (factory) return factory(type, value);
    CORBA::Policy_ptr policy = create_poa_policy(type, value);
    if (CORBA::is_nil(policy)) policy = create_call_policy(type, value);
    if (CORBA::is_nil(policy)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
    return policy;
}

CORBA::Policy_ptr Policies::exposed(CORBA::PolicyType type,
                                    const ior::ExposedPolicies& exposed) const
{
    return exposed_factory_ == nullptr ? CORBA::Policy::_nil() : exposed_factory_(type, exposed);
}

CORBA::PolicyManager_ptr Policies::manager() const { return duplicate(manager_.in()); }

CORBA::PolicyCurrent_ptr Policies::current() const { return duplicate(current_.in()); }

PolicySetPtr Policies::of_orb() const { return manager_->set(); }

CORBA::Policy_ptr Policies::effective(const PolicySet* overrides, CORBA::PolicyType type) const
{
    const PolicySetPtr of_thread = current_->set();
    const PolicySetPtr of_orb = manager_->set();
    for (const PolicySet* set : {overrides, of_thread.get(), of_orb.get()}) {
        if (set == nullptr) continue;
        CORBA::Policy_var found = set->find(type);
        if (!CORBA::is_nil(found.in()) && !is_of_adapters(found.in())) return found._retn();
    }
    return CORBA::Policy::_nil();
}

CORBA::Object_ptr policy_service(CORBA::ORB& orb, bool of_thread)
{
    const Policies& policies = orb._kairos_policies();
    if (of_thread) return policies.current();
    return policies.manager();
}

} // namespace kairos::corba

namespace CORBA {

using kairos::corba::PolicyScope;
using kairos::corba::PolicySet;

PolicyManager_ptr PolicyManager::_duplicate(PolicyManager_ptr object)
{
    return kairos::corba::duplicate(object);
}

PolicyManager_ptr PolicyManager::_narrow(Object_ptr object)
{
    return kairos::corba::narrow_local<PolicyManager>(object);
}

bool PolicyManager::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
}

PolicyCurrent_ptr PolicyCurrent::_duplicate(PolicyCurrent_ptr object)
{
    return kairos::corba::duplicate(object);
}

PolicyCurrent_ptr PolicyCurrent::_narrow(Object_ptr object)
{
    return kairos::corba::narrow_local<PolicyCurrent>(object);
}

bool PolicyCurrent::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || PolicyManager::_kairos_supports(repository_id) ||
           Current::_kairos_supports(repository_id);
}

kairos::corba::Policies& ORB::_kairos_policies()
{
    const std::lock_guard lock(state_->mutex);
    if (!state_->policies) state_->policies = std::make_shared<kairos::corba::Policies>(*core_);
    return *state_->policies;
}

Policy_ptr ORB::create_policy(PolicyType type, const Any& value)
{
    require_running();
    return _kairos_policies().create(type, value);
}

namespace {

/// CORBA 3.3 part 1, 8.3.13: what a local object has none of.
const kairos::corba::ReferencePtr& reference_of(const Object& object)
{
    if (!object._kairos_reference())
        throw NO_IMPLEMENT(kairos::mapping::omg_minor(8), COMPLETED_NO,
                           "a local object has no policies");
    return object._kairos_reference();
}

const PolicySet* overrides_of(const kairos::orb::Reference& reference)
{
    return static_cast<const PolicySet*>(reference.overrides().get()); // nobody else makes any
}

} // namespace

Policy_ptr Object::_get_client_policy(PolicyType type)
{
    const auto& reference = reference_of(*this);
    const ORB_var orb = _get_orb();
    if (is_nil(orb.in())) return Policy::_nil(); // it was destroyed
    return orb->_kairos_policies().effective(overrides_of(*reference), type);
}

/// What calls do where both have one: the client's counts.
Policy_ptr Object::_get_policy(PolicyType type)
{
    Policy_var policy = _get_client_policy(type);
    const ORB_var orb = _get_orb();
    if (is_nil(policy.in()) && !is_nil(orb.in()))
        policy = orb->_kairos_policies().exposed(type, reference_of(*this)->exposed_policies());
    if (is_nil(policy.in()))
        throw INV_POLICY(0, COMPLETED_NO, "the object has no policy of this type");
    return Policy::_duplicate(policy.in());
}

PolicyList* Object::_get_policy_overrides(const PolicyTypeSeq& types)
{
    const PolicySet* overrides = overrides_of(*reference_of(*this));
    return overrides == nullptr ? new PolicyList : overrides->list(types);
}

Object_ptr Object::_set_policy_overrides(const PolicyList& policies, SetOverrideType how)
{
    const auto& reference = reference_of(*this);
    const auto overrides = kairos::orb::PolicyOverridesPtr::adopt(
        new PolicySet(overrides_of(*reference), policies, how, PolicyScope::reference));
    return kairos::corba::StubFactory::make<Object>(reference->with(overrides));
}

Boolean Object::_validate_connection(PolicyList_out inconsistent_policies)
{
    const auto& reference = reference_of(*this);
    PolicyList_var inconsistent = new PolicyList;
    bool valid = false;
    try {
        valid = _validate_connection();
    } catch (const INV_POLICY&) { // no band for the thread's priority
        if (const PolicySet* overrides = overrides_of(*reference); overrides != nullptr)
            inconsistent = overrides->list({});
    }
    inconsistent_policies = inconsistent._retn();
    return valid;
}

DomainManagersList* Object::_get_domain_managers()
{
    static constexpr kairos::orb::Operation operation{"_domain_managers"};
    kairos::corba::Invocation call(*this, operation);
    call.invoke();
    DomainManagersList_var domains = new DomainManagersList;
    kairos::mapping::decode(call.in(), domains.inout());
    call.finish();
    return domains._retn();
}

} // namespace CORBA
