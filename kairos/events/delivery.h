// SPDX-License-Identifier: Apache-2.0
//
// What one connected push consumer has still to get, and the courier that brings it: one event
// after the other, in their order, each when the one before was taken. Any thread.
#pragma once

#include "kairos/events/client_courier.h"
#include "kairos/events/event.h"

#include <mutex>

namespace kairos::events {

class Delivery final : public ClientCourier, public Receiver {
  public:
    Delivery(const std::shared_ptr<Channel>& channel, std::uint64_t proxy,
             CORBA::Object_ptr consumer);

    void offer(const EventPtr& event, std::size_t& octets_at_once) override;
    /// Nothing is sent from here on.
    void end() noexcept;

  private:
    void called(orb::AsynchronousCall& call) override;
    void idle() override;
    [[nodiscard]] bool is_brief() const noexcept override;
    [[nodiscard]] bool has_next();
    void send_next();
    /// `is_made`: whether there was a call, else why there was none.
    void conclude(const std::exception_ptr& failure, bool is_made);
    [[nodiscard]] bool is_kept(Outcome outcome, const std::exception_ptr& failure);
    void forget_next() noexcept;

    // Of the thread that works.
    EventPtr next_;      // being sent, or to be
    unsigned tries_ = 0; // of it, of a consumer that was reached
    Portion copy_;       // of it, in the call
    std::mutex mutex_;   // guards what follows; not held while anything is called
    EventQueue queue_;
    bool is_busy_ = false; // a thread works, or will
    bool has_ended_ = false;
};

} // namespace kairos::events
