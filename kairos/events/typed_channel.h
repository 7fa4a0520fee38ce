// SPDX-License-Identifier: Apache-2.0
//
// Typed channels (Event Service 1.2, 2.7) without their objects: events are calls of interfaces
// that the channel knows by name alone. What a supplier has called, each consumer that uses the
// interface is called with: the same operation, with the same octets for arguments. Any thread.
#pragma once

#include "kairos/events/event.h"
#include "kairos/events/members.h"
#include "kairos/events/pusher.h"
#include "kairos/orb/upcall.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kairos::events {

/// A call: its operation, and its arguments as they came. Immutable.
class TypedEvent {
  public:
    /// Reads the arguments of a request. Throws MARSHAL where they mean something else in another
    /// message: nobody knows of what types they are.
    explicit TypedEvent(orb::Upcall& upcall);
    TypedEvent(const TypedEvent&) = delete;
    TypedEvent& operator=(const TypedEvent&) = delete;

    /// What a consumer is called with, as long as the event lives. It answers, even where suppliers
    /// do not wait: so the channel knows that it has the event.
    [[nodiscard]] const orb::Operation& operation() const noexcept { return operation_; }
    /// How much it is as the arguments of a request.
    [[nodiscard]] std::size_t encoded_octets() const noexcept { return arguments_.size(); }
    /// How much memory it is, about.
    [[nodiscard]] std::size_t octets() const noexcept;
    /// Writes the arguments. Throws MARSHAL where they would mean something else.
    void write(cdr::Writer& out) const;
    /// Counts its octets as long as it lives; false if that is too much. To be called once.
    [[nodiscard]] bool charge(const std::shared_ptr<Allowance>& octets) noexcept
    {
        charge_ = Portion(octets, this->octets());
        return static_cast<bool>(charge_);
    }

  private:
    const std::string name_;
    const orb::Operation operation_; // with that name
    std::vector<std::byte> arguments_;
    Portion charge_;
};
using TypedEventPtr = std::shared_ptr<const TypedEvent>;

/// What a consumer has still to get.
class TypedReceiver : public Receiver {
  public:
    /// The repository id of the interface that it uses.
    [[nodiscard]] virtual const std::string& interface() const noexcept = 0;
    /// As EventReceiver's.
    virtual void offer(const TypedEventPtr& event, std::size_t& octets_at_once) = 0;

  protected:
    ~TypedReceiver() = default;
};

class TypedChannel final : public Members {
  public:
    TypedChannel(std::string name, const ServiceLimits& limits,
                 std::shared_ptr<ServiceBudget> budget, std::shared_ptr<Couriers> couriers,
                 PortableServer::POA_ptr proxies)
        : Members("events", std::move(name), limits, std::move(budget), std::move(couriers),
                  proxies)
    {
    }

    /// Gives the call to all consumers that are connected now and use that interface. Where there
    /// are any, throws what TypedEvent throws, IMP_LIMIT if it is too large, and NO_RESOURCES where
    /// too much waits.
    void publish(const std::string& interface, orb::Upcall& upcall);
};

/// What one connected consumer has still to get, and the courier that brings it: one call after the
/// other, in their order.
class TypedDelivery final : public Pusher, public TypedReceiver {
  public:
    /// `consumer` is the object that has the interface.
    TypedDelivery(const std::shared_ptr<TypedChannel>& channel, std::uint64_t proxy,
                  CORBA::Object_ptr consumer, std::string interface);

    [[nodiscard]] const std::string& interface() const noexcept override { return interface_; }
    void offer(const TypedEventPtr& event, std::size_t& octets_at_once) override;

  private:
    [[nodiscard]] bool take_next(std::optional<Clock::time_point>& later) override;
    std::size_t clear() noexcept override { return queue_.clear(); }
    [[nodiscard]] std::size_t next_count() const noexcept override { return next_ ? 1 : 0; }
    [[nodiscard]] std::size_t next_octets() const noexcept override
    {
        return next_->encoded_octets();
    }
    [[nodiscard]] const orb::Operation& next_operation() const noexcept override
    {
        return next_->operation();
    }
    void write_next(cdr::Writer& out) const override { next_->write(out); }
    void forget_next() noexcept override { next_.reset(); }

    const std::string interface_;
    TypedEventPtr next_;             // of the thread that works
    BoundedQueue<TypedEvent> queue_; // guarded by mutex_
};

} // namespace kairos::events
