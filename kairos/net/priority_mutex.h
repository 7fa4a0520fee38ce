// SPDX-License-Identifier: Apache-2.0
//
// A mutex whose owner runs at the priority of the highest thread that waits for it
// (PTHREAD_PRIO_INHERIT), so that a thread of middle priority cannot delay a high one by way of a
// low one; and what waits with it. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"

#include <cstdint>
#include <mutex>
#include <pthread.h>

namespace kairos::net {

class KAIROS_API PriorityMutex {
  public:
    /// What a mutex does about the priorities of those who wait for it.
    enum class Protocol : std::uint8_t {
        inherit, ///< its owner runs at the highest
        none     ///< nothing, which costs less: for threads that are alike
    };
    explicit PriorityMutex(Protocol protocol = Protocol::inherit) noexcept;
    ~PriorityMutex();
    PriorityMutex(const PriorityMutex&) = delete;
    PriorityMutex& operator=(const PriorityMutex&) = delete;

    void lock() noexcept;
    void unlock() noexcept;
    [[nodiscard]] bool try_lock() noexcept;
    /// Waits for the mutex, until the deadline at most. False: the mutex is not locked.
    [[nodiscard]] bool try_lock_until(Deadline deadline) noexcept;
    /// The system's mutex, as std::mutex::native_handle gives it; it belongs to this one.
    [[nodiscard]] pthread_mutex_t* native_handle() noexcept { return &native_; }

  private:
    friend class PriorityCondition;
    pthread_mutex_t native_;
};

class PriorityCondition {
  public:
    PriorityCondition() noexcept;
    ~PriorityCondition();
    PriorityCondition(const PriorityCondition&) = delete;
    PriorityCondition& operator=(const PriorityCondition&) = delete;

    /// Wakes one of the threads that wait: the system takes the one of the highest priority.
    void notify_one() noexcept { ::pthread_cond_signal(&native_); }
    void notify_all() noexcept { ::pthread_cond_broadcast(&native_); }
    template <typename Predicate>
    void wait(std::unique_lock<PriorityMutex>& lock, Predicate&& done)
    {
        while (!done())
            ::pthread_cond_wait(&native_, &lock.mutex()->native_);
    }

  private:
    pthread_cond_t native_;
};

} // namespace kairos::net
