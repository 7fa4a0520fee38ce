// SPDX-License-Identifier: Apache-2.0
//
// Plain keys say what they are read as, and nothing else is taken for one.
#include "kairos/ior/plain_key.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos;
using ior::PersistentKey;

std::vector<std::byte> path_of(const std::vector<std::string_view>& names)
{
    std::vector<std::byte> path;
    for (const std::string_view name : names)
        path = PersistentKey::path_of(path, name);
    return path;
}

std::string plain(const std::vector<std::string_view>& names, std::string_view id)
{
    const auto path = path_of(names);
    return std::string(as_text(ior::plain_key({path, as_bytes(id)})));
}

/// "a|b:id", or "none" for what is no key.
std::string meaning(std::string_view text)
{
    Arena arena;
    const auto key = ior::parse_plain_key(as_bytes(text), arena);
    if (!key) return "none";
    std::string names;
    for (const std::string_view name : PersistentKey::names_of(key->path)) {
        if (!names.empty()) names += '|';
        names += name;
    }
    return names + ':' + std::string(as_text(key->id));
}

TEST(PlainKey, IsReadable)
{
    EXPECT_EQ(plain({"Factory", "Robots"}, "7"), "Factory/Robots/7");
    EXPECT_EQ(plain({"a/b", "50%"}, "x y"), "a%2fb/50%25/x%20y");
    EXPECT_EQ(plain({"", "b"}, std::string_view("\0\xc3", 2)), "/b/%00%c3");
    EXPECT_EQ(plain({"a"}, ""), "a/");
}

TEST(PlainKey, ComesBackAsItWas)
{
    std::string octets;
    for (int octet = 0; octet < 256; ++octet)
        octets += static_cast<char>(octet);
    const std::string_view any = octets;
    const std::vector<std::string_view> names{any.substr(1), "", "%2f", "//"};
    const auto path = path_of(names);
    const auto key = ior::plain_key({path, as_bytes(any)});
    Arena arena;
    const auto again = ior::parse_plain_key(key, arena);
    ASSERT_TRUE(again);
    EXPECT_EQ(as_text(again->path), as_text(path));
    EXPECT_EQ(as_text(again->id), any);
    EXPECT_TRUE(PersistentKey::parse(again->encode()));
}

TEST(PlainKey, EscapesMayBeManyOrFew)
{
    EXPECT_EQ(meaning("Factory/Robots/7"), "Factory|Robots:7");
    EXPECT_EQ(meaning("%46actory/Robots/%37"), "Factory|Robots:7");
    EXPECT_EQ(meaning("a%2Fb/x y"), "a/b:x y");
    EXPECT_EQ(meaning("a/%00"), std::string("a:\0", 3));
    EXPECT_EQ(meaning("a//"), "a|:");
}

TEST(PlainKey, RefusesWhatMeansNothing)
{
    for (const char* text : {"", "NameService", "%2f", "a/%", "a/%4", "a/%4g", "a/%g4", "%/b",
                             "a%4/b", "a%00/b", "%00KRP/b"})
        EXPECT_EQ(meaning(text), "none") << text;
    EXPECT_EQ(meaning(std::string(PersistentKey::name_size_max + 1, 'n') + "/x"), "none");
    EXPECT_EQ(meaning(std::string(PersistentKey::names_max + 1, '/')), "none");
}

} // namespace
