// SPDX-License-Identifier: Apache-2.0
//
// Values and types as JSON: each kind's form, what is refused and how that is said, and that
// nothing is lost on the way there and back, of random values of every type too.
#include "all_values.h"
#include "kairos/types/typecode_factory.h"
#include "kairos/types/typecode_samples_testing.h"
#include "tools/kairos/value_json.h"

#include <cstddef>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>

namespace kairos::tools {
namespace {

CORBA::ORB_ptr orb()
{
    static const CORBA::ORB_var made = [] {
        int argc = 0;
        return CORBA::ORB_init(argc, nullptr, "value-json");
    }();
    return made.in();
}

/// Knows the types of all_types.idl that a test names.
CORBA::TypeCode_ptr find_type(const std::string& name)
{
    for (const CORBA::TypeCode_ptr type : {All::_tc_Point, All::_tc_Person, All::_tc_Color})
        if (name == type->id() || name == std::string("All::") + type->name())
            return CORBA::TypeCode::_duplicate(type);
    return CORBA::TypeCode::_nil();
}

const ValueJson& values()
{
    static const ValueJson made(orb(), find_type);
    return made;
}

DynamicAny::DynAnyFactory_ptr factory()
{
    static const DynamicAny::DynAnyFactory_var made = [] {
        const CORBA::Object_var object = orb()->resolve_initial_references("DynAnyFactory");
        return DynamicAny::DynAnyFactory::_narrow(object);
    }();
    return made.in();
}

/// What the text is when it was read as a value of the type and written again.
std::string again(CORBA::TypeCode_ptr type, const std::string& text)
{
    const CORBA::Any_var value = values().value_of(parse_json(text), type);
    return values().json_of(value.in()).dump();
}

/// Why the text is no value of the type.
std::string refusal(CORBA::TypeCode_ptr type, const std::string& text)
{
    try {
        (void)values().value_of(parse_json(text), type);
        return "accepted";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

template <typename T>
std::string written(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return values().json_of(any).dump();
}

// --- Forms ---------------------------------------------------------------------------------------

TEST(ValueJson, NumbersAreNumbers)
{
    for (const char* text : {"0", "-32768", "32767"})
        EXPECT_EQ(again(CORBA::_tc_short, text), text);
    for (const char* text : {"0", "18446744073709551615"})
        EXPECT_EQ(again(CORBA::_tc_ulonglong, text), text);
    for (const char* text : {"-9223372036854775808", "9223372036854775807"})
        EXPECT_EQ(again(CORBA::_tc_longlong, text), text);
    for (const char* text : {"0.1", "-2.5", "1e-300", "\"NaN\"", "\"Infinity\"", "\"-Infinity\""})
        EXPECT_EQ(again(CORBA::_tc_double, text), text);
    EXPECT_EQ(again(CORBA::_tc_float, "0.1"), "0.1"); // and not 0.10000000149011612
    EXPECT_EQ(again(CORBA::_tc_double, "7"), "7.0");
    EXPECT_EQ(again(CORBA::_tc_longdouble, "\"0.1\""), "\"0.100000000000000000001\"");
    EXPECT_EQ(again(CORBA::_tc_longdouble, "0.5"), "0.5");
    EXPECT_EQ(again(CORBA::_tc_boolean, "true"), "true");
    EXPECT_EQ(again(CORBA::_tc_octet, "255"), "255");

    EXPECT_EQ(refusal(CORBA::_tc_short, "32768"), "32768 is no short");
    EXPECT_EQ(refusal(CORBA::_tc_octet, "-1"), "-1 is no octet");
    EXPECT_EQ(refusal(CORBA::_tc_long, "1.5"), "1.5 is no long");
    EXPECT_EQ(refusal(CORBA::_tc_ulonglong, "18446744073709551616"),
              "1.8446744073709552e+19 is no unsigned long long");
    EXPECT_EQ(refusal(CORBA::_tc_float, "1e300"), "1e+300 is no float");
    EXPECT_EQ(refusal(CORBA::_tc_double, "\"much\""), "\"much\" is no double");
    EXPECT_EQ(refusal(CORBA::_tc_boolean, "1"), "1 is no boolean");
}

TEST(ValueJson, TextIsTextAndWhatIsNoneItsOctets)
{
    EXPECT_EQ(again(CORBA::_tc_string, R"("Gr\u00fc\u00dfe \"1\"\n")"), "\"Grüße \\\"1\\\"\\n\"");
    EXPECT_EQ(again(CORBA::_tc_string, R"({"octets":"e9c3"})"), R"({"octets":"e9c3"})");
    EXPECT_EQ(again(CORBA::_tc_char, "\"x\""), "\"x\"");
    EXPECT_EQ(again(CORBA::_tc_char, R"({"octets":"e9"})"), R"({"octets":"e9"})");
    EXPECT_EQ(again(CORBA::_tc_wchar, "\"€\""), "\"€\"");
    EXPECT_EQ(again(CORBA::_tc_wchar, "55296"), "55296"); // half of a pair
    EXPECT_EQ(again(CORBA::_tc_wstring, "\"€ 𝄞\""), "\"€ 𝄞\"");
    EXPECT_EQ(again(CORBA::_tc_wstring, "[8364,55296]"), "[8364,55296]");
    const CORBA::TypeCode_var four = types::make_text(CORBA::tk_string, 4);
    EXPECT_EQ(again(four.in(), "\"1234\""), "\"1234\"");

    EXPECT_EQ(refusal(four.in(), "\"12345\""), "\"12345\" is no string<4>");
    EXPECT_EQ(refusal(CORBA::_tc_char, "\"xy\""), "\"xy\" is no char");
    EXPECT_EQ(refusal(CORBA::_tc_string, "7"), "7 is no string");
    EXPECT_EQ(refusal(CORBA::_tc_string, "\"a\\u0000b\""), "no string may hold the character 0");
}

TEST(ValueJson, FixedAndEnumAreText)
{
    const CORBA::TypeCode_var money = types::make_fixed(5, 2);
    EXPECT_EQ(again(money.in(), "\"123.45\""), "\"123.45\"");
    EXPECT_EQ(again(money.in(), "1.5"), "\"1.5\"");
    EXPECT_EQ(refusal(money.in(), "\"12345.6\""), "\"12345.6\" is no fixed<5,2>");

    const std::string first = All::_tc_Color->member_name(0);
    EXPECT_EQ(again(All::_tc_Color, '"' + first + '"'), '"' + first + '"');
    EXPECT_EQ(refusal(All::_tc_Color, "\"mauve\"").find("\"mauve\" is none of Color: " + first), 0U)
        << refusal(All::_tc_Color, "\"mauve\"");
}

TEST(ValueJson, MembersKeepTheirNamesAndOrder)
{
    const types::NewMember members[] = {{.name = "z", .type = CORBA::_tc_long},
                                        {.name = "a", .type = CORBA::_tc_string}};
    const CORBA::TypeCode_var pair =
        types::make_struct(CORBA::tk_struct, "IDL:Pair:1.0", "Pair", members);
    EXPECT_EQ(again(pair.in(), R"({"a":"x","z":1})"), R"({"z":1,"a":"x"})");
    EXPECT_EQ(refusal(pair.in(), R"({"z":1})"), "member 'a' of Pair is missing");
    EXPECT_EQ(refusal(pair.in(), R"({"z":1,"a":"x","b":2})"), "Pair has only these members: z, a");
    EXPECT_EQ(refusal(pair.in(), R"({"z":"one","a":"x"})"), "z: \"one\" is no long");

    const CORBA::TypeCode_var pairs = types::make_elements(CORBA::tk_sequence, 2, pair.in());
    EXPECT_EQ(again(pairs.in(), R"([{"z":1,"a":"x"}])"), R"([{"z":1,"a":"x"}])");
    EXPECT_EQ(refusal(pairs.in(), R"([{"z":1,"a":"x"},{"z":1,"a":2}])"), "[1].a: 2 is no string");
    EXPECT_EQ(refusal(pairs.in(), "[1,2,3]"), "3 elements where there are at most 2");
}

TEST(ValueJson, OctetsAreHexadecimal)
{
    const CORBA::TypeCode_var octets =
        types::make_elements(CORBA::tk_sequence, 0, CORBA::_tc_octet);
    EXPECT_EQ(again(octets.in(), "\"00ff7f\""), "\"00ff7f\"");
    EXPECT_EQ(again(octets.in(), "[0,255,127]"), "\"00ff7f\"");
    EXPECT_EQ(again(octets.in(), "\"\""), "\"\"");
    EXPECT_EQ(refusal(octets.in(), "\"0\""), "octets are an even number of hexadecimal digits");
    EXPECT_EQ(refusal(octets.in(), "[256]"), "[0]: 256 is no octet");
    const CORBA::TypeCode_var two = types::make_elements(CORBA::tk_array, 2, CORBA::_tc_octet);
    EXPECT_EQ(again(two.in(), "\"0102\""), "\"0102\"");
    EXPECT_EQ(refusal(two.in(), "\"010203\""), "3 elements where there are 2");
}

TEST(ValueJson, UnionsSayTheirDiscriminatorAndMayLeaveItOut)
{
    const types::NewMember members[] = {{.name = "n", .type = CORBA::_tc_long, .number = 1},
                                        {.name = "n", .type = CORBA::_tc_long, .number = 2},
                                        {.name = "t", .type = CORBA::_tc_string, .number = 3}};
    const CORBA::TypeCode_var choice =
        types::make_union("IDL:Choice:1.0", "Choice", CORBA::_tc_short, members, -1);
    EXPECT_EQ(again(choice.in(), R"({"_d":2,"n":5})"), R"({"_d":2,"n":5})");
    EXPECT_EQ(again(choice.in(), R"({"n":5})"), R"({"_d":1,"n":5})");
    EXPECT_EQ(again(choice.in(), R"({"_d":9})"), R"({"_d":9})");
    EXPECT_EQ(refusal(choice.in(), R"({"_d":3,"n":5})"), "Choice has the member 't' for this '_d'");
    EXPECT_EQ(refusal(choice.in(), R"({"_d":9,"n":5})"), "Choice has no member for this '_d'");
    EXPECT_EQ(refusal(choice.in(), "{}"), "{} is no Choice");
    const CORBA::TypeCode_var rest =
        types::make_union("IDL:Rest:1.0", "Rest", CORBA::_tc_short, members, 2);
    const std::string otherwise = again(rest.in(), R"({"t":"x"})");
    EXPECT_NE(otherwise.find(R"("t":"x")"), std::string::npos) << otherwise;
}

TEST(ValueJson, AnysSayTheirTypes)
{
    EXPECT_EQ(again(CORBA::_tc_any, R"({"type":"unsigned short","value":7})"),
              R"({"type":"unsigned short","value":7})");
    EXPECT_EQ(again(CORBA::_tc_any, "null"), "null");
    EXPECT_EQ(again(CORBA::_tc_any, R"({"type":"All::Color","value":")" +
                                        std::string(All::_tc_Color->member_name(1)) + R"("})"),
              R"({"type":")" + std::string(All::_tc_Color->id()) + R"(","value":")" +
                  All::_tc_Color->member_name(1) + R"("})");
    const std::string unknown =
        R"({"type":{"kind":"struct","id":"IDL:New:1.0","name":"New","members":[{"name":"x",)"
        R"("type":"long"}]},"value":{"x":1}})";
    EXPECT_EQ(again(CORBA::_tc_any, unknown), unknown);
    EXPECT_EQ(refusal(CORBA::_tc_any, R"({"type":"All::Nothing","value":1})"),
              "there is no type 'All::Nothing'");
    EXPECT_EQ(refusal(CORBA::_tc_any, R"({"type":"long","value":"x"})"), "value: \"x\" is no long");
}

TEST(ValueJson, ReferencesAreText)
{
    EXPECT_EQ(again(CORBA::_tc_Object, "null"), "null");
    const std::string made = again(CORBA::_tc_Object, "\"corbaloc::127.0.0.1:4711/Key\"");
    EXPECT_EQ(made.find("\"IOR:"), 0U) << made;
    EXPECT_EQ(again(CORBA::_tc_Object, made), made);
    EXPECT_NE(refusal(CORBA::_tc_Object, "\"nonsense\"").find("BAD_PARAM"), std::string::npos)
        << refusal(CORBA::_tc_Object, "\"nonsense\"");
}

TEST(ValueJson, ReferencesAreReadByWhoMayDecide)
{
    const auto find_object = [](const std::string& text) -> CORBA::Object_ptr {
        if (text != "nobody") throw std::runtime_error("not this one");
        return CORBA::Object::_nil();
    };
    const ValueJson careful(orb(), find_type, {.find_object = find_object});
    const CORBA::Any_var nil = careful.value_of("nobody", CORBA::_tc_Object);
    EXPECT_EQ(careful.json_of(nil.in()), Json());
    const auto refused = [&](const Json& json, CORBA::TypeCode_ptr type) -> std::string {
        try {
            (void)careful.value_of(json, type);
            return "accepted";
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    };
    EXPECT_EQ(refused("corbaloc::localhost:1/A", CORBA::_tc_Object), "not this one");
    EXPECT_EQ(
        refused(parse_json(R"({"type":"Object","value":"file:///etc/passwd"})"), CORBA::_tc_any),
        "value: not this one");
}

TEST(ValueJson, HowManyOctetsIsBounded)
{
    const auto any_of = [](const std::string& json, CORBA::TypeCode_ptr type) {
        return values().value_of(parse_json(json), type);
    };
    const auto is_refused = [](const CORBA::Any& any, std::size_t octets_max) {
        JsonBudget budget(octets_max);
        const ValueJson bounded(orb(), find_type, {.budget = &budget});
        try {
            (void)bounded.json_of(any);
            return false;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), fmt::format("it has more than {} octets as JSON", octets_max));
            EXPECT_TRUE(budget.is_empty());
            return true;
        }
    };
    // Few octets on the wire, whose members have long names; text that must be escaped; octets,
    // which have two digits each; a type, beside a value that has nothing.
    const std::string name(1000, 'n');
    const std::string type =
        R"({"kind":"struct","id":"IDL:L:1.0","name":"L","members":[{"name":")" + name +
        R"(","type":"octet"}]})";
    const CORBA::TypeCode_var sequence =
        type_of(parse_json(R"({"kind":"sequence","element":)" + type + "}"), {});
    const CORBA::TypeCode_var octets =
        type_of(parse_json(R"({"kind":"sequence","element":"octet"})"), {});
    const std::string element = R"({")" + name + R"(":1})";
    const CORBA::Any_var elements =
        any_of("[" + element + "," + element + "," + element + "]", sequence.in());
    EXPECT_FALSE(is_refused(elements.in(), 4000));
    EXPECT_TRUE(is_refused(elements.in(), 3000));
    const CORBA::Any_var text = any_of(Json(std::string(1000, '\1')).dump(), CORBA::_tc_string);
    EXPECT_FALSE(is_refused(text.in(), 7000));
    EXPECT_TRUE(is_refused(text.in(), 6000));
    const CORBA::Any_var digits = any_of(Json(std::string(2000, '0')).dump(), octets.in());
    EXPECT_FALSE(is_refused(digits.in(), 2500));
    EXPECT_TRUE(is_refused(digits.in(), 2000));
    const CORBA::Any_var typed = any_of(
        R"({"type":{"kind":"sequence","element":)" + type + R"(},"value":[]})", CORBA::_tc_any);
    EXPECT_FALSE(is_refused(typed.in(), 3000));
    EXPECT_TRUE(is_refused(typed.in(), 1000));
}

TEST(ValueJson, AllValuesHaveOneBudget)
{
    JsonBudget budget(1000);
    const ValueJson bounded(orb(), find_type, {.budget = &budget});
    CORBA::Any any;
    any <<= std::string(300, 'a').c_str();
    const JsonBudget before = budget;
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(bounded.json_of(any), Json(std::string(300, 'a')));
    EXPECT_THROW((void)bounded.json_of(any), std::runtime_error);
    any <<= CORBA::Long{1};
    EXPECT_THROW((void)bounded.json_of(any), std::runtime_error); // nothing is left
    budget = before;
    EXPECT_EQ(bounded.json_of(any), 1);
}

TEST(ValueJson, HowDeepIsBounded)
{
    const std::string deep(json_depth_max, '[');
    EXPECT_EQ(parse_json(deep + std::string(json_depth_max, ']')).size(), 1U);
    EXPECT_THROW((void)parse_json('[' + deep + std::string(json_depth_max + 1, ']')),
                 std::runtime_error);
    // Stays so where nobody closes them.
    EXPECT_THROW((void)parse_json(std::string(10'000'000, '[')), std::runtime_error);
}

// --- There and back ------------------------------------------------------------------------------

TEST(TypeJson, IsTheSameTypeAgain)
{
    for (const CORBA::TypeCode* sample : types::samples::all) {
        const CORBA::TypeCode_var again = type_of(json_of(*sample), find_type);
        EXPECT_TRUE(again->equal(types::pointer(*sample))) << json_of(*sample).dump();
    }
}

template <typename T>
class RandomJson : public testing::Test {
  protected:
    static void TearDownTestSuite() { all::NodeImpl::cut_all(); }
};

using Types =
    testing::Types<All::Point, All::Priced, All::Point_s, All::Money_s, All::Name_s, All::Prose_s,
                   All::Wide_s, All::Color_s, All::Anything_s, All::TypeDescription_s, All::OnLong,
                   All::OnBoolean, All::OnChar, All::OnColor, All::OnShort, All::Price,
                   All::OnUnsignedShort, All::OnUnsignedLong, All::OnLongLong,
                   All::OnUnsignedLongLong, All::Small, All::Expression, All::Small_s,
                   All::OnColor_s, All::Tree, All::Person, All::Person_s4>;
TYPED_TEST_SUITE(RandomJson, Types);

/// Values of valuetypes are graphs, and JSON is a tree: they are not among these.
TYPED_TEST(RandomJson, ComesBackAsItWas)
{
    all::Pool pool;
    pool.objects.emplace_back();
    pool.types.emplace_back(CORBA::TypeCode::_duplicate(CORBA::_tc_long));
    pool.types.emplace_back(CORBA::TypeCode::_duplicate(All::_tc_Person));
    pool.types.emplace_back(CORBA::TypeCode::_duplicate(All::_tc_Expression));
    for (std::uint32_t seed = 0; seed < 50; ++seed) {
        TypeParam made{};
        all::Filler filler(pool, seed, true);
        all::visit(filler, made);
        CORBA::Any any;
        any <<= made;
        const CORBA::TypeCode_var type = any.type();
        const std::string text =
            values().json_of(any).dump(-1, ' ', false, Json::error_handler_t::strict);
        const CORBA::Any_var back = values().value_of(parse_json(text), type.in());
        // Octets may differ in how types of anys are written.
        const DynamicAny::DynAny_var one = factory()->create_dyn_any(any);
        const DynamicAny::DynAny_var other = factory()->create_dyn_any(back.in());
        ASSERT_TRUE(one->equal(other.in())) << seed << ": " << text;
    }
}

} // namespace
} // namespace kairos::tools
