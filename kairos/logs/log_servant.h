// SPDX-License-Identifier: Apache-2.0
//
// The operations of DsLogAdmin::Log (Telecom Log Service 1.1.2, 2.1), which logs of each kind have,
// and those of DsLogAdmin::LogMgr, which their factories have.
#pragma once

#include "kairos/logs/DsLogAdmin_skel.h"
#include "kairos/logs/schedule.h"
#include "kairos/logs/service_state.h"

#include <set>
#include <string_view>

namespace kairos::logs {

/// Throws InvalidAttribute for names that are empty or not the only ones; IMP_LIMIT.
void check_attributes(const DsLogAdmin::NVList& list, const ServiceLimits& limits);
/// Throws UnsupportedQoS.
void check_qos(const DsLogAdmin::QoSList& qos, bool is_durable);
/// Throw DsLogAdmin's exceptions; return the records, and begin an iterator if there are more.
[[nodiscard]] DsLogAdmin::RecordList* reply(ServiceState& state, const LogPtr& log, Numbers numbers,
                                            const std::vector<RowPtr>& rows,
                                            DsLogAdmin::Iterator_out iterator);

template <typename Skeleton>
class LogOperations : public Skeleton {
  public:
    using ULong = CORBA::ULong;
    using ULongLong = CORBA::ULongLong;
    using Settings = KairosLogs::Settings;

    LogOperations(ServiceState& state, Kind kind) : state_(state), kind_(kind) {}

    DsLogAdmin::LogMgr_ptr my_factory() override
    {
        (void)log();
        const CORBA::Object_var object = state_.factory(kind_);
        return DsLogAdmin::LogMgr::_unchecked_narrow(object.in());
    }
    DsLogAdmin::LogId id() override { return id_of(log()->key()); }

    DsLogAdmin::QoSList* get_log_qos() override
    {
        return new DsLogAdmin::QoSList(log()->settings()->qos);
    }
    void set_log_qos(const DsLogAdmin::QoSList& qos) override
    {
        check_qos(qos, state_.around().store->is_durable());
        set(&Settings::qos, qos, DsLogNotification::qualityOfService);
    }
    ULong get_max_record_life() override { return log()->settings()->max_record_life; }
    void set_max_record_life(ULong life) override
    {
        set(&Settings::max_record_life, life, DsLogNotification::maxRecordLife);
    }
    ULongLong get_max_size() override { return log()->settings()->max_size; }
    void set_max_size(ULongLong size) override
    {
        const LogPtr log = this->log();
        (void)log->state(); // without what has expired
        const auto before = log->change([size](Settings& settings, const LogState& state) {
            if (size != 0 && size < state.counts.octets)
                throw DsLogAdmin::InvalidParam("the log is larger than that");
            settings.max_size = size;
        });
        told().say_changed(log->key(), DsLogNotification::maxLogSize, before->max_size, size);
    }
    ULongLong get_current_size() override { return log()->state().counts.octets; }
    ULongLong get_n_records() override { return log()->state().counts.records; }
    DsLogAdmin::LogFullActionType get_log_full_action() override
    {
        return log()->settings()->full_action;
    }
    void set_log_full_action(DsLogAdmin::LogFullActionType action) override
    {
        check_full_action(action);
        set(&Settings::full_action, action, DsLogNotification::logFullAction);
    }
    DsLogAdmin::AdministrativeState get_administrative_state() override
    {
        return log()->settings()->administrative_state;
    }
    void set_administrative_state(DsLogAdmin::AdministrativeState value) override
    {
        const LogPtr log = this->log();
        log->change([value](Settings& settings, const LogState& /*state*/) {
            settings.administrative_state = value;
        });
        told().say_state(log->key(), DsLogNotification::administrativeState, value);
    }
    DsLogAdmin::ForwardingState get_forwarding_state() override
    {
        return log()->settings()->forwarding_state;
    }
    void set_forwarding_state(DsLogAdmin::ForwardingState value) override
    {
        const LogPtr log = this->log();
        log->change([value](Settings& settings, const LogState& /*state*/) {
            settings.forwarding_state = value;
        });
        told().say_state(log->key(), DsLogNotification::forwardingState, value);
    }
    DsLogAdmin::OperationalState get_operational_state() override
    {
        return log()->is_enabled() ? DsLogAdmin::enabled : DsLogAdmin::disabled;
    }
    DsLogAdmin::TimeInterval get_interval() override { return log()->settings()->interval; }
    void set_interval(const DsLogAdmin::TimeInterval& interval) override
    {
        check_interval(interval);
        const LogPtr log = this->log();
        const auto before = log->change([&interval](Settings& settings, const LogState& /*state*/) {
            settings.interval = interval;
        });
        if (before->interval.start != interval.start)
            told().say_changed(log->key(), DsLogNotification::startTime, before->interval.start,
                               interval.start);
        if (before->interval.stop != interval.stop)
            told().say_changed(log->key(), DsLogNotification::stopTime, before->interval.stop,
                               interval.stop);
    }
    DsLogAdmin::AvailabilityStatus get_availability_status() override
    {
        const LogState now = log()->state();
        const ULongLong max = now.settings->max_size;
        DsLogAdmin::AvailabilityStatus status{};
        status.off_duty = !is_on_duty(*now.settings, state_.around().clock->now());
        status.log_full = now.settings->full_action == DsLogAdmin::halt && max != 0 &&
                          (now.was_refused || now.counts.octets >= max);
        return status;
    }
    DsLogAdmin::CapacityAlarmThresholdList* get_capacity_alarm_thresholds() override
    {
        return new DsLogAdmin::CapacityAlarmThresholdList(log()->settings()->thresholds);
    }
    void
    set_capacity_alarm_thresholds(const DsLogAdmin::CapacityAlarmThresholdList& threshs) override
    {
        check_thresholds(threshs);
        set(&Settings::thresholds, threshs, DsLogNotification::capacityAlarmThreshold);
    }
    DsLogAdmin::WeekMask* get_week_mask() override
    {
        return new DsLogAdmin::WeekMask(log()->settings()->week_mask);
    }
    void set_week_mask(const DsLogAdmin::WeekMask& masks) override
    {
        check_week_mask(masks, state_.around().limits);
        set(&Settings::week_mask, masks, DsLogNotification::weekMask);
    }

    DsLogAdmin::RecordList* query(const char* grammar, const char* c,
                                  DsLogAdmin::Iterator_out i) override
    {
        const LogPtr log = this->log();
        const constraints::Constraint constraint = parse(grammar, c);
        std::vector<RowPtr> rows;
        Numbers numbers = search(*log, constraint, &rows);
        return reply(state_, log, std::move(numbers), rows, i);
    }
    DsLogAdmin::RecordList* retrieve(DsLogAdmin::TimeT from_time, CORBA::Long how_many,
                                     DsLogAdmin::Iterator_out i) override
    {
        const LogPtr log = this->log();
        return reply(state_, log, logs::retrieve(*log, from_time, how_many), {}, i);
    }
    ULong match(const char* grammar, const char* c) override
    {
        const LogPtr log = this->log();
        return static_cast<ULong>(count(*log, parse(grammar, c)));
    }
    ULong delete_records(const char* grammar, const char* c) override
    {
        const LogPtr log = this->log();
        return static_cast<ULong>(log->erase(search(*log, parse(grammar, c))));
    }
    ULong delete_records_by_id(const DsLogAdmin::RecordIdList& ids) override
    {
        const LogPtr log = this->log();
        return static_cast<ULong>(
            log->erase(Numbers(ids.get_buffer(), ids.get_buffer() + ids.length())));
    }
    void write_records(const DsLogAdmin::Anys& records) override
    {
        check_count(records.length());
        std::vector<Draft> drafts(records.length());
        for (ULong i = 0; i < records.length(); ++i)
            drafts[i].info = encapsulated(records[i], orb());
        write(drafts);
    }
    void write_recordlist(const DsLogAdmin::RecordList& list) override
    {
        check_count(list.length());
        std::vector<Draft> drafts(list.length());
        for (ULong i = 0; i < list.length(); ++i) {
            drafts[i].info = encapsulated(list[i].info, orb());
            drafts[i].attributes = encapsulated(list[i].attr_list, orb());
        }
        write(drafts);
    }
    void set_record_attribute(DsLogAdmin::RecordId id, const DsLogAdmin::NVList& attr_list) override
    {
        const LogPtr log = this->log();
        check_attributes(attr_list, state_.around().limits);
        (void)log->state();
        log->set_attributes(id, encapsulated(attr_list, orb()));
    }
    ULong set_records_attribute(const char* grammar, const char* c,
                                const DsLogAdmin::NVList& attr_list) override
    {
        const LogPtr log = this->log();
        const constraints::Constraint constraint = parse(grammar, c);
        check_attributes(attr_list, state_.around().limits);
        return static_cast<ULong>(
            log->set_attributes(search(*log, constraint), encapsulated(attr_list, orb())));
    }
    DsLogAdmin::NVList* get_record_attribute(DsLogAdmin::RecordId id) override
    {
        return attributes_of(*log(), id);
    }

    DsLogAdmin::Log_ptr copy(DsLogAdmin::LogId_out id) override
    {
        const LogPtr made = copy_of(std::nullopt);
        id = id_of(made->key());
        return state_.reference(made->key());
    }
    DsLogAdmin::Log_ptr copy_with_id(DsLogAdmin::LogId id) override
    {
        return state_.reference(copy_of(id)->key());
    }
    void flush() override
    {
        const LogPtr log = this->log();
        const std::shared_ptr<const Settings> now = log->settings();
        for (ULong i = 0; i < now->qos.length(); ++i)
            if (now->qos[i] != DsLogAdmin::QoSNone) return log->flush();
        DsLogAdmin::QoSList denied;
        denied.length(1);
        denied[0] = DsLogAdmin::QoSFlush;
        throw DsLogAdmin::UnsupportedQoS(denied);
    }
    void destroy() override { state_.destroy(log()); }

  protected:
    [[nodiscard]] LogPtr log() const { return state_.called(kind_); }
    [[nodiscard]] ServiceState& state() const noexcept { return state_; }

  private:
    [[nodiscard]] CORBA::ORB_ptr orb() const { return state_.around().orb.in(); }
    [[nodiscard]] constraints::Constraint parse(const char* grammar, const char* text) const
    {
        return parse_query(grammar, text, state_.around().limits);
    }
    template <typename Member, typename Value>
    void set(Member Settings::*member, const Value& value, DsLogNotification::AttributeType type)
    {
        const LogPtr log = this->log();
        const auto before =
            log->change([member, &value](Settings& settings, const LogState& /*state*/) {
                settings.*member = value;
            });
        told().say_changed(log->key(), type, before.get()->*member, value);
    }
    /// Others wait while a call's records are written.
    void check_count(ULong count) const
    {
        if (count > state_.around().limits.written_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "more records than one call may write");
    }
    void write(const std::vector<Draft>& drafts)
    {
        const LogPtr log = this->log();
        const bool was_enabled = log->is_enabled();
        std::vector<Alarm> alarms;
        try {
            log->write(drafts, alarms);
        } catch (const DsLogAdmin::LogDisabled&) {
            if (was_enabled) told().say_enabled(log->key(), false);
            throw;
        } catch (const DsLogAdmin::LogFull&) {
            told().say_passed(log->key(), alarms);
            throw;
        }
        told().say_passed(log->key(), alarms);
        if (!was_enabled) told().say_enabled(log->key(), true);
    }
    [[nodiscard]] EventLogs& told() const noexcept { return state_.event_logs; }
    /// What is set, without the records.
    [[nodiscard]] LogPtr copy_of(std::optional<DsLogAdmin::LogId> id)
    {
        return state_.create(kind_, id, *log()->settings());
    }

    ServiceState& state_;
    const Kind kind_;
};

template <typename Skeleton>
class FactoryOperations : public Skeleton {
  public:
    FactoryOperations(ServiceState& state, Kind kind) : state_(state), kind_(kind) {}

    DsLogAdmin::LogList* list_logs() override
    {
        const std::vector<LogPtr> logs = state_.logs(kind_);
        DsLogAdmin::LogList_var list = new DsLogAdmin::LogList;
        list->length(static_cast<CORBA::ULong>(logs.size()));
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            list[i] = state_.reference(logs[i]->key());
        return list._retn();
    }
    DsLogAdmin::Log_ptr find_log(DsLogAdmin::LogId id) override
    {
        const LogPtr log = state_.find(key_of(kind_, id));
        return log == nullptr ? DsLogAdmin::Log::_nil() : state_.reference(log->key());
    }
    DsLogAdmin::LogIdList* list_logs_by_id() override
    {
        const std::vector<LogPtr> logs = state_.logs(kind_);
        DsLogAdmin::LogIdList_var list = new DsLogAdmin::LogIdList;
        list->length(static_cast<CORBA::ULong>(logs.size()));
        for (CORBA::ULong i = 0; i < list->length(); ++i)
            list[i] = id_of(logs[i]->key());
        return list._retn();
    }

  protected:
    [[nodiscard]] ServiceState& state() const noexcept { return state_; }
    [[nodiscard]] LogPtr make(std::optional<DsLogAdmin::LogId> id,
                              DsLogAdmin::LogFullActionType full_action, CORBA::ULongLong max_size,
                              const DsLogAdmin::CapacityAlarmThresholdList& thresholds,
                              const KairosLogs::ChannelSettings& channel = {})
    {
        check_full_action(full_action);
        check_thresholds(thresholds);
        KairosLogs::Settings settings = state_.first_settings();
        settings.full_action = full_action;
        settings.max_size = max_size;
        settings.thresholds = thresholds;
        settings.channel = channel;
        return state_.create(kind_, id, settings);
    }

  private:
    ServiceState& state_;
    const Kind kind_;
};

} // namespace kairos::logs
