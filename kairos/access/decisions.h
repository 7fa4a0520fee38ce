// SPDX-License-Identifier: Apache-2.0
//
// Requests that were found to be allowed, so that the next of their kind costs a look: a table of
// fixed size, in which what was asked for last takes the place of what was before. Rules that come
// into force make it forget all. Any thread: looking takes no lock, and what is being written at
// the time is not found.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace kairos::access {

class Decisions {
  public:
    /// Who calls, in two words: equal only for callers that are the same to all rules.
    struct Identity {
        std::uint64_t first = 0; ///< 0: nothing is remembered of this one
        std::uint64_t second = 0;
    };
    /// How many are remembered.
    static constexpr std::size_t entries = 1024;

    /// Returns whether that was found to be allowed by the rules of this generation, which is not
    /// 0.
    [[nodiscard]] bool has(std::uint32_t generation, const Identity& who, Bytes object_key,
                           std::string_view operation) const noexcept
    {
        const std::size_t words = words_of(object_key.size()) + words_of(operation.size());
        if (words > data_words || who.first == 0) return false;
        const Entry& entry = entries_[place_of(who, object_key, operation)];
        const std::uint64_t sequence = entry[0].load(std::memory_order_acquire);
        bool is_same = entry[1].load(std::memory_order_acquire) ==
                           head_of(generation, object_key.size(), operation.size()) &&
                       entry[2].load(std::memory_order_acquire) == who.first &&
                       entry[3].load(std::memory_order_acquire) == who.second;
        std::size_t at = 4;
        const auto compare = [&](std::uint64_t word) {
            is_same = is_same && entry[at++].load(std::memory_order_acquire) == word;
        };
        for_each_word(object_key, compare);
        for_each_word(as_bytes(operation), compare);
        return is_same && sequence % 2 == 0 && entry[0].load(std::memory_order_relaxed) == sequence;
    }

    /// Remembers that it is allowed, unless that is too long or another thread writes there.
    void add(std::uint32_t generation, const Identity& who, Bytes object_key,
             std::string_view operation) noexcept
    {
        const std::size_t words = words_of(object_key.size()) + words_of(operation.size());
        if (words > data_words || who.first == 0) return;
        Entry& entry = entries_[place_of(who, object_key, operation)];
        std::uint64_t sequence = entry[0].load(std::memory_order_relaxed);
        if (sequence % 2 != 0 ||
            !entry[0].compare_exchange_strong(sequence, sequence + 1, std::memory_order_acquire))
            return;
        // Whoever sees one of these sees that the number has changed.
        std::size_t at = 1;
        const auto store = [&](std::uint64_t word) {
            entry[at++].store(word, std::memory_order_release);
        };
        store(head_of(generation, object_key.size(), operation.size()));
        store(who.first);
        store(who.second);
        for_each_word(object_key, store);
        for_each_word(as_bytes(operation), store);
        entry[0].store(sequence + 2, std::memory_order_release);
    }

  private:
    static constexpr std::size_t data_words = 12;
    /// How often it was written, twice, and odd meanwhile; generation and sizes; who; then the key
    /// and the operation.
    using Entry = std::array<std::atomic<std::uint64_t>, 4 + data_words>;

    [[nodiscard]] static std::size_t words_of(std::size_t octets) noexcept
    {
        return octets > 8 * data_words ? data_words + 1 : (octets + 7) / 8;
    }
    [[nodiscard]] static std::uint64_t head_of(std::uint32_t generation, std::size_t key,
                                               std::size_t operation) noexcept
    {
        return std::uint64_t{generation} << 32 | key << 16 | operation;
    }
    template <typename Word>
    [[nodiscard]] static std::uint64_t load(const std::byte* at) noexcept
    {
        Word word;
        std::memcpy(&word, at, sizeof word);
        return word;
    }
    /// All octets in words, which may overlap: no two of one size are the same.
    template <typename Use>
    [[gnu::always_inline]] static void for_each_word(Bytes octets, Use&& use) noexcept
    {
        const std::byte* at = octets.data();
        std::size_t left = octets.size();
        if (left >= 8) {
            for (; left > 8; left -= 8, at += 8)
                use(load<std::uint64_t>(at));
            use(load<std::uint64_t>(at + left - 8));
            return;
        }
        if (left != 0) use(short_word(at, left));
    }
    [[nodiscard]] static std::uint64_t short_word(const std::byte* at, std::size_t size) noexcept
    {
        if (size >= 4) return load<std::uint32_t>(at) | load<std::uint32_t>(at + size - 4) << 32;
        return load<std::uint8_t>(at) | load<std::uint8_t>(at + size / 2) << 8 |
               load<std::uint8_t>(at + size - 1) << 16;
    }
    [[nodiscard]] static std::size_t place_of(const Identity& who, Bytes key,
                                              std::string_view operation) noexcept
    {
        // The ends tell most apart: of a key the slot or the id, of an operation its name.
        std::uint64_t mixed = who.first + who.second * 0xC2B2AE3D27D4EB4Fu;
        if (key.size() >= 8) mixed ^= load<std::uint64_t>(key.data() + key.size() - 8);
        mixed *= 0x9E3779B97F4A7C15u;
        const Bytes name = as_bytes(operation);
        if (name.size() >= 8)
            mixed ^= load<std::uint64_t>(name.data() + name.size() - 8);
        else if (!name.empty())
            mixed ^= short_word(name.data(), name.size());
        mixed *= 0x9E3779B97F4A7C15u;
        return mixed >> 54;
    }
    static_assert(entries == std::size_t{1} << (64 - 54));

    const std::unique_ptr<Entry[]> entries_ = std::make_unique<Entry[]>(entries);
};

} // namespace kairos::access
