// SPDX-License-Identifier: Apache-2.0
//
// What one connected pull consumer has not fetched yet. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/events/channel.h"
#include "kairos/events/event.h"
#include "kairos/events/pull_turns.h"

#include <mutex>

namespace kairos::events {

class PullQueue final : public RefCounted, public EventReceiver {
  public:
    explicit PullQueue(std::shared_ptr<Channel> channel);

    void offer(const EventPtr& event, std::size_t& octets_at_once) override;
    /// Returns the oldest event; null if there is none, or none any more. Never waits. Who waits
    /// has null from here on.
    [[nodiscard]] EventPtr take();
    /// Returns the oldest event; waits for one. Null at the deadline, after end(), and when
    /// somebody else asks.
    [[nodiscard]] EventPtr wait(Deadline deadline);
    /// Nobody fetches anything from here on.
    void end() noexcept;

  private:
    /// Must hold mutex_.
    [[nodiscard]] EventPtr take(std::uint64_t turn);

    const std::shared_ptr<Channel> channel_;
    std::mutex mutex_; // guards what follows; not held while anything is called
    PullTurns turns_;
    EventQueue queue_;
    bool has_ended_ = false;
};

} // namespace kairos::events
