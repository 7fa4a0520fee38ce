// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/client_info.h"

#include "kairos/ior/profile.h"
#include "kairos/orb/orb.h"

#include <utility>
#include <vector>

namespace kairos::interceptors {

using mapping::omg_minor;

namespace {

CORBA::Object_ptr object_of(orb::Reference& reference)
{
    return corba::StubFactory::make<CORBA::Object>(orb::ReferencePtr(&reference));
}

/// Returns the components with this id of the profile that is used. Throws BAD_PARAM 28 if there
/// are none.
std::vector<ior::TaggedComponent> components_of(const ior::TaggedProfile* profile,
                                                IOP::ComponentId id)
{
    std::vector<ior::TaggedComponent> found;
    if (profile != nullptr && profile->tag == IOP::TAG_INTERNET_IOP) {
        if (auto decoded = ior::decode_iiop(profile->data)) found = std::move(decoded->components);
    }
    std::erase_if(found, [id](const ior::TaggedComponent& each) { return each.tag != id; });
    if (found.empty())
        throw CORBA::BAD_PARAM(omg_minor(28), CORBA::COMPLETED_NO, "no such component");
    return found;
}

void assign(IOP::TaggedComponent& to, const ior::TaggedComponent& from)
{
    to.tag = from.tag;
    assign_octets(to.component_data, from.data);
}

} // namespace

CORBA::Object_ptr ClientInfo::target()
{
    require(Item::target);
    return object_of(call_->target());
}

CORBA::Object_ptr ClientInfo::effective_target()
{
    require(Item::effective_target);
    return object_of(call_->place());
}

IOP::TaggedProfile* ClientInfo::effective_profile()
{
    require(Item::effective_profile);
    const ior::TaggedProfile* used = call_->profile();
    if (used == nullptr)
        throw CORBA::NO_RESOURCES(omg_minor(1), CORBA::COMPLETED_NO, "the call uses no profile");
    IOP::TaggedProfile_var profile = new IOP::TaggedProfile;
    profile->tag = used->tag;
    assign_octets(profile->profile_data, used->data);
    return profile._retn();
}

CORBA::Any* ClientInfo::received_exception()
{
    require(Item::received_exception);
    return exception_of_end();
}

char* ClientInfo::received_exception_id()
{
    require(Item::received_exception_id);
    return CORBA::string_dup(ending().exception->_rep_id());
}

IOP::TaggedComponent* ClientInfo::get_effective_component(IOP::ComponentId id)
{
    require(Item::get_effective_component);
    const auto found = components_of(call_->profile(), id);
    IOP::TaggedComponent_var component = new IOP::TaggedComponent;
    assign(component.inout(), found.front());
    return component._retn();
}

IOP::TaggedComponentSeq* ClientInfo::get_effective_components(IOP::ComponentId id)
{
    require(Item::get_effective_components);
    const auto found = components_of(call_->profile(), id);
    IOP::TaggedComponentSeq_var components = new IOP::TaggedComponentSeq;
    components->length(static_cast<CORBA::ULong>(found.size()));
    for (CORBA::ULong i = 0; i < components->length(); ++i)
        assign(components[i], found[i]);
    return components._retn();
}

CORBA::Policy_ptr ClientInfo::get_request_policy(CORBA::PolicyType type)
{
    require(Item::get_request_policy);
    const CORBA::Object_var target = object_of(call_->target());
    CORBA::Policy_var own = target->_get_client_policy(type);
    if (!CORBA::is_nil(own.in())) return own._retn();
    const CORBA::Object_var place = object_of(call_->place());
    try {
        return place->_get_policy(type);
    } catch (const CORBA::INV_POLICY&) {
        throw CORBA::INV_POLICY(omg_minor(2), CORBA::COMPLETED_NO, "no policy of this type");
    }
}

void ClientInfo::add_request_service_context(const IOP::ServiceContext& service_context,
                                             CORBA::Boolean replace)
{
    require(Item::add_request_service_context);
    add(call_->request_contexts(), service_context, replace);
}

} // namespace kairos::interceptors
