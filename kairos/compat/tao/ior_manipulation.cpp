// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/ior_manipulation.h"

#include "kairos/corba/core_reference.h"
#include "kairos/ior/ior.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/reference.h"

#include <algorithm>
#include <utility>

namespace TAO_IOP {
namespace {

using kairos::ior::Ior;

const Ior& ior_of(CORBA::Object_ptr object)
{
    if (object == nullptr || !object->_kairos_reference()) throw Invalid_IOR();
    return object->_kairos_reference()->ior();
}

bool has(const Ior& ior, const kairos::ior::TaggedProfile& profile)
{
    return std::ranges::find(ior.profiles, profile) != ior.profiles.end();
}

void add(Ior& to, const Ior& from)
{
    if (to.type_id.empty()) to.type_id = from.type_id;
    for (const auto& profile : from.profiles) {
        if (has(to, profile)) throw Duplicate();
        to.profiles.push_back(profile);
    }
}

CORBA::Object_ptr object_of(CORBA::Object_ptr like, Ior ior)
{
    if (ior.profiles.empty()) throw EmptyProfileList();
    kairos::orb::Orb& core = like->_kairos_reference()->orb();
    return kairos::corba::StubFactory::make<CORBA::Object>(core.make_reference(std::move(ior)));
}

[[noreturn]] void refuse_groups()
{
    throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO,
                              "TAO_IOR_Manipulation: there are no fault-tolerant groups here");
}

} // namespace

CORBA::Object_ptr TAO_IOR_Manipulation::merge_iors(const IORList& iors)
{
    if (iors.length() == 0) throw EmptyProfileList();
    Ior merged;
    for (CORBA::ULong i = 0; i < iors.length(); ++i)
        add(merged, ior_of(iors[i]));
    return object_of(iors[0], std::move(merged));
}

CORBA::Object_ptr TAO_IOR_Manipulation::add_profiles(CORBA::Object_ptr to, CORBA::Object_ptr from)
{
    Ior merged = ior_of(to);
    add(merged, ior_of(from));
    return object_of(to, std::move(merged));
}

CORBA::Object_ptr TAO_IOR_Manipulation::remove_profiles(CORBA::Object_ptr from,
                                                        CORBA::Object_ptr what)
{
    Ior left = ior_of(from);
    for (const auto& profile : ior_of(what).profiles)
        if (std::erase(left.profiles, profile) == 0) throw NotFound();
    return object_of(from, std::move(left));
}

CORBA::ULong TAO_IOR_Manipulation::is_in_ior(CORBA::Object_ptr in, CORBA::Object_ptr what)
{
    const Ior& whole = ior_of(in);
    const auto count = std::ranges::count_if(
        ior_of(what).profiles, [&](const auto& profile) { return has(whole, profile); });
    if (count == 0) throw NotFound();
    return static_cast<CORBA::ULong>(count);
}

CORBA::ULong TAO_IOR_Manipulation::get_profile_count(CORBA::Object_ptr object)
{
    const Ior& ior = ior_of(object);
    if (ior.profiles.empty()) throw EmptyProfileList();
    return static_cast<CORBA::ULong>(ior.profiles.size());
}

CORBA::Boolean TAO_IOR_Manipulation::set_property(TAO_IOR_Property_ptr, CORBA::Object_ptr)
{
    refuse_groups();
}
CORBA::Boolean TAO_IOR_Manipulation::set_primary(TAO_IOR_Property_ptr, CORBA::Object_ptr,
                                                 CORBA::Object_ptr)
{
    refuse_groups();
}
CORBA::Object_ptr TAO_IOR_Manipulation::get_primary(TAO_IOR_Property_ptr, CORBA::Object_ptr)
{
    refuse_groups();
}
CORBA::Boolean TAO_IOR_Manipulation::is_primary_set(TAO_IOR_Property_ptr, CORBA::Object_ptr)
{
    refuse_groups();
}
CORBA::Boolean TAO_IOR_Manipulation::remove_primary_tag(TAO_IOR_Property_ptr, CORBA::Object_ptr)
{
    refuse_groups();
}

bool TAO_IOR_Manipulation::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || LocalObject::_kairos_supports(repository_id);
}

} // namespace TAO_IOP

namespace kairos::corba {

CORBA::Object_ptr tao_ior_manipulation_service(CORBA::ORB&)
{
    return new TAO_IOP::TAO_IOR_Manipulation;
}

} // namespace kairos::corba
