// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is to fetch what one pull consumer has not fetched yet: who asks last. Guarded by
// its owner's mutex, which guards what is fetched, too.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_list.h"
#include "kairos/net/socket.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace kairos::events {

/// All of its functions must be called with the owner's mutex held.
class KAIROS_API PullTurns {
  public:
    using Lock = std::unique_lock<std::mutex>;

    /// Begins a turn, and returns it. Who waits has none from here on: its caller asks anew, and so
    /// has gone or given up.
    [[nodiscard]] std::uint64_t begin() noexcept;
    [[nodiscard]] bool is_on(std::uint64_t turn) const noexcept { return turn == last_; }
    /// Waits until `is_ready`, another turn, or the deadline. A thread that serves requests does so
    /// meanwhile. `lock` is the owner's.
    void wait(Lock& lock, std::uint64_t turn, const std::function<bool()>& is_ready,
              Deadline deadline);
    /// What is waited for may be so.
    void wake_all() noexcept;

  private:
    /// A thread that serves while it waits.
    struct Waiter {
        net::Socket woken; // an eventfd
        ListLinks<Waiter> links;
    };
    void wait_serving(Lock& lock, const std::function<bool()>& is_over, Deadline deadline);

    std::condition_variable changed_;
    IntrusiveList<Waiter, &Waiter::links> waiters_;
    std::uint64_t last_ = 0; // the turn of who has what there is
};

} // namespace kairos::events
