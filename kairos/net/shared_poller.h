// SPDX-License-Identifier: Apache-2.0
//
// Waiting for many descriptors in several threads: each readiness goes to one thread, and the
// descriptor is not looked at again until that thread says so. The system keeps the threads that
// wait in line. Any thread may do anything.
#pragma once

#include "kairos/base/result.h"
#include "kairos/net/reactor.h"

#include <memory>

namespace kairos::net {

class SharedPoller {
  public:
    [[nodiscard]] static Result<std::unique_ptr<SharedPoller>> create();
    ~SharedPoller();
    SharedPoller(const SharedPoller&) = delete;
    SharedPoller& operator=(const SharedPoller&) = delete;

    /// Watches a descriptor for its next readiness, until it is closed. `token` is what wait()
    /// returns; not null.
    [[nodiscard]] Result<void> add(int descriptor, Interest interest, void* token);
    /// Watches a descriptor again, once wait() or look() has returned its token.
    [[nodiscard]] Result<void> watch(int descriptor, Interest interest, void* token);
    /// Watches a descriptor until it is removed: each time that something comes, one thread is
    /// told, once, perhaps another than the last time.
    [[nodiscard]] Result<void> add_for_each(int descriptor, void* token);
    /// Watches a descriptor no more.
    void remove(int descriptor) noexcept;
    struct Ready {
        void* token = nullptr; ///< null: wake_all() was called, or it was only a look
        Readiness readiness{};
    };
    /// Blocks until a watched descriptor is ready, and returns one; a null token after wake_all().
    [[nodiscard]] Ready wait() noexcept;
    /// Returns a watched descriptor that is ready, without waiting; a null token if there is none.
    [[nodiscard]] Ready look() noexcept;
    /// For who waits for something else as well: readable when look() may find something.
    [[nodiscard]] int descriptor() const noexcept { return epoll_; }
    /// From now on wait() returns at once in all threads.
    void wake_all() noexcept;

  private:
    SharedPoller() = default;
    [[nodiscard]] Ready wait_until(int timeout_ms) noexcept;

    int epoll_ = -1;
    int wake_ = -1; ///< an eventfd, never read
};

} // namespace kairos::net
