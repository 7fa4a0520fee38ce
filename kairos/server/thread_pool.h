// SPDX-License-Identifier: Apache-2.0
//
// Lanes of threads, each lane with a queue of its own. A thread that waits for a call of its own
// does not count: while it waits, another may take its place, a new one if there is none, so that a
// pool of one thread can be called back. Where the system has no more threads, those that wait
// serve. Any thread.
//
// A pool of Real-Time CORBA has a priority in each lane and serves the requests of the object
// adapters that have it: those that a server's thread has read and hands over, those that its own
// threads read in turns (lane_readers.h), and those of callers in this process, who wait. A
// server's workers are a pool of one lane, whose threads only serve.
#pragma once

#include "kairos/net/priority_mutex.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/server/pool_levels.h"
#include "kairos/server/thread_pools.h"
#include "kairos/server/thread_set.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::orb {

/// The threads of a server that hands requests over to a pool of its own.
struct Workers {
    std::size_t threads = 1;                     ///< that serve at the same time
    std::size_t queued_max = 1;                  ///< requests that wait
    bool each_has_place = false;                 ///< of connections, though it is full
    Dispatching dispatching = Dispatching::fifo; ///< who of these is served first
    net::ThreadOptions thread{};                 ///< what each of them is
    std::optional<Priority> priority{};          ///< that they are known to have
};

class ThreadPool final : public Dispatcher, public ServingThread {
  public:
    /// Makes a pool of Real-Time CORBA, whose requests are served at the priorities of its lanes.
    ThreadPool(Orb& orb, PoolSettings settings);
    /// Makes a pool of one lane, whose threads read nothing and serve requests at the priority that
    /// they have.
    ThreadPool(Orb& orb, Workers workers);
    ~ThreadPool() override { end(); }

    /// Starts the static threads.
    [[nodiscard]] Result<void> start() override;
    /// Takes a request over, at the lane for request.own_threads.priority, or leaves it where it is
    /// if it is to wait there. Answers TRANSIENT if there is no room for it where it would wait
    /// here, or the pool has ended; NO_RESOURCES if there is no thread for it and none can be
    /// started.
    void take(QueuedRequestPtr& request, UpcallMemory& memory) override;
    void resume() noexcept override;
    void begin_to_end() noexcept override;
    void end() noexcept override;
    void wait(const Awaited& awaited, Deadline deadline) noexcept override;

    /// Returns the lane whose threads serve requests of this priority. Any thread, at any time.
    [[nodiscard]] PoolLevel& lane_for(std::optional<Priority> priority) noexcept
    {
        return levels_.level_for(priority);
    }
    // --- by servers, of connections whose requests are for one lane ---
    /// Lends a connection to the lane, whose threads read it from now on. Returns false if they
    /// have enough to do. It comes back by itself.
    [[nodiscard]] bool lend(HandoverConnection& connection, PoolLevel& lane) noexcept;
    /// Has a connection come back soon that was lent.
    void recall(HandoverConnection& connection, PoolLevel& lane) noexcept;
    /// Has those come back that no thread of the lane is free to read; to be called when
    /// `unread_descriptor` of its readers can be read.
    void recall_unread(PoolLevel& lane) noexcept;

    /// Has one of the pool's threads do `work`, at the lane for `priority`, or else the lowest;
    /// waits, and throws what `work` throws. Throws TRANSIENT where a request would be refused, or
    /// the pool has ended; NO_RESOURCES where there is no thread and none can be started.
    void run(std::optional<Priority> priority, const std::function<void()>& work);
    /// Returns whether the calling thread is one of the pool's.
    [[nodiscard]] bool is_current() const noexcept;

    [[nodiscard]] const PoolSettings& settings() const noexcept { return settings_; }
    /// Returns whether the pool has a lane of just this priority; a pool without lanes has all.
    [[nodiscard]] bool has_lane(Priority priority) const noexcept;

    // --- by object adapters ---
    void add_user() noexcept { users_.fetch_add(1); }
    void remove_user() noexcept { users_.fetch_sub(1); }
    [[nodiscard]] bool is_used() const noexcept { return users_.load() != 0; }
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(); }

  private:
    using Level = PoolLevel;
    using Room = PoolLevels::Room;
    using Lock = std::unique_lock<net::PriorityMutex>;

    /// Gives each lane the threads of its priority, which read.
    [[nodiscard]] Result<void> equip_lanes();
    void serve(Level& level) noexcept;
    /// One request within that for which the calling thread waits, if there is one to serve.
    void serve_nested(Level& level, UpcallMemory& memory) noexcept;
    /// False: not now.
    [[nodiscard]] bool serve_request(QueuedRequestPtr& request, UpcallMemory& memory,
                                     const std::optional<Priority>& borrowed) noexcept;
    // All of these must hold mutex_. The first four give it back while they wait or serve.
    /// Waits until there may be something to serve: it reads one connection, or is called.
    void wait_for_work(Lock& lock, Level& level, UpcallMemory& memory) noexcept;
    /// Waits for its turn and reads one connection, or is called.
    void take_turn(Lock& lock, Level& level, UpcallMemory& memory) noexcept;
    void serve_one(Lock& lock, Level& level, Level& from, UpcallMemory& memory) noexcept;
    void serve_call(Lock& lock, LocalCall& call, const std::optional<Priority>& borrowed) noexcept;
    /// Whether somebody looks at the level's queue, now or later. If not, one is started.
    [[nodiscard]] bool ensure_thread(Level& level) noexcept;
    /// For a call of this process: null.
    [[nodiscard]] Room room_for(const Level& level, const QueuedRequest* request) noexcept;
    void call_thread(Level& level) noexcept;
    /// Calls another if there is more to do than the calling thread, which is about to serve, does,
    /// and those called before may not have heard of it.
    void call_next(Level& level) noexcept;
    [[nodiscard]] Result<void> add_thread(Level& level) noexcept;
    void finish(LocalCall& call, LocalCall::State state) noexcept;
    /// Releases it for as long as sources that wait are told that there may be room.
    void tell_sources(Lock& lock) noexcept;

    Orb& orb_;
    const PoolSettings settings_;
    const bool is_real_time_; // lanes say at which priority requests are served
    std::atomic<std::size_t> users_{0};
    std::atomic<bool> has_ended_{false};
    // guards what follows; inherits priorities in real time; not held while a request is served;
    // outside ThreadSet's, RequestStore's and the lists of servers that read
    net::PriorityMutex mutex_;
    PoolLevels levels_;
    std::vector<RequestSource*> sources_; // that wait for room
    net::PriorityCondition call_done_;    // also: nobody reads any more
    bool ended_ = false;
    std::mutex end_mutex_; // guards that one thread ends it; outside mutex_
    ThreadSet threads_;
};

} // namespace kairos::orb
