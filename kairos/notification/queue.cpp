// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/queue.h"

#include <algorithm>

namespace kairos::notification {

std::size_t Queue::push(NotificationPtr event, bool is_full)
{
    const std::size_t before = events_.size();
    insert(std::move(event), ++last_);
    const auto of_qos = static_cast<std::size_t>(qos_.events_per_consumer);
    std::size_t count_max = of_qos == 0 ? limits_.queue_max : of_qos;
    if (is_full && before != 0) count_max = std::min(count_max, before);
    return discard_beyond(count_max);
}

void Queue::insert(NotificationPtr event, std::uint64_t number)
{
    Clock::time_point deadline = event->deadline();
    if (deadline == Clock::time_point::max() && qos_.timeout != 0)
        deadline = event->received() + duration_of(qos_.timeout);
    const std::int64_t ends = deadline.time_since_epoch().count();
    const std::int64_t priority = event->priority();
    Key order(0, number);
    if (qos_.order == CosNotification::PriorityOrder) order.first = -priority;
    if (qos_.order == CosNotification::DeadlineOrder) order.first = ends;
    Key discard(0, number);
    if (qos_.discard == CosNotification::PriorityOrder) discard.first = priority;
    if (qos_.discard == CosNotification::DeadlineOrder) discard.first = ends;
    if (qos_.discard == CosNotification::LifoOrder) discard.second = ~number;
    octets_ += event->encoded_octets();
    since_.emplace_hint(since_.end(), number, event->received());
    discards_[discard] = order;
    events_[order] = {
        .event = std::move(event), .deadline = deadline, .number = number, .discard = discard};
}

void Queue::erase(Events::iterator one) noexcept
{
    octets_ -= one->second.event->encoded_octets();
    since_.erase(one->second.number);
    discards_.erase(one->second.discard);
    events_.erase(one);
}

/// A single event may have more octets than queues may.
std::size_t Queue::discard_beyond(std::size_t count_max)
{
    std::size_t discarded = 0;
    while (events_.size() > count_max || (octets_ > limits_.queue_octets_max && size() > 1)) {
        erase(events_.find(discards_.begin()->second));
        ++discarded;
    }
    return discarded;
}

std::size_t Queue::pop(std::size_t max, std::vector<NotificationPtr>& taken)
{
    std::size_t expired = 0;
    const Clock::time_point now = Clock::now();
    while (taken.size() < max && !events_.empty()) {
        const auto first = events_.begin();
        if (first->second.deadline <= now)
            ++expired;
        else
            taken.push_back(first->second.event);
        erase(first);
    }
    return expired;
}

Queue::Clock::time_point Queue::waits_since() const noexcept { return since_.begin()->second; }

std::size_t Queue::change(const Qos& qos)
{
    qos_ = qos;
    Events events;
    events.swap(events_);
    discards_.clear();
    since_.clear();
    octets_ = 0;
    std::vector<Waiting> all;
    all.reserve(events.size());
    for (auto& [key, waiting] : events)
        all.push_back(std::move(waiting));
    std::ranges::sort(all, {}, &Waiting::number);
    for (Waiting& one : all)
        insert(std::move(one.event), one.number);
    const auto of_qos = static_cast<std::size_t>(qos_.events_per_consumer);
    return discard_beyond(of_qos == 0 ? limits_.queue_max : of_qos);
}

std::size_t Queue::clear() noexcept
{
    const std::size_t count = events_.size();
    events_.clear();
    discards_.clear();
    since_.clear();
    octets_ = 0;
    return count;
}

} // namespace kairos::notification
