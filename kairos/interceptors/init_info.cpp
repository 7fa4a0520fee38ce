// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/init_info.h"

#include "kairos/codec/linked.h"
#include "kairos/corba/policies.h"
#include "kairos/interceptors/client_interceptors.h"
#include "kairos/interceptors/processing_mode.h"
#include "kairos/interceptors/server_interceptors.h"
#include "kairos/orb/orb.h"

#include <cstring>
#include <string_view>
#include <utility>

namespace kairos::interceptors {

using mapping::omg_minor;

InitInfo::InitInfo(CORBA::ORB& orb, std::shared_ptr<Interceptors> all, const char* const* arguments)
    : orb_(&orb), all_(std::move(all)), arguments_(arguments)
{
}

CORBA::ORB& InitInfo::orb() const
{
    if (orb_ == nullptr)
        throw CORBA::OBJECT_NOT_EXIST(0, CORBA::COMPLETED_NO, "ORB_init has returned");
    return *orb_;
}

CORBA::StringSeq* InitInfo::arguments()
{
    (void)orb();
    CORBA::StringSeq_var all = new CORBA::StringSeq;
    for (const char* const* next = arguments_; *next != nullptr; ++next) {
        all->length(all->length() + 1);
        all[all->length() - 1] = *next;
    }
    return all._retn();
}

CORBA::ORB_ptr InitInfo::_get_orb() { return CORBA::ORB::_duplicate(&orb()); }

char* InitInfo::orb_id() { return orb().id(); }

IOP::CodecFactory_ptr InitInfo::codec_factory()
{
    const CORBA::Object_var factory = corba::codec_service(orb());
    return IOP::CodecFactory::_narrow(factory.in());
}

void InitInfo::register_initial_reference(const char* id, CORBA::Object_ptr obj)
{
    try {
        orb().register_initial_reference(id, obj);
    } catch (const CORBA::ORB::InvalidName&) {
        throw InvalidName();
    }
}

/// With the RootPOA the ORB has its adapter, to which nobody can add observers.
CORBA::Object_ptr InitInfo::resolve_initial_references(const char* id)
{
    CORBA::ORB& orb = this->orb();
    if (!is_post_init_) raise_invalid_here();
    const std::string_view wanted = id == nullptr ? "" : id;
    if (wanted == "RootPOA" || wanted == "POACurrent") observe(true, true);
    try {
        return orb.resolve_initial_references(id);
    } catch (const CORBA::ORB::InvalidName&) {
        throw InvalidName();
    }
}

namespace {

/// Throws DuplicateName: only interceptors without a name may have the same.
template <typename List, typename Interceptor>
void add_to(List& list, Interceptor* interceptor)
{
    if (interceptor == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil interceptor");
    const CORBA::String_var name = interceptor->name();
    for (const auto& known : list) {
        const CORBA::String_var other = known->name();
        if (*name.in() != '\0' && std::strcmp(name.in(), other.in()) == 0)
            throw PortableInterceptor::ORBInitInfo::DuplicateName(name.in());
    }
    list.push_back(Interceptor::_duplicate(interceptor));
}

} // namespace

void InitInfo::add_client_request_interceptor(
    PortableInterceptor::ClientRequestInterceptor_ptr interceptor)
{
    add_client_request_interceptor_with_policy(interceptor, {});
}

void InitInfo::add_server_request_interceptor(
    PortableInterceptor::ServerRequestInterceptor_ptr interceptor)
{
    add_server_request_interceptor_with_policy(interceptor, {});
}

void InitInfo::add_client_request_interceptor_with_policy(
    PortableInterceptor::ClientRequestInterceptor_ptr interceptor,
    const CORBA::PolicyList& policies)
{
    (void)orb();
    const auto mode = processing_mode_of(policies);
    add_to(all_->clients.all, interceptor);
    all_->clients.tell_last(mode);
}

void InitInfo::add_server_request_interceptor_with_policy(
    PortableInterceptor::ServerRequestInterceptor_ptr interceptor,
    const CORBA::PolicyList& policies)
{
    (void)orb();
    const auto mode = processing_mode_of(policies);
    add_to(all_->servers.all, interceptor);
    all_->servers.tell_last(mode);
}

/// Adapters are told of wherever their objects are called from.
void InitInfo::add_ior_interceptor_with_policy(PortableInterceptor::IORInterceptor_ptr interceptor,
                                               const CORBA::PolicyList& policies)
{
    (void)processing_mode_of(policies);
    add_ior_interceptor(interceptor);
}

void InitInfo::add_ior_interceptor(PortableInterceptor::IORInterceptor_ptr interceptor)
{
    (void)orb();
    add_to(all_->iors, interceptor);
}

PortableInterceptor::SlotId InitInfo::allocate_slot_id()
{
    (void)orb();
    return all_->allocate_slot();
}

void InitInfo::register_policy_factory(CORBA::PolicyType type,
                                       PortableInterceptor::PolicyFactory_ptr policy_factory)
{
    corba::Policies& policies = orb()._kairos_policies();
    if (policy_factory == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a nil policy factory");
    const PortableInterceptor::PolicyFactory_var factory =
        PortableInterceptor::PolicyFactory::_duplicate(policy_factory);
    if (!policies.add_factory(type, [factory](CORBA::PolicyType wanted, const CORBA::Any& value) {
            return factory->create_policy(wanted, value);
        }))
        throw CORBA::BAD_INV_ORDER(omg_minor(16), CORBA::COMPLETED_NO,
                                   "there is a factory for policies of this type");
    all_->policy_types.push_back(type);
}

void InitInfo::complete() { observe(!all_->clients.all.empty(), !all_->servers.all.empty()); }

void InitInfo::observe(bool calls, bool requests)
{
    orb::Orb& core = orb()._kairos_core();
    bool added = true;
    if (calls && !std::exchange(observes_calls_, true))
        added = core.add_observer(std::make_unique<ClientInterceptors>(all_));
    if (requests && !std::exchange(observes_requests_, true))
        added = core.add_observer(std::make_unique<ServerInterceptors>(all_)) && added;
    if (!added)
        throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                   "the RootPOA was resolved before there were interceptors");
}

} // namespace kairos::interceptors
