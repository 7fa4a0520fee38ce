// SPDX-License-Identifier: Apache-2.0
#include "kairos/interceptors/ior_info.h"

#include "kairos/base/limits.h"
#include "kairos/corba/policies.h"
#include "kairos/interceptors/interceptors.h"
#include "kairos/orb/orb.h"

namespace kairos::interceptors {

using mapping::omg_minor;

void IorInfo::require(Point point) const
{
    if (point_ != point) raise_invalid_here();
}

void IorInfo::require_any() const
{
    if (point_ == Point::none) raise_invalid_here();
}

char* IorInfo::manager_id()
{
    require_any();
    const PortableServer::POAManager_var manager = poa_.the_POAManager();
    return manager->get_id();
}

PortableInterceptor::AdapterState IorInfo::state()
{
    require_any();
    const PortableServer::POAManager_var manager = poa_.the_POAManager();
    return static_cast<PortableInterceptor::AdapterState>(manager->get_state());
}

PortableInterceptor::ObjectReferenceTemplate* IorInfo::adapter_template()
{
    require(Point::components_established);
    return counted(template_.in());
}

PortableInterceptor::ObjectReferenceFactory* IorInfo::current_factory()
{
    require(Point::components_established);
    return counted(factory_.in());
}

void IorInfo::current_factory(PortableInterceptor::ObjectReferenceFactory* value)
{
    require(Point::components_established);
    if (value == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a null object reference factory");
    factory_ = counted(value);
}

CORBA::Policy_ptr IorInfo::get_effective_policy(CORBA::PolicyType type)
{
    require_any();
    CORBA::Policy_var policy = poa_._kairos_policy(type);
    const CORBA::ORB_var orb = corba::orb_of(poa_._kairos_orb());
    if (CORBA::is_nil(policy.in()) && !orb->_kairos_policies().knows(type))
        throw CORBA::INV_POLICY(omg_minor(3), CORBA::COMPLETED_NO,
                                "the ORB knows no policies of this type");
    return policy._retn();
}

void IorInfo::add_ior_component(const IOP::TaggedComponent& a_component)
{
    require(Point::establish_components);
    // Others are the ORB's: its addresses and what its policies say.
    if (components_.size() == limits::components_max / 2)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "too many components");
    const auto* data = reinterpret_cast<const std::byte*>(a_component.component_data.get_buffer());
    components_.push_back({a_component.tag, {data, data + a_component.component_data.length()}});
}

/// All profiles that the ORB makes are IIOP's.
void IorInfo::add_ior_component_to_profile(const IOP::TaggedComponent& a_component,
                                           IOP::ProfileId profile_id)
{
    require(Point::establish_components);
    if (profile_id != IOP::TAG_INTERNET_IOP || poa_._kairos_orb().options().giop_version.minor == 0)
        throw CORBA::BAD_PARAM(omg_minor(29), CORBA::COMPLETED_NO,
                               "references have no profile of this kind with components");
    add_ior_component(a_component);
}

void IorInfo::set_template(PortableInterceptor::ObjectReferenceTemplate* made)
{
    template_ = counted(made);
    factory_ = counted(static_cast<PortableInterceptor::ObjectReferenceFactory*>(made));
}

PortableInterceptor::ObjectReferenceFactory* IorInfo::other_factory() const
{
    PortableInterceptor::ObjectReferenceFactory* const made = template_.in();
    return factory_.in() == made ? nullptr : factory_.in();
}

} // namespace kairos::interceptors
