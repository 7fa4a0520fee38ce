// SPDX-License-Identifier: Apache-2.0
//
// One event on its way from a supplier to any number of consumers: an Any whose value nobody looks
// into. What a push has as its argument is encoded once. Immutable once it is in a queue; shared by
// all queues it is in.
#pragma once

#include "kairos/base/export.h"
#include "kairos/cdr/writer.h"
#include "kairos/events/service_budget.h"
#include "kairos/mapping/marshal.h"
#include "kairos/types/any.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kairos::events {

/// A value as the argument of a request, encoded once. Immutable.
class KAIROS_API EncodedArgument {
  public:
    /// Throws what encoding the value throws.
    template <typename T>
    explicit EncodedArgument(const T& value)
    {
        encode([&value](cdr::Writer& out) { mapping::encode(out, value); });
    }
    /// Writes it; `value` is what it was made of, which is encoded where the request wants that
    /// otherwise than most.
    template <typename T>
    void write(cdr::Writer& out, const T& value) const
    {
        if (!write_as_it_is(out)) mapping::encode(out, value);
    }
    [[nodiscard]] std::size_t size() const noexcept { return body_.size(); }
    /// As a native CDR stream that begins at an address of eight.
    [[nodiscard]] Bytes octets() const noexcept { return body_; }
    void note_wide_text() noexcept { has_wide_text_ = true; }

  private:
    void encode(const std::function<void(cdr::Writer&)>& write);
    [[nodiscard]] bool write_as_it_is(cdr::Writer& out) const;

    std::vector<std::byte> body_; // as where text is not converted
    bool has_wide_text_ = false;
};

class Event {
  public:
    /// Shares the value of the Any where that is held as it was received. Throws what encoding it
    /// throws.
    explicit Event(const CORBA::Any& data);

    [[nodiscard]] const CORBA::Any& data() const noexcept { return data_; }
    /// Writes the event as the first argument of a request.
    void encode(cdr::Writer& out) const { encoded_.write(out, data_); }
    /// How much it is as the argument of a request.
    [[nodiscard]] std::size_t encoded_octets() const noexcept { return encoded_.size(); }
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
    EncodedArgument encoded_;
    std::size_t octets_ = 0; // of both
    Portion charge_;
};

using EventPtr = std::shared_ptr<const Event>;

/// Events that wait for one consumer, bounded. Used by one thread at a time.
template <typename Event>
class BoundedQueue {
  public:
    using Ptr = std::shared_ptr<const Event>;

    BoundedQueue(std::size_t count_max, std::size_t octets_max) noexcept
        : count_max_(count_max), octets_max_(octets_max)
    {
    }

    [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
    /// Adds an event; returns how many older ones had to go for it.
    [[nodiscard]] std::size_t push(Ptr event)
    {
        const std::size_t size = event->octets();
        std::size_t dropped = 0;
        while (!events_.empty() && (events_.size() >= count_max_ || octets_ + size > octets_max_)) {
            (void)pop();
            ++dropped;
        }
        events_.push_back(std::move(event));
        octets_ += size;
        return dropped;
    }
    /// Takes the oldest out. There must be one.
    [[nodiscard]] Ptr pop() noexcept
    {
        Ptr event = std::move(events_.front());
        events_.pop_front();
        octets_ -= event->octets();
        return event;
    }
    /// Forgets all; returns how many there were.
    std::size_t clear() noexcept
    {
        const std::size_t count = events_.size();
        events_.clear();
        octets_ = 0;
        return count;
    }

  private:
    const std::size_t count_max_;
    const std::size_t octets_max_;
    std::deque<Ptr> events_;
    std::size_t octets_ = 0; // of all
};
using EventQueue = BoundedQueue<Event>;

} // namespace kairos::events
