// SPDX-License-Identifier: Apache-2.0
//
// Types and values that a peer may have sent to harm: what they may cost has a limit.
#include "fixture.h"

#include <kairos/dynany/bounds.h>
#include <kairos/types/typecode_factory.h>

namespace dynany_test {
namespace {

CORBA::TypeCode_var array_of(CORBA::ULong length, CORBA::TypeCode_ptr element)
{
    return orb()->create_array_tc(length, element);
}

TEST(Hostile, ArraysOfNothingButALength)
{
    const CORBA::TypeCode_var octets_type = array_of(0xFFFF'FFFF, CORBA::_tc_octet);
    const da::DynAny_var array = dyn(octets_type.in());
    EXPECT_EQ(array->component_count(), 0xFFFF'FFFFu);
    EXPECT_THROW((void)array->to_any(), CORBA::IMP_LIMIT);
    EXPECT_THROW((void)array->current_component(), CORBA::IMP_LIMIT);
    const CORBA::TypeCode_var texts = array_of(0xFFFF'FFFF, CORBA::_tc_string);
    const da::DynAny_var of_texts = dyn(texts.in());
    EXPECT_THROW((void)of_texts->to_any(), CORBA::IMP_LIMIT);
    // Arrays of arrays multiply.
    CORBA::TypeCode_var type = array_of(1000, CORBA::_tc_string);
    type = array_of(1000, type.in());
    type = array_of(1000, type.in());
    EXPECT_THROW((void)dyn(type.in())->to_any(), CORBA::IMP_LIMIT);
}

TEST(Hostile, LengthsThatTheProgramWasTold)
{
    const da::DynAny_var texts = dyn(Kinds::_tc_Texts);
    EXPECT_THROW(as<da::DynSequence>(texts)->set_length(0xFFFF'FFFF), CORBA::IMP_LIMIT);
    EXPECT_EQ(texts->component_count(), 0u);
    as<da::DynSequence>(texts)->set_length(1000);
    EXPECT_EQ(texts->component_count(), 1000u);
}

TEST(Hostile, ComponentsAreCountedAndGivenBack)
{
    const da::DynAny_var texts = dyn(Kinds::_tc_Texts);
    const auto half = static_cast<CORBA::ULong>(kairos::dynany::components_max / 2 + 1);
    for (int i = 0; i < 3; ++i) {
        as<da::DynSequence>(texts)->set_length(half);
        EXPECT_THROW(as<da::DynSequence>(texts)->set_length(2 * half), CORBA::IMP_LIMIT);
        as<da::DynSequence>(texts)->set_length(0);
    }
}

TEST(Hostile, ManyNumbersAreKeptInOnePiece)
{
    CORBA::OctetSeq many;
    many.length(4 * static_cast<CORBA::ULong>(kairos::dynany::components_max));
    const da::DynAny_var object = dyn_of(many);
    EXPECT_EQ(object->component_count(), many.length());
    EXPECT_EQ(CORBA::OctetSeq_var(object->get_octet_seq())->length(), many.length());
    EXPECT_EQ(octets(object), octets(any_of(many)));
    EXPECT_THROW((void)object->current_component(), CORBA::IMP_LIMIT);
}

TEST(Hostile, DeepTypes)
{
    CORBA::TypeCode_var type = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    for (int i = 0; i < 100; ++i) {
        const std::string id = "IDL:S" + std::to_string(i) + ":1.0";
        const kairos::types::NewMember member{"m", type.in()};
        type = kairos::types::make_struct(CORBA::tk_struct, id.c_str(), "S", {&member, 1});
    }
    // Deeper than values may nest, as an Any is to have it.
    const da::DynAny_var object = dyn(type.in());
    EXPECT_THROW((void)object->to_any(), CORBA::MARSHAL);
}

TEST(Hostile, DeepAnys)
{
    CORBA::Any any = any_of(CORBA::Long(1));
    for (int i = 0; i < 200; ++i) {
        CORBA::Any outer;
        outer <<= any;
        any = outer;
    }
    const da::DynAny_var object = dyn(any);
    da::DynAny_var inner = object->get_dyn_any();
    EXPECT_EQ(kind_of(inner), CORBA::tk_any);
}

/// As deep as a program goes on; ended, when it is, without any stack.
constexpr int levels = 100'000;

TEST(Hostile, LongListsOfValues)
{
    const da::DynAny_var object = dyn(Kinds::_tc_Node);
    da::DynAny_var place = DynAny::_duplicate(object.in());
    for (int i = 0; i < levels; ++i) {
        as<da::DynValue>(place)->set_to_value();
        ASSERT_TRUE(place->seek(2));
        place = place->current_component();
    }
    EXPECT_THROW((void)object->to_any(), CORBA::IMP_LIMIT);
    EXPECT_THROW((void)object->copy(), CORBA::IMP_LIMIT);
    as<da::DynValue>(object)->set_to_null();
    EXPECT_THROW((void)place->type(), CORBA::OBJECT_NOT_EXIST);
}

TEST(Hostile, DeepStructs)
{
    da::DynAny_var object = dyn(Kinds::_tc_Tree);
    da::DynAny_var place = DynAny::_duplicate(object.in());
    for (int i = 0; i < levels; ++i) {
        ASSERT_TRUE(place->seek(1));
        const da::DynAny_var children = place->current_component();
        as<da::DynSequence>(children)->set_length(1);
        place = children->current_component();
    }
    EXPECT_THROW((void)object->to_any(), CORBA::IMP_LIMIT);
    object = DynAny::_nil(); // its last reference
    EXPECT_THROW((void)place->type(), CORBA::OBJECT_NOT_EXIST);
}

} // namespace
} // namespace dynany_test
