// SPDX-License-Identifier: Apache-2.0
//
// The line of threads of leader-followers: how many wait for their turn or serve. One that waits
// for a call of its own is out of line, and another comes in for it; when it is back, one too many
// stands by until it is called. Any thread.
#pragma once

#include "kairos/server/architectures.h"
#include "kairos/server/thread_set.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace kairos::orb {

class FollowerLine {
  public:
    /// `serve` is what each thread does, until stay() says no; it ends with end().
    FollowerLine(ThreadSettings threads, std::function<void()> serve)
        : wanted_(std::move(threads)), serve_(std::move(serve))
    {
    }

    /// Starts the threads. Goes on with fewer than wanted, if there is one at least; more come when
    /// they can.
    [[nodiscard]] Result<void> start();
    [[nodiscard]] std::optional<Priority> priority() const noexcept { return wanted_.priority; }

    /// Returns whether a thread in line is to go on; false when it is to end. A thread that is one
    /// too many, since others came back, waits until it is needed. Called by a thread in line.
    [[nodiscard]] bool stay() noexcept
    {
        if (in_line_ <= wanted_.count) [[likely]]
            return true;
        return stand_by();
    }
    /// Takes the calling thread out of line while it waits for a call of its own; another serves in
    /// its place until rejoin(). Returns false if there is none, so that the thread stays in line.
    [[nodiscard]] bool leave() noexcept;
    void rejoin() noexcept { ++in_line_; }
    /// Takes a thread out that ends; returns whether it is the last. Called by that thread.
    [[nodiscard]] bool end() noexcept { return --alive_ == 0; }

    /// Begins to end: no thread comes in any more, and none stands by.
    void stop() noexcept;
    [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }
    /// Waits, after stop(), until all threads have ended. Not from one of them.
    void join() noexcept { threads_.join(); }

  private:
    [[nodiscard]] Result<void> add_thread() noexcept;
    [[nodiscard]] bool stand_by() noexcept;

    const ThreadSettings wanted_;
    const std::function<void()> serve_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> in_line_{0}; // threads that serve or wait for something to serve
    std::atomic<std::size_t> alive_{0};   // threads there are
    std::mutex mutex_;                    // guards what follows; not taken while serving
    std::size_t spare_ = 0;               // threads that came in for others which are back
    std::size_t called_ = 0;              // … of which so many are to serve again
    bool is_short_ = false;               // of threads, as the log says
    std::condition_variable replaced_;
    ThreadSet threads_;
};

} // namespace kairos::orb
