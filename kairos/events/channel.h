// SPDX-License-Identifier: Apache-2.0
//
// A channel without its objects: who is connected, and the way of an event from a supplier to what
// each consumer has still to get. Any thread.
#pragma once

#include "kairos/events/event.h"
#include "kairos/events/feed.h"
#include "kairos/events/members.h"
#include "kairos/events/recorder.h"

#include <memory>
#include <string>
#include <utility>

namespace kairos::events {

/// What a consumer has still to get.
class EventReceiver : public Receiver {
  public:
    /// Keeps the event until the consumer has it. Never waits. Of `octets_at_once` it takes away
    /// what it has sent in this thread, which is not more.
    virtual void offer(const EventPtr& event, std::size_t& octets_at_once) = 0;

  protected:
    ~EventReceiver() = default;
};

class Channel final : public Members {
  public:
    /// As Members; `recorder` may be null.
    Channel(std::string name, const ServiceLimits& limits, std::shared_ptr<ServiceBudget> budget,
            std::shared_ptr<Couriers> couriers, PortableServer::POA_ptr proxies,
            std::shared_ptr<Recorder> recorder = nullptr)
        : Members("events", std::move(name), limits, std::move(budget), std::move(couriers),
                  proxies),
          recorder_(std::move(recorder))
    {
    }

    /// Gives the event to the recorder, and, unless that keeps it, to all consumers that are
    /// connected now. Where there are any, throws what encoding it throws, IMP_LIMIT if it is too
    /// large, and NO_RESOURCES where too much waits.
    void publish(const CORBA::Any& data);
    /// Gives the event to all consumers that are connected now, and not to the recorder; throws as
    /// publish does.
    void deliver(const CORBA::Any& data);

  private:
    [[nodiscard]] EventPtr keep(const CORBA::Any& data);

    const std::shared_ptr<Recorder> recorder_;
};

class ChannelFeed final : public Feed {
  public:
    explicit ChannelFeed(std::shared_ptr<Channel> channel) noexcept : channel_(std::move(channel))
    {
    }
    void publish(const CORBA::Any& event) override
    {
        channel_->note_received();
        channel_->deliver(event);
    }
    [[nodiscard]] bool has_ended() const noexcept override { return channel_->has_ended(); }

  private:
    const std::shared_ptr<Channel> channel_;
};

} // namespace kairos::events
