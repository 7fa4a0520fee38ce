// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/priority_mutex.h"

#include "kairos/base/check.h"

#include <cerrno>
#include <chrono>
#include <ctime>

namespace kairos::net {

namespace {

timespec timespec_of(std::chrono::nanoseconds time) noexcept
{
    using namespace std::chrono;
    return {.tv_sec = static_cast<std::time_t>(duration_cast<seconds>(time).count()),
            .tv_nsec = static_cast<long>((time % seconds(1)).count())};
}

} // namespace

PriorityMutex::PriorityMutex(Protocol protocol) noexcept
{
    pthread_mutexattr_t attributes;
    KAIROS_CHECK(::pthread_mutexattr_init(&attributes) == 0);
    // Where the kernel has none of that, which no Linux of today lacks, it is an ordinary mutex.
    if (protocol == Protocol::inherit)
        (void)::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (::pthread_mutex_init(&native_, &attributes) != 0)
        KAIROS_CHECK(::pthread_mutex_init(&native_, nullptr) == 0);
    ::pthread_mutexattr_destroy(&attributes);
}

PriorityMutex::~PriorityMutex() { ::pthread_mutex_destroy(&native_); }

void PriorityMutex::lock() noexcept { KAIROS_CHECK(::pthread_mutex_lock(&native_) == 0); }

void PriorityMutex::unlock() noexcept { KAIROS_CHECK(::pthread_mutex_unlock(&native_) == 0); }

bool PriorityMutex::try_lock() noexcept { return ::pthread_mutex_trylock(&native_) == 0; }

bool PriorityMutex::try_lock_until(Deadline deadline) noexcept
{
    if (deadline.is_never()) {
        lock();
        return true;
    }
    const timespec at = timespec_of(deadline.at().time_since_epoch());
    int error = ::pthread_mutex_clocklock(&native_, CLOCK_MONOTONIC, &at);
    while (error == EINVAL) { // kernels before 5.14 know but the other clock
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const timespec then = timespec_of(now + *deadline.left());
        error = ::pthread_mutex_timedlock(&native_, &then);
        if (error == ETIMEDOUT && !deadline.has_passed()) error = EINVAL; // that clock was set
    }
    return error == 0;
}

PriorityCondition::PriorityCondition() noexcept
{
    KAIROS_CHECK(::pthread_cond_init(&native_, nullptr) == 0);
}

PriorityCondition::~PriorityCondition() { ::pthread_cond_destroy(&native_); }

} // namespace kairos::net
