// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/typecode_maker.h"

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
