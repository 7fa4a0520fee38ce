// SPDX-License-Identifier: Apache-2.0
//
// Values of every type of tests/interop/all_types, filled at random: what a DynAny gives are the
// octets of compiled code, as they came and built from nothing; graphs of values included.
#include "all_values.h"
#include "rebuild.h"

#include <gtest/gtest.h>

namespace dynany_test {
namespace {

CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        int argc = 1;
        char name[] = "test";
        char* argv[] = {name, nullptr};
        return CORBA::ORB_init(argc, argv, "random");
    }();
    return made.in();
}

da::DynAnyFactory_ptr factory()
{
    static const da::DynAnyFactory_var made = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("DynAnyFactory");
        return da::DynAnyFactory::_narrow(object);
    }();
    return made.in();
}

std::vector<std::byte> octets(const CORBA::Any& any)
{
    const kairos::cdr::Environment environment;
    kairos::cdr::Buffer buffer;
    kairos::cdr::Writer out(buffer);
    const kairos::cdr::Writer::CopyAll copies(out);
    out.set_environment(&environment);
    kairos::mapping::encode(out, any);
    return {out.contiguous().begin(), out.contiguous().end()};
}

const all::Pool& pool()
{
    static const all::Pool made = [] {
        all::Pool filled;
        filled.objects.emplace_back();
        filled.types.emplace_back(CORBA::TypeCode::_duplicate(CORBA::_tc_long));
        filled.types.emplace_back(CORBA::TypeCode::_duplicate(All::_tc_Person));
        filled.types.emplace_back(CORBA::TypeCode::_duplicate(All::_tc_Expression));
        return filled;
    }();
    return made;
}

template <typename T>
class Random : public testing::Test {
  protected:
    static void TearDownTestSuite() { all::NodeImpl::cut_all(); }
    static CORBA::Any value(std::uint32_t seed)
    {
        T made{};
        all::Filler filler(pool(), seed, true);
        all::visit(filler, made);
        CORBA::Any any;
        any <<= made;
        return any;
    }
};

using Types =
    testing::Types<All::Point, All::Priced, All::Point_s, All::Money_s, All::Name_s, All::Prose_s,
                   All::Wide_s, All::Color_s, All::Anything_s, All::TypeDescription_s, All::OnLong,
                   All::OnBoolean, All::OnChar, All::OnColor, All::OnShort, All::Price,
                   All::OnUnsignedShort, All::OnUnsignedLong, All::OnLongLong,
                   All::OnUnsignedLongLong, All::Small, All::Expression, All::Small_s,
                   All::OnColor_s, All::Tree, All::Person, All::Person_s4, All::OnValue,
                   All::Holding, All::Node_s, All::NameBox_s, All::Base_s4>;
TYPED_TEST_SUITE(Random, Types);

constexpr std::uint32_t seeds = 100;

TYPED_TEST(Random, ComesBackAsItWas)
{
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        const CORBA::Any any = this->value(seed);
        const da::DynAny_var object = factory()->create_dyn_any(any);
        const CORBA::Any_var back = object->to_any();
        ASSERT_EQ(octets(back.in()), octets(any)) << seed;
        const da::DynAny_var copy = object->copy();
        ASSERT_TRUE(copy->equal(object)) << seed;
    }
}

/// What is built is a tree: values that are there twice, or hold themselves, are another matter.
TYPED_TEST(Random, IsBuiltFromNothing)
{
    constexpr bool may_be_graph =
        std::is_same_v<TypeParam, All::OnValue> || std::is_same_v<TypeParam, All::Holding> ||
        std::is_same_v<TypeParam, All::Node_s> || std::is_same_v<TypeParam, All::NameBox_s> ||
        std::is_same_v<TypeParam, All::Base_s4>;
    if (may_be_graph) return;
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        const CORBA::Any any = this->value(seed);
        const da::DynAny_var object = factory()->create_dyn_any(any);
        const CORBA::TypeCode_var type = any.type();
        const da::DynAny_var built = factory()->create_dyn_any_from_type_code(type);
        rebuild(object, built);
        const CORBA::Any_var back = built->to_any();
        ASSERT_EQ(octets(back.in()), octets(any)) << seed;
    }
}

} // namespace
} // namespace dynany_test
