// SPDX-License-Identifier: Apache-2.0
//
// What connected consumers have still to get, pushed by couriers or fetched; and the couriers that
// ask suppliers. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/events/polling.h"
#include "kairos/events/pull_turns.h"
#include "kairos/events/pusher.h"
#include "kairos/notification/channel.h"
#include "kairos/notification/queue.h"

#include <memory>
#include <mutex>
#include <vector>

namespace kairos::notification {

/// How events are passed.
enum class Form : std::uint8_t { any, structured, sequence };

/// What a proxy, its receiver and its courier have in common.
struct Line {
    ChannelPtr channel;
    AdminPtr admin;
    std::shared_ptr<Settings> settings; ///< the proxy's

    /// Whether the consumer at its end wants the event.
    [[nodiscard]] bool wants(const Notification& event, const Passed& passed) const;
    /// What its mapping filters make of the event; those of the admin where the proxy has none.
    [[nodiscard]] Mapped mapped(const Notification& event, const Passed& passed) const;
    /// As Subscriber's.
    [[nodiscard]] std::uint64_t kept_if_wanted(const Notification& event,
                                               const Passed& passed) const
    {
        const std::uint64_t kept = settings->kept();
        return kept != 0 && wants(event, passed) ? kept : 0;
    }
    [[nodiscard]] Source source() const noexcept { return {*admin, *settings}; }
};

class PushReceiver final : public events::Pusher, public Subscriber {
  public:
    PushReceiver(const Line& line, std::uint64_t proxy, CORBA::Object_ptr consumer, Form form);

    void offer(const NotificationPtr& event, const Passed& passed, bool is_full,
               std::size_t& octets_at_once) override;
    [[nodiscard]] std::uint64_t kept_if_wanted(const Notification& event,
                                               const Passed& passed) const override
    {
        return line_.kept_if_wanted(event, passed);
    }
    void take_back(const NotificationPtr& event, const Passed& passed) override;
    void hold(const std::shared_ptr<void>& under_way) noexcept override { Pusher::hold(under_way); }
    void expire() override;
    /// Nothing is sent until it is told again; then it is to be woken.
    void suspend(bool is_suspended);
    /// It is to be woken after it: a pause may be over. Returns how many events were discarded.
    [[nodiscard]] std::size_t change(const Qos& qos);

  private:
    [[nodiscard]] bool take_next(std::optional<Clock::time_point>& later) override;
    std::size_t clear() noexcept override { return queue_.clear(); }
    [[nodiscard]] bool is_held() const noexcept override { return is_suspended_; }
    std::size_t forget_expired() noexcept override;
    [[nodiscard]] std::size_t next_count() const noexcept override { return next_.size(); }
    [[nodiscard]] std::size_t next_octets() const noexcept override;
    void write_next(cdr::Writer& out) const override;
    void forget_next() noexcept override { next_.clear(); }
    [[nodiscard]] bool is_lasting() const noexcept override { return line_.settings->kept() != 0; }
    [[nodiscard]] bool is_next_lasting() const noexcept override;

    const Line line_;
    const Form form_;
    std::vector<Queue::Item> next_; // of the thread that works
    // What follows is guarded by mutex_.
    Qos qos_;
    Queue queue_;
    bool is_suspended_ = false;
};

class PullReceiver final : public RefCounted, public Subscriber {
  public:
    explicit PullReceiver(const Line& line);

    void offer(const NotificationPtr& event, const Passed& passed, bool is_full,
               std::size_t& octets_at_once) override;
    [[nodiscard]] std::uint64_t kept_if_wanted(const Notification& event,
                                               const Passed& passed) const override
    {
        return line_.kept_if_wanted(event, passed);
    }
    void take_back(const NotificationPtr& event, const Passed& passed) override;
    void hold(const std::shared_ptr<void>& /*under_way*/) noexcept override {} // it sends nothing
    void expire() override;
    /// Returns up to `max` of what there is. Never waits. Who waits has nothing from here on.
    [[nodiscard]] std::vector<NotificationPtr> take(std::size_t max);
    /// As take(), but waits for the first. Nothing at the deadline, after end(), and when somebody
    /// else asks.
    [[nodiscard]] std::vector<NotificationPtr> wait(std::size_t max, Deadline deadline);
    /// Returns how many events were discarded.
    [[nodiscard]] std::size_t change(const Qos& qos);
    /// Nobody fetches anything from here on.
    void end() noexcept;

  private:
    /// Must hold mutex_.
    [[nodiscard]] std::vector<NotificationPtr> take(std::size_t max, std::uint64_t turn);

    const Line line_;
    std::mutex mutex_; // guards what follows; not held while anything is called
    events::PullTurns turns_;
    Queue queue_;
    std::vector<NotificationPtr> given_; // what the store keeps until the next is asked for
    bool has_ended_ = false;
};

class SupplierPolling final : public events::Polling {
  public:
    SupplierPolling(Line line, std::uint64_t proxy, CORBA::Object_ptr supplier, Form form);

  private:
    void write_arguments(cdr::Writer& out) const override;
    [[nodiscard]] bool read_results(cdr::Reader& in) override;
    [[nodiscard]] bool publish() override;
    [[nodiscard]] bool publish_kept();
    [[nodiscard]] bool is_left();
    void forget();
    [[nodiscard]] bool is_lasting() const noexcept override { return line_.settings->kept() != 0; }

    const Line line_;
    const Form form_;
    // Of the thread that works.
    CORBA::Any any_;
    CosNotification::EventBatch batch_;
    CORBA::ULong published_ = 0; // of the batch
    CORBA::ULong next_ = 0;      // after what is on its way
    Channel::PublicationPtr publication_;
};

} // namespace kairos::notification
