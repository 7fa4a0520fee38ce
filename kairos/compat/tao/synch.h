// SPDX-License-Identifier: Apache-2.0
//
// The locks that TAO's programs name by TAO_SYNCH_…: with the operations of ACE's, so that
// ACE_Guard takes them, and without ACE. Operations return 0, or -1 with errno set.
#pragma once

#include "kairos/base/export.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace kairos::compat::tao {

/// A mutex of the standard library under the names of ACE's.
template <typename Mutex>
class KAIROS_API Lock {
  public:
    Lock() = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    int acquire()
    {
        mutex_.lock();
        return 0;
    }
    /// -1, and EBUSY, if another thread has it.
    int tryacquire()
    {
        if (mutex_.try_lock()) return 0;
        errno = EBUSY;
        return -1;
    }
    int release()
    {
        mutex_.unlock();
        return 0;
    }
    int acquire_read() { return acquire(); }
    int acquire_write() { return acquire(); }
    int tryacquire_read() { return tryacquire(); }
    int tryacquire_write() { return tryacquire(); }
    /// Does nothing: the destructor ends the lock.
    int remove() { return 0; }
    [[nodiscard]] Mutex& mutex() noexcept { return mutex_; }

  private:
    Mutex mutex_;
};

using PlainLock = Lock<std::mutex>;

/// A condition under the names of ACE's, which belongs to a lock.
class Condition {
  public:
    /// Borrows the lock, which must outlive it.
    explicit Condition(PlainLock& lock) : lock_(lock) {}
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    /// To be called with the lock acquired. `until` is a time of day (ACE_OS::gettimeofday() + …):
    /// -1, and ETIME, when it has come. One that the clock does not reach
    /// (ACE_Time_Value::max_time) never comes.
    template <typename Time>
    int wait(const Time* until)
    {
        using Clock = std::chrono::system_clock;
        // A second is left for the microseconds.
        constexpr std::chrono::seconds::rep last =
            std::chrono::duration_cast<std::chrono::seconds>(Clock::duration::max()).count() - 1;
        if (until == nullptr || until->sec() >= last) return wait();
        const auto since_epoch =
            std::chrono::seconds(until->sec()) + std::chrono::microseconds(until->usec());
        const Clock::time_point end{since_epoch};
        std::unique_lock held(lock_.mutex(), std::adopt_lock);
        const auto status = condition_.wait_until(held, end);
        (void)held.release();
        if (status == std::cv_status::no_timeout) return 0;
        errno = ETIME;
        return -1;
    }
    int wait()
    {
        std::unique_lock held(lock_.mutex(), std::adopt_lock);
        condition_.wait(held);
        (void)held.release();
        return 0;
    }
    int signal()
    {
        condition_.notify_one();
        return 0;
    }
    int broadcast()
    {
        condition_.notify_all();
        return 0;
    }
    int remove() { return 0; }

  private:
    PlainLock& lock_;
    std::condition_variable condition_;
};

} // namespace kairos::compat::tao

// NOLINTBEGIN(cppcoreguidelines-macro-usage): TAO's are macros, and programs ask with #ifdef.
#define TAO_SYNCH_MUTEX ::kairos::compat::tao::PlainLock
#define TAO_SYNCH_RECURSIVE_MUTEX ::kairos::compat::tao::Lock<std::recursive_mutex>
#define TAO_SYNCH_RW_MUTEX ::kairos::compat::tao::PlainLock
#define TAO_SYNCH_CONDITION ::kairos::compat::tao::Condition
// NOLINTEND(cppcoreguidelines-macro-usage)
