// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/couriers.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/log.h"

#include <utility>

namespace kairos::events {
namespace {

struct CallOver {
    explicit CallOver(orb::AsynchronousCall& call) noexcept : of(call) {}
    CallOver(const CallOver&) = delete;
    CallOver& operator=(const CallOver&) = delete;
    ~CallOver() { of.abandon(); }
    orb::AsynchronousCall& of;
};

} // namespace

// --- One -----------------------------------------------------------------------------------------

Courier::Courier(std::shared_ptr<Couriers> couriers, Lane lane) noexcept
    : couriers_(std::move(couriers)), lane_(lane)
{
}

void Courier::wake() noexcept { couriers_->wake(*this); }
void Courier::wake_here() noexcept { couriers_->work_here(*this, false); }
void Courier::wake_at(Clock::time_point time) { couriers_->wake_at(*this, time); }

void Courier::send(orb::AsynchronousCall& call) noexcept
{
    add_ref(); // the listener's, until the call is over or dropped
    call_ = &call;
    reader_works_ = lane() == Lane::quick && is_brief();
    call.send({.posted = &posted,
               .ready = &ready,
               .ended = nullptr,
               .dropped = &dropped,
               .object = this});
}

/// Under the lock of a connection, perhaps.
orb::MainThread::Accepted Courier::posted(const orb::CallListener& listener) noexcept
{
    auto& self = *static_cast<Courier*>(listener.object);
    return self.couriers_->wake_for_call(self) ? orb::MainThread::Accepted::more
                                               : orb::MainThread::Accepted::no;
}

void Courier::ready(const orb::CallListener& listener) noexcept
{
    auto& self = *static_cast<Courier*>(listener.object);
    self.couriers_->work_here(self, true);
}

void Courier::dropped(const orb::CallListener& listener) noexcept
{
    static_cast<Courier*>(listener.object)->release();
}

void Courier::drop_call() noexcept
{
    std::exchange(call_, nullptr)->abandon();
    release(); // the listener's
}

void Courier::work(bool posted)
{
    if (posted && call_->proceed()) {
        const CallOver call(*std::exchange(call_, nullptr));
        const auto counted = IntrusivePtr<Courier>::adopt(this); // the listener's
        called(call.of);
    }
    if (call_ == nullptr) idle();
}

// --- All -----------------------------------------------------------------------------------------

Couriers::Couriers(const ServiceLimits& limits)
{
    try {
        begin_threads(Lane::quick, limits.quick_threads);
        begin_threads(Lane::fresh, limits.fresh_threads);
        begin_threads(Lane::patient, limits.patient_threads);
    } catch (...) {
        end();
        throw;
    }
}

void Couriers::begin_threads(Lane lane, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        threads_.emplace_back([this, lane] { run(lane); });
}

bool Couriers::begin_farewell() noexcept
{
    if (farewells_.fetch_add(1, std::memory_order_relaxed) < farewells_max) return true;
    end_farewell();
    return false;
}

void Couriers::wake(Courier& courier) noexcept
{
    const Lock lock(mutex_);
    if (!has_ended_) make_ready(courier);
}

bool Couriers::wake_for_call(Courier& courier) noexcept
{
    const Lock lock(mutex_);
    if (has_ended_) return false;
    // Who works looks again; else it is over by what the reader has read.
    if (courier.reader_works_ && !courier.is_worked_for_) {
        courier.call_->leave_to_thread();
        return true;
    }
    courier.is_posted_ = true;
    make_ready(courier);
    return true;
}

void Couriers::work_here(Courier& courier, bool posted) noexcept
{
    const IntrusivePtr<Courier> owned(&courier); // until the lock is left
    Lock lock(mutex_);
    if (has_ended_ && !courier.is_worked_for_) {
        lock.unlock();
        if (posted) courier.drop_call();
        return;
    }
    courier.is_posted_ = courier.is_posted_ || posted;
    const bool may_work = !has_ended_ && courier.lane() == Lane::quick && !courier.is_worked_for_ &&
                          !courier.ready_links_.linked;
    if (!may_work) return make_ready(courier);
    ++guests_;
    courier.is_guest_ = true;
    work_for(courier, Lane::quick, lock);
    if (--guests_ == 0) guests_left_.notify_all();
}

void Couriers::wake_at(Courier& courier, Clock::time_point time)
{
    const Lock lock(mutex_);
    if (has_ended_) return;
    if (courier.is_timed_) timers_.erase(courier.timer_);
    courier.is_timed_ = false;
    courier.timer_ = timers_.emplace(time, IntrusivePtr<Courier>(&courier));
    courier.is_timed_ = true;
    if (courier.timer_ == timers_.begin()) lanes_.front().changed.notify_one();
}

void Couriers::make_ready(Courier& courier) noexcept
{
    assert_held(mutex_);
    if (courier.is_worked_for_) {
        courier.is_woken_ = true;
        return;
    }
    if (courier.ready_links_.linked) return;
    courier.add_ref();
    LaneState& lane = lane_of(courier);
    lane.ready.push_back(courier);
    if (lane.waiting != 0) lane.changed.notify_one();
}

void Couriers::take_due() noexcept
{
    assert_held(mutex_);
    while (!timers_.empty() && timers_.begin()->first <= Clock::now()) {
        const IntrusivePtr<Courier> courier = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        courier->is_timed_ = false;
        make_ready(*courier); // which owns it, too
    }
}

/// Timers are watched by the quick threads.
void Couriers::wait(LaneState& lane, Lock& lock)
{
    assert_held(mutex_);
    ++lane.waiting;
    if (&lane == lanes_.data() && !timers_.empty()) {
        const Clock::time_point first = timers_.begin()->first;
        lane.changed.wait_until(lock, first);
    } else {
        lane.changed.wait(lock);
    }
    --lane.waiting;
}

void Couriers::run(Lane which) noexcept
{
    LaneState& lane = lanes_[static_cast<std::size_t>(which)];
    Lock lock(mutex_);
    while (!has_ended_) {
        if (&lane == lanes_.data()) take_due();
        Courier* const courier = lane.ready.front();
        if (courier == nullptr) {
            wait(lane, lock);
            continue;
        }
        lane.ready.remove(*courier);
        auto owned = IntrusivePtr<Courier>::adopt(courier);
        work_for(*courier, which, lock);
        lock.unlock();
        owned = {};
        lock.lock();
    }
}

void Couriers::work_for(Courier& courier, Lane lane, Lock& lock) noexcept
{
    assert_held(mutex_);
    courier.is_worked_for_ = true;
    courier.working_lane_ = lane;
    const bool posted = std::exchange(courier.is_posted_, false);
    lock.unlock();
    work(courier, posted);
    lock.lock();
    courier.is_worked_for_ = courier.is_guest_ = false;
    if (std::exchange(courier.is_woken_, false)) make_ready(courier); // end() looks, too
}

/// Who has no memory now is asked again.
void Couriers::work(Courier& courier, bool posted) noexcept
{
    constexpr std::chrono::seconds pause{1};
    try {
        courier.work(posted);
    } catch (const std::exception&) {
        log::warning("events: there is no memory for a call; it is tried again");
        try {
            wake_at(courier, Clock::now() + pause);
        } catch (const std::bad_alloc&) {
            wake(courier);
        }
    }
}

void Couriers::end() noexcept
{
    {
        const Lock lock(mutex_);
        has_ended_ = true;
    }
    for (LaneState& lane : lanes_)
        lane.changed.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    threads_.clear();
    {
        Lock lock(mutex_);
        guests_left_.wait(lock, [this] { return guests_ == 0; });
    }
    // Now this is the only thread that works.
    Courier::Timers timers;
    {
        const Lock lock(mutex_);
        timers.swap(timers_);
    }
    for (LaneState& lane : lanes_) {
        while (Courier* const courier = lane.ready.front()) {
            lane.ready.remove(*courier);
            const auto owned = IntrusivePtr<Courier>::adopt(courier);
            if (std::exchange(courier->is_posted_, false)) courier->drop_call();
        }
    }
}

} // namespace kairos::events
