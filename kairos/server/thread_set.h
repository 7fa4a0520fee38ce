// SPDX-License-Identifier: Apache-2.0
//
// Threads that come and go by themselves. A thread cannot join itself, so each is joined by the
// next that ends, or by join(). Any thread.
#pragma once

#include "kairos/net/thread.h"

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace kairos::orb {

class ThreadSet {
  public:
    ThreadSet() = default;
    ThreadSet(const ThreadSet&) = delete;
    ThreadSet& operator=(const ThreadSet&) = delete;
    ~ThreadSet() { join(); }

    [[nodiscard]] Result<void> start(const net::ThreadOptions& options, std::function<void()> body);
    /// Waits for the threads that have ended before, so that there are never many which have done
    /// their work and are still there. Called by one of the threads, about to end.
    void join_ended() noexcept;
    /// Waits until no thread runs. Not from one of them.
    void join() noexcept;

  private:
    void end(std::list<net::Thread>::iterator thread) noexcept;

    // guards what follows; inside that of who has it; not held while a thread's body runs
    std::mutex mutex_;
    std::list<net::Thread> running_;
    std::list<net::Thread> ended_; // about to end, to be joined
    std::condition_variable none_runs_;
};

} // namespace kairos::orb
