// SPDX-License-Identifier: Apache-2.0
//
// Images of blocks (block.h) from one place to another, where CDR has every number at the place
// where the host has it: copied, without what padding holds, or in the other byte order. The last
// two are one: a vector's bytes are picked in another order, and those of padding not at all.
// Private to the module. Any thread; the two places never overlap.
#pragma once

#include "kairos/mapping/block.h"

namespace kairos::mapping {

/// How many bytes this machine can put in order at once.
enum class Vectors : std::uint8_t {
    none,  ///< number by number then
    of_16, ///< SSSE3
    of_32, ///< AVX2
    of_64, ///< AVX-512, where it does not slow the clock for all that runs on a core
};
[[nodiscard]] inline Vectors best_vectors() noexcept
{
#if defined(__x86_64__)
    // The machines whose clock it slows are those that came before VBMI2.
    if (__builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("avx512bw") != 0)
        return Vectors::of_64;
    if (__builtin_cpu_supports("avx2") != 0) return Vectors::of_32;
    if (__builtin_cpu_supports("ssse3") != 0) return Vectors::of_16;
#endif
    return Vectors::none;
}

/// Up to the last element's last number.
[[nodiscard]] inline std::size_t image_size(const Block& block, std::size_t count) noexcept
{
    return (count - 1) * block.size + block.last_size;
}

/// Copies `count` (≥ 1) elements of a block that has a mask; padding becomes zero.
void copy_masked(std::byte* to, const std::byte* from, const Block& block, std::size_t count,
                 Vectors vectors = best_vectors()) noexcept;

/// Copies `count` (≥ 1) elements of a block that is_bulk from the foreign byte order; what padding
/// becomes is unspecified.
void copy_swapped(std::byte* to, const std::byte* from, const Block& block, std::size_t count,
                  Vectors vectors = best_vectors()) noexcept;

/// Copies `size` bytes of numbers of 1, 2, 4 or 8 bytes each from the foreign byte order.
void copy_swapped_numbers(std::byte* to, const std::byte* from, std::size_t size,
                          std::size_t number, Vectors vectors = best_vectors()) noexcept;

// --- Of one element, inline --------------------------------------------------------------------

using Vector16 = std::uint64_t __attribute__((vector_size(16), aligned(1), may_alias));

template <typename Word>
[[nodiscard]] Word load_word(const std::byte* from) noexcept
{
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}
template <typename Word>
void store_word(std::byte* to, Word word) noexcept
{
    std::memcpy(to, &word, sizeof word);
}

/// `size` bytes in words of one size, the last of which overlaps the one before.
template <typename Word>
void copy_words(std::byte* to, const std::byte* from, const std::byte* mask,
                std::size_t size) noexcept
{
    const auto copy = [&](std::size_t at) {
        store_word(to + at,
                   static_cast<Word>(load_word<Word>(from + at) & load_word<Word>(mask + at)));
    };
    for (std::size_t at = 0; at + sizeof(Word) < size; at += sizeof(Word))
        copy(at);
    copy(size - sizeof(Word));
}

/// A memcpy that costs no call for the size of a parameter.
inline void copy_image(std::byte* to, const std::byte* from, std::size_t size) noexcept
{
    constexpr std::size_t inline_max = 8 * sizeof(Vector16);
    if (size < sizeof(Vector16) || size > inline_max) {
        std::memcpy(to, from, size);
        return;
    }
    const auto copy = [&](std::size_t at) { std::memcpy(to + at, from + at, sizeof(Vector16)); };
    for (std::size_t at = 0; at + sizeof(Vector16) < size; at += sizeof(Vector16))
        copy(at);
    copy(size - sizeof(Vector16));
}

/// One element, or the start of one, without what padding holds.
inline void copy_one_masked(std::byte* to, const std::byte* from, const std::byte* mask,
                            std::size_t size) noexcept
{
    if (size >= sizeof(Vector16)) return copy_words<Vector16>(to, from, mask, size);
    if (size >= 8) return copy_words<std::uint64_t>(to, from, mask, size);
    if (size >= 4) return copy_words<std::uint32_t>(to, from, mask, size);
    for (std::size_t at = 0; at < size; ++at)
        to[at] = from[at] & mask[at];
}

} // namespace kairos::mapping
