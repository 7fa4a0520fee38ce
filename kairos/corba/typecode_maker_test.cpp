// SPDX-License-Identifier: Apache-2.0
//
// create_…_tc as programs use them: of the ORB and of the TypeCodeFactory.
#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace {

CORBA::ORB_ptr make_orb()
{
    int argc = 1;
    char name[] = "test";
    char* argv[] = {name, nullptr};
    return CORBA::ORB_init(argc, argv, "typecodes");
}

TEST(TypeCodeMaker, RecursiveStructOfTheOrb)
{
    const CORBA::ORB_var orb = make_orb();
    const CORBA::TypeCode_var place_holder = orb->create_recursive_tc("IDL:Node:1.0");
    CORBA::StructMemberSeq members(2);
    members.length(2);
    members[0].name = CORBA::string_dup("value");
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    members[0].type_def = CORBA::IDLType::_nil();
    members[1].name = CORBA::string_dup("chain");
    members[1].type = orb->create_sequence_tc(0, place_holder);
    const CORBA::TypeCode_var node = orb->create_struct_tc("IDL:Node:1.0", "Node", members);
    const CORBA::TypeCode_var chain = node->member_type(1);
    const CORBA::TypeCode_var element = chain->content_type();
    EXPECT_EQ(element.in(), node.in());
    members[1].name = CORBA::string_dup("value");
    EXPECT_THROW((void)orb->create_struct_tc("IDL:Node:1.0", "Node", members), CORBA::BAD_PARAM);
    orb->destroy();
}

/// union U switch (long) { case -1: case 7: short s; default: string t; };
TEST(TypeCodeMaker, UnionsWithLabelsInAny)
{
    const CORBA::ORB_var orb = make_orb();
    CORBA::UnionMemberSeq members;
    members.length(3);
    for (CORBA::ULong i = 0; i < 2; ++i) {
        members[i].name = CORBA::string_dup("s");
        members[i].label <<= CORBA::Long(i == 0 ? -1 : 7);
        members[i].type = CORBA::TypeCode::_duplicate(CORBA::_tc_short);
    }
    members[2].name = CORBA::string_dup("t");
    members[2].label <<= CORBA::Any::from_octet(0);
    members[2].type = CORBA::TypeCode::_duplicate(CORBA::_tc_string);
    const CORBA::TypeCode_var type =
        orb->create_union_tc("IDL:U:1.0", "U", CORBA::_tc_long, members);
    EXPECT_EQ(type->default_index(), 2);
    EXPECT_EQ(type->member_count(), 3u);
    const CORBA::Any_var label = type->member_label(0);
    CORBA::Long number = 0;
    ASSERT_TRUE(label.in() >>= number);
    EXPECT_EQ(number, -1);

    const auto minor_of = [&](CORBA::TypeCode_ptr discriminator) {
        try {
            const CORBA::TypeCode_var made =
                orb->create_union_tc("IDL:U:1.0", "U", discriminator, members);
        } catch (const CORBA::BAD_PARAM& exception) {
            return exception.minor() & 0xFFF;
        }
        return CORBA::ULong{0xFFF};
    };
    EXPECT_EQ(minor_of(CORBA::_tc_short), 19u); // of another type
    EXPECT_EQ(minor_of(CORBA::_tc_double), 20u);
    EXPECT_EQ(minor_of(CORBA::TypeCode::_nil()), 0u);
    members[1].label <<= CORBA::Long(-1);
    EXPECT_EQ(minor_of(CORBA::_tc_long), 18u);
    members[1].label <<= CORBA::Any::from_octet(0);
    EXPECT_EQ(minor_of(CORBA::_tc_long), 18u); // two default members
    orb->destroy();
}

TEST(TypeCodeMaker, TheFactoryIsAnInitialReference)
{
    const CORBA::ORB_var orb = make_orb();
    const CORBA::Object_var object = orb->resolve_initial_references("TypeCodeFactory");
    const CORBA::TypeCodeFactory_var factory = CORBA::TypeCodeFactory::_narrow(object);
    ASSERT_NE(factory.in(), nullptr);
    CORBA::EnumMemberSeq names;
    names.length(2);
    names[0] = CORBA::string_dup("on");
    names[1] = CORBA::string_dup("off");
    const CORBA::TypeCode_var of_factory = factory->create_enum_tc("IDL:E:1.0", "E", names);
    const CORBA::TypeCode_var of_orb = orb->create_enum_tc("IDL:E:1.0", "E", names);
    EXPECT_TRUE(of_factory->equal(of_orb));
    EXPECT_EQ(of_orb->member_count(), 2u);
    const CORBA::ORB::ObjectIdList_var list = orb->list_initial_services();
    bool listed = false;
    for (const char* name : list.in())
        listed |= std::string_view(name) == "TypeCodeFactory";
    EXPECT_TRUE(listed);
    EXPECT_THROW(orb->register_initial_reference("TypeCodeFactory", object),
                 CORBA::ORB::InvalidName);
    orb->destroy();
}

/// Each operation makes the kind of its name, with the parameters given.
TEST(TypeCodeMaker, EveryOperation)
{
    const CORBA::ORB_var orb = make_orb();
    const auto kind = [](CORBA::TypeCode_ptr made) {
        const CORBA::TypeCode_var owner = made;
        return owner->kind();
    };
    const char* const id = "IDL:X:1.0";
    EXPECT_EQ(kind(orb->create_exception_tc(id, "X", {})), CORBA::tk_except);
    EXPECT_EQ(kind(orb->create_alias_tc(id, "X", CORBA::_tc_long)), CORBA::tk_alias);
    EXPECT_EQ(kind(orb->create_interface_tc(id, "X")), CORBA::tk_objref);
    EXPECT_EQ(kind(orb->create_abstract_interface_tc(id, "X")), CORBA::tk_abstract_interface);
    EXPECT_EQ(kind(orb->create_local_interface_tc(id, "X")), CORBA::tk_local_interface);
    EXPECT_EQ(kind(orb->create_component_tc(id, "X")), CORBA::tk_component);
    EXPECT_EQ(kind(orb->create_home_tc(id, "X")), CORBA::tk_home);
    EXPECT_EQ(kind(orb->create_native_tc(id, "X")), CORBA::tk_native);
    EXPECT_EQ(kind(orb->create_string_tc(3)), CORBA::tk_string);
    EXPECT_EQ(kind(orb->create_wstring_tc(3)), CORBA::tk_wstring);
    EXPECT_EQ(kind(orb->create_fixed_tc(5, 2)), CORBA::tk_fixed);
    EXPECT_EQ(kind(orb->create_array_tc(5, CORBA::_tc_long)), CORBA::tk_array);
    EXPECT_EQ(kind(orb->create_value_box_tc(id, "X", CORBA::_tc_long)), CORBA::tk_value_box);
    CORBA::ValueMemberSeq members;
    members.length(1);
    members[0].name = CORBA::string_dup("m");
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    members[0].access = CORBA::PUBLIC_MEMBER;
    const CORBA::TypeCode_var value =
        orb->create_value_tc(id, "X", CORBA::VM_CUSTOM, CORBA::_tc_ValueBase, members);
    EXPECT_EQ(value->kind(), CORBA::tk_value);
    EXPECT_EQ(value->type_modifier(), CORBA::VM_CUSTOM);
    EXPECT_EQ(value->member_visibility(0), CORBA::PUBLIC_MEMBER);
    EXPECT_EQ(kind(orb->create_event_tc(id, "X", CORBA::VM_NONE, value, members)), CORBA::tk_event);
    orb->destroy();
}

} // namespace
