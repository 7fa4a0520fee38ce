// SPDX-License-Identifier: Apache-2.0
//
// Timing of loops too short for one look at the clock each. Used by kairos-bench-marshal… only.
#pragma once

#include "bench/peer.h"

namespace kairos::bench {

/// What is at `place`, and all other memory, counts as read and written here.
inline void touch(const void* place) { asm volatile("" : : "r"(place) : "memory"); }

/// Nanoseconds per execution. A tenth of the executions more come first, to warm up.
template <typename Action>
[[nodiscard]] double ns_per(std::uint32_t times, Action&& action)
{
    for (std::uint32_t i = 0; i < times / 10 + 1; ++i)
        action();
    const std::int64_t start = now_ns();
    for (std::uint32_t i = 0; i < times; ++i)
        action();
    return static_cast<double>(now_ns() - start) / times;
}

} // namespace kairos::bench
