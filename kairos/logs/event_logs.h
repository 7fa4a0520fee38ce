// SPDX-License-Identifier: Apache-2.0
//
// The channels of logs that are event channels or notification channels (Telecom Log Service 1.1.2,
// 2.2 and 2.3), and the channels of what logs of each of these kinds say of themselves (2.4). Any
// thread.
#pragma once

#include "kairos/events/service.h"
#include "kairos/logs/DsLogNotification.h"
#include "kairos/logs/log.h"
#include "kairos/notification/service.h"

#include <concepts>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace kairos::logs {

class ServiceState;

/// What there is of a channel that was asked for: all properties that it has, each once.
[[nodiscard]] KairosLogs::ChannelSettings
settings_of(KairosNotification::RecordedChannel_ptr channel);

class EventLogs {
  public:
    /// Borrows the state, which must outlive it.
    explicit EventLogs(ServiceState& state) : state_(state) {}
    EventLogs(const EventLogs&) = delete;
    EventLogs& operator=(const EventLogs&) = delete;

    /// Makes a log's channel, whose events it writes from here on, and says in the log's settings
    /// what came of those that were wanted.
    void open(const LogPtr& log);
    /// Ends it, and tells who is connected.
    void close(LogKey key) noexcept;
    // Owned by the caller. Throw OBJECT_NOT_EXIST where there is none.
    [[nodiscard]] CosEventChannelAdmin::EventChannel_ptr channel(LogKey key);
    [[nodiscard]] KairosNotification::RecordedChannel_ptr notify_channel(LogKey key);
    // The channels of what logs say of themselves. Owned by the caller.
    [[nodiscard]] CosEventChannelAdmin::EventChannel_ptr announcements();
    [[nodiscard]] CosNotifyChannelAdmin::EventChannel_ptr notify_announcements();
    /// From here on nobody is called.
    void begin_to_end() noexcept;
    /// Ends all channels, and waits for the calls in progress. Nothing is opened after it.
    void end() noexcept;

    // What logs say of themselves, to whoever is connected. Do nothing for logs that are not
    // channels, and never throw.
    void say_created(LogKey key) noexcept;
    void say_deleted(LogKey key) noexcept;
    void say_passed(LogKey key, const std::vector<Alarm>& alarms) noexcept;
    void say_enabled(LogKey key, bool is_enabled) noexcept;
    void say_failed(LogKey key, const char* reason) noexcept;
    template <typename Value>
    void say_changed(LogKey key, DsLogNotification::AttributeType type, const Value& before,
                     const Value& after) noexcept
    {
        if (kind_of(key) == Kind::basic) return;
        if constexpr (std::equality_comparable<Value>)
            if (before == after) return;
        try {
            DsLogNotification::AttributeValueChange event;
            begin(event, key);
            event.type = type;
            event.old_value <<= before;
            event.new_value <<= after;
            say(key, event);
        } catch (const std::exception&) { // there is nobody to be told
        }
    }
    template <typename Value>
    void say_state(LogKey key, DsLogNotification::StateType type, const Value& after) noexcept
    {
        if (kind_of(key) == Kind::basic) return;
        try {
            DsLogNotification::StateChange event;
            begin(event, key);
            event.type = type;
            event.new_value <<= after;
            say(key, event);
        } catch (const std::exception&) { // there is nobody to be told
        }
    }

  private:
    /// Of the logs of one kind; what is announced, and the supplier of that, which is nil until
    /// something is said.
    struct Announcements {
        CosEventChannelAdmin::EventChannel_var channel;
        CosEventChannelAdmin::ProxyPushConsumer_var supplier; // guarded by EventLogs::mutex_
    };

    template <typename Event>
    void begin(Event& event, LogKey key)
    {
        event.logref = reference(key);
        event.id = id_of(key);
        event.time = now();
    }
    template <typename Event>
    void say(LogKey key, const Event& event)
    {
        CORBA::Any any;
        any <<= event;
        push(kind_of(key), any);
    }
    [[nodiscard]] DsLogAdmin::Log_ptr reference(LogKey key) const;
    [[nodiscard]] TimeBase::TimeT now() const;
    void push(Kind kind, const CORBA::Any& event);
    // Begin a service when it is needed first: its threads are of no use before.
    void begin_service();
    void begin_notifications();
    [[nodiscard]] CORBA::Object_ptr found(LogKey key);

    ServiceState& state_;
    std::once_flag begun_, notify_begun_;
    Announcements announced_, notify_announced_; // by who has begun the service, but for suppliers
    std::mutex mutex_; // guards what follows; nothing is called while it is held
    // Set once: who has begun them need not lock.
    std::unique_ptr<events::EventService> service_;
    std::unique_ptr<notification::NotificationService> notifications_;
    bool is_ending_ = false;
    std::map<LogKey, CORBA::Object_var> channels_;
};

} // namespace kairos::logs
