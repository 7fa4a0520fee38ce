// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/pull_queue.h"

#include "kairos/base/assert_held.h"

namespace kairos::events {

PullQueue::PullQueue(std::shared_ptr<Channel> channel)
    : channel_(std::move(channel)),
      queue_(channel_->limits().queue_max, channel_->limits().queue_octets_max)
{
}

void PullQueue::offer(const EventPtr& event, std::size_t& /*octets_at_once*/)
{
    std::size_t dropped = 0;
    {
        const std::lock_guard lock(mutex_);
        if (has_ended_) return;
        dropped = queue_.push(event);
        turns_.wake_all();
    }
    if (dropped != 0) channel_->note_dropped(dropped);
}

EventPtr PullQueue::take(std::uint64_t turn)
{
    assert_held(mutex_);
    if (has_ended_ || !turns_.is_on(turn) || queue_.empty()) return nullptr;
    return queue_.pop();
}

EventPtr PullQueue::take()
{
    const PullTurns::Lock lock(mutex_);
    return take(turns_.begin());
}

EventPtr PullQueue::wait(Deadline deadline)
{
    PullTurns::Lock lock(mutex_);
    const std::uint64_t turn = turns_.begin();
    turns_.wait(
        lock, turn, [this] { return has_ended_ || !queue_.empty(); }, deadline);
    return take(turn);
}

void PullQueue::end() noexcept
{
    std::size_t left = 0;
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        left = queue_.clear();
        turns_.wake_all();
    }
    channel_->note_lost(left);
}

} // namespace kairos::events
