// SPDX-License-Identifier: Apache-2.0
//
// Waiting for many descriptors and timers in one thread: readiness → the handler that is registered
// for it. One turn with one ready socket is one epoll_wait and one virtual call; no allocation, no
// lock. A reactor belongs to one thread: the one that made it, or the last that called
// bind_to_this_thread(). Everything but wake() and stop() is for that thread only, and checked.
#pragma once

#include "kairos/base/check.h"
#include "kairos/base/result.h"
#include "kairos/net/interest.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

struct epoll_event;

namespace kairos::net {

/// What a descriptor is ready for. May be stale when another handler of the same turn has already
/// used it up, so handlers read and write without waiting.
struct Readiness {
    bool readable = false;
    bool writable = false;
    bool hung_up = false; ///< closed both ways or broken; then also readable and writable as asked
};

/// Called by the reactor's thread. May register and remove anything, itself too, and may then be
/// destroyed. May run a nested turn of the reactor.
class EventHandler {
  public:
    virtual void on_ready(Readiness readiness) noexcept = 0;

  protected:
    virtual ~EventHandler() = default;
};

class Reactor;

/// A moment at which a reactor calls on_timeout(), once per schedule(). Belongs to the reactor's
/// thread. Destroying it cancels it.
class Timer {
  public:
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    virtual void on_timeout() noexcept = 0;
    [[nodiscard]] bool is_scheduled() const noexcept { return reactor_ != nullptr; }

  protected:
    Timer() = default;
    virtual ~Timer();

  private:
    friend class Reactor;
    Reactor* reactor_ = nullptr;
    std::size_t position_ = 0; ///< in the reactor's heap
};

class Reactor {
  public:
    using Clock = std::chrono::steady_clock;

    /// Names one registered descriptor; once that is removed, it is never valid again.
    class Registration {
      public:
        Registration() = default;
        friend bool operator==(const Registration&, const Registration&) = default;

      private:
        friend class Reactor;
        std::uint32_t slot_ = 0;
        std::uint32_t generation_ = 0; ///< 0 is no registration
    };

    /// Memory for so many handlers and timers is taken now; more of them take more when they come.
    [[nodiscard]] static Result<std::unique_ptr<Reactor>> create(std::size_t handlers_expected = 64,
                                                                 std::size_t timers_expected = 64);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    /// Makes the calling thread the owner. The former owner must have stopped using the reactor.
    void bind_to_this_thread() noexcept { owner_ = std::this_thread::get_id(); }
    void assert_owner() const noexcept { KAIROS_CHECK(owner_ == std::this_thread::get_id()); }

    /// Level-triggered: the handler is called in every turn while the descriptor is ready. The
    /// handler must live until it is removed. Remove before closing the descriptor: the number may
    /// be given to another file at once.
    [[nodiscard]] Result<Registration> add(int descriptor, Interest interest,
                                           EventHandler& handler);
    [[nodiscard]] Result<void> set_interest(Registration registration, Interest interest);
    /// From now on the handler is not called, not even for events of the turn in progress. False
    /// when it was already removed.
    bool remove(Registration registration) noexcept;

    /// Calls timer.on_timeout() in the first turn at or after `deadline`; earlier deadlines first,
    /// equal ones in the order of scheduling. A scheduled timer is moved to the new deadline.
    void schedule(Timer& timer, Clock::time_point deadline);
    /// Takes back what schedule() asked for. False when the timer was not scheduled.
    bool cancel(Timer& timer) noexcept;
    /// When the next timer is due.
    [[nodiscard]] std::optional<Clock::time_point> next_deadline() const noexcept;

    /// One turn: waits for readiness, a timer, wake() or a signal, at most `max_wait` (nullopt: no
    /// limit), and calls the handlers. Returns how many it called, wake-ups included.
    std::size_t run_once(std::optional<std::chrono::nanoseconds> max_wait = {}) noexcept;
    /// Turns until stop(). Not to be nested.
    void run() noexcept;
    /// Any thread. Ends the run() in progress, or the next one if there is none.
    void stop() noexcept;
    /// Any thread, also a signal handler. Ends the waiting of the present or next turn; several
    /// calls may be answered by one turn. What the caller wrote before is visible after that turn's
    /// waiting.
    void wake() noexcept;
    /// Called in each turn that wake() ended; null for none.
    void set_wake_handler(EventHandler* handler) noexcept;

    /// Can be polled, by any thread: readable when run_once(0) would call a handler, timers apart.
    [[nodiscard]] int descriptor() const noexcept { return epoll_; }
    /// For foreign event loops: returns descriptor(), from now on also readable when a timer is
    /// due. By the owner only. An error says why the system gave no timer descriptor.
    [[nodiscard]] Result<int> descriptor_with_timers();

  private:
    struct Slot {
        EventHandler* handler = nullptr;
        int descriptor = -1;
        std::uint32_t generation = 1;
        std::uint32_t next_free = 0;
        Interest interest = Interest::none;
    };
    struct Scheduled {
        Clock::time_point deadline;
        std::uint64_t sequence; ///< order of scheduling
        Timer* timer;
        [[nodiscard]] bool before(const Scheduled& other) const noexcept
        {
            return deadline != other.deadline ? deadline < other.deadline
                                              : sequence < other.sequence;
        }
    };

    Reactor() = default;
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Slot* find(Registration registration) noexcept;
    void free_slot(std::uint32_t index) noexcept;
    int update(const Slot& slot, std::uint64_t key, Interest next) noexcept;
    int wait(epoll_event* events, std::optional<std::chrono::nanoseconds> limit) noexcept;
    bool dispatch(const epoll_event& event) noexcept;
    void take_wake() noexcept;
    std::size_t fire_timers() noexcept;
    void arm_alarm() noexcept;
    void place(std::size_t position, const Scheduled& entry) noexcept;
    void sift(std::size_t position) noexcept;

    int epoll_ = -1;
    int wake_ = -1;  ///< an eventfd
    int alarm_ = -1; ///< a timerfd, once a foreign loop polls: the next timer is due
    bool has_precise_wait_ = true;
    bool running_ = false;
    std::thread::id owner_ = std::this_thread::get_id();
    EventHandler* wake_handler_ = nullptr;
    std::vector<Slot> slots_;
    std::uint32_t first_free_ = UINT32_MAX; ///< chain of free slots
    std::vector<Scheduled> timers_;         ///< a binary heap, the earliest first
    std::uint64_t next_sequence_ = 0;
    /// Set while the eventfd is written and not yet read: spares further calls of wake() the write.
    alignas(64) std::atomic<bool> is_woken_{false};
    std::atomic<bool> stop_requested_{false};
};

} // namespace kairos::net
