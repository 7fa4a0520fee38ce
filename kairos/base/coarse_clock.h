// SPDX-License-Identifier: Apache-2.0
//
// A clock that is cheap enough to look at in every call.
#pragma once

#include <chrono>
#include <ctime>

namespace kairos {

/// The time of a clock that never goes back, exact to a few milliseconds: a few instructions in the
/// vDSO, where an exact one is dozens. For how long something has been idle.
[[nodiscard]] inline std::chrono::nanoseconds coarse_now() noexcept
{
    std::timespec time{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace kairos
