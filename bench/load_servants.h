// SPDX-License-Identifier: Apache-2.0
//
// What the servants of a load do, whatever carries the calls to them.
#pragma once

#include "bench/arrivals.h"
#include "bench/realtime.h"

#include <atomic>
#include <cstdint>
#include <time.h>

namespace kairos::bench {

/// So much processor time of this thread, however often it is interrupted.
inline void compute(std::uint32_t microseconds)
{
    const auto used_ns = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    const std::int64_t until = used_ns() + std::int64_t{microseconds} * 1000;
    while (used_ns() < until) {
    }
}

/// The servant of the high client. Where it is told to, it gives each thread that it is called in
/// real-time priority at the first call: for servers whose threads serve one client each.
class HighCube {
  public:
    explicit HighCube(bool raises) : raises_(raises) {}

    std::uint8_t cube(std::uint8_t number)
    {
        dispatched(number);
        thread_local bool seen = false;
        if (!seen) look_at_thread();
        seen = true;
        return cubed(number);
    }

  private:
    void look_at_thread() const
    {
        if (raises_) raise_this_thread();
        if (sched_getscheduler(0) != SCHED_OTHER) note_raised();
    }

    const bool raises_;
};

/// The servant of all low clients.
class LowCube {
  public:
    void set_compute(std::uint32_t microseconds) { compute_us_ = microseconds; }

    std::uint8_t cube(std::uint8_t number)
    {
        dispatched(number);
        if (const std::uint32_t microseconds = compute_us_; microseconds > 0) compute(microseconds);
        return cubed(number);
    }

  private:
    std::atomic<std::uint32_t> compute_us_ = 0;
};

} // namespace kairos::bench
