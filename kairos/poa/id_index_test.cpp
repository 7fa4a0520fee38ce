// SPDX-License-Identifier: Apache-2.0
//
// Ids that somebody chose to have the same hash. What the strategies find is object_map_test's.
#include "kairos/poa/id_index.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

using kairos::poa::IdIndex;
using kairos::poa::IdStrategy;
using Id = std::vector<std::byte>;

/// Of a hash that multiplies by an odd number, adds the upper half to the lower and takes the next
/// word, whatever its constants and seed: a difference of the highest bit comes out as itself and
/// bit 31, which the next word can take away. So each pair of words gives two ids for one.
std::vector<Id> of_one_hash(unsigned pairs)
{
    constexpr std::uint64_t first = std::uint64_t{1} << 63;
    constexpr std::uint64_t second = first | std::uint64_t{1} << 31;
    std::vector<Id> ids;
    for (unsigned which = 0; which < 1u << pairs; ++which) {
        std::vector<std::uint64_t> words(2 * pairs, 0x6469'6469'6469'6469);
        for (unsigned pair = 0; pair < pairs; ++pair) {
            if ((which >> pair & 1) == 0) continue;
            words[2 * pair] ^= first;
            words[2 * pair + 1] ^= second;
        }
        Id id(words.size() * sizeof words[0]);
        std::memcpy(id.data(), words.data(), id.size());
        ids.push_back(std::move(id));
    }
    return ids;
}

TEST(IdIndex, NobodyCanChooseManyIdsOfOneHash)
{
    IdIndex index;
    index.reset(IdStrategy::hash, {});
    const std::vector<Id> ids = of_one_hash(10);
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
        index.reserve();
        index.insert(ids[i], i);
    }
    std::size_t offered = 0;
    for (std::uint32_t i = 0; i < ids.size(); ++i)
        EXPECT_TRUE(index.find(ids[i], [&](std::uint32_t slot) {
            ++offered;
            return slot == i;
        }));
    // Itself; that the tags of others are the same by chance is rare.
    EXPECT_LT(offered, ids.size() + 16);
}

} // namespace
