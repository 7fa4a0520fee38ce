// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_factory.h"

#include "kairos/mapping/exception.h"
#include "kairos/types/typecode_samples_testing.h"
#include "kairos/types/typecode_wire.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace {

using namespace CORBA;
using namespace kairos::types;
namespace samples = kairos::types::samples;

TypeCode_ptr of(const TypeCode& type) { return pointer(type); }

constexpr ULong nothing_thrown = 0xFFFF;

/// The minor code within its vendor's.
template <typename E>
ULong minor_of(const std::function<TypeCode_ptr()>& make)
{
    try {
        TypeCode_var made = make();
    } catch (const E& exception) {
        return exception.minor() & 0xFFF;
    }
    return nothing_thrown;
}

TEST(TypeCodeFactory, MakesWhatGeneratedCodeStates)
{
    const NewMember points[] = {{"x", _tc_short}, {"y", _tc_double}};
    const TypeCode_var point = make_struct(tk_struct, "IDL:Point:1.0", "Point", points);
    EXPECT_TRUE(point->equal(of(samples::point)));
    const TypeCode_var overflow = make_struct(tk_except, "IDL:Overflow:1.0", "Overflow", points);
    EXPECT_TRUE(overflow->equal(of(samples::overflow)));

    const NewMember colors[] = {{"red"}, {"green"}, {"blue"}};
    const TypeCode_var color = make_enum("IDL:Color:1.0", "Color", colors);
    EXPECT_TRUE(color->equal(of(samples::color)));
    const TypeCode_var colour = make_alias(tk_alias, "IDL:Colour:1.0", "Colour", color);
    EXPECT_TRUE(colour->equal(of(samples::color_alias)));

    const TypeCode_var name = make_text(tk_string, 12);
    const NewMember choices[] = {
        {"a", _tc_long, 2}, {"p", point, 0}, {"p", point, 1}, {"other", name, 0}};
    const TypeCode_var choice = make_union("IDL:Choice:1.0", "Choice", colour, choices, 3);
    EXPECT_TRUE(choice->equal(of(samples::choice)));

    const TypeCode_var vector = make_elements(tk_array, 3, _tc_double);
    EXPECT_TRUE(vector->equal(of(samples::vector)));
    const TypeCode_var price = make_fixed(9, 2);
    EXPECT_TRUE(price->equal(of(samples::price)));
    const TypeCode_var echo = make_named(tk_objref, "IDL:Echo:1.0", "Echo");
    EXPECT_TRUE(echo->equal(of(samples::echo)));
    const TypeCode_var box = make_alias(tk_value_box, "IDL:Box:1.0", "Box", of(samples::longs));
    EXPECT_TRUE(box->equal(of(samples::box)));
    EXPECT_EQ(make_text(tk_wstring, 0), _tc_wstring);
}

TEST(TypeCodeFactory, RecursiveStruct)
{
    const TypeCode_var place_holder = make_recursive("IDL:Node:1.0");
    EXPECT_THROW((void)place_holder->kind(), BAD_TYPECODE);
    const TypeCode_var children = make_elements(tk_sequence, 0, place_holder);
    const NewMember members[] = {{"label", _tc_string}, {"children", children}};
    TypeCode_var node = make_struct(tk_struct, "IDL:Node:1.0", "Node", members);
    EXPECT_TRUE(node->equal(of(samples::node)));
    EXPECT_TRUE(of(samples::node)->equal(node));
    // Now the place holder functions as the type, and keeps it.
    EXPECT_EQ(place_holder->kind(), tk_struct);
    node = TypeCode::_nil();
    EXPECT_STREQ(place_holder->name(), "Node");
    EXPECT_TRUE(children->equal(of(samples::nodes)));
    const TypeCode_var compact = children->get_compact_typecode();
    EXPECT_TRUE(compact->equivalent(of(samples::nodes)));
}

TEST(TypeCodeFactory, RecursiveValue)
{
    const TypeCode_var place_holder = make_recursive("IDL:Link:1.0");
    const NewMember members[] = {{"next", place_holder, PUBLIC_MEMBER},
                                 {"place", of(samples::point), PRIVATE_MEMBER}};
    const TypeCode_var link =
        make_value(tk_value, "IDL:Link:1.0", "Link", VM_NONE, nullptr, members);
    EXPECT_TRUE(link->equal(of(samples::link)));
    const TypeCode_var special =
        make_value(tk_value, "IDL:Special:1.0", "Special", VM_TRUNCATABLE, link, {});
    EXPECT_TRUE(special->equal(of(samples::special)));
    const TypeCode_var same =
        make_value(tk_value, "IDL:Link:1.0", "Link", VM_NONE, _tc_null, members);
    EXPECT_EQ(TypeCode_var(same->concrete_base_type()).in(), nullptr);
}

/// struct A { sequence<B> bs; }; struct B { sequence<A> as; union within; }: B is made first.
TEST(TypeCodeFactory, TypesThatContainEachOther)
{
    const TypeCode_var a_to_be = make_recursive("IDL:A:1.0");
    const TypeCode_var as = make_elements(tk_sequence, 0, a_to_be);
    const NewMember of_b[] = {{"as", as}};
    TypeCode_var b = make_struct(tk_struct, "IDL:B:1.0", "B", of_b);
    EXPECT_THROW((void)TypeCode_var(as->content_type())->kind(), BAD_TYPECODE);
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    EXPECT_EQ(minor_of<BAD_TYPECODE>([&] {
                  encode_type_code(out, *b);
                  return nullptr;
              }),
              1u);
    const TypeCode_var bs = make_elements(tk_sequence, 0, b);
    const NewMember of_a[] = {{"bs", bs}};
    TypeCode_var a = make_struct(tk_struct, "IDL:A:1.0", "A", of_a);
    // From A to A again, and the same from B.
    TypeCode_var way = a->member_type(0);
    for (int i = 0; i < 3; ++i) {
        way = way->content_type();
        way = way->member_type(0);
    }
    EXPECT_EQ(way->kind(), tk_sequence);
    way = b->member_type(0);
    way = way->content_type();
    EXPECT_TRUE(way->equal(a));
    out.reset(0);
    encode_type_code(out, *b);
    kairos::cdr::Reader in(out.contiguous(), kairos::native_little_endian);
    const TypeCode_var back = decode_type_code(in);
    ASSERT_TRUE(in.ok());
    EXPECT_TRUE(back->equal(b));
}

TEST(TypeCodeFactory, TypesThatContainThemselvesAreRefused)
{
    const TypeCode_var place_holder = make_recursive("IDL:S:1.0");
    const TypeCode_var array = make_elements(tk_array, 2, place_holder);
    const TypeCode_var alias = make_alias(tk_alias, "IDL:Alias:1.0", "Alias", array);
    const NewMember members[] = {{"self", alias}};
    EXPECT_EQ(
        minor_of<BAD_TYPECODE>([&] { return make_struct(tk_struct, "IDL:S:1.0", "S", members); }),
        2u);
    EXPECT_THROW((void)place_holder->kind(), BAD_TYPECODE); // stands for nothing still
    const NewMember of_union[] = {{"self", place_holder, 1}};
    EXPECT_EQ(minor_of<BAD_TYPECODE>(
                  [&] { return make_union("IDL:S:1.0", "S", _tc_long, of_union, -1); }),
              2u);
}

TEST(TypeCodeFactory, WrongNamesAndIds)
{
    const auto named = [](const char* id, const char* name) {
        return minor_of<BAD_PARAM>([&] { return make_named(tk_objref, id, name); });
    };
    EXPECT_EQ(named("IDL:X:1.0", "X"), nothing_thrown);
    EXPECT_EQ(named("IDL:X:1.0", ""), nothing_thrown);
    EXPECT_EQ(named("IDL:X:1.0", "1X"), 15u);
    EXPECT_EQ(named("IDL:X:1.0", "a b"), 15u);
    EXPECT_EQ(named("X", "X"), 16u);
    EXPECT_EQ(named("", "X"), 16u);
    EXPECT_EQ(named(":X", "X"), 16u);
    EXPECT_EQ(named("IDL:X:1.0", nullptr), 0u);
    EXPECT_EQ(named(nullptr, "X"), 0u);
    EXPECT_EQ(minor_of<BAD_PARAM>([&] { return make_recursive("nonsense"); }), 16u);
}

TEST(TypeCodeFactory, WrongMembers)
{
    const auto made = [](std::initializer_list<NewMember> members) {
        return [list = std::vector<NewMember>(members)] {
            return make_struct(tk_struct, "IDL:S:1.0", "S", list);
        };
    };
    EXPECT_EQ(minor_of<BAD_PARAM>(made({{"a", _tc_long}, {"b", _tc_long}})), nothing_thrown);
    EXPECT_EQ(minor_of<BAD_PARAM>(made({{"", _tc_long}, {"", _tc_long}})), nothing_thrown);
    EXPECT_EQ(minor_of<BAD_PARAM>(made({{"a", _tc_long}, {"A", _tc_long}})), 17u);
    EXPECT_EQ(minor_of<BAD_PARAM>(made({{"a-b", _tc_long}})), 17u);
    EXPECT_EQ(minor_of<BAD_PARAM>(made({{"a", nullptr}})), 0u);
    EXPECT_EQ(minor_of<BAD_TYPECODE>(made({{"a", _tc_void}})), 2u);
    EXPECT_EQ(minor_of<BAD_TYPECODE>(made({{"a", _tc_null}})), 2u);
    EXPECT_EQ(minor_of<BAD_TYPECODE>(made({{"a", _tc_BAD_PARAM}})), 2u);
    const NewMember enumerators[] = {{"red"}, {"RED"}};
    EXPECT_EQ(minor_of<BAD_PARAM>([&] { return make_enum("IDL:E:1.0", "E", enumerators); }), 17u);
    const NewMember hidden[] = {{"a", _tc_long, 2}};
    EXPECT_EQ(minor_of<BAD_PARAM>(
                  [&] { return make_value(tk_value, "IDL:V:1.0", "V", VM_NONE, nullptr, hidden); }),
              0u);
    EXPECT_EQ(minor_of<BAD_TYPECODE>(
                  [&] { return make_value(tk_value, "IDL:V:1.0", "V", VM_NONE, _tc_long, {}); }),
              2u);
}

TEST(TypeCodeFactory, WrongUnions)
{
    const auto made = [](TypeCode_ptr discriminator, std::initializer_list<NewMember> members,
                         Long default_index) {
        return minor_of<BAD_PARAM>([&] {
            return make_union("IDL:U:1.0", "U", discriminator, {members.begin(), members.size()},
                              default_index);
        });
    };
    EXPECT_EQ(made(_tc_long, {{"a", _tc_long, 1}, {"a", _tc_long, 2}}, -1), nothing_thrown);
    EXPECT_EQ(made(_tc_long, {{"a", _tc_long, 1}, {"b", _tc_long, 1}}, 1), nothing_thrown);
    EXPECT_EQ(made(_tc_long, {{"a", _tc_long, 1}, {"b", _tc_long, 1}}, -1), 18u);
    EXPECT_EQ(made(_tc_long, {{"a", _tc_long, 1}, {"b", _tc_long, 2}, {"a", _tc_long, 3}}, -1),
              17u);
    EXPECT_EQ(made(_tc_double, {{"a", _tc_long, 1}}, -1), 20u);
    EXPECT_EQ(made(nullptr, {{"a", _tc_long, 1}}, -1), 0u);
    EXPECT_EQ(made(_tc_long, {{"a", _tc_long, 1}}, 1), 0u);
    EXPECT_EQ(made(_tc_boolean, {{"a", _tc_long, 2}}, -1), 0u);
    EXPECT_EQ(made(of(samples::color_alias), {{"a", _tc_long, 3}}, -1), 0u);
    EXPECT_EQ(made(of(samples::color_alias), {{"a", _tc_long, 2}}, -1), nothing_thrown);
}

TEST(TypeCodeFactory, WrongNumbers)
{
    EXPECT_EQ(minor_of<BAD_PARAM>([] { return make_fixed(32, 2); }), 0u);
    EXPECT_EQ(minor_of<BAD_PARAM>([] { return make_fixed(5, 6); }), 0u);
    EXPECT_EQ(minor_of<BAD_PARAM>([] { return make_elements(tk_array, 0, _tc_long); }), 0u);
    EXPECT_EQ(minor_of<BAD_PARAM>([] { return make_elements(tk_sequence, 0, nullptr); }), 0u);
}

/// However long the chain of graphs, it is given back without a call for each.
TEST(TypeCodeFactory, LongChainsEnd)
{
    TypeCode_var chain = make_text(tk_string, 1);
    for (int i = 0; i < 200'000; ++i)
        chain = make_elements(tk_sequence, 0, chain);
    TypeCode_var other = make_text(tk_string, 1);
    for (int i = 0; i < 200'000; ++i)
        other = make_elements(tk_sequence, 0, other);
    EXPECT_TRUE(chain->equal(other));
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    EXPECT_THROW(encode_type_code(out, *chain), IMP_LIMIT);
}

TEST(TypeCodeFactory, CountsAreSharedByThreads)
{
    const NewMember points[] = {{"x", _tc_short}, {"y", _tc_double}};
    TypeCode_var type = make_struct(tk_struct, "IDL:Point:1.0", "Point", points);
    TypeCode_var list = make_elements(tk_sequence, 0, type);
    type = TypeCode::_nil();
    const auto use = [&list] {
        for (int i = 0; i < 1000; ++i) {
            const TypeCode_var mine = list;
            const TypeCode_var element = mine->content_type();
            ASSERT_EQ(element->member_count(), 2u);
        }
    };
    std::thread first(use);
    std::thread second(use);
    first.join();
    second.join();
}

} // namespace
