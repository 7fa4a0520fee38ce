// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/poa_policies.h"

#include "kairos/corba/BiDirPolicy.h"
#include "kairos/corba/adapter_listener.h"
#include "kairos/corba/default_policies.h"
#include "kairos/types/typecode_data.h"

#include <algorithm>
#include <map>

namespace PortableServer {

namespace {

using kairos::types::TypeCodeMember;

constexpr TypeCodeMember thread_values[] = {
    {"ORB_CTRL_MODEL"}, {"SINGLE_THREAD_MODEL"}, {"MAIN_THREAD_MODEL"}};
constexpr TypeCodeMember lifespan_values[] = {{"TRANSIENT"}, {"PERSISTENT"}};
constexpr TypeCodeMember uniqueness_values[] = {{"UNIQUE_ID"}, {"MULTIPLE_ID"}};
constexpr TypeCodeMember assignment_values[] = {{"USER_ID"}, {"SYSTEM_ID"}};
constexpr TypeCodeMember activation_values[] = {{"IMPLICIT_ACTIVATION"},
                                                {"NO_IMPLICIT_ACTIVATION"}};
constexpr TypeCodeMember retention_values[] = {{"RETAIN"}, {"NON_RETAIN"}};
constexpr TypeCodeMember processing_values[] = {
    {"USE_ACTIVE_OBJECT_MAP_ONLY"}, {"USE_DEFAULT_SERVANT"}, {"USE_SERVANT_MANAGER"}};

#define KAIROS_POLICY_TYPE(Value, values)                                                          \
    constinit const CORBA::TypeCode type_of_##Value{kairos::types::struct_type(                    \
        CORBA::tk_enum, "IDL:omg.org/PortableServer/" #Value ":1.0", #Value, values)};             \
    }                                                                                              \
    constinit const CORBA::TypeCode_ptr _tc_##Value = kairos::types::pointer(type_of_##Value);     \
    namespace {
KAIROS_POLICY_TYPE(ThreadPolicyValue, thread_values)
KAIROS_POLICY_TYPE(LifespanPolicyValue, lifespan_values)
KAIROS_POLICY_TYPE(IdUniquenessPolicyValue, uniqueness_values)
KAIROS_POLICY_TYPE(IdAssignmentPolicyValue, assignment_values)
KAIROS_POLICY_TYPE(ImplicitActivationPolicyValue, activation_values)
KAIROS_POLICY_TYPE(ServantRetentionPolicyValue, retention_values)
KAIROS_POLICY_TYPE(RequestProcessingPolicyValue, processing_values)
#undef KAIROS_POLICY_TYPE

} // namespace

void POA::InvalidPolicy::_marshal(kairos::cdr::Writer& out) const
{
    out.write_string(_kairos_id);
    out.write(index);
}

} // namespace PortableServer

namespace kairos::corba {

namespace {

using poa::PolicyKind;

/// Kairos's own policy: not of the OMG's types, so no two vendors mean different things by it.
constexpr CORBA::PolicyType demultiplexing_policy_id = 0x4b520001;

class DemultiplexingPolicy final : public CORBA::Policy, public AdapterPolicy {
  public:
    DemultiplexingPolicy(poa::IdStrategy strategy, std::vector<std::vector<std::byte>> ids)
        : strategy_(strategy), known_ids_(std::move(ids))
    {
    }

    CORBA::PolicyType policy_type() override { return demultiplexing_policy_id; }
    CORBA::Policy_ptr copy() override { return new DemultiplexingPolicy(strategy_, known_ids_); }
    void destroy() override {}

    bool add_to(poa::Policies& policies, orb::Orb& /*orb*/) const override
    {
        policies.strategy = strategy_;
        policies.known_ids = known_ids_;
        return true;
    }

  private:
    const poa::IdStrategy strategy_;
    const std::vector<std::vector<std::byte>> known_ids_;
};

/// True if the policy is a P; then `field` is what it says.
template <typename P, typename Field>
bool take(CORBA::Policy_ptr policy, Field& field)
{
    P* known = dynamic_cast<P*>(policy);
    if (known == nullptr) return false;
    field = static_cast<Field>(known->value());
    return true;
}

/// False for a policy that a POA cannot have.
bool add(poa::Policies& policies, CORBA::Policy_ptr policy, orb::Orb& orb,
         const AdapterListener* listener)
{
    using namespace PortableServer;
    if (const auto* of_module = dynamic_cast<AdapterPolicy*>(policy))
        return of_module->add_to(policies, orb);
    if (auto* const both = dynamic_cast<BiDirPolicy::BidirectionalPolicy*>(policy)) {
        policies.bidirectional = both->value() == BiDirPolicy::BOTH;
        return true;
    }
    return take<ThreadPolicy>(policy, policies.threads) ||
           take<LifespanPolicy>(policy, policies.lifespan) ||
           take<IdUniquenessPolicy>(policy, policies.id_uniqueness) ||
           take<IdAssignmentPolicy>(policy, policies.id_assignment) ||
           take<ImplicitActivationPolicy>(policy, policies.implicit_activation) ||
           take<ServantRetentionPolicy>(policy, policies.retention) ||
           take<RequestProcessingPolicy>(policy, policies.processing) ||
           (listener != nullptr && listener->keeps_policy(policy->policy_type()));
}

CORBA::PolicyType type_of(PolicyKind kind)
{
    // Real-Time CORBA 1.2, annex A.
    constexpr CORBA::PolicyType priority_model = 40, thread_pool = 41, priority_bands = 45;
    switch (kind) {
    case PolicyKind::demultiplexing:
        return demultiplexing_policy_id;
    case PolicyKind::priority_model:
        return priority_model;
    case PolicyKind::thread_pool:
        return thread_pool;
    case PolicyKind::priority_bands:
        return priority_bands;
    default:
        return PortableServer::THREAD_POLICY_ID + static_cast<CORBA::PolicyType>(kind);
    }
}

[[noreturn]] void refuse(std::size_t index)
{
    throw PortableServer::POA::InvalidPolicy(static_cast<CORBA::UShort>(index));
}

template <typename P, typename Value>
CORBA::Policy_ptr policy_from(const CORBA::Any& any, Value last)
{
    Value value{};
    if (!(any >>= value)) throw CORBA::PolicyError(CORBA::BAD_POLICY_TYPE);
    if (value > last) throw CORBA::PolicyError(CORBA::BAD_POLICY_VALUE);
    return P::make(value);
}

} // namespace

CORBA::Policy_ptr
create_demultiplexing_policy(poa::IdStrategy strategy,
                             const std::vector<PortableServer::ObjectId>& known_ids)
{
    std::vector<std::vector<std::byte>> ids;
    for (const PortableServer::ObjectId& id : known_ids) {
        const auto* octets = reinterpret_cast<const std::byte*>(id.get_buffer());
        ids.emplace_back(octets, octets + id.length());
    }
    return new DemultiplexingPolicy(strategy, std::move(ids));
}

poa::Policies policies_of(const CORBA::PolicyList& list, poa::IdStrategy strategy, orb::Orb& orb,
                          const AdapterListener* listener)
{
    poa::Policies policies;
    policies.strategy = strategy;
    std::map<CORBA::PolicyType, std::size_t> indices;
    for (CORBA::ULong i = 0; i < list.length(); ++i) {
        CORBA::Policy_ptr policy = list[i];
        if (CORBA::is_nil(policy) || !indices.emplace(policy->policy_type(), i).second ||
            !add(policies, policy, orb, listener))
            refuse(i);
    }
    if (&add_default_policies != nullptr) add_default_policies(orb, &list, policies);
    const auto conflict = poa::conflict_of(policies);
    if (!conflict) return policies;
    // At least one of the two was given: what is not given goes together, be it the ORB's.
    std::size_t first = list.length();
    for (const PolicyKind kind : *conflict) {
        const auto given = indices.find(type_of(kind));
        if (given != indices.end()) first = std::min(first, given->second);
    }
    if (first == list.length()) // two threads have given it to the ORB at once
        throw CORBA::INV_POLICY(0, CORBA::COMPLETED_NO, "the ORB's policies contradict each other");
    refuse(first);
}

CORBA::Policy_ptr policy_in(const poa::Policies& policies, CORBA::PolicyType type)
{
    using namespace PortableServer;
    switch (type) {
    case THREAD_POLICY_ID:
        return ThreadPolicy::make(static_cast<ThreadPolicyValue>(policies.threads));
    case LIFESPAN_POLICY_ID:
        return LifespanPolicy::make(static_cast<LifespanPolicyValue>(policies.lifespan));
    case ID_UNIQUENESS_POLICY_ID:
        return IdUniquenessPolicy::make(
            static_cast<IdUniquenessPolicyValue>(policies.id_uniqueness));
    case ID_ASSIGNMENT_POLICY_ID:
        return IdAssignmentPolicy::make(
            static_cast<IdAssignmentPolicyValue>(policies.id_assignment));
    case IMPLICIT_ACTIVATION_POLICY_ID:
        return ImplicitActivationPolicy::make(
            static_cast<ImplicitActivationPolicyValue>(policies.implicit_activation));
    case SERVANT_RETENTION_POLICY_ID:
        return ServantRetentionPolicy::make(
            static_cast<ServantRetentionPolicyValue>(policies.retention));
    case REQUEST_PROCESSING_POLICY_ID:
        return RequestProcessingPolicy::make(
            static_cast<RequestProcessingPolicyValue>(policies.processing));
    default:
        return CORBA::Policy::_nil();
    }
}

CORBA::Policy_ptr create_poa_policy(CORBA::PolicyType type, const CORBA::Any& value)
{
    using namespace PortableServer;
    switch (type) {
    case THREAD_POLICY_ID:
        return policy_from<ThreadPolicy>(value, MAIN_THREAD_MODEL);
    case LIFESPAN_POLICY_ID:
        return policy_from<LifespanPolicy>(value, PERSISTENT);
    case ID_UNIQUENESS_POLICY_ID:
        return policy_from<IdUniquenessPolicy>(value, MULTIPLE_ID);
    case ID_ASSIGNMENT_POLICY_ID:
        return policy_from<IdAssignmentPolicy>(value, SYSTEM_ID);
    case IMPLICIT_ACTIVATION_POLICY_ID:
        return policy_from<ImplicitActivationPolicy>(value, NO_IMPLICIT_ACTIVATION);
    case SERVANT_RETENTION_POLICY_ID:
        return policy_from<ServantRetentionPolicy>(value, NON_RETAIN);
    case REQUEST_PROCESSING_POLICY_ID:
        return policy_from<RequestProcessingPolicy>(value, USE_SERVANT_MANAGER);
    default:
        return CORBA::Policy::_nil();
    }
}

} // namespace kairos::corba
