// SPDX-License-Identifier: Apache-2.0
//
// The hash by which a skeleton finds an operation. kairos-idl searches a multiplier for which the
// names of one interface fall into distinct slots (a perfect hash, paper 000 §5.3); the skeleton
// evaluates the same function at run time and compares one name. Shared by both, so they agree.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace kairos {

namespace detail {
/// Up to eight bytes of `text` from its front, as if stored little-endian.
[[nodiscard]] constexpr std::uint64_t front_bytes(const char* text, std::size_t count) noexcept
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
    return value;
}

/// One load where the bytes are in memory, not in the compiler.
template <typename Word>
[[nodiscard]] inline std::uint64_t load_front(const char* text) noexcept
{
    Word word;
    std::memcpy(&word, text, sizeof word);
    return native_little_endian ? word : byteswap(word);
}

/// The `left` bytes, fewer than eight, at the end of a name: loads that overlap, not a loop.
[[nodiscard]] inline std::uint64_t load_end(const char* text, std::size_t left,
                                            std::size_t size) noexcept
{
    if (left == 0) return 0;
    if (size >= 8) return load_front<std::uint64_t>(text + left - 8) >> (8 * (8 - left));
    if (left >= 4)
        return load_front<std::uint32_t>(text) | load_front<std::uint32_t>(text + left - 4)
                                                     << (8 * (left - 4));
    return front_bytes(text, left);
}
} // namespace detail

namespace detail {
/// A template only so that its code can be in the library where a compiler does not make it inline.
template <typename Char>
[[nodiscard]] constexpr std::uint64_t digest_of(std::basic_string_view<Char> name) noexcept
{
    std::uint64_t digest = name.size() * 0x9E3779B97F4A7C15u;
    const char* text = name.data();
    std::size_t left = name.size();
    bool compiling = false;
    compiling = std::is_constant_evaluated(); // an initialiser would count as such itself
    for (; left >= 8; left -= 8, text += 8) {
        const std::uint64_t word =
            compiling ? detail::front_bytes(text, 8) : detail::load_front<std::uint64_t>(text);
        digest = (digest ^ word) * 0xD6E8FEB86659FD93u;
        digest ^= digest >> 32;
    }
    const std::uint64_t end =
        compiling ? detail::front_bytes(text, left) : detail::load_end(text, left, name.size());
    return (digest ^ end) * 0xD6E8FEB86659FD93u;
}
extern template KAIROS_API std::uint64_t digest_of<char>(std::string_view) noexcept;
} // namespace detail

/// A 64-bit digest of an operation name: distinct for names that differ in length, in their first
/// eight or in their last eight characters; other differences enter through the middle.
[[nodiscard]] constexpr std::uint64_t operation_digest(std::string_view name) noexcept
{
    return detail::digest_of<char>(name);
}

/// Whether two names are the same: without a call, for they are short.
[[nodiscard]] inline bool same_operation(std::string_view one, std::string_view other) noexcept
{
    if (one.size() != other.size()) return false;
    const char* text = one.data();
    const char* with = other.data();
    std::size_t left = one.size();
    for (; left >= 8; left -= 8, text += 8, with += 8)
        if (detail::load_front<std::uint64_t>(text) != detail::load_front<std::uint64_t>(with))
            return false;
    return detail::load_end(text, left, one.size()) == detail::load_end(with, left, one.size());
}

/// The slot of a name with this digest in a table of 2^bits slots, for one multiplier.
[[nodiscard]] constexpr std::size_t operation_slot(std::uint64_t digest, std::uint64_t multiplier,
                                                   unsigned bits) noexcept
{
    return bits == 0
               ? 0
               : static_cast<std::size_t>(((digest ^ (digest >> 29)) * multiplier) >> (64 - bits));
}

} // namespace kairos
