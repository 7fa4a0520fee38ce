// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spin_history.h"

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <sys/resource.h>

namespace kairos::net {
namespace {

/// Threads of the process that spin by what they have learned. After a fork() the child counts
/// those of the parent that did, too: it may spin less.
std::atomic<int> spinning{0};

/// One processor is left to who does what is waited for.
int spinning_most() noexcept
{
    static const int most = [] {
        cpu_set_t usable;
        const bool known = ::sched_getaffinity(0, sizeof usable, &usable) == 0;
        return known ? CPU_COUNT(&usable) - 1 : 0;
    }();
    return most;
}

} // namespace

long involuntary_switches() noexcept
{
    rusage usage{};
    return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

bool SpinHistory::begins() noexcept
{
    if (asleep_ != 0) {
        --asleep_;
        return false;
    }
    if (spinning.fetch_add(1, std::memory_order_relaxed) < spinning_most()) return true;
    spinning.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

void SpinHistory::ended(bool came) noexcept
{
    spinning.fetch_sub(1, std::memory_order_relaxed);
    is_try_ = false;
    if (!came) {
        credit_ = static_cast<std::int8_t>(credit_ - miss_cost);
        if (credit_ < 0) sleep();
        return;
    }
    credit_ = static_cast<std::int8_t>(std::min<int>(credit_ + 1, credit_most));
    if (until_look_ == 0) { // the first of a count
        switches_before_ = switches_();
        until_look_ = looks_after_;
    } else if (--until_look_ == 0) {
        if (switches_() != switches_before_) return sleep();
        looks_after_ = static_cast<std::uint8_t>(std::min<int>(looks_after_ * 2, between_looks));
        if (looks_after_ == between_looks) backoff_ = asleep_least;
    }
}

/// The next try has no credit.
void SpinHistory::sleep() noexcept
{
    asleep_ = backoff_;
    is_try_ = true;
    backoff_ = std::min<std::uint16_t>(static_cast<std::uint16_t>(backoff_ * 4), asleep_most);
    credit_ = 0;
    looks_after_ = between_looks_least;
    until_look_ = 0;
}

} // namespace kairos::net
