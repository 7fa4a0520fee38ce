// SPDX-License-Identifier: Apache-2.0
//
// Names of the Naming Service as text, both ways, and what is said about malformed ones.
#include "kairos/ior/name.h"

#include "kairos/ior/object_url.h"

#include <gtest/gtest.h>
#include <random>

namespace {

using namespace kairos;
using namespace kairos::ior;

struct Accepted {
    std::string text;
    Name name;
};

class AcceptedName : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedName, MeansTheNameAndIsItsText)
{
    const auto name = parse_name(GetParam().text);
    ASSERT_TRUE(name.ok()) << name.error().reason;
    EXPECT_EQ(name.value(), GetParam().name);
    EXPECT_EQ(to_string(name.value()), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Names, AcceptedName,
    testing::Values(Accepted{"a", {{"a", ""}}}, Accepted{"a.b", {{"a", "b"}}},
                    Accepted{".b", {{"", "b"}}}, Accepted{".", {{"", ""}}},
                    Accepted{"a.b/c/.d/.", {{"a", "b"}, {"c", ""}, {"", "d"}, {"", ""}}},
                    Accepted{"./././.", {{"", ""}, {"", ""}, {"", ""}, {"", ""}}},
                    Accepted{R"(a\.b)", {{"a.b", ""}}}, Accepted{R"(a\/b)", {{"a/b", ""}}},
                    Accepted{R"(a\\)", {{"a\\", ""}}},
                    Accepted{R"(a\\/b)", {{"a\\", ""}, {"b", ""}}},
                    Accepted{R"(\.\..\.\.)", {{"..", ".."}}},
                    Accepted{" a b .\tc", {{" a b ", "\tc"}}},
                    Accepted{"\xc3\xa9", {{"\xc3\xa9", ""}}}));

struct Refused {
    std::string text;
    std::string_view reason;
};

class RefusedName : public testing::TestWithParam<Refused> {};

TEST_P(RefusedName, SaysWhatIsWrongAndWhere)
{
    const auto name = parse_name(GetParam().text);
    ASSERT_FALSE(name.ok());
    EXPECT_EQ(name.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(name.error().reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Names, RefusedName,
    testing::Values(
        Refused{"", "name is empty"}, Refused{"/", "name: component is empty at character 1"},
        Refused{"/a", "name: component is empty at character 1"},
        Refused{"a/", "name: component is empty at character 3"},
        Refused{"a//b", "name: component is empty at character 3"},
        Refused{"a.", "name: nothing follows the '.' at character 2"},
        Refused{"a./b", "name: nothing follows the '.' at character 2"},
        Refused{"a.b.c", R"(name: second '.' in a component: write '\.' at character 4)"},
        Refused{"..", R"(name: second '.' in a component: write '\.' at character 2)"},
        Refused{"a\\", "name: backslash that is not before '/', '.' or another one at character 2"},
        Refused{R"(\a)",
                "name: backslash that is not before '/', '.' or another one at character 1"},
        Refused{std::string("a\0", 2), "name: NUL at character 2"}));

/// A field of the characters that matter.
std::string random_field(std::mt19937& random)
{
    constexpr std::string_view characters = "ab./\\ #%\n\xc3\xa9\x01\x7f";
    std::string field(random() % 6, '\0');
    for (char& c : field)
        c = characters[random() % characters.size()];
    return field;
}

TEST(Names, EveryNameComesBackFromItsTextAndFromItsUrl)
{
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
        Name name(1 + random() % 4);
        for (NameComponent& component : name)
            component = {random_field(random), random_field(random)};
        const std::string text = to_string(name);
        const auto parsed = parse_name(text);
        ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().reason;
        ASSERT_EQ(parsed.value(), name) << text;
        const auto url = to_corbaname(":host", name);
        ASSERT_TRUE(url.ok()) << url.error().reason;
        const auto parsed_url = parse_object_url(url.value());
        ASSERT_TRUE(parsed_url.ok()) << url.value();
        ASSERT_EQ(parsed_url.value().name, text);
    }
}

// No two texts mean the same: whoever compares names may compare texts.
TEST(Names, EveryAcceptedTextIsTheOneThatItsNameHas)
{
    constexpr std::string_view characters = "a./\\";
    std::size_t accepted = 0;
    for (std::size_t length = 1; length <= 7; ++length) {
        std::size_t count = 1;
        for (std::size_t i = 0; i < length; ++i)
            count *= characters.size();
        for (std::size_t number = 0; number < count; ++number) {
            std::string text;
            for (std::size_t rest = number; text.size() < length; rest /= characters.size())
                text += characters[rest % characters.size()];
            const auto name = parse_name(text);
            if (!name) continue;
            ++accepted;
            ASSERT_EQ(to_string(name.value()), text);
        }
    }
    EXPECT_GT(accepted, 100u);
}

} // namespace
