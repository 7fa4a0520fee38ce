// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/delivery.h"

namespace kairos::events {
namespace {

constexpr orb::Operation push_operation("push", orb::Response::required, disconnected);

} // namespace

Delivery::Delivery(const std::shared_ptr<Channel>& channel, std::uint64_t proxy,
                   CORBA::Object_ptr consumer)
    : Pusher(channel, proxy, consumer, push_operation),
      queue_(channel->limits().queue_max, channel->limits().queue_octets_max)
{
}

void Delivery::offer(const EventPtr& event, std::size_t& octets_at_once)
{
    std::size_t dropped = 0;
    bool begins = false;
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        dropped = queue_.push(event);
        begins = becomes_busy();
    }
    if (dropped != 0) members().note_dropped(dropped);
    if (begins) begin(event->encoded_octets(), octets_at_once);
}

bool Delivery::take_next(std::optional<Clock::time_point>& /*later*/)
{
    if (queue_.empty()) return false;
    next_ = queue_.pop();
    return true;
}

} // namespace kairos::events
