// SPDX-License-Identifier: Apache-2.0
//
// RTCORBA::Mutex (Real-Time CORBA 1.2, 5.11). Whoever breaks its rules is told, where the system's
// own would be silent or wait for ever.
#include "kairos/net/priority_mutex.h"
#include "kairos/rtcorba/services.h"

#include <atomic>
#include <limits>
#include <thread>

namespace kairos::rtcorba {

namespace {

class Mutex final : public RTCORBA::Mutex {
  public:
    void lock() override
    {
        refuse_owner();
        mutex_.lock();
        owner_ = std::this_thread::get_id();
    }
    void unlock() override
    {
        if (owner_ != std::this_thread::get_id())
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                       "the calling thread has not locked the mutex");
        owner_ = std::thread::id();
        mutex_.unlock();
    }
    /// Zero does not wait.
    CORBA::Boolean try_lock(TimeBase::TimeT max_wait) override
    {
        refuse_owner();
        const bool locked =
            max_wait == 0 ? mutex_.try_lock() : mutex_.try_lock_until(deadline_after(max_wait));
        if (locked) owner_ = std::this_thread::get_id();
        return locked;
    }

  private:
    void refuse_owner() const
    {
        if (owner_ == std::this_thread::get_id())
            throw CORBA::BAD_INV_ORDER(0, CORBA::COMPLETED_NO,
                                       "the calling thread has locked the mutex already");
    }
    /// In units of 100 ns; what no clock of nanoseconds can tell is never.
    static Deadline deadline_after(TimeBase::TimeT time)
    {
        constexpr TimeBase::TimeT unit_ns = 100;
        constexpr TimeBase::TimeT max = std::numeric_limits<std::int64_t>::max() / unit_ns;
        return time > max ? Deadline()
                          : Deadline::after(std::chrono::nanoseconds(
                                static_cast<std::int64_t>(time * unit_ns)));
    }

    net::PriorityMutex mutex_;             // guards what the program says: it is the program's
    std::atomic<std::thread::id> owner_{}; // written by the owner only
};

} // namespace

RTCORBA::Mutex_ptr make_mutex() { return new Mutex; }

} // namespace kairos::rtcorba
