// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/event_logs.h"

#include "kairos/base/log.h"
#include "kairos/logs/service_state.h"

#include <utility>

namespace kairos::logs {
namespace {

/// Writes what passes. What cannot be written is passed on all the same.
class EventRecorder final : public events::Recorder, public notification::Recorder {
  public:
    EventRecorder(LogPtr log, EventLogs& told) : log_(std::move(log)), told_(told) {}

    bool take(const CORBA::Any& event) noexcept override { return take(event, true); }
    bool take(const CORBA::Any& event, bool is_wanted) noexcept override
    {
        bool forwards = true;
        std::vector<Alarm> alarms;
        const bool was_enabled = log_->is_enabled();
        try {
            forwards = log_->settings()->forwarding_state == DsLogAdmin::on;
            if (!is_wanted) return forwards;
            const std::vector<Draft> draft{
                {.attributes = {}, .info = encapsulated(event, log_->surroundings()->orb.in())}};
            log_->write(draft, alarms);
            if (!was_enabled) told_.say_enabled(log_->key(), true);
        } catch (const DsLogAdmin::LogLocked&) { // as it is to be
        } catch (const DsLogAdmin::LogOffDuty&) {
        } catch (const DsLogAdmin::LogFull&) { // of which alarms tell
        } catch (const DsLogAdmin::LogDisabled&) {
            if (was_enabled) told_.say_enabled(log_->key(), false);
            told_.say_failed(log_->key(), "the store of logs cannot be written");
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // the log ends
        } catch (const std::exception& failure) {
            told_.say_failed(log_->key(), failure.what());
        }
        told_.say_passed(log_->key(), alarms);
        return forwards;
    }

  private:
    const LogPtr log_;
    EventLogs& told_;
};

/// What logs say of themselves is written nowhere.
class AnnouncementRecorder final : public notification::Recorder {
  public:
    bool take(const CORBA::Any& /*event*/, bool /*is_wanted*/) noexcept override { return true; }
};

/// Of those that ProcessingErrorAlarm reserves for nobody.
constexpr CORBA::Long event_not_written = 1;

} // namespace

KairosLogs::ChannelSettings settings_of(KairosNotification::RecordedChannel_ptr channel)
{
    const CosNotification::QoSProperties_var qos = channel->get_qos();
    const CosNotification::AdminProperties_var administration = channel->get_admin();
    KairosLogs::ChannelSettings settings;
    settings.qos = qos.in();
    settings.administration = administration.in();
    return settings;
}

void EventLogs::begin_service()
{
    std::call_once(begun_, [this] {
        events::ServiceLimits limits;
        limits.channels_max = state_.around().limits.logs_max + 1;
        auto service =
            std::make_unique<events::EventService>(state_.around().orb.in(), limits, "LogChannels");
        announced_.channel = service->create_channel();
        bool is_ending = false;
        {
            const std::lock_guard lock(mutex_);
            service_ = std::move(service);
            is_ending = is_ending_;
        }
        if (is_ending) service_->begin_to_end();
    });
}

void EventLogs::begin_notifications()
{
    std::call_once(notify_begun_, [this] {
        notification::NotificationLimits limits;
        limits.channels_max = state_.around().limits.logs_max + 1;
        auto service = std::make_unique<notification::NotificationService>(
            state_.around().orb.in(), limits, "NotifyLogChannels");
        const KairosNotification::RecordedChannel_var made = service->create_channel(
            {}, {}, std::make_shared<AnnouncementRecorder>(), CORBA::Object::_nil());
        notify_announced_.channel = CosEventChannelAdmin::EventChannel::_duplicate(made.in());
        bool is_ending = false;
        {
            const std::lock_guard lock(mutex_);
            notifications_ = std::move(service);
            is_ending = is_ending_;
        }
        if (is_ending) notifications_->begin_to_end();
    });
}

void EventLogs::begin_to_end() noexcept
{
    events::EventService* service = nullptr;
    notification::NotificationService* notifications = nullptr;
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
        service = service_.get();
        notifications = notifications_.get();
    }
    if (service != nullptr) service->begin_to_end();
    if (notifications != nullptr) notifications->begin_to_end();
}

void EventLogs::end() noexcept
{
    service_ = nullptr;
    notifications_ = nullptr;
}

void EventLogs::open(const LogPtr& log)
{
    const auto recorder = std::make_shared<EventRecorder>(log, *this);
    CORBA::Object_var channel;
    if (kind_of(log->key()) == Kind::notify) {
        begin_notifications();
        const auto settings = log->settings();
        const DsLogAdmin::Log_var front = reference(log->key());
        channel = notifications_->create_channel(
            settings->channel.qos, settings->channel.administration, recorder, front.in());
    } else {
        begin_service();
        channel = service_->create_channel(recorder);
    }
    {
        const std::lock_guard lock(mutex_);
        channels_[log->key()] = channel;
    }
    if (kind_of(log->key()) == Kind::notify)
        log->note_channel(
            settings_of(KairosNotification::RecordedChannel_var(notify_channel(log->key())).in()));
}

void EventLogs::close(LogKey key) noexcept
{
    CORBA::Object_var gone;
    {
        const std::lock_guard lock(mutex_);
        const auto found = channels_.find(key);
        if (found == channels_.end()) return;
        gone = found->second;
        channels_.erase(found);
    }
    try {
        CosEventChannelAdmin::EventChannel_var(
            CosEventChannelAdmin::EventChannel::_unchecked_narrow(gone.in()))
            ->destroy();
    } catch (const CORBA::Exception&) { // it has ended with the service
    }
}

CORBA::Object_ptr EventLogs::found(LogKey key)
{
    const std::lock_guard lock(mutex_);
    const auto found = channels_.find(key);
    if (found == channels_.end()) corba::raise_no_such_object();
    return CORBA::Object::_duplicate(found->second.in());
}

CosEventChannelAdmin::EventChannel_ptr EventLogs::channel(LogKey key)
{
    const CORBA::Object_var object = found(key);
    return CosEventChannelAdmin::EventChannel::_unchecked_narrow(object.in());
}

KairosNotification::RecordedChannel_ptr EventLogs::notify_channel(LogKey key)
{
    const CORBA::Object_var object = found(key);
    return KairosNotification::RecordedChannel::_unchecked_narrow(object.in());
}

CosEventChannelAdmin::EventChannel_ptr EventLogs::announcements()
{
    begin_service();
    return CosEventChannelAdmin::EventChannel::_duplicate(announced_.channel.in());
}

CosNotifyChannelAdmin::EventChannel_ptr EventLogs::notify_announcements()
{
    begin_notifications();
    return CosNotifyChannelAdmin::EventChannel::_unchecked_narrow(notify_announced_.channel.in());
}

DsLogAdmin::Log_ptr EventLogs::reference(LogKey key) const { return state_.reference(key); }

TimeBase::TimeT EventLogs::now() const { return state_.around().clock->now(); }

void EventLogs::push(Kind kind, const CORBA::Any& event)
{
    if (kind == Kind::notify)
        begin_notifications();
    else
        begin_service();
    Announcements& announced = kind == Kind::notify ? notify_announced_ : announced_;
    const CosEventChannelAdmin::EventChannel_var& channel = announced.channel;
    CosEventChannelAdmin::ProxyPushConsumer_var to;
    {
        const std::lock_guard lock(mutex_);
        to = announced.supplier;
    }
    for (bool is_new = CORBA::is_nil(to.in());; is_new = true) {
        if (is_new) {
            const CosEventChannelAdmin::SupplierAdmin_var admin = channel->for_suppliers();
            to = admin->obtain_push_consumer();
            to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
            const std::lock_guard lock(mutex_);
            announced.supplier = to;
        }
        try {
            return to->push(event);
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // it has made room for another
            if (is_new) throw;
        }
    }
}

void EventLogs::say_created(LogKey key) noexcept
{
    if (kind_of(key) == Kind::basic) return;
    try {
        DsLogNotification::ObjectCreation event{};
        event.id = id_of(key);
        event.time = now();
        say(key, event);
    } catch (const std::exception&) { // there is nobody to be told
    }
}

void EventLogs::say_deleted(LogKey key) noexcept
{
    if (kind_of(key) == Kind::basic) return;
    try {
        DsLogNotification::ObjectDeletion event{};
        event.id = id_of(key);
        event.time = now();
        say(key, event);
    } catch (const std::exception&) { // there is nobody to be told
    }
}

void EventLogs::say_passed(LogKey key, const std::vector<Alarm>& alarms) noexcept
{
    if (kind_of(key) == Kind::basic) return;
    for (const Alarm& alarm : alarms) {
        try {
            DsLogNotification::ThresholdAlarm event;
            begin(event, key);
            event.crossed_value = alarm.crossed;
            event.observed_value = alarm.observed;
            event.perceived_severity =
                alarm.crossed == 100 ? DsLogNotification::critical : DsLogNotification::minor;
            say(key, event);
        } catch (const std::exception&) { // there is nobody to be told
        }
    }
}

void EventLogs::say_enabled(LogKey key, bool is_enabled) noexcept
{
    say_state(key, DsLogNotification::operationalState,
              is_enabled ? DsLogAdmin::enabled : DsLogAdmin::disabled);
}

void EventLogs::say_failed(LogKey key, const char* reason) noexcept
{
    try {
        DsLogNotification::ProcessingErrorAlarm event;
        event.error_num = event_not_written;
        event.error_string =
            ("log " + std::to_string(id_of(key)) + ": an event is not written: " + reason).c_str();
        say(key, event);
    } catch (const std::exception&) { // there is nobody to be told
    }
}

} // namespace kairos::logs
