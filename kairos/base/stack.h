// SPDX-License-Identifier: Apache-2.0
//
// How much is left of the calling thread's stack. What recurses because of bytes from outside asks:
// a program's threads, and those with -ORBStackSize, may have a small one. Any thread.
#pragma once

#include "kairos/base/export.h"

#include <cstddef>
#include <cstdint>

namespace kairos {

struct StackBounds {
    std::uintptr_t lowest = 0; ///< address; 0 where the system does not say
    std::size_t size = 0;
};

/// The bounds of the calling thread's stack. Asks the system once for each thread, which may
/// allocate memory then.
[[nodiscard]] KAIROS_API StackBounds stack_bounds() noexcept;

/// What decoding may rely on at every level of a recursion: for what does not recurse, and for
/// destroying, in the same thread, what was decoded.
inline constexpr std::size_t stack_reserve = std::size_t{16} << 10;

/// The address below which a recursion is to be refused.
[[nodiscard]] inline std::uintptr_t stack_limit() noexcept
{
    const StackBounds bounds = stack_bounds();
    return bounds.lowest == 0 ? 0 : bounds.lowest + stack_reserve;
}
[[nodiscard, gnu::always_inline]] inline bool is_above(std::uintptr_t limit) noexcept
{
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > limit;
}

} // namespace kairos
