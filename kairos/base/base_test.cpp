// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/bytes.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/log.h"
#include "kairos/base/operation_hash.h"
#include "kairos/base/result.h"
#include "kairos/base/shown.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace kairos {
namespace {

TEST(Bytes, SwapReversesEverySize)
{
    EXPECT_EQ(byteswap(std::uint8_t{0x12}), 0x12);
    EXPECT_EQ(byteswap(std::uint16_t{0x1234}), 0x3412);
    EXPECT_EQ(byteswap(std::uint32_t{0x12345678}), 0x78563412u);
    EXPECT_EQ(byteswap(std::uint64_t{0x0102030405060708}), 0x0807060504030201u);
    EXPECT_EQ(byteswap(byteswap(3.25)), 3.25);
}

TEST(Bytes, PaddingReachesTheNextMultiple)
{
    EXPECT_EQ(padding(0, 8), 0u);
    EXPECT_EQ(padding(1, 8), 7u);
    EXPECT_EQ(padding(8, 4), 0u);
    EXPECT_EQ(align_up(13, 4), 16u);
}

TEST(Shown, TextStaysAndWhatIsObeyedDoesNot)
{
    for (const char* text : {"", "plain text, \\ and 'quotes'", "Gr\xc3\xb6\xc3\x9f", // Latin
                             "\xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x9a\x80"}) {
        EXPECT_EQ(shown(text), text);
        EXPECT_TRUE(is_shown_as_it_is(text)) << text;
    }
    const std::pair<std::string_view, std::string_view> obeyed[] = {
        {"a\x1b[31mb", "a\\x1b[31mb"},
        {"two\r\nlines\t", "two\\x0d\\x0alines\\x09"},
        {std::string_view("\0", 1), "\\x00"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b", "\\xc2\\x9b"},          // U+009B, as ESC [
        {"\x9b", "\\x9b"},                   // the same in eight bits
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"}, // U+202E: right to left
        {"\xe2\x81\xa6", "\\xe2\\x81\\xa6"}, // U+2066
        {"\xe2\x80\xa8", "\\xe2\\x80\\xa8"}, // U+2028: the end of a line
        {"\xc0\x9b", "\\xc0\\x9b"},          // longer than it need be
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          // half of a pair
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, // beyond U+10FFFF
        {"\xe2\x82", "\\xe2\\x82"},                   // cut
        {"\xe2x", "\\xe2x"},
    };
    for (const auto& [text, expected] : obeyed) {
        EXPECT_EQ(shown(text), expected);
        EXPECT_FALSE(is_shown_as_it_is(text)) << expected;
        EXPECT_EQ(shown(shown(text)), expected); // twice is not too much
    }
    EXPECT_EQ(shown_lines("one\n\x1btwo\n\nthree"), "one\n\\x1btwo\n\nthree");
    EXPECT_EQ(shown_lines("one\n"), "one\n");
    EXPECT_EQ(shown_lines("\n"), "\n");
    EXPECT_EQ(shown_lines(""), "");
}

std::string last_line;

TEST(Log, ALineIsALineWhoeverWroteIt)
{
    log::set_sink([](log::Level, std::string_view line) { last_line = line; });
    log::warning("from a peer: \x1b[2J\nkairos error: forged");
    EXPECT_EQ(last_line, "from a peer: \\x1b[2J\\x0akairos error: forged");
    log::announce("\x9b");
    EXPECT_EQ(last_line, "\\x9b");
    log::warning("Gr\xc3\xb6\xc3\x9f");
    EXPECT_EQ(last_line, "Gr\xc3\xb6\xc3\x9f");
    log::set_sink(nullptr);
}

struct Counted : RefCounted {
    explicit Counted(int& deaths) : deaths_(deaths) {}
    ~Counted() override { ++deaths_; }
    int& deaths_;
};

TEST(IntrusivePtr, LastOwnerDeletes)
{
    int deaths = 0;
    {
        auto first = make_intrusive<Counted>(deaths);
        IntrusivePtr<Counted> second = first;
        first = {};
        EXPECT_EQ(deaths, 0);
    }
    EXPECT_EQ(deaths, 1);
}

TEST(OperationHash, NamesThatDifferAnywhereHaveDifferentDigests)
{
    EXPECT_NE(operation_digest("abcdefgh1abcdefgh"), operation_digest("abcdefgh2abcdefgh"));
    EXPECT_NE(operation_digest("a"), operation_digest("b"));
    EXPECT_NE(operation_digest(""), operation_digest("a"));
    EXPECT_LT(operation_slot(operation_digest("ping"), 0x9E3779B97F4A7C15u, 3), 8u);
}

TEST(Result, HoldsValueOrError)
{
    Result<int> value = 3;
    EXPECT_TRUE(value.ok());
    EXPECT_EQ(*value, 3);
    Result<int> error = Error{ErrorCode::not_found, "no such thing"};
    EXPECT_FALSE(error.ok());
    EXPECT_EQ(error.error().reason, "no such thing");
}

} // namespace
} // namespace kairos
