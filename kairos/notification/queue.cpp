// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/queue.h"

#include <algorithm>
#include <utility>

namespace kairos::notification {

std::size_t Queue::push(NotificationPtr event, bool is_full, const Mapped& mapped)
{
    const std::size_t before = events_.size();
    insert(std::move(event), mapped, ++last_);
    return discard_beyond(is_full && before != 0 ? std::min(count_max(), before) : count_max());
}

void Queue::put_back(NotificationPtr event, const Mapped& mapped)
{
    insert(std::move(event), mapped, ++last_);
    beyond_ += events_.size() > count_max() ? events_.size() - count_max() : 0;
    octets_beyond_ += octets_ > octets_max() ? octets_ - octets_max() : 0;
}

/// With each that goes there is less of it.
void Queue::note_beyond() noexcept
{
    const std::size_t few = count_max() - beyond_;
    beyond_ = std::min(beyond_, events_.size() - std::min(few, events_.size()));
    octets_beyond_ =
        std::min(octets_beyond_, octets_ - std::min(limits_.queue_octets_max, octets_));
}

Queue::Clock::time_point Queue::deadline_of(const Notification& event,
                                            const Mapped& mapped) const noexcept
{
    if (mapped.lifetime) {
        const Clock::time_point stop = event.stop_time();
        const bool has_end = mapped.lifetime->count() > 0;
        return has_end ? std::min(stop, event.received() + *mapped.lifetime) : stop;
    }
    if (event.deadline() != Clock::time_point::max() || qos_.timeout == 0) return event.deadline();
    return event.received() + duration_of(qos_.timeout);
}

/// All or, where there is no memory, nothing.
void Queue::insert(NotificationPtr event, const Mapped& mapped, std::uint64_t number)
{
    Waiting waiting;
    waiting.mapped = mapped;
    waiting.deadline = deadline_of(*event, mapped);
    waiting.number = number;
    const std::int64_t ends = waiting.ends().first;
    const std::int64_t priority = mapped.priority.value_or(event->priority());
    Key order(0, number);
    if (qos_.order == CosNotification::PriorityOrder) order.first = -priority;
    if (qos_.order == CosNotification::DeadlineOrder) order.first = ends;
    Key discard(0, number);
    if (qos_.discard == CosNotification::PriorityOrder) discard.first = priority;
    if (qos_.discard == CosNotification::DeadlineOrder) discard.first = ends;
    if (qos_.discard == CosNotification::LifoOrder) discard.second = ~number;
    const std::size_t octets = event->encoded_octets();
    const Clock::time_point received = event->received();
    const Key deadline = waiting.ends();
    waiting.event = std::move(event);
    waiting.discard = discard;
    try {
        since_.emplace_hint(since_.end(), number, received);
        discards_.emplace(discard, order);
        if (waiting.deadline != Clock::time_point::max()) deadlines_.emplace(deadline, order);
        events_.emplace(order, std::move(waiting));
    } catch (...) {
        since_.erase(number);
        discards_.erase(discard);
        deadlines_.erase(deadline);
        throw;
    }
    octets_ += octets;
}

void Queue::erase(Events::iterator one) noexcept
{
    octets_ -= one->second.event->encoded_octets();
    since_.erase(one->second.number);
    discards_.erase(one->second.discard);
    deadlines_.erase(one->second.ends());
    events_.erase(one);
    note_beyond();
}

/// A single event may have more octets than queues may.
std::size_t Queue::discard_beyond(std::size_t count_max) noexcept
{
    std::size_t discarded = 0;
    while (events_.size() > count_max || (octets_ > octets_max() && size() > 1)) {
        erase(events_.find(discards_.begin()->second));
        ++discarded;
    }
    return discarded;
}

std::size_t Queue::expire() noexcept
{
    if (deadlines_.empty()) return 0;
    const std::int64_t now = Clock::now().time_since_epoch().count();
    std::size_t expired = 0;
    for (; !deadlines_.empty() && deadlines_.begin()->first.first <= now; ++expired)
        erase(events_.find(deadlines_.begin()->second));
    return expired;
}

std::size_t Queue::pop(std::size_t max, std::vector<Item>& taken)
{
    std::size_t expired = 0;
    const Clock::time_point now = Clock::now();
    while (taken.size() < max && !events_.empty()) {
        const auto first = events_.begin();
        if (first->second.deadline <= now)
            ++expired;
        else
            taken.push_back({.event = first->second.event, .mapped = first->second.mapped});
        erase(first);
    }
    return expired;
}

Queue::Clock::time_point Queue::waits_since() const noexcept { return since_.begin()->second; }

std::size_t Queue::change(const Qos& qos)
{
    std::vector<const Waiting*> all;
    all.reserve(events_.size());
    for (const auto& [key, waiting] : events_)
        all.push_back(&waiting);
    std::ranges::sort(all, {}, &Waiting::number);
    Queue changed(qos, limits_);
    for (const Waiting* one : all)
        changed.insert(one->event, one->mapped, one->number);
    const CORBA::Long few = std::exchange(qos_, qos).events_per_consumer;
    events_.swap(changed.events_);
    discards_.swap(changed.discards_);
    since_.swap(changed.since_);
    deadlines_.swap(changed.deadlines_);
    octets_ = changed.octets_;
    if (few != qos_.events_per_consumer) beyond_ = 0;
    return discard_beyond(count_max());
}

std::size_t Queue::clear() noexcept
{
    const std::size_t count = events_.size();
    events_.clear();
    discards_.clear();
    since_.clear();
    deadlines_.clear();
    octets_ = 0;
    note_beyond();
    return count;
}

} // namespace kairos::notification
