// SPDX-License-Identifier: Apache-2.0
//
// Kairos's object keys: their octets are fixed, and nothing else is taken for one.
#include "kairos/ior/object_key.h"

#include <gtest/gtest.h>

namespace {

using kairos::Bytes;
using kairos::ior::ObjectKey;

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

TEST(ObjectKey, RefusesEveryOtherLength)
{
    std::array<std::byte, 48> octets{};
    const auto key = sample.encode();
    std::copy(key.begin(), key.end(), octets.begin());
    for (std::size_t size = 0; size <= octets.size(); ++size)
        EXPECT_EQ(ObjectKey::parse(Bytes(octets).first(size)).has_value(), size == ObjectKey::size);
    EXPECT_FALSE(ObjectKey::parse(Bytes{}));
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
