// SPDX-License-Identifier: Apache-2.0
//
// Real-time priority for a thread of a measured program, whoever started it.
#pragma once

#include <pthread.h>
#include <sched.h>

namespace kairos::bench {

/// Far enough from the ends that an ORB's mapping of priorities has room on both sides.
inline constexpr int high_priority = 40;

/// False where the system does not permit it.
inline bool raise_this_thread() noexcept
{
    const sched_param parameters{.sched_priority = high_priority};
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
}

} // namespace kairos::bench
