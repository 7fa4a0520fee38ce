// SPDX-License-Identifier: Apache-2.0
//
// What one connected pull consumer has not fetched yet. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/intrusive_list.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/events/channel.h"
#include "kairos/events/event.h"
#include "kairos/net/socket.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kairos::events {

class PullQueue final : public RefCounted, public Receiver {
  public:
    explicit PullQueue(std::shared_ptr<Channel> channel);

    void offer(const EventPtr& event, std::size_t& octets_at_once) override;
    /// Returns the oldest event; null if there is none, or none any more. Never waits. Who waits
    /// has null from here on: its caller asks anew, and so has gone or given up.
    [[nodiscard]] EventPtr take();
    /// Returns the oldest event; waits for one. Null at the deadline, after end(), and when
    /// somebody else asks. A thread that serves requests does so meanwhile.
    [[nodiscard]] EventPtr wait(Deadline deadline);
    /// Nobody fetches anything from here on.
    void end() noexcept;

  private:
    using Lock = std::unique_lock<std::mutex>;
    /// A thread that serves while it waits.
    struct Waiter {
        net::Socket woken; // an eventfd
        ListLinks<Waiter> links;
    };
    // All of these must hold mutex_.
    [[nodiscard]] std::uint64_t ask() noexcept;
    [[nodiscard]] bool may_wait(std::uint64_t asked) const noexcept
    {
        return !has_ended_ && asked == asked_ && queue_.empty();
    }
    [[nodiscard]] EventPtr take(std::uint64_t asked);
    [[nodiscard]] EventPtr wait_serving(Lock& lock, std::uint64_t asked, Deadline deadline);
    void wake_all() noexcept;

    const std::shared_ptr<Channel> channel_;
    std::mutex mutex_; // guards what follows; not held while anything is called
    std::condition_variable changed_;
    EventQueue queue_;
    IntrusiveList<Waiter, &Waiter::links> waiters_;
    std::uint64_t asked_ = 0; // how often somebody has; the last one has what there is
    bool has_ended_ = false;
};

} // namespace kairos::events
