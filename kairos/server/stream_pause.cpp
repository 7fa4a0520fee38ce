// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/stream_pause.h"

#include <ctime>
#include <sched.h>
#include <sys/prctl.h>

namespace kairos::orb {
namespace {

/// So long and hardly longer: 50 µs are the system's own idea of precision (timer slack), which
/// becomes 1 µs for this thread.
void sleep_briefly(std::chrono::nanoseconds length) noexcept
{
    constexpr unsigned long slack_ns = 1000;
    thread_local const int set = ::prctl(PR_SET_TIMERSLACK, slack_ns, 0, 0, 0);
    (void)set; // where the system does not allow it, it is longer
    const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(length.count())};
    (void)::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr); // woken early: no harm
}

void stay_awake(StreamPause::Clock::time_point until) noexcept
{
    do
        ::sched_yield();
    while (StreamPause::Clock::now() < until);
}

} // namespace

void StreamPause::pause_after_read(const Read& read) noexcept
{
    const Clock::time_point now = Clock::now();
    const Pause pause = after_read(read, now);
    if (pause.length.count() == 0) return;
    if (pause.awake) return stay_awake(now + pause.length);
    sleep_briefly(pause.length);
    note_slept(pause.length, Clock::now() - now);
}

} // namespace kairos::orb
