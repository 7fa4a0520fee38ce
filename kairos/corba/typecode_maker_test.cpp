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
