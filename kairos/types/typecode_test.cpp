// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_samples_testing.h"

#include "kairos/mapping/exception.h"

#include <gtest/gtest.h>

#include <cstring>

namespace {

using namespace kairos::types;
using namespace CORBA;
namespace samples = kairos::types::samples;

TypeCode_ptr of(const TypeCode& type) { return pointer(type); }

// Generated code relies on it: addresses are constants, and so is all the rest.
static_assert(std::is_trivially_destructible_v<TypeCode> && !std::is_polymorphic_v<TypeCode>);
static_assert(samples::point._kairos_raw().members[1].type == &_kairos_tc_double);

TEST(TypeCode, PredefinedOnesAreThere)
{
    EXPECT_EQ(_tc_short->kind(), tk_short);
    EXPECT_EQ(_tc_null->kind(), tk_null);
    EXPECT_EQ(_tc_TypeCode->kind(), tk_TypeCode);
    EXPECT_EQ(_tc_wstring->length(), 0u);
    EXPECT_STREQ(_tc_Object->id(), "IDL:omg.org/CORBA/Object:1.0");
    EXPECT_STREQ(_tc_BAD_PARAM->id(), "IDL:omg.org/CORBA/BAD_PARAM:1.0");
    const TypeCode_var completed = _tc_TIMEOUT->member_type(1);
    EXPECT_STREQ(completed->member_name(2), "COMPLETED_MAYBE");
    EXPECT_EQ(static_cast<ULong>(tk_local_interface), 33u);
    EXPECT_EQ(static_cast<ULong>(tk_event), 36u);
}

TEST(TypeCode, ParametersOfStructs)
{
    const TypeCode& point = samples::point;
    EXPECT_STREQ(point.id(), "IDL:Point:1.0");
    EXPECT_STREQ(point.name(), "Point");
    ASSERT_EQ(point.member_count(), 2u);
    EXPECT_STREQ(point.member_name(1), "y");
    EXPECT_EQ(TypeCode_var(point.member_type(0)).in(), _tc_short);
    EXPECT_THROW((void)point.member_name(2), TypeCode::Bounds);
    EXPECT_THROW((void)point.member_type(2), TypeCode::Bounds);
    EXPECT_THROW((void)point.discriminator_type(), TypeCode::BadKind);
    EXPECT_EQ(samples::empty.member_count(), 0u);
}

TEST(TypeCode, ParametersOfUnions)
{
    const TypeCode& choice = samples::choice;
    EXPECT_EQ(choice.default_index(), 3);
    EXPECT_EQ(choice._kairos_label(0), 2);
    EXPECT_THROW((void)choice._kairos_label(4), TypeCode::Bounds);
    EXPECT_EQ(TypeCode_var(choice.discriminator_type()).in(), of(samples::color_alias));
    EXPECT_EQ(samples::sign.default_index(), -1);
    EXPECT_EQ(samples::sign._kairos_label(0), -1);
}

TEST(TypeCode, ParametersOfTheOthers)
{
    EXPECT_EQ(samples::name.length(), 12u);
    EXPECT_EQ(samples::price.fixed_digits(), 9);
    EXPECT_EQ(samples::price.fixed_scale(), 2);
    EXPECT_EQ(samples::matrix.length(), 2u);
    EXPECT_EQ(TypeCode_var(samples::matrix.content_type()).in(), of(samples::vector));
    EXPECT_EQ(TypeCode_var(samples::box.content_type()).in(), of(samples::longs));
    EXPECT_EQ(TypeCode_var(samples::color_alias.content_type()).in(), of(samples::color));
    EXPECT_EQ(samples::special.type_modifier(), VM_TRUNCATABLE);
    EXPECT_EQ(TypeCode_var(samples::special.concrete_base_type()).in(), of(samples::link));
    EXPECT_EQ(TypeCode_var(samples::link.concrete_base_type()).in(), nullptr);
    EXPECT_EQ(samples::link.member_visibility(1), PRIVATE_MEMBER);
    EXPECT_THROW((void)samples::link.member_visibility(2), TypeCode::Bounds);
    EXPECT_THROW((void)samples::point.member_visibility(0), TypeCode::BadKind);
}

/// Every operation on every kind either has an answer or throws BadKind (8.11.1).
TEST(TypeCode, BadKindExactlyWhereTheKindHasNoSuchParameter)
{
    const auto throws = [](auto operation) {
        try {
            operation();
        } catch (const TypeCode::BadKind&) {
            return true;
        } catch (const TypeCode::Bounds&) {
        }
        return false;
    };
    const auto is_one_of = [](TCKind kind, std::initializer_list<TCKind> kinds) {
        for (const TCKind each : kinds)
            if (each == kind) return true;
        return false;
    };
    for (const TypeCode* type : samples::all) {
        const TCKind k = type->kind();
        SCOPED_TRACE(k);
        const bool named =
            is_one_of(k, {tk_objref, tk_struct, tk_union, tk_enum, tk_alias, tk_except, tk_value,
                          tk_value_box, tk_native, tk_abstract_interface, tk_local_interface,
                          tk_component, tk_home, tk_event});
        const bool typed = is_one_of(k, {tk_struct, tk_union, tk_except, tk_value, tk_event});
        const bool value = is_one_of(k, {tk_value, tk_event});
        EXPECT_EQ(throws([&] { (void)type->id(); }), !named);
        EXPECT_EQ(throws([&] { (void)type->name(); }), !named);
        EXPECT_EQ(throws([&] { (void)type->member_count(); }), !typed && k != tk_enum);
        EXPECT_EQ(throws([&] { (void)type->member_name(0); }), !typed && k != tk_enum);
        EXPECT_EQ(throws([&] { TypeCode_var(type->member_type(0)); }), !typed);
        EXPECT_EQ(throws([&] { TypeCode_var(type->discriminator_type()); }), k != tk_union);
        EXPECT_EQ(throws([&] { (void)type->default_index(); }), k != tk_union);
        EXPECT_EQ(throws([&] { (void)type->_kairos_label(0); }), k != tk_union);
        EXPECT_EQ(throws([&] { (void)type->length(); }),
                  !is_one_of(k, {tk_string, tk_wstring, tk_sequence, tk_array}));
        EXPECT_EQ(throws([&] { TypeCode_var(type->content_type()); }),
                  !is_one_of(k, {tk_sequence, tk_array, tk_value_box, tk_alias}));
        EXPECT_EQ(throws([&] { (void)type->fixed_digits(); }), k != tk_fixed);
        EXPECT_EQ(throws([&] { (void)type->fixed_scale(); }), k != tk_fixed);
        EXPECT_EQ(throws([&] { (void)type->member_visibility(0); }), !value);
        EXPECT_EQ(throws([&] { (void)type->type_modifier(); }), !value);
        EXPECT_EQ(throws([&] { TypeCode_var(type->concrete_base_type()); }), !value);
    }
}

TEST(TypeCode, EqualsItselfAlone)
{
    for (const TypeCode* left : samples::all)
        for (const TypeCode* right : samples::all) {
            EXPECT_EQ(left->equal(of(*right)), left == right)
                << left->kind() << " and " << right->kind();
        }
    EXPECT_THROW((void)_tc_short->equal(nullptr), BAD_PARAM);
    EXPECT_THROW((void)_tc_short->equivalent(nullptr), BAD_PARAM);
}

TEST(TypeCode, EquivalenceLooksThroughAliases)
{
    static constexpr TypeCode aliases{alias_type("IDL:Twice:1.0", "Twice", samples::color_alias)};
    EXPECT_TRUE(samples::color.equivalent(of(aliases)));
    EXPECT_TRUE(aliases.equivalent(of(samples::color)));
    EXPECT_FALSE(samples::color.equal(of(aliases)));
    EXPECT_EQ(&resolved(aliases), &samples::color);
    static constexpr TypeCode long_alias{alias_type("IDL:Count:1.0", "Count", _kairos_tc_long)};
    static constexpr TypeCode counts{sequence_type(long_alias, 0)};
    EXPECT_TRUE(counts.equivalent(of(samples::longs)));
    EXPECT_FALSE(counts.equal(of(samples::longs)));
}

TEST(TypeCode, IdsDecideEquivalenceWhereBothHaveOne)
{
    static constexpr TypeCodeMember names[] = {{"u", &_kairos_tc_short}, {"v", &_kairos_tc_double}};
    static constexpr TypeCode renamed{struct_type(tk_struct, "IDL:Point:1.0", "P", names)};
    static constexpr TypeCode other_id{struct_type(tk_struct, "IDL:Other:1.0", "Point", names)};
    static constexpr TypeCode no_id{struct_type(tk_struct, "", "", names)};
    static constexpr TypeCodeMember swapped[] = {{"u", &_kairos_tc_double},
                                                 {"v", &_kairos_tc_short}};
    static constexpr TypeCode other_structure{struct_type(tk_struct, "", "", swapped)};
    EXPECT_TRUE(samples::point.equivalent(of(renamed)));
    EXPECT_FALSE(samples::point.equal(of(renamed)));
    EXPECT_FALSE(samples::point.equivalent(of(other_id)));
    EXPECT_TRUE(samples::point.equivalent(of(no_id)));
    EXPECT_TRUE(other_id.equivalent(of(no_id)));
    EXPECT_FALSE(samples::point.equivalent(of(other_structure)));
    EXPECT_FALSE(samples::point.equivalent(of(samples::overflow))); // a struct and an exception
}

TEST(TypeCode, LabelsAndBoundsMatterToEquivalence)
{
    static constexpr std::int64_t labels[] = {-1, 2};
    static constexpr TypeCode other{
        union_type("", "", _kairos_tc_longlong, samples::sign_members, labels, -1)};
    static constexpr TypeCode same{
        union_type("", "", _kairos_tc_longlong, samples::sign_members, samples::sign_labels, -1)};
    EXPECT_FALSE(samples::sign.equivalent(of(other)));
    EXPECT_TRUE(samples::sign.equivalent(of(same)));
    static constexpr TypeCode bounded{sequence_type(_kairos_tc_long, 5)};
    EXPECT_FALSE(samples::longs.equivalent(of(bounded)));
    static constexpr TypeCode array{array_type(_kairos_tc_double, 4)};
    EXPECT_FALSE(samples::vector.equivalent(of(array)));
}

// The same recursive type as Node, unrolled once more and without ids: comparing must end.
extern const TypeCode outer_node;
constexpr TypeCode outer_nodes{sequence_type(outer_node, 0)};
constexpr TypeCodeMember inner_members[] = {{"", &_kairos_tc_string}, {"", &outer_nodes}};
constexpr TypeCode inner_node{struct_type(tk_struct, "", "", inner_members)};
constexpr TypeCode inner_nodes{sequence_type(inner_node, 0)};
constexpr TypeCodeMember outer_members[] = {{"", &_kairos_tc_string}, {"", &inner_nodes}};
constexpr TypeCode outer_node{struct_type(tk_struct, "", "", outer_members)};

TEST(TypeCode, RecursiveTypesAreComparedInFiniteTime)
{
    EXPECT_TRUE(outer_node.equivalent(of(samples::node)));
    EXPECT_TRUE(samples::nodes.equivalent(of(inner_nodes)));
    EXPECT_TRUE(outer_node.equal(of(inner_node)));
    EXPECT_FALSE(outer_node.equal(of(samples::node)));
}

TEST(TypeCode, CompactOnesHaveIdsButNoNames)
{
    for (const TypeCode* type : samples::all) {
        SCOPED_TRACE(type->kind());
        const TypeCode_var compact = type->get_compact_typecode();
        EXPECT_EQ(compact->kind(), type->kind());
        EXPECT_TRUE(compact->equivalent(of(*type)));
        const TypeCode_var again = compact->get_compact_typecode();
        EXPECT_TRUE(compact->equal(again));
    }
    const TypeCode_var compact = samples::choice.get_compact_typecode();
    EXPECT_STREQ(compact->id(), "IDL:Choice:1.0");
    EXPECT_STREQ(compact->name(), "");
    EXPECT_STREQ(compact->member_name(1), "");
    const TypeCode_var discriminator = compact->discriminator_type();
    EXPECT_EQ(discriminator->kind(), tk_alias); // aliases stay
    EXPECT_STREQ(discriminator->name(), "");
    EXPECT_FALSE(compact->equal(of(samples::choice)));
}

TEST(TypeCode, PartsOutliveTheWhole)
{
    TypeCode_var compact = samples::node.get_compact_typecode();
    TypeCode_var children = compact->member_type(1);
    compact = TypeCode::_nil();
    const TypeCode_var child = children->content_type();
    children = TypeCode::_nil();
    EXPECT_STREQ(child->id(), "IDL:Node:1.0");
    EXPECT_TRUE(child->equivalent(of(samples::node)));
}

} // namespace
