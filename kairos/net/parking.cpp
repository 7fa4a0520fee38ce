// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/parking.h"

#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kairos::net {

void Parking::park(Deadline deadline) noexcept
{
    timespec at{};
    if (!deadline.is_never()) {
        // steady_clock's is CLOCK_MONOTONIC, which this way of waiting goes by.
        const auto since = deadline.at().time_since_epoch();
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
        at = {.tv_sec = static_cast<std::time_t>(seconds.count()),
              .tv_nsec = static_cast<long>(std::chrono::nanoseconds(since - seconds).count())};
    }
    ::syscall(SYS_futex, &called_, FUTEX_WAIT_BITSET_PRIVATE, 0u,
              deadline.is_never() ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
    (void)called_.load(std::memory_order_acquire); // what was done before the call is seen
}

void Parking::wake(const Parking* place) noexcept
{
    ::syscall(SYS_futex, &place->called_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace kairos::net
