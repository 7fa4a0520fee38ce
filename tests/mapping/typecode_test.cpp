// SPDX-License-Identifier: Apache-2.0
//
// The TypeCodes that generated code states, and TypeCodes as members, elements and references.
#include "typecode.h"

#include <gtest/gtest.h>

namespace {

using CORBA::TypeCode_var;
using kairos::cdr::Buffer;
using kairos::cdr::Reader;
using kairos::cdr::Writer;

// Addresses are constants: other files' initialisers may use them.
constexpr const CORBA::TypeCode* address = &Coded::_kairos_tc_Node;

TEST(GeneratedTypeCodes, HaveIdsAndNames)
{
    EXPECT_STREQ(Coded::_tc_Count->id(), "IDL:kairos.test/Coded/Count:1.0");
    EXPECT_STREQ(Coded::_tc_Count->name(), "Count");
    EXPECT_EQ(TypeCode_var(Coded::_tc_Count->content_type()).in(), CORBA::_tc_long);
    EXPECT_EQ(_tc_Level->kind(), CORBA::tk_enum);
    EXPECT_STREQ(_tc_Level->member_name(1), "high");
    EXPECT_EQ(Coded::_tc_Place->kind(), CORBA::tk_objref);
    EXPECT_STREQ(Coded::Place::_tc_Lost->id(), "IDL:kairos.test/Coded/Place/Lost:1.0");
    EXPECT_EQ(Coded::Place::_tc_Lost->kind(), CORBA::tk_except);
    EXPECT_EQ(Coded::Place::_tc_Insides->kind(), CORBA::tk_alias);
    EXPECT_STREQ(Coded::Place::Inside::_tc_Deep->name(), "Deep");
    EXPECT_STREQ(Coded::_tc_class->name(), "class");
    EXPECT_STREQ(Coded::_tc_class->member_name(0), "int");
    EXPECT_TRUE(Coded::_tc_Twin->equivalent(Coded::_tc_Node));
    EXPECT_EQ(address, Coded::_tc_Node);
}

TEST(GeneratedTypeCodes, MembersOfEveryForm)
{
    const CORBA::TypeCode_ptr node = Coded::_tc_Node;
    ASSERT_EQ(node->member_count(), 5u);
    const TypeCode_var children = node->member_type(0);
    EXPECT_EQ(children.in(), Coded::_tc_Nodes);
    const TypeCode_var others = node->member_type(1);
    EXPECT_EQ(others->length(), 3u);
    EXPECT_EQ(TypeCode_var(others->content_type()).in(), node);
    EXPECT_EQ(TypeCode_var(node->member_type(2))->length(), 5u);
    const TypeCode_var rows = node->member_type(3);
    EXPECT_EQ(rows->length(), 2u);
    const TypeCode_var row = rows->content_type();
    EXPECT_EQ(row->length(), 3u);
    EXPECT_EQ(TypeCode_var(row->content_type()).in(), Included::_tc_Point); // of the other file
}

TEST(GeneratedTypeCodes, WhatCorbaHasNoKindFor)
{
    EXPECT_EQ(TypeCode_var(Coded::_tc_Tiny->content_type()).in(), CORBA::_tc_octet);
    const TypeCode_var unknown = Coded::_tc_Unknown->content_type();
    EXPECT_EQ(unknown->kind(), CORBA::tk_objref);
    EXPECT_STREQ(unknown->id(), "IDL:kairos.test/Coded/Undefined:1.0");
}

TEST(GeneratedTypeCodes, TravelAndComeBack)
{
    for (const CORBA::TypeCode_ptr type :
         {Coded::_tc_Node, Coded::_tc_Twin, Coded::Place::_tc_Insides, Coded::_tc_Typed}) {
        Buffer buffer;
        Writer out(buffer);
        kairos::types::encode_type_code(out, *type);
        Reader in(out.contiguous(), kairos::native_little_endian);
        const TypeCode_var back = kairos::types::decode_type_code(in);
        ASSERT_TRUE(in.ok());
        EXPECT_TRUE(type->equal(back));
    }
}

TEST(TypeCodeAsType, MembersAndElements)
{
    Coded::Typed typed;
    typed.type = CORBA::TypeCode::_duplicate(Coded::_tc_Node);
    typed.types.length(2);
    typed.types[0] = CORBA::TypeCode::_duplicate(CORBA::_tc_long);
    typed.types[1] = CORBA::TypeCode::_duplicate(Coded::_tc_Place);
    typed.pair[0] = CORBA::TypeCode::_duplicate(CORBA::_tc_string);
    typed.pair[1] = CORBA::TypeCode::_duplicate(_tc_Level);
    Buffer buffer;
    Writer out(buffer);
    kairos::mapping::encode(out, typed);
    Reader in(out.contiguous(), kairos::native_little_endian);
    Coded::Typed back;
    kairos::mapping::decode(in, back);
    ASSERT_TRUE(in.ok());
    EXPECT_TRUE(back.type->equal(Coded::_tc_Node));
    EXPECT_EQ(back.types[0], CORBA::_tc_long);
    EXPECT_TRUE(back.types[1]->equal(Coded::_tc_Place));
    EXPECT_TRUE(back.pair[1]->equal(_tc_Level));
    const Coded::Typed copy = back;
    back = Coded::Typed();
    EXPECT_STREQ(copy.type->name(), "Node");
    typed.pair[0] = CORBA::TypeCode::_nil();
    EXPECT_THROW(kairos::mapping::encode(out, typed), CORBA::BAD_PARAM);
}

TEST(TypeCodeAsType, SequencesOwnTheirElements)
{
    Coded::TypeList list(2);
    list.length(2);
    list[0] = Coded::_tc_Node->get_compact_typecode();
    const Coded::TypeList copy = list;
    list.length(0);
    EXPECT_STREQ(copy[0]->name(), "");
    EXPECT_EQ(copy[1], CORBA::TypeCode::_nil());
}

} // namespace
