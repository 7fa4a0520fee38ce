// SPDX-License-Identifier: Apache-2.0
//
// How many connections a client may have, and for how long one that nobody uses (Options:
// client_connections_max, client_idle) or to which no reference leads (client_unused). Threads keep
// their connections themselves, or share them; this counts them and closes idle ones, with a thread
// of its own once there is something to wait for. Owned by the ORB. Any thread.
//
// Connections that no reference leads to cost calls nothing: there are none that could use them.
// When an endpoint has had no references for long enough the ORB forgets it, so that later
// references get another, with connections of their own; from then on nobody but this can reach
// what is left.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/thread.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kairos::orb {

class Endpoint;
class Orb;

class ConnectionCache {
  public:
    /// The right of one connection to be there; given back when the connection ends.
    class Place {
      public:
        Place(Place&& other) noexcept
            : cache_(std::exchange(other.cache_, nullptr)), endpoint_(other.endpoint_)
        {
        }
        Place& operator=(Place&&) = delete;
        ~Place() { give_back(); }
        void give_back() noexcept;

      private:
        friend class ConnectionCache;
        Place(ConnectionCache& cache, Endpoint& endpoint) noexcept;
        ConnectionCache* cache_;
        Endpoint* endpoint_; // outlives it
    };

    explicit ConnectionCache(Orb& orb) noexcept : orb_(orb) {}
    ~ConnectionCache() { stop(); }
    ConnectionCache(const ConnectionCache&) = delete;
    ConnectionCache& operator=(const ConnectionCache&) = delete;

    /// Takes the place of one more connection, to this endpoint. Where there are as many as may be,
    /// closes the idle one that was used least recently; the error says that there is none, or that
    /// the thread that closes idle ones cannot be started.
    [[nodiscard]] Result<Place> take_place(Endpoint& endpoint);
    /// Notes that there are connections to an endpoint that no reference leads to any more.
    void note_unused() noexcept;
    /// Starts over in a child of the process that has called, where the cache's thread is not.
    void start_over() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks
    /// Ends the cache's thread; nothing is closed from here on.
    void stop() noexcept;

  private:
    [[nodiscard]] bool close_one();
    [[nodiscard]] Result<void> start_watching();
    void watch() noexcept;
    [[nodiscard]] bool close_unused() noexcept;

    Orb& orb_;
    std::mutex mutex_; // guards what follows; inside those of the connections
    std::condition_variable changed_;
    std::size_t taken_ = 0;
    bool stopping_ = false;
    bool watching_ = false;
    std::uint64_t notes_of_unused_ = 0;
    bool has_unused_ = false;
    std::mutex join_mutex_; // guards that one thread ends it
    net::Thread thread_;
};

} // namespace kairos::orb
