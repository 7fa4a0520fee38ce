// SPDX-License-Identifier: Apache-2.0
//
// One event on its way from a supplier to any number of consumers: an Any whose value nobody looks
// into. What a push has as its argument is encoded once. Immutable once it is in a queue; shared by
// all queues it is in.
#pragma once

#include "kairos/cdr/writer.h"
#include "kairos/events/service_budget.h"
#include "kairos/types/any.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace kairos::events {

class Event {
  public:
    /// Shares the value of the Any where that is held as it was received. Throws what encoding it
    /// throws.
    explicit Event(const CORBA::Any& data);

    [[nodiscard]] const CORBA::Any& data() const noexcept { return data_; }
    /// Writes the event as the first argument of a request.
    void encode(cdr::Writer& out) const;
    /// How much it is as the argument of a request.
    [[nodiscard]] std::size_t encoded_octets() const noexcept { return body_.size(); }
    /// How much memory it is, about.
    [[nodiscard]] std::size_t octets() const noexcept { return octets_; }
    /// Counts its octets as long as it lives; false if that is too much. To be called once.
    [[nodiscard]] bool charge(const std::shared_ptr<Allowance>& octets) noexcept
    {
        charge_ = Portion(octets, octets_);
        return static_cast<bool>(charge_);
    }

  private:
    const CORBA::Any data_;
    std::vector<std::byte> body_; // as where text is not converted
    std::size_t octets_ = 0;      // of both
    bool has_wide_text_ = false;
    Portion charge_;
};

using EventPtr = std::shared_ptr<const Event>;

/// Events that wait for one consumer, bounded. Used by one thread at a time.
class EventQueue {
  public:
    EventQueue(std::size_t count_max, std::size_t octets_max) noexcept
        : count_max_(count_max), octets_max_(octets_max)
    {
    }

    [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
    /// Adds an event; returns how many older ones had to go for it.
    [[nodiscard]] std::size_t push(EventPtr event);
    /// Takes the oldest out. There must be one.
    [[nodiscard]] EventPtr pop() noexcept;
    /// Forgets all; returns how many there were.
    std::size_t clear() noexcept;

  private:
    const std::size_t count_max_;
    const std::size_t octets_max_;
    std::deque<EventPtr> events_;
    std::size_t octets_ = 0; // of all
};

} // namespace kairos::events
