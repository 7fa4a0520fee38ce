// SPDX-License-Identifier: Apache-2.0
//
// The hash by which a skeleton finds an operation. kairos-idl searches a multiplier for which the
// names of one interface fall into distinct slots (a perfect hash, paper 000 §5.3); the skeleton
// evaluates the same function at run time and compares one name. Shared by both, so they agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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
} // namespace detail

/// A 64-bit digest of an operation name: distinct for names that differ in length, in their first
/// eight or in their last eight characters; other differences enter through the middle.
[[nodiscard]] constexpr std::uint64_t operation_digest(std::string_view name) noexcept
{
    std::uint64_t digest = name.size() * 0x9E3779B97F4A7C15u;
    const char* text = name.data();
    std::size_t left = name.size();
    for (; left >= 8; left -= 8, text += 8)
        digest = (digest ^ detail::front_bytes(text, 8)) * 0xD6E8FEB86659FD93u,
        digest ^= digest >> 32;
    return (digest ^ detail::front_bytes(text, left)) * 0xD6E8FEB86659FD93u;
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
