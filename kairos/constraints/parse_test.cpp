// SPDX-License-Identifier: Apache-2.0
//
// What is a constraint and what is none, in both languages, and what the user is told.
#include "kairos/constraints/constraint.h"

#include "kairos/constraints/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::constraints {
namespace {

std::string refused(std::string_view text, Language language = Language::extended)
{
    const auto constraint = Constraint::parse(text, language);
    if (constraint.ok()) return "accepted";
    EXPECT_EQ(constraint.error().code, ErrorCode::invalid_argument) << text;
    return constraint.error().reason;
}

bool accepted(std::string_view text, Language language = Language::extended)
{
    const auto constraint = Constraint::parse(text, language);
    return constraint.ok() || (ADD_FAILURE() << text << ": " << constraint.error().reason, false);
}

TEST(Parse, TakesTheTradersLanguage)
{
    for (const char* text : {"",
                             " \t\r\n",
                             "TRUE",
                             "not FALSE",
                             "price < 5",
                             "price<5 and exist name",
                             "(price + 2) * 3 - 4 / 5 >= 1.5e-3",
                             "name == 'Dave\\'s \\\\'",
                             "'Dave' ~ names",
                             "'red' in colors",
                             "a or b and not c",
                             "default == 3",
                             "min < max",
                             "a != -.5",
                             "a == 5.",
                             "a == 1E3",
                             "\\in == 4",
                             "-a < +3",
                             "- 3 == a",
                             "((((a))))",
                             "first == random",
                             "exist with",
                             "3 in a == TRUE"})
        EXPECT_TRUE(accepted(text, Language::trader)) << text;
}

TEST(Parse, TakesTheExtendedLanguage)
{
    for (const char* text : {"$domain_name == 'Telecom' and $type_name == 'CommunicationsAlarm'",
                             "$ == 3",
                             "$.header.fixed_header.event_type.domain_name == 'x'",
                             "$.a[3].b(c).(2)._d == 1",
                             "$.0.0.1 == 'x'",
                             "$curtime < 3",
                             "$.u.() == 1",
                             "$.u.(-2) > 1",
                             "$.u.(+2) > 1",
                             "$.u.('red') > 1",
                             "$.u.(red) > 1",
                             "$.list._length > 0",
                             "$._type_id == 'Alarm'",
                             "$._repos_id == 'IDL:Alarm:1.0'",
                             "exist $.a.b",
                             "default $.u",
                             "'x' in $.names",
                             "$.color == red",
                             "$.\\_length == 1",
                             "$.in.and.not == 1",
                             "$.filterable_data('a b') == 1",
                             "exist $",
                             "$ . a [ 2 ] ( b ) == 1",
                             "not ($.a == 5)"})
        EXPECT_TRUE(accepted(text)) << text;
}

TEST(Parse, SaysWhatIsWrongAndWhere)
{
    const struct {
        const char* text;
        const char* reason;
    } cases[] = {
        {"$.a =", "1:5: a comparison is written '=='"},
        {"$.a = 5", "1:5: a comparison is written '=='"},
        {"!$.a", "1:1: what is not equal is written '!=', a negation 'not'"},
        {"$.a == \"x\"", "1:8: strings are written in single quotes"},
        {"$.a == 'x", "1:8: this string does not end"},
        {"$.a == 'x\\n'", "1:10: a string has no escapes but \\' and \\\\"},
        {"$.a ==", "1:7: something is missing at the end"},
        {"$.a == and", "1:8: a value is needed here"},
        {"$.a == 5 6", "1:10: an operator, or the end, is needed here"},
        {"$.a == 5)", "1:9: no parenthesis is open here"},
        {"\n ($.a == 5", "2:2: this parenthesis is not closed"},
        {"1 < $.a < 3", "1:9: comparisons do not chain: join them by 'and'"},
        {"$.a == 12a", "1:8: a number ends with a digit"},
        {"$.a == 1e", "1:8: the exponent has no digits"},
        {"$.a == 18446744073709551616", "1:8: this number is beyond 64 bits"},
        {"$.a == -9223372036854775809", "1:8: this number is beyond 64 bits"},
        {"$.a == 1e999", "1:8: no double is as large or as small as this number"},
        {"$.a == - - 3", "1:10: one sign is enough"},
        {"$.a. == 3", "1:4: a component is needed behind '.'"},
        {"$.a[x] == 3", "1:5: digits are needed here"},
        {"$.a[4294967296] == 3", "1:5: this number is beyond 32 bits"},
        {"$.a[3 == 3", "1:7: ']' is needed behind the index"},
        {"$.a() == 3", "1:4: the name of a value is needed behind '('"},
        {"$.a.(1 == 3", "1:8: ')' is needed behind a label"},
        {"$.a._size == 3",
         "1:5: there are _length, _d, _type_id and _repos_id; a member's name that begins like "
         "that has '\\' in front"},
        {"'x' in names", "1:8: a component is needed here, with '$' in front"},
        {"exist a", "1:7: a component is needed here, with '$' in front"},
        {"$.a == \\", "1:8: a name is needed behind '\\'"},
        {"$.a == 3 # 4", "1:10: no constraint has this character"},
        {"5", "1:1: a constraint is TRUE or FALSE, which this is not"},
        {"5 and TRUE", "1:1: 'and' needs TRUE or FALSE, which this is not"},
        {"TRUE or 'x'", "1:9: 'or' needs TRUE or FALSE, which this is not"},
        {"not 5", "1:5: 'not' needs TRUE or FALSE, which this is not"},
        {"'a' + 1 == 3", "1:1: arithmetic needs a number, which this is not"},
        {"- 'a' == 3", "1:3: a sign needs a number, which this is not"},
        {"5 ~ $.a", "1:1: '~' needs strings, and this is none"},
        {"'a' == 5", "1:1: values of different types are never equal"},
        {"red == green", "1:8: an enumerator can only be compared with a component"},
        {"not $.a == 5", "1:1: what is TRUE or FALSE is compared with something else; 'not' and "
                         "comparisons need parentheses"},
    };
    for (const auto& [text, reason] : cases)
        EXPECT_EQ(refused(text), reason) << text;
    EXPECT_EQ(refused(std::string("$.a == 'x\0y'", 12)),
              "1:10: a string holds no character with the code 0");
}

TEST(Parse, KeepsTheLanguagesApart)
{
    EXPECT_EQ(refused("$.a == 5", Language::trader),
              "1:1: the trader's language has no '$': a property is named as it is");
    EXPECT_EQ(refused("exist 5", Language::trader), "1:7: the name of a property is needed here");
    EXPECT_EQ(refused("default a", Language::trader),
              "1:9: an operator, or the end, is needed here");
}

TEST(Parse, RendersADiagnosticAsCompilersDo)
{
    const std::string text = "$.a == 5 and\n\t$.b == red == 3";
    Diagnostic diagnostic;
    EXPECT_FALSE(Constraint::parse(text, Language::extended, {}, &diagnostic).ok());
    EXPECT_EQ(diagnostic.line, 2u);
    EXPECT_EQ(diagnostic.column, 13u);
    EXPECT_EQ(diagnostic.offset, 25u);
    EXPECT_EQ(diagnostic.length, 2u);
    EXPECT_EQ(diagnostic.render(text, "filter"),
              "filter:2:13: error: comparisons do not chain: join them by 'and'\n"
              "    2 | \t$.b == red == 3\n"
              "      | \t           ^~\n");
}

TEST(Parse, ShowsAWindowOfALongLine)
{
    const std::string text = std::string(500, ' ') + "\xC3\xA4" + std::string(500, '\a');
    Diagnostic diagnostic;
    EXPECT_FALSE(Constraint::parse(text, Language::extended, {}, &diagnostic).ok());
    const std::string shown = diagnostic.render(text);
    EXPECT_EQ(shown.substr(0, shown.find('\n')),
              "constraint:1:501: error: no constraint has this character");
    EXPECT_LT(shown.size(), 450u);
    EXPECT_EQ(shown.find('\a'), std::string::npos);
}

TEST(Parse, RefusesWhatIsBeyondItsLimits)
{
    const auto code = [](const std::string& text, const Limits& limits = {}) {
        const auto constraint = Constraint::parse(text, Language::extended, limits);
        return constraint.ok() ? std::string() : constraint.error().reason;
    };
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "TRUE" + std::string(depth, ')');
    };
    EXPECT_EQ(code(nested(64)), "");
    EXPECT_EQ(code(nested(65)), "1:65: parentheses are nested too deeply");
    EXPECT_EQ(code(nested(30'000)), "1:65: parentheses are nested too deeply");
    EXPECT_EQ(code(std::string(65'537, ' ')), "1:1: the text is longer than 65536 octets");
    EXPECT_EQ(code("TRUE", {.size_max = 4}), "");
    EXPECT_EQ(code("TRUE ", {.size_max = 4}), "1:1: the text is longer than 4 octets");

    std::string waiting = "0";
    for (int i = 0; i < 63; ++i)
        waiting = "1 + 1 * (" + waiting + ")";
    EXPECT_EQ(code(waiting + " == 1"), "");
    for (int i = 0; i < 50; ++i)
        waiting = "1 == 1 + 1 * (" + (i == 0 ? std::string("0") : waiting) + ")";
    EXPECT_EQ(code(waiting).substr(code(waiting).find(' ')),
              " too many operators wait for their right operands");
    for (const char* text : {"(((1)))", "TRUE "}) {
        const auto refusal = Constraint::parse(text, Language::extended, {.depth_max = 2});
        EXPECT_EQ(refusal.ok(), text[0] == 'T');
        if (!refusal.ok()) EXPECT_EQ(refusal.error().code, ErrorCode::limit_exceeded);
    }
}

TEST(Parse, TakesLongChainsInLittleStack)
{
    std::string text = "$.a == 0";
    for (int i = 0; text.size() < 60'000; ++i)
        text += " or $.a + 1 - 1 == " + std::to_string(i);
    EXPECT_TRUE(accepted(text));
}

TEST(Parse, FindsWhatMustBeEqual)
{
    const auto count = [](std::string_view text) {
        const auto constraint = Constraint::parse(text, Language::extended);
        if (!constraint.ok()) return std::ptrdiff_t{99};
        return std::ranges::count(constraint->program().needs, Relation::equal, &Need::relation);
    };
    EXPECT_EQ(count("$.a == 5"), 1);
    EXPECT_EQ(count("'x' == $.a"), 1);
    EXPECT_EQ(count("$.a == 5 and ($.b == red and $.c > 3) and TRUE == $d"), 3);
    EXPECT_EQ(count("$.a == -5 and $.b == (3)"), 2);
    EXPECT_EQ(count("$.a == 5 or $.b == 3"), 0);
    EXPECT_EQ(count("($.a == 5 or $.b == 3) and $.c == 1"), 1);
    EXPECT_EQ(count("$.a == 5 and $.b == 3 or TRUE"), 0);
    EXPECT_EQ(count("not ($.a == 5)"), 0);
    EXPECT_EQ(count("($.a == 5) == TRUE"), 0);
    EXPECT_EQ(count("($.a == 5 and $.b == 3) != TRUE"), 0);
    EXPECT_EQ(count("($.a == 5) in $.list"), 0);
    EXPECT_EQ(count("$.a != 5 and $.a == $.b and -$.a == 5 and $.a + 0 == 5"), 0);
    EXPECT_EQ(count("($.a == 5) + 1 == 2"), 0);
    EXPECT_EQ(count(""), 0);
}

TEST(Parse, FindsWhatOffersMustBe)
{
    const auto conditions = [](std::string_view text) {
        const auto constraint = Constraint::parse(text, Language::trader);
        if (!constraint.ok()) return constraint.error().reason;
        constexpr std::array<const char*, 5> signs{"==", "<", "<=", ">", ">="};
        std::string all;
        for (const Condition& condition : constraint->conditions()) {
            all += all.empty() ? "" : ", ";
            all +=
                std::string(condition.name) + signs[static_cast<std::size_t>(condition.relation)];
            all += condition.number ? std::to_string(static_cast<int>(*condition.number))
                                    : std::string(condition.text);
        }
        return all;
    };
    EXPECT_EQ("a==5, b<6", conditions("a == 5 and b < 6"));
    EXPECT_EQ("a>5, b>=6, c<7, d<=8", conditions("5 < a and 6 <= b and 7 > c and 8 >= d"));
    EXPECT_EQ("a>-1, b==x, c==1", conditions("(a > -1 and b == 'x') and c == TRUE"));
    EXPECT_EQ("c==1", conditions("(a > 1 or b < 2) and c == 1"));
    EXPECT_EQ("", conditions("not (a > 1) and a + 0 > 1 and a != 1 and (a < 1) == TRUE"));
    EXPECT_EQ("", conditions("a < 1 or TRUE"));
    EXPECT_EQ("", conditions(""));
}

TEST(Parse, TellsWhichNamesAreAskedFor)
{
    using Names = std::vector<std::string_view>;
    const auto names = [](std::string_view text, Language language) {
        const auto constraint = Constraint::parse(text, language);
        EXPECT_TRUE(constraint.ok());
        static std::vector<Constraint> kept; // the names are the constraint's
        kept.push_back(constraint.value());
        EXPECT_EQ(kept.back().text(), text);
        return kept.back().names();
    };
    EXPECT_EQ(names("b < 3 and exist \\in and (a in list or b > 5)", Language::trader),
              (Names{"a", "b", "in", "list"}));
    EXPECT_EQ(names("$b.c < 3 and $.x == red and 'y' in $a", Language::extended),
              (Names{"a", "b"}));
    EXPECT_EQ(names("", Language::trader), Names{});
    const auto preference = Preference::parse("min 2 * price + delay");
    ASSERT_TRUE(preference.ok());
    EXPECT_EQ(preference->names(), (Names{"delay", "price"}));
}

TEST(Parse, TakesPreferences)
{
    using Kind = Preference::Kind;
    const auto kind = [](std::string_view text) {
        const auto preference = Preference::parse(text);
        EXPECT_TRUE(preference.ok()) << text << ": " << preference.error().reason;
        return preference.ok() ? preference->kind() : Kind::first;
    };
    EXPECT_EQ(kind(""), Kind::first);
    EXPECT_EQ(kind(" first "), Kind::first);
    EXPECT_EQ(kind("max price"), Kind::max);
    EXPECT_EQ(kind("min 2 * price - max"), Kind::min);
    EXPECT_EQ(kind("with price < 5"), Kind::with);
    EXPECT_EQ(kind("random"), Kind::random);
    const auto why = [](std::string_view text) {
        const auto preference = Preference::parse(text);
        return preference.ok() ? "accepted" : preference.error().reason;
    };
    EXPECT_EQ(why("price"), "1:1: a preference begins with max, min, with, random or first");
    EXPECT_EQ(why("5"), "1:1: a preference begins with max, min, with, random or first");
    EXPECT_EQ(why("max"), "1:4: something is missing at the end");
    EXPECT_EQ(why("max 'x'"), "1:5: offers are ordered by a number, which this is not");
    EXPECT_EQ(why("with 5"), "1:6: a constraint is TRUE or FALSE, which this is not");
    EXPECT_EQ(why("random 5"), "1:8: nothing may follow this preference");
}

} // namespace
} // namespace kairos::constraints
