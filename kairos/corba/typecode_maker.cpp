// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/typecode_maker.h"

#include "kairos/corba/orb_types.h"
#include "kairos/mapping/exception.h"
#include "kairos/types/any_value.h"
#include "kairos/types/typecode_factory.h"

#include <vector>

namespace kairos::corba {
namespace {

using types::NewMember;

std::vector<NewMember> described(const CORBA::StructMemberSeq& members)
{
    std::vector<NewMember> list;
    list.reserve(members.size());
    for (const CORBA::StructMember& member : members)
        list.push_back({.name = member.name.in(), .type = member.type.in()});
    return list;
}

template <typename T>
bool get_label(const CORBA::Any& any, CORBA::TypeCode_ptr discriminator, std::int64_t& label)
{
    T value{};
    if (!types::extract_scalar(any, discriminator, &value, sizeof value)) return false;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): as all code keeps labels, a char as it promotes
    label = static_cast<std::int64_t>(value);
    return true;
}

/// False where the Any holds no value of the discriminator's type.
bool get_label(const CORBA::Any& any, CORBA::TypeCode_ptr discriminator, std::int64_t& label)
{
    switch (types::resolved(*discriminator).kind()) {
    case CORBA::tk_boolean:
    case CORBA::tk_char:
    case CORBA::tk_octet:
        return get_label<CORBA::Octet>(any, discriminator, label);
    case CORBA::tk_short:
        return get_label<CORBA::Short>(any, discriminator, label);
    case CORBA::tk_ushort:
        return get_label<CORBA::UShort>(any, discriminator, label);
    case CORBA::tk_long:
        return get_label<CORBA::Long>(any, discriminator, label);
    case CORBA::tk_longlong:
    case CORBA::tk_ulonglong:
        return get_label<CORBA::LongLong>(any, discriminator, label);
    case CORBA::tk_wchar:
        return get_label<CORBA::WChar>(any, discriminator, label);
    case CORBA::tk_ulong:
    case CORBA::tk_enum:
        return get_label<CORBA::ULong>(any, discriminator, label);
    default:
        return true; // no discriminator at all, which make_union refuses
    }
}

std::vector<NewMember> described(const CORBA::UnionMemberSeq& members,
                                 CORBA::TypeCode_ptr discriminator, CORBA::Long& default_index)
{
    constexpr CORBA::ULong two_of_one_label = 18; // BAD_PARAM
    constexpr CORBA::ULong wrong_type = 19;
    if (discriminator == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil TypeCode");
    const bool of_octets = types::resolved(*discriminator).kind() == CORBA::tk_octet;
    std::vector<NewMember> list;
    list.reserve(members.size());
    for (const CORBA::UnionMember& member : members) {
        std::int64_t label = 0;
        CORBA::Octet zero = 1;
        if (!of_octets && (member.label >>= CORBA::Any::to_octet(zero)) && zero == 0) {
            if (default_index >= 0)
                throw CORBA::BAD_PARAM(mapping::omg_minor(two_of_one_label), CORBA::COMPLETED_NO,
                                       "two default members");
            default_index = static_cast<CORBA::Long>(list.size());
        } else if (!get_label(member.label, discriminator, label)) {
            throw CORBA::BAD_PARAM(mapping::omg_minor(wrong_type), CORBA::COMPLETED_NO,
                                   "a label that is not of the discriminator's type");
        }
        list.push_back({.name = member.name.in(), .type = member.type.in(), .number = label});
    }
    return list;
}

std::vector<NewMember> described(const CORBA::EnumMemberSeq& members)
{
    std::vector<NewMember> list;
    list.reserve(members.size());
    for (const char* member : members)
        list.push_back({.name = member});
    return list;
}

std::vector<NewMember> described(const CORBA::ValueMemberSeq& members)
{
    std::vector<NewMember> list;
    list.reserve(members.size());
    for (const CORBA::ValueMember& member : members)
        list.push_back(
            {.name = member.name.in(), .type = member.type.in(), .number = member.access});
    return list;
}

} // namespace

CORBA::TypeCode_ptr TypeCodeMaker::create_struct_tc(const char* id, const char* name,
                                                    const CORBA::StructMemberSeq& members)
{
    return types::make_struct(CORBA::tk_struct, id, name, described(members));
}

CORBA::TypeCode_ptr TypeCodeMaker::create_exception_tc(const char* id, const char* name,
                                                       const CORBA::StructMemberSeq& members)
{
    return types::make_struct(CORBA::tk_except, id, name, described(members));
}

CORBA::TypeCode_ptr TypeCodeMaker::create_union_tc(const char* id, const char* name,
                                                   CORBA::TypeCode_ptr discriminator_type,
                                                   const CORBA::UnionMemberSeq& members)
{
    CORBA::Long default_index = -1;
    const std::vector<NewMember> list = described(members, discriminator_type, default_index);
    return types::make_union(id, name, discriminator_type, list, default_index);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_enum_tc(const char* id, const char* name,
                                                  const CORBA::EnumMemberSeq& members)
{
    return types::make_enum(id, name, described(members));
}

CORBA::TypeCode_ptr TypeCodeMaker::create_alias_tc(const char* id, const char* name,
                                                   CORBA::TypeCode_ptr original_type)
{
    return types::make_alias(CORBA::tk_alias, id, name, original_type);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_interface_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_objref, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_abstract_interface_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_abstract_interface, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_local_interface_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_local_interface, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_component_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_component, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_home_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_home, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_native_tc(const char* id, const char* name)
{
    return types::make_named(CORBA::tk_native, id, name);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_string_tc(CORBA::ULong bound)
{
    return types::make_text(CORBA::tk_string, bound);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_wstring_tc(CORBA::ULong bound)
{
    return types::make_text(CORBA::tk_wstring, bound);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_fixed_tc(CORBA::UShort digits, CORBA::Short scale)
{
    return types::make_fixed(digits, scale);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_sequence_tc(CORBA::ULong bound,
                                                      CORBA::TypeCode_ptr element_type)
{
    return types::make_elements(CORBA::tk_sequence, bound, element_type);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_array_tc(CORBA::ULong length,
                                                   CORBA::TypeCode_ptr element_type)
{
    return types::make_elements(CORBA::tk_array, length, element_type);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_value_tc(const char* id, const char* name,
                                                   CORBA::ValueModifier type_modifier,
                                                   CORBA::TypeCode_ptr concrete_base,
                                                   const CORBA::ValueMemberSeq& members)
{
    return types::make_value(CORBA::tk_value, id, name, type_modifier, concrete_base,
                             described(members));
}

CORBA::TypeCode_ptr TypeCodeMaker::create_event_tc(const char* id, const char* name,
                                                   CORBA::ValueModifier type_modifier,
                                                   CORBA::TypeCode_ptr concrete_base,
                                                   const CORBA::ValueMemberSeq& members)
{
    return types::make_value(CORBA::tk_event, id, name, type_modifier, concrete_base,
                             described(members));
}

CORBA::TypeCode_ptr TypeCodeMaker::create_value_box_tc(const char* id, const char* name,
                                                       CORBA::TypeCode_ptr boxed_type)
{
    return types::make_alias(CORBA::tk_value_box, id, name, boxed_type);
}

CORBA::TypeCode_ptr TypeCodeMaker::create_recursive_tc(const char* id)
{
    return types::make_recursive(id);
}

} // namespace kairos::corba
