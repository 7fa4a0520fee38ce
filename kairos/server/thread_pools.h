// SPDX-License-Identifier: Apache-2.0
//
// The thread pools of Real-Time CORBA (1.2, 5.12) that an ORB has, and what programs say of one.
// Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/orb/priority.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace kairos::orb {

class Orb;
class ThreadPool;

/// Threads of one priority.
struct PoolLane {
    Priority priority = 0;
    std::size_t static_threads = 0;  ///< there from the start
    std::size_t dynamic_threads = 0; ///< more, made at need and kept
};

struct PoolSettings {
    std::size_t stack_bytes = 0; ///< 0 is the system's default
    /// Ascending. Without lanes there is one, whose threads serve at any priority.
    std::vector<PoolLane> lanes;
    bool has_lanes = false;
    bool borrows = false; ///< a lane without an idle thread may use one of a lower lane
    bool buffers = false; ///< what finds no thread waits here; else its connection is not read
    /// With `buffers`: a request that finds no place here is not refused, its connection is not
    /// read. All requests that wait count then, whether or not a thread is on its way to them.
    bool blocks = false;
    bool each_has_place = false;        ///< with `blocks`: who has none here finds room for one
    std::size_t buffered_max = 0;       ///< requests; 0: as many as -ORBQueue says
    std::size_t buffered_bytes_max = 0; ///< octets of their messages; 0: not bounded
};

/// What thread pools ask of a server whose architecture the options leave open.
struct ForPools {
    bool hands_over = false; ///< whoever reads requests hands them over
    /// Ascending: the lanes of all pools, each to be read by a thread of its own. None: as the
    /// options say.
    std::vector<Priority> lanes{};
};

class KAIROS_API ThreadPools {
  public:
    explicit ThreadPools(Orb& orb);
    ~ThreadPools();
    ThreadPools(const ThreadPools&) = delete;
    ThreadPools& operator=(const ThreadPools&) = delete;

    /// Makes a pool with its static threads, and returns its id.
    [[nodiscard]] Result<std::uint32_t> create(PoolSettings settings);
    /// Returns the pool of this id; null if there is none. A pool that was found lives as long as
    /// the ORB, ended or not.
    [[nodiscard]] ThreadPool* find(std::uint32_t id);

    enum class Destroyed : std::uint8_t {
        yes,
        unknown,
        in_use,         ///< by an object adapter
        would_deadlock, ///< the calling thread is one of its own
    };
    /// Destroys the pool of this id, unless it is in use: ends it and waits until its threads have
    /// ended.
    [[nodiscard]] Destroyed destroy(std::uint32_t id);

    /// Has requests that could not be served tried again.
    void resume() noexcept;
    /// Begins to end all pools, without waiting (Dispatcher::begin_to_end).
    void begin_to_end() noexcept;
    /// Ends all pools, and waits until the requests in progress are finished (Dispatcher::end).
    void end() noexcept;

  private:
    [[nodiscard]] std::vector<ThreadPool*> all();

    Orb& orb_;
    std::mutex mutex_;                               // guards what follows
    std::vector<std::unique_ptr<ThreadPool>> pools_; // never freed before the ORB
    bool ended_ = false;
};

} // namespace kairos::orb
