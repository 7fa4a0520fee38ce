// SPDX-License-Identifier: Apache-2.0
//
// The queues of a thread pool, one for each lane, and how many threads each lane has: what decides
// who serves whom, and what there is room for. Guarded by the pool's mutex; of threads it knows
// only the numbers, which the pool keeps.
#pragma once

#include "kairos/net/priority_mutex.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/net/waker.h"
#include "kairos/orb/upcall_note.h"
#include "kairos/server/lane_readers.h"
#include "kairos/server/request_queue.h"
#include "kairos/server/thread_pools.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

namespace kairos::orb {

/// A caller of this process that waits for a thread of the pool to do its work. Lies on the
/// caller's stack.
struct LocalCall {
    const std::function<void()>& work;
    const net::Socket* waiter; ///< to be made readable; null: waits for ThreadPool::call_done_
    UpcallNote::Noted noted;   ///< what its caller serves, as who serves it does
    std::exception_ptr exception{};
    enum class State : std::uint8_t { waiting, done, refused } state = State::waiting;
    LocalCall* next = nullptr;
};

/// A lane, its queue and its threads.
struct PoolLevel {
    PoolLane lane;
    net::ThreadOptions thread;
    std::optional<Priority> priority; // that its threads are known to have
    RequestQueue requests;
    HeldRequests held;
    LocalCall* first_call = nullptr; // these go before requests: somebody's thread waits
    LocalCall* last_call = nullptr;
    std::size_t calls = 0;
    std::size_t idle = 0;     // threads that wait for requests
    std::size_t starting = 0; // that are about to
    std::size_t serving = 0;  // that serve and do not wait for calls of their own
    std::size_t waiting = 0;  // that do, and serve nothing meanwhile
    // What the idle ones wait for: connections and calls where they read, made by start(); else
    // calls alone, at a condition, which is cheaper.
    std::unique_ptr<LaneReaders> readers;
    net::PriorityCondition called;
    std::optional<net::Waker> no_thread; // woken: those that wait for calls are to serve
    bool is_short = false;               // of threads, as the log says

    [[nodiscard]] std::size_t queued() const noexcept { return requests.size() + calls; }
    [[nodiscard]] bool has_threads() const noexcept
    {
        return idle + starting + serving + waiting != 0;
    }
    [[nodiscard]] std::size_t threads_max() const noexcept
    {
        return lane.static_threads + lane.dynamic_threads;
    }
    [[nodiscard]] bool may_start() const noexcept
    {
        return serving + idle + starting < threads_max();
    }
    void push(LocalCall& call) noexcept;
    [[nodiscard]] LocalCall* pop_call() noexcept;

    /// Has one idle thread look at the queue. At readers, several calls may be heard as one.
    void call_one() noexcept { readers ? readers->call_one() : called.notify_one(); }
    /// Has all idle threads look, at readers for ever.
    void call_all() noexcept { readers ? readers->call_all() : called.notify_all(); }
    /// Notes that one thread more, or one less, waits for requests.
    void begin_idle() noexcept
    {
        if (++idle == 1 && readers) readers->note_idle(true);
    }
    void end_idle() noexcept
    {
        if (--idle == 0 && readers) readers->note_idle(false);
    }
};

class PoolLevels {
  public:
    /// Makes one level for each lane of `settings`, which must outlive this. `buffered_max` is how
    /// many requests may wait where `settings` does not say.
    PoolLevels(const PoolSettings& settings, Dispatching dispatching, std::size_t buffered_max);

    [[nodiscard]] auto begin() noexcept { return levels_.begin(); } // ascending
    [[nodiscard]] auto end() noexcept { return levels_.end(); }

    /// Returns the level of the highest priority that is not above this one, or else the lowest.
    [[nodiscard]] PoolLevel& level_for(std::optional<Priority> priority) noexcept;
    /// Returns whether threads of `level` serve requests in the queue of `queue`.
    [[nodiscard]] bool serves(const PoolLevel& level, const PoolLevel& queue) const noexcept;
    /// Returns whether there are threads that look at the level's queue, now or later.
    [[nodiscard]] bool is_served(const PoolLevel& level) const noexcept;
    /// Returns a lower level that has a thread to spare for this one; null for none.
    [[nodiscard]] PoolLevel* lender_for(const PoolLevel& level) noexcept;

    enum class Room : std::uint8_t {
        found,
        none,   ///< now: it is to wait where it is
        refused ///< it is not to wait
    };
    /// Returns whether there is room for a request of so many octets, or for a call with 0.
    [[nodiscard]] Room room_for(const PoolLevel& level, std::size_t bytes) noexcept;

    void push(PoolLevel& level, QueuedRequestPtr request) noexcept;
    [[nodiscard]] QueuedRequestPtr pop(PoolLevel& level) noexcept;
    /// Moves the level's held requests back to its queue; returns false if there were none.
    [[nodiscard]] bool put_back_held(PoolLevel& level) noexcept;

    /// Returns the level whose queue a thread of `level` is to serve next; null for none.
    [[nodiscard]] PoolLevel* next_for(PoolLevel& level) noexcept;
    /// Returns the level whose queue a thread of `level` that waits for a call of its own is to
    /// serve next; null for none, and while the level has as many threads that serve, or are free
    /// to, as it may.
    [[nodiscard]] PoolLevel* next_nested_for(PoolLevel& level) noexcept
    {
        return level.may_start() ? next_for(level) : nullptr;
    }

  private:
    [[nodiscard]] bool finds_thread(const PoolLevel& level) noexcept;
    [[nodiscard]] std::size_t buffered() const noexcept;

    const PoolSettings& settings_;
    const std::size_t buffered_max_;
    std::deque<PoolLevel> levels_;
    std::size_t queued_bytes_ = 0;
};

} // namespace kairos::orb
