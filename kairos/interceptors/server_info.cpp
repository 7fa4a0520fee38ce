// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/server_info.h"

#include "kairos/corba/servant.h"
#include "kairos/giop/request.h"
#include "kairos/ior/object_key.h"
#include "kairos/net/address.h"
#include "kairos/poa/calling.h"

#include <algorithm>

namespace kairos::interceptors {

using mapping::omg_minor;

void ServerInfo::found(const orb::ServedObject& object)
{
    const auto kept = [](std::vector<std::byte>& copy, Bytes octets) -> Bytes {
        copy.assign(octets.begin(), octets.end());
        return copy;
    };
    adapter_path_ = object.adapter_path.empty() ? Bytes() : kept(path_kept_, object.adapter_path);
    // Where it lasts it lies in the key; that is elsewhere if the request is answered later.
    id_at_.reset();
    if (object.id_lasts && !object.id.empty())
        id_at_ = static_cast<std::size_t>(object.id.data() - upcall_->object_key().data());
    object_id_ = object.id_lasts ? object.id : kept(id_kept_, object.id);
    if (!all().policy_types.empty())
        poa_ = PortableServer::POA::_duplicate(
            &PortableServer::POA::_kairos_of(poa::Calling::innermost()->adapter()));
    is_found_ = true;
}

void ServerInfo::require_object(Item item) const
{
    require(item);
    if (!is_found_)
        throw CORBA::NO_RESOURCES(omg_minor(1), CORBA::COMPLETED_NO, "no object was found");
}

bool ServerInfo::has_response() const { return upcall_->request().response_expected(); }

/// Of those for which there is no reply nobody can tell apart two.
orb::SyncScope ServerInfo::scope() const
{
    switch (upcall_->request().response_flags) {
    case giop::response_flags::sync_target:
        return orb::SyncScope::with_target;
    case giop::response_flags::sync_server:
        return orb::SyncScope::with_server;
    default:
        return orb::SyncScope::with_transport;
    }
}

giop::ServiceContexts ServerInfo::request_contexts() const { return upcall_->request().contexts; }

CORBA::Any* ServerInfo::sending_exception()
{
    require(Item::sending_exception);
    return exception_of_end();
}

char* ServerInfo::server_id()
{
    require(Item::server_id);
    return CORBA::string_dup(all().server_id.c_str());
}

char* ServerInfo::orb_id()
{
    require(Item::orb_id);
    return CORBA::string_dup(all().orb_id.c_str());
}

PortableInterceptor::AdapterName* ServerInfo::adapter_name()
{
    require_object(Item::adapter_name);
    const auto names = ior::PersistentKey::names_of(adapter_path_);
    PortableInterceptor::AdapterName* const name = new PortableInterceptor::AdapterName;
    CORBA::StringSeq_var owned = name;
    name->length(static_cast<CORBA::ULong>(names.size() + 1));
    (*name)[0] = "RootPOA";
    for (CORBA::ULong i = 1; i < name->length(); ++i)
        (*name)[i] = std::string(names[i - 1]).c_str();
    return owned._retn();
}

PortableInterceptor::ObjectId* ServerInfo::object_id()
{
    require_object(Item::object_id);
    CORBA::OctetSeq_var id = new CORBA::OctetSeq;
    assign_octets(id.inout(),
                  id_at_ ? upcall_->object_key().subspan(*id_at_, object_id_.size()) : object_id_);
    return id._retn();
}

PortableInterceptor::AdapterId* ServerInfo::adapter_id()
{
    require_object(Item::adapter_id);
    CORBA::OctetSeq_var id = new CORBA::OctetSeq;
    assign_octets(id.inout(), adapter_path_);
    return id._retn();
}

char* ServerInfo::target_most_derived_interface()
{
    require(Item::target_most_derived_interface);
    return CORBA::string_dup(std::string(upcall_->object()->interface()).c_str());
}

CORBA::Policy_ptr ServerInfo::get_server_policy(CORBA::PolicyType type)
{
    require(Item::get_server_policy);
    if (std::ranges::find(all().policy_types, type) == all().policy_types.end())
        throw CORBA::INV_POLICY(omg_minor(3), CORBA::COMPLETED_NO,
                                "no factory was registered for policies of this type");
    return CORBA::is_nil(poa_.in()) ? CORBA::Policy::_nil() : poa_->_kairos_policy(type);
}

void ServerInfo::set_slot(PortableInterceptor::SlotId id, const CORBA::Any& data)
{
    require(Item::set_slot);
    interceptors::set_slot(slots, id, data, all().slot_count());
}

CORBA::Boolean ServerInfo::target_is_a(const char* id)
{
    require(Item::target_is_a);
    auto* servant = static_cast<PortableServer::Servant>(poa::Calling::innermost()->servant());
    return servant->_is_a(id);
}

void ServerInfo::add_reply_service_context(const IOP::ServiceContext& service_context,
                                           CORBA::Boolean replace)
{
    require(Item::add_reply_service_context);
    add(upcall_->reply_contexts(), service_context, replace);
}

std::string ServerInfo::peer() const
{
    if (point() == Point::none) raise_invalid_here();
    const net::Address* const address = upcall_->peer();
    return address == nullptr ? std::string() : address->to_text();
}

} // namespace kairos::interceptors
