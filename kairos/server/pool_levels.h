// SPDX-License-Identifier: Apache-2.0
//
// The queues of a thread pool of Real-Time CORBA, one for each lane, and how many threads each lane
// has: what decides who serves whom, and what there is room for. Guarded by the pool's mutex; of
// threads it knows only the numbers, which the pool keeps.
#pragma once

#include "kairos/net/bell.h"
#include "kairos/net/priority_mutex.h"
#include "kairos/net/socket.h"
#include "kairos/net/thread.h"
#include "kairos/server/request_queue.h"
#include "kairos/server/thread_pools.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>

namespace kairos::orb {

/// A caller of this process that waits for a thread of the pool. On its stack.
struct LocalCall {
    const std::function<void()>& work;
    const net::Socket* waiter; ///< to be made readable; null: waits for ThreadPool::call_done_
    std::exception_ptr exception{};
    enum class State : std::uint8_t { waiting, done, refused } state = State::waiting;
    LocalCall* next = nullptr;
};

/// A lane, its queue and its threads.
struct PoolLevel {
    PoolLane lane;
    net::ThreadOptions thread;
    RequestQueue requests;
    HeldRequests held;
    LocalCall* first_call = nullptr; // these go before requests: somebody's thread waits
    LocalCall* last_call = nullptr;
    std::size_t calls = 0;
    std::size_t idle = 0;     // threads that wait for requests
    std::size_t starting = 0; // that are about to
    std::size_t serving = 0;  // that serve and do not wait for calls of their own
    std::size_t waiting = 0;  // that do, and serve nothing meanwhile
    net::PriorityCondition changed;
    std::optional<net::Bell> no_thread; // rung: those that wait for calls are to serve
    bool is_short = false;              // of threads, as the log says

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
};

class PoolLevels {
  public:
    /// `settings` must outlive it. `buffered_max` is for settings that say none.
    PoolLevels(const PoolSettings& settings, Dispatching dispatching, std::size_t buffered_max);

    [[nodiscard]] auto begin() noexcept { return levels_.begin(); } // ascending
    [[nodiscard]] auto end() noexcept { return levels_.end(); }

    /// The highest that is not above this priority, or else the lowest.
    [[nodiscard]] PoolLevel& level_for(std::optional<Priority> priority) noexcept;
    /// Whether threads of this level serve requests of that one.
    [[nodiscard]] bool serves(const PoolLevel& level, const PoolLevel& queue) const noexcept;
    /// Whether somebody looks at the level's queue, now or later.
    [[nodiscard]] bool is_served(const PoolLevel& level) const noexcept;
    /// A lower one that has a thread to spare for it; null for none.
    [[nodiscard]] PoolLevel* lender_for(const PoolLevel& level) noexcept;

    enum class Room : std::uint8_t {
        found,
        none,   ///< now: it is to wait where it is
        refused ///< it is not to wait
    };
    /// For a request of so many octets, or a call of none.
    [[nodiscard]] Room room_for(const PoolLevel& level, std::size_t bytes) noexcept;

    void push(PoolLevel& level, QueuedRequestPtr request) noexcept;
    [[nodiscard]] QueuedRequestPtr pop(PoolLevel& level) noexcept;
    /// What was held waits again. False if there was nothing.
    [[nodiscard]] bool put_back_held(PoolLevel& level) noexcept;

    /// Whose queue a thread of this level is to serve next; null for none.
    [[nodiscard]] PoolLevel* next_for(PoolLevel& level) noexcept;
    /// The same for one of its threads that waits for a call.
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
