// SPDX-License-Identifier: Apache-2.0
//
// Who calls a service's clients: a courier makes calls of one of them, one after the other, and a
// few threads do what there is to do for all couriers. None of them waits for an answer, so that
// who is slow is waited for by nobody. What may block nevertheless, as connecting does, is left to
// other threads than the calls of clients that answer. What is brief, for these, is done by the
// thread that has caused it: nobody is woken for it. Any thread.
#pragma once

#include "kairos/base/intrusive_list.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/asynchronous.h"
#include "kairos/events/service_limits.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kairos::events {

class Couriers;

/// Which threads work for a courier.
enum class Lane : std::uint8_t {
    quick,   ///< the client has answered
    fresh,   ///< it was not called yet, or is in this process: it may take until a call's time is
             ///< over
    patient, ///< it has failed, so that it probably will
};

/// Shared by count: by its owner, and while it has something to do.
class KAIROS_API Courier : public RefCounted {
  public:
    using Clock = std::chrono::steady_clock;

    /// Has a thread ask idle() soon. Any thread.
    void wake() noexcept;
    /// Asks idle() in this thread, which holds no lock, if the client has answered lately and
    /// nobody works for it; else has a thread ask it soon. Any thread.
    void wake_here() noexcept;

  protected:
    Courier(std::shared_ptr<Couriers> couriers, Lane lane) noexcept;

    // In both, one thread at a time, with no lock held.
    /// What came of the call that was sent.
    virtual void called(orb::AsynchronousCall& call) = 0;
    /// Asked after wake() and when a call is over, while none is under way: may send one.
    virtual void idle() = 0;

    /// Whether what there is to do after a call of a client that answers takes so little that the
    /// thread which reads all answers may begin it. Called by the thread that works.
    [[nodiscard]] virtual bool is_brief() const noexcept { return false; }
    /// Whether the thread that works has other things to do: what takes long is not for it.
    [[nodiscard]] bool is_guest() const noexcept { return is_guest_; }

    /// Sends a call, from within idle(), which must do nothing after it.
    void send(orb::AsynchronousCall& call) noexcept;
    /// Has a thread ask idle() at this time, instead of any time of before. From within either.
    void wake_at(Clock::time_point time);
    /// From within either.
    void move_to(Lane lane) noexcept { lane_.store(lane, std::memory_order_relaxed); }
    [[nodiscard]] Lane lane() const noexcept { return lane_.load(std::memory_order_relaxed); }
    /// Whether the thread that works is one of its lane.
    [[nodiscard]] bool is_in_lane() const noexcept { return lane() == working_lane_; }

  private:
    friend class Couriers;
    using Timers = std::multimap<Clock::time_point, IntrusivePtr<Courier>>;

    void work(bool posted);
    /// Forgets a call that is over, of which nobody is told any more.
    void drop_call() noexcept;
    static orb::MainThread::Accepted posted(const orb::CallListener& listener) noexcept;
    static void ready(const orb::CallListener& listener) noexcept;
    static void dropped(const orb::CallListener& listener) noexcept;

    const std::shared_ptr<Couriers> couriers_;
    std::atomic<Lane> lane_;
    // Of the thread that works.
    orb::AsynchronousCall* call_ = nullptr; // under way
    Lane working_lane_{};
    bool reader_works_ = false; // when the call is over
    bool is_guest_ = false;     // written under Couriers::mutex_
    // What follows is guarded by Couriers::mutex_.
    ListLinks<Courier> ready_links_;
    bool is_worked_for_ = false;
    bool is_woken_ = false; // while it was worked for
    bool is_posted_ = false;
    bool is_timed_ = false;
    Timers::iterator timer_;
};

class KAIROS_API Couriers {
  public:
    /// Begins the threads. Throws std::system_error where there are none.
    explicit Couriers(const ServiceLimits& limits);
    Couriers(const Couriers&) = delete;
    Couriers& operator=(const Couriers&) = delete;
    ~Couriers() { end(); }

    /// Nothing is done for any courier from here on. Waits for the threads: for connections that
    /// are being made, as long as that may take, and for calls of objects of this process, however
    /// long they take. Not in one of the threads.
    void end() noexcept;
    /// Counts a courier that nobody owns; false if there are too many of them.
    [[nodiscard]] bool begin_farewell() noexcept;
    void end_farewell() noexcept { farewells_.fetch_sub(1, std::memory_order_relaxed); }
    /// Notes that a client is not told; true for the first.
    [[nodiscard]] bool note_untold() noexcept
    {
        return !has_untold_.exchange(true, std::memory_order_relaxed);
    }

  private:
    friend class Courier;
    using Clock = Courier::Clock;
    using Lock = std::unique_lock<std::mutex>;
    static constexpr std::size_t farewells_max = 1000;

    struct LaneState {
        IntrusiveList<Courier, &Courier::ready_links_> ready; // each counts as an owner
        std::condition_variable changed;
        std::size_t waiting = 0; // threads
    };

    void wake(Courier& courier) noexcept;
    /// What Courier::wake_here says; `posted`: a call is over.
    void work_here(Courier& courier, bool posted) noexcept;
    /// Returns false if nobody works any more.
    [[nodiscard]] bool wake_for_call(Courier& courier) noexcept;
    void wake_at(Courier& courier, Clock::time_point time);

    // All of these must hold mutex_.
    void make_ready(Courier& courier) noexcept;
    void take_due() noexcept;
    void wait(LaneState& lane, Lock& lock);
    [[nodiscard]] LaneState& lane_of(const Courier& courier) noexcept
    {
        return lanes_[static_cast<std::size_t>(courier.lane_.load(std::memory_order_relaxed))];
    }

    /// Works for a courier, without the lock meanwhile.
    void work_for(Courier& courier, Lane lane, Lock& lock) noexcept;

    void run(Lane which) noexcept;
    void work(Courier& courier, bool posted) noexcept;
    void begin_threads(Lane lane, std::size_t count);

    std::mutex mutex_; // guards what follows; inside those of shared connections, outside
                       // AsynchronousCalls'
    std::array<LaneState, 3> lanes_;
    Courier::Timers timers_;
    bool has_ended_ = false;
    std::size_t guests_ = 0; // other threads that work
    std::condition_variable guests_left_;
    std::atomic<std::size_t> farewells_{0};
    std::atomic<bool> has_untold_{false};
    std::vector<std::thread> threads_; // of who makes and ends this
};

} // namespace kairos::events
