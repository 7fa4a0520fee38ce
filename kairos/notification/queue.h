// SPDX-License-Identifier: Apache-2.0
//
// Events that wait for one consumer, bounded: in the order that it wants them in, and discarded in
// the order that it wants (CosNotification 1.1, 2.5.5). Used by one thread at a time.
#pragma once

#include "kairos/notification/notification.h"
#include "kairos/notification/properties.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kairos::notification {

class Queue {
  public:
    using Clock = std::chrono::steady_clock;

    Queue(const Qos& qos, const NotificationLimits& limits) : limits_(limits), qos_(qos) {}

    /// An event, and what it is for the consumer.
    struct Item {
        NotificationPtr event;
        Mapped mapped;
    };

    /// Adds an event; returns how many had to go for it, which it may be itself. Where `is_full`
    /// there is no room for one more.
    [[nodiscard]] std::size_t push(NotificationPtr event, bool is_full = false,
                                   const Mapped& mapped = {});
    /// Adds one that has waited in an earlier run, for which none has to go: what is more than may
    /// wait stays until it is taken out, and newer ones go before.
    void put_back(NotificationPtr event, const Mapped& mapped = {});
    /// Moves up to `max` events to `taken`, in their order; returns how many were not worth it any
    /// more.
    std::size_t pop(std::size_t max, std::vector<Item>& taken);
    [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }
    /// When the first of those that wait has come. There must be one.
    [[nodiscard]] Clock::time_point waits_since() const noexcept;
    /// From here on the queue is as this says; what waits is put in its order, and what is too much
    /// is discarded. Returns how many. All or nothing.
    std::size_t change(const Qos& qos);
    /// Forgets what is not worth it any more, and would only take the place of others; returns how
    /// many events that were.
    std::size_t expire() noexcept;
    /// From when this consumer has no use for the event.
    [[nodiscard]] Clock::time_point deadline_of(const Notification& event,
                                                const Mapped& mapped = {}) const noexcept;
    /// Forgets all; returns how many there were.
    std::size_t clear() noexcept;

  private:
    /// The smallest first; who was earlier, of equal ones.
    using Key = std::pair<std::int64_t, std::uint64_t>;
    struct Waiting {
        NotificationPtr event;
        Mapped mapped;
        Clock::time_point deadline;
        std::uint64_t number = 0; // in the order that they came in
        Key discard;
        [[nodiscard]] Key ends() const noexcept
        {
            return {deadline.time_since_epoch().count(), number};
        }
    };
    using Events = std::map<Key, Waiting>;

    void insert(NotificationPtr event, const Mapped& mapped, std::uint64_t number);
    void erase(Events::iterator one) noexcept;
    [[nodiscard]] std::size_t discard_beyond(std::size_t count_max) noexcept;
    [[nodiscard]] std::size_t octets_max() const noexcept
    {
        return limits_.queue_octets_max + octets_beyond_;
    }
    void note_beyond() noexcept;
    [[nodiscard]] std::size_t count_max() const noexcept
    {
        const auto of_qos = static_cast<std::size_t>(qos_.events_per_consumer);
        return (of_qos == 0 ? limits_.queue_max : of_qos) + beyond_;
    }

    const NotificationLimits& limits_;
    Qos qos_;
    Events events_;
    std::map<Key, Key> discards_;                      // to the keys of events_
    std::map<std::uint64_t, Clock::time_point> since_; // by number
    std::map<Key, Key> deadlines_;                     // as discards_, of those that have one
    std::size_t octets_ = 0;                           // of all
    std::uint64_t last_ = 0;
    std::size_t beyond_ = 0; // what is more than may wait, as it was put back
    std::size_t octets_beyond_ = 0;
};

} // namespace kairos::notification
