// SPDX-License-Identifier: Apache-2.0
//
// Requests that were found to be allowed, so that the next of their kind costs a look: tables of
// fixed size, in which what was asked for last takes the place of what was before. Rules that come
// into force make them forget all. Decisions is an ORB's: any thread; looking takes no lock, and
// what is being written at the time is not found. RecentDecisions is a thread's own, and looks at a
// handful of words.
#pragma once

#include "kairos/base/bytes.h"

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace kairos::access {

/// Who calls, in two words: equal only for callers that are the same to all rules.
struct Identity {
    std::uint64_t first = 0; ///< 0: nothing is remembered of this one
    std::uint64_t second = 0;

    friend auto operator<=>(const Identity&, const Identity&) = default;
};

class Decisions {
  public:
    /// How many are remembered.
    static constexpr std::size_t entries = 1024;

    /// Returns whether that was found to be allowed by the rules of this generation, which is not
    /// 0.
    [[nodiscard, gnu::always_inline]] bool has(std::uint32_t generation, Identity who,
                                               Bytes object_key,
                                               std::string_view operation) const noexcept
    {
        if (is_too_long(object_key, operation) || who.first == 0) [[unlikely]]
            return false;
        const Bytes name = as_bytes(operation);
        const std::uint64_t end_of_key = last_word(object_key);
        const std::uint64_t end_of_name = last_word(name);
        const Word* const entry = first_ + words_each * place_of(who, end_of_key, end_of_name);
        const std::uint64_t sequence = entry[0].load(std::memory_order_acquire);
        if (entry[1].load(std::memory_order_acquire) !=
                head_of(generation, object_key.size(), operation.size()) ||
            entry[2].load(std::memory_order_acquire) != who.first ||
            entry[3].load(std::memory_order_acquire) != who.second)
            return false;
        const Word* at = entry + 4;
        return is_there(at, object_key, end_of_key) && is_there(at, name, end_of_name) &&
               sequence % 2 == 0 && entry[0].load(std::memory_order_relaxed) == sequence;
    }

    /// Remembers that it is allowed, unless that is too long or another thread writes there.
    void add(std::uint32_t generation, Identity who, Bytes object_key,
             std::string_view operation) noexcept
    {
        if (is_too_long(object_key, operation) || who.first == 0) return;
        const Bytes name = as_bytes(operation);
        Word* const entry =
            first_ + words_each * place_of(who, last_word(object_key), last_word(name));
        std::uint64_t sequence = entry[0].load(std::memory_order_relaxed);
        if (sequence % 2 != 0 ||
            !entry[0].compare_exchange_strong(sequence, sequence + 1, std::memory_order_acquire))
            return;
        // Whoever sees one of these sees that the number has changed.
        entry[1].store(head_of(generation, object_key.size(), operation.size()),
                       std::memory_order_release);
        entry[2].store(who.first, std::memory_order_release);
        entry[3].store(who.second, std::memory_order_release);
        Word* at = entry + 4;
        put(at, object_key);
        put(at, name);
        entry[0].store(sequence + 2, std::memory_order_release);
    }

  private:
    using Word = std::atomic<std::uint64_t>;
    /// Of a key and an operation together; each begins with a word.
    static constexpr std::size_t octets_max = 80;
    static constexpr std::size_t data_words = 12;
    static_assert((octets_max + 2 * 7) / 8 <= data_words);
    /// How often it was written, twice, and odd meanwhile; generation and sizes; who; then the key
    /// and the operation.
    static constexpr std::size_t words_each = 4 + data_words;

    [[nodiscard]] static bool is_too_long(Bytes key, std::string_view operation) noexcept
    {
        return key.size() > octets_max || key.size() + operation.size() > octets_max;
    }
    [[nodiscard]] static std::uint64_t head_of(std::uint32_t generation, std::size_t key,
                                               std::size_t operation) noexcept
    {
        return std::uint64_t{generation} << 32 | key << 16 | operation;
    }
    template <typename Number>
    [[nodiscard]] static std::uint64_t load(const std::byte* at) noexcept
    {
        Number number;
        std::memcpy(&number, at, sizeof number);
        return number;
    }
    /// The last of the words that octets are, which may overlap: no two of one size are the same.
    [[nodiscard, gnu::always_inline]] static std::uint64_t last_word(Bytes octets) noexcept
    {
        if (octets.size() >= 8) return load<std::uint64_t>(octets.data() + octets.size() - 8);
        return octets.empty() ? 0 : short_word(octets.data(), octets.size());
    }
    /// Both go behind the words that octets are.
    [[nodiscard, gnu::always_inline]] static bool is_there(const Word*& word, Bytes octets,
                                                           std::uint64_t last) noexcept
    {
        const std::byte* at = octets.data();
        for (std::size_t left = octets.size(); left > 8; left -= 8, at += 8)
            if ((word++)->load(std::memory_order_acquire) != load<std::uint64_t>(at)) return false;
        return (word++)->load(std::memory_order_acquire) == last;
    }
    static void put(Word*& word, Bytes octets) noexcept
    {
        const std::byte* at = octets.data();
        for (std::size_t left = octets.size(); left > 8; left -= 8, at += 8)
            (word++)->store(load<std::uint64_t>(at), std::memory_order_release);
        (word++)->store(last_word(octets), std::memory_order_release);
    }
    [[nodiscard]] static std::uint64_t short_word(const std::byte* at, std::size_t size) noexcept
    {
        if (size >= 4) return load<std::uint32_t>(at) | load<std::uint32_t>(at + size - 4) << 32;
        return load<std::uint8_t>(at) | load<std::uint8_t>(at + size / 2) << 8 |
               load<std::uint8_t>(at + size - 1) << 16;
    }
    /// The ends tell most apart: of a key the slot or the id, of an operation its name.
    [[nodiscard]] static std::size_t place_of(Identity who, std::uint64_t end_of_key,
                                              std::uint64_t end_of_name) noexcept
    {
        std::uint64_t mixed = who.first + who.second * 0xC2B2AE3D27D4EB4Fu + end_of_key;
        mixed = mixed * 0x9E3779B97F4A7C15u ^ end_of_name;
        mixed *= 0x9E3779B97F4A7C15u;
        return mixed >> 54;
    }
    static_assert(entries == std::size_t{1} << (64 - 54));

    const std::unique_ptr<Word[]> words_ = std::make_unique<Word[]>(entries * words_each);
    Word* const first_ = words_.get();
};

/// What one thread has found in its ORBs' Decisions of late. Used by that thread.
class RecentDecisions {
  public:
    /// Of the keys that are remembered: those of transient objects that have no other id.
    static constexpr std::size_t key_size = 24;
    /// Of the longest operation that is remembered.
    static constexpr std::size_t name_max = 30;
    static constexpr std::size_t entries = 32;

    /// Returns whether that was found to be allowed by the rules of this generation, which are no
    /// other ORB's, to the caller of this number; neither is 0. The generation is in the upper half
    /// of its word. A NUL follows the operation.
    [[nodiscard, gnu::always_inline]] bool has(std::uint64_t generation, std::uint32_t caller,
                                               Bytes key, std::string_view operation) const noexcept
    {
        if (key.size() != key_size) [[unlikely]]
            return false;
        const Entry& entry = entries_[place_of(caller, key, operation)];
        return entry.who == (generation | caller) &&
               entry.name_size == static_cast<std::uint8_t>(operation.size()) &&
               is_same<std::uint64_t>(entry.key.data(), key.data()) &&
               is_same<std::uint64_t>(entry.key.data() + 8, key.data() + 8) &&
               is_same<std::uint64_t>(entry.key.data() + 16, key.data() + 16) &&
               is_name(entry.name.data(), operation);
    }

    /// Remembers that it is allowed, unless its key or name is of another size than what is here.
    void add(std::uint64_t generation, std::uint32_t caller, Bytes key,
             std::string_view operation) noexcept
    {
        if (key.size() != key_size || operation.size() > name_max || caller == 0) return;
        Entry& entry = entries_[place_of(caller, key, operation)];
        entry = {.who = generation | caller,
                 .name_size = static_cast<std::uint8_t>(operation.size())};
        std::memcpy(entry.key.data(), key.data(), key_size);
        operation.copy(entry.name.data(), operation.size());
    }

  private:
    struct alignas(64) Entry {
        std::uint64_t who = 0; // by rules of which generation; 0: there is none
        std::array<std::byte, key_size> key{};
        std::uint8_t name_size = 0;
        std::array<char, name_max + 1> name{}; // a NUL ends it
    };

    /// Most objects differ in the last octet of their slot, most operations in their size.
    [[nodiscard, gnu::always_inline]] static std::size_t
    place_of(std::uint32_t caller, Bytes key, std::string_view operation) noexcept
    {
        constexpr std::size_t slot_at = native_little_endian ? 16 : 19;
        return (std::to_integer<std::size_t>(key[slot_at]) + operation.size() + caller) % entries;
    }
    template <typename Number>
    [[nodiscard, gnu::always_inline]] static bool is_same(const void* left,
                                                          const void* right) noexcept
    {
        return std::memcmp(left, right, sizeof(Number)) == 0;
    }
    /// The last octet of the sizes is the same. What is compared may overlap, and the NUL be among
    /// it: nothing is called, which would have its caller save what it has.
    [[nodiscard, gnu::always_inline]] static bool is_name(const char* known,
                                                          std::string_view name) noexcept
    {
        const std::size_t size = name.size();
        const char* const at = name.data();
        if (size < 7) {
            if (size >= 3) [[likely]]
                return is_same<std::uint32_t>(known, at) &&
                       is_same<std::uint32_t>(known + size - 3, at + size - 3);
            return *known == *at && known[size / 2] == at[size / 2];
        }
        if (size < 16) [[likely]]
            return is_same<std::uint64_t>(known, at) &&
                   is_same<std::uint64_t>(known + size - 7, at + size - 7);
        return size <= name_max && is_same<std::uint64_t>(known, at) &&
               is_same<std::uint64_t>(known + 8, at + 8) &&
               is_same<std::uint64_t>(known + size - 16, at + size - 16) &&
               is_same<std::uint64_t>(known + size - 8, at + size - 8);
    }

    std::array<Entry, entries> entries_{};
};

} // namespace kairos::access
