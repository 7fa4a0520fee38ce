// SPDX-License-Identifier: Apache-2.0
//
// Kairos's object keys: their octets are fixed, and nothing else is taken for one.
#include "kairos/ior/object_key.h"

#include <gtest/gtest.h>

namespace {

using kairos::Bytes;
using kairos::ior::ObjectKey;
using kairos::ior::PersistentKey;

constexpr ObjectKey sample{.incarnation = 0x0102030405060708,
                           .adapter = 0x11121314,
                           .slot = 0x21222324,
                           .generation = 0x31323334};

TEST(ObjectKey, HasTheSameOctetsOnEveryMachine)
{
    const std::array<std::uint8_t, 24> expected = {0x00, 'K',  'R',  'O',  0x08, 0x07, 0x06, 0x05,
                                                   0x04, 0x03, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11,
                                                   0x24, 0x23, 0x22, 0x21, 0x34, 0x33, 0x32, 0x31};
    const auto octets = sample.encode();
    EXPECT_EQ(std::memcmp(octets.data(), expected.data(), expected.size()), 0);
}

TEST(ObjectKey, ComesBackAsItWas)
{
    for (const ObjectKey& key : {sample, ObjectKey{}, ObjectKey{~0ULL, ~0U, ~0U, ~0U}})
        EXPECT_EQ(ObjectKey::parse(key.encode()), key);
}

TEST(ObjectKey, WhatFollowsIsTheId)
{
    std::array<std::byte, 48> octets{};
    const auto key = sample.encode();
    std::copy(key.begin(), key.end(), octets.begin());
    for (std::size_t size = 0; size <= octets.size(); ++size) {
        const Bytes given = Bytes(octets).first(size);
        ASSERT_EQ(ObjectKey::parse(given).has_value(), size >= ObjectKey::size);
        if (size < ObjectKey::size) continue;
        EXPECT_EQ(ObjectKey::id_in(given).size(), size - ObjectKey::size);
    }
    EXPECT_FALSE(ObjectKey::parse(Bytes{}));
}

TEST(ObjectKey, TheSlotDoesNotMatterWhereThereIsAnId)
{
    const auto with_id = [](ObjectKey key, std::string_view id) {
        const auto head = key.encode();
        std::vector<std::byte> octets(head.begin(), head.end());
        for (const char c : id)
            octets.push_back(static_cast<std::byte>(c));
        return octets;
    };
    ObjectKey elsewhere = sample;
    elsewhere.slot = ObjectKey::no_slot;
    EXPECT_TRUE(ObjectKey::same_object(with_id(sample, "a"), with_id(elsewhere, "a")));
    EXPECT_EQ(ObjectKey::hash(with_id(sample, "a")), ObjectKey::hash(with_id(elsewhere, "a")));
    EXPECT_FALSE(ObjectKey::same_object(with_id(sample, "a"), with_id(sample, "b")));
    EXPECT_FALSE(ObjectKey::same_object(with_id(sample, "a"), with_id(sample, "")));
    EXPECT_FALSE(ObjectKey::same_object(with_id(sample, ""), with_id(elsewhere, "")));
    elsewhere = sample;
    ++elsewhere.adapter;
    EXPECT_FALSE(ObjectKey::same_object(with_id(sample, "a"), with_id(elsewhere, "a")));
    const std::string_view foreign = "a key of another ORB, longer than ours are";
    EXPECT_TRUE(ObjectKey::same_object(kairos::as_bytes(foreign), kairos::as_bytes(foreign)));
    EXPECT_FALSE(
        ObjectKey::same_object(kairos::as_bytes(foreign), kairos::as_bytes(foreign.substr(0, 30))));
}

TEST(PersistentKey, PathsAndIds)
{
    std::vector<std::byte> path;
    for (const std::string_view name : {"accounts", "", "current"})
        path = PersistentKey::path_of(path, name);
    const auto octets = PersistentKey{path, kairos::as_bytes("4711")}.encode();
    const std::string_view expected("\0KRP\0\x03\0\x08"
                                    "accounts\0\0\0\x07"
                                    "current4711",
                                    31);
    EXPECT_EQ(kairos::as_text(octets), expected);
    const auto key = PersistentKey::parse(octets);
    ASSERT_TRUE(key);
    EXPECT_EQ(kairos::as_text(key->id), "4711");
    const auto names = PersistentKey::names_of(key->path);
    ASSERT_EQ(names.size(), 3u);
    EXPECT_EQ(names[0], "accounts");
    EXPECT_EQ(names[1], "");
    EXPECT_EQ(names[2], "current");
    // Cut anywhere within the path it is no key; behind it the id is shorter.
    for (std::size_t size = 0; size <= octets.size(); ++size)
        EXPECT_EQ(PersistentKey::parse(Bytes(octets).first(size)).has_value(),
                  size >= octets.size() - 4);
    EXPECT_FALSE(ObjectKey::parse(octets));
    EXPECT_FALSE(PersistentKey::parse(sample.encode()));
}

TEST(ObjectKey, RefusesEveryOtherOrigin)
{
    for (std::size_t i = 0; i < 4; ++i) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            auto key = sample.encode();
            key[i] ^= static_cast<std::byte>(bit);
            EXPECT_FALSE(ObjectKey::parse(key)) << "octet " << i << ", bit " << bit;
        }
    }
}

} // namespace
