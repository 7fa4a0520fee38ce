// SPDX-License-Identifier: Apache-2.0
//
// How many connections a client may have, and for how long one that nobody uses (Options:
// client_connections_max, client_idle). Threads keep their connections themselves, or share them;
// this counts them and closes idle ones, if the options say so with a thread of its own. Owned by
// the ORB. Any thread.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/thread.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace kairos::orb {

class Orb;

class ConnectionCache {
  public:
    /// What a connection needs to be there; given back when it ends.
    class Place {
      public:
        Place(Place&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)) {}
        Place& operator=(Place&&) = delete;
        ~Place() { give_back(); }
        void give_back() noexcept;

      private:
        friend class ConnectionCache;
        explicit Place(ConnectionCache& cache) noexcept : cache_(&cache) {}
        ConnectionCache* cache_;
    };

    explicit ConnectionCache(Orb& orb) noexcept : orb_(orb) {}
    ~ConnectionCache() { stop(); }
    ConnectionCache(const ConnectionCache&) = delete;
    ConnectionCache& operator=(const ConnectionCache&) = delete;

    /// For one more connection. Where there are as many as may be, the idle one that was used least
    /// recently is closed; the error says that there is none.
    [[nodiscard]] Result<Place> take_place();
    /// Ends its thread; nothing is closed from here on.
    void stop() noexcept;

  private:
    [[nodiscard]] bool close_one();
    [[nodiscard]] Result<void> start_watching();
    void watch() noexcept;

    Orb& orb_;
    std::mutex mutex_; // guards what follows; inside those of the connections
    std::condition_variable changed_;
    std::size_t taken_ = 0;
    bool stopping_ = false;
    bool watching_ = false;
    std::mutex join_mutex_; // one thread ends it
    net::Thread thread_;
};

} // namespace kairos::orb
