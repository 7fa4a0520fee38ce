// SPDX-License-Identifier: Apache-2.0
//
// Connections to a database, each used by one thread at a time, which waits when all are in use,
// but not for ever.
#pragma once

#include "kairos/base/deadline.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kairos {

template <typename Connection>
class Pool {
  public:
    explicit Pool(std::vector<std::unique_ptr<Connection>> connections)
        : idle_(std::move(connections))
    {
    }

    /// The use of one connection of the pool, given back at the end.
    class Use {
      public:
        Use(Pool& pool, Deadline deadline) : pool_(pool), connection_(pool.take(deadline)) {}
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use()
        {
            if (connection_) pool_.give_back(std::move(connection_));
        }
        /// False: there was none in time.
        explicit operator bool() const noexcept { return connection_ != nullptr; }
        [[nodiscard]] Connection& operator*() const noexcept { return *connection_; }

      private:
        Pool& pool_;
        std::unique_ptr<Connection> connection_;
    };

  private:
    [[nodiscard]] std::unique_ptr<Connection> take(Deadline deadline)
    {
        std::unique_lock lock(mutex_);
        if (!returned_.wait_until(lock, deadline.at(), [this] { return !idle_.empty(); }))
            return nullptr;
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
    }
    void give_back(std::unique_ptr<Connection> connection)
    {
        {
            const std::lock_guard lock(mutex_);
            idle_.push_back(std::move(connection)); // where there was room for it
        }
        returned_.notify_one();
    }

    std::mutex mutex_; // guards idle_; nothing is called while it is held
    std::condition_variable returned_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

} // namespace kairos
