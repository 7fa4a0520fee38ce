// SPDX-License-Identifier: Apache-2.0
//
// POA: children and policies. Apart from poa.cpp, so that servers with nothing but the RootPOA do
// not link what policies need.
#include "kairos/corba/poa_in_use.h"
#include "kairos/corba/poa_policies.h"
#include "kairos/corba/poa_state.h"
#include "kairos/ior/object_key.h"
#include "kairos/mapping/exception.h"

#include <cstring>

namespace PortableServer {

POA_ptr POA::create_POA(const char* adapter_name, POAManager_ptr manager,
                        const CORBA::PolicyList& policies)
{
    if (adapter_name == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null name");
    if (std::strlen(adapter_name) > kairos::ior::PersistentKey::name_size_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the name is too long for object keys");
    auto wanted = kairos::corba::policies_of(policies, state_->services->strategy(), _kairos_orb(),
                                             state_->services->listener());
    POAManager_var its_manager = CORBA::is_nil(manager) ? state_->services->create_manager({})
                                                        : POAManager::_duplicate(manager);
    const POA_var child = state_->services->make_poa();
    check(child->state_->create(state_->found, adapter_name, its_manager.in(), std::move(wanted),
                                policies));
    return _duplicate(child.in());
}

CORBA::Policy_ptr POA::_kairos_policy(CORBA::PolicyType type)
{
    for (const CORBA::Policy_var& stated : state_->stated_policies)
        if (stated->policy_type() == type) return CORBA::Policy::_duplicate(stated.in());
    const InUse adapter(*this);
    return kairos::corba::policy_in(adapter->policies(), type);
}

ThreadPolicy_ptr POA::create_thread_policy(ThreadPolicyValue value)
{
    return ThreadPolicy::make(value);
}

LifespanPolicy_ptr POA::create_lifespan_policy(LifespanPolicyValue value)
{
    return LifespanPolicy::make(value);
}

IdUniquenessPolicy_ptr POA::create_id_uniqueness_policy(IdUniquenessPolicyValue value)
{
    return IdUniquenessPolicy::make(value);
}

IdAssignmentPolicy_ptr POA::create_id_assignment_policy(IdAssignmentPolicyValue value)
{
    return IdAssignmentPolicy::make(value);
}

ImplicitActivationPolicy_ptr
POA::create_implicit_activation_policy(ImplicitActivationPolicyValue value)
{
    return ImplicitActivationPolicy::make(value);
}

ServantRetentionPolicy_ptr POA::create_servant_retention_policy(ServantRetentionPolicyValue value)
{
    return ServantRetentionPolicy::make(value);
}

RequestProcessingPolicy_ptr
POA::create_request_processing_policy(RequestProcessingPolicyValue value)
{
    return RequestProcessingPolicy::make(value);
}

} // namespace PortableServer
