// SPDX-License-Identifier: Apache-2.0
#include "idlc/operation_search.h"

#include "kairos/base/operation_hash.h"

#include <algorithm>
#include <bit>

namespace kairos::idlc {
namespace {

constexpr int attempts_per_size = 20'000;
constexpr unsigned bits_max = 16; // slots are stored as 16-bit numbers

/// Odd multipliers in a fixed order (splitmix64).
std::uint64_t next_multiplier(std::uint64_t& state)
{
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return (mixed ^ (mixed >> 31)) | 1;
}

bool place(const std::vector<std::uint64_t>& digests, OperationHash& hash)
{
    hash.slots.assign(std::size_t{1} << hash.bits, digests.size());
    for (std::size_t i = 0; i < digests.size(); ++i) {
        std::size_t& slot = hash.slots[operation_slot(digests[i], hash.multiplier, hash.bits)];
        if (slot != digests.size()) return false;
        slot = i;
    }
    return true;
}

} // namespace

std::optional<OperationHash> search_operation_hash(const std::vector<std::string>& names)
{
    std::vector<std::uint64_t> digests;
    digests.reserve(names.size());
    for (const std::string& name : names)
        digests.push_back(operation_digest(name));
    auto sorted = digests;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) return std::nullopt;

    std::uint64_t state = 0;
    OperationHash hash;
    for (hash.bits = static_cast<unsigned>(std::bit_width(names.size() - 1)); hash.bits <= bits_max;
         ++hash.bits) {
        for (int attempt = 0; attempt < attempts_per_size; ++attempt) {
            hash.multiplier = next_multiplier(state);
            if (place(digests, hash)) return hash;
        }
    }
    return std::nullopt;
}

} // namespace kairos::idlc
