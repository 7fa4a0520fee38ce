// SPDX-License-Identifier: Apache-2.0
//
// Spans of raw bytes and the byte order of this machine: the vocabulary of every layer that touches
// the wire.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace kairos {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big,
              "CDR knows two byte orders");

/// The CDR byte-order flag of this machine: true is little-endian (CORBA 3.3 part 2, 9.4.1).
inline constexpr bool native_little_endian = std::endian::native == std::endian::little;

/// `value` with its bytes reversed. Any trivially copyable type of 1, 2, 4, 8 or 16 bytes.
template <typename T>
[[nodiscard]] constexpr T byteswap(T value) noexcept
{
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
    } else if constexpr (sizeof(T) == 4) {
        return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
    } else if constexpr (sizeof(T) == 8) {
        return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
    } else {
        static_assert(sizeof(T) == 16);
        struct Halves {
            std::uint64_t low, high;
        };
        const auto halves = std::bit_cast<Halves>(value);
        return std::bit_cast<T>(
            Halves{__builtin_bswap64(halves.high), __builtin_bswap64(halves.low)});
    }
}

/// Bytes to add to `offset` so that it becomes a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr std::size_t padding(std::size_t offset, std::size_t alignment) noexcept
{
    return (0 - offset) & (alignment - 1);
}

/// `offset` rounded up to a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr std::size_t align_up(std::size_t offset, std::size_t alignment) noexcept
{
    return offset + padding(offset, alignment);
}

/// The bytes of a text, without a terminator.
[[nodiscard]] inline Bytes as_bytes(std::string_view text) noexcept
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The bytes as text. Borrows.
[[nodiscard]] inline std::string_view as_text(Bytes bytes) noexcept
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace kairos
