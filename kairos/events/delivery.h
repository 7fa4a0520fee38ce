// SPDX-License-Identifier: Apache-2.0
//
// What one connected push consumer has still to get, and the courier that brings it: one event
// after the other, in their order. Any thread.
#pragma once

#include "kairos/events/channel.h"
#include "kairos/events/pusher.h"

namespace kairos::events {

class Delivery final : public Pusher, public EventReceiver {
  public:
    Delivery(const std::shared_ptr<Channel>& channel, std::uint64_t proxy,
             CORBA::Object_ptr consumer);

    void offer(const EventPtr& event, std::size_t& octets_at_once) override;

  private:
    [[nodiscard]] bool take_next(std::optional<Clock::time_point>& later) override;
    std::size_t clear() noexcept override { return queue_.clear(); }
    [[nodiscard]] std::size_t next_count() const noexcept override { return next_ ? 1 : 0; }
    [[nodiscard]] std::size_t next_octets() const noexcept override
    {
        return next_->encoded_octets();
    }
    void write_next(cdr::Writer& out) const override { next_->encode(out); }
    void forget_next() noexcept override { next_.reset(); }

    EventPtr next_;    // of the thread that works
    EventQueue queue_; // guarded by mutex_
};

} // namespace kairos::events
