// SPDX-License-Identifier: Apache-2.0
//
// Logs as their clients meet them, over loopback: records, queries, what is full, when logs are on
// duty, stores, and what nobody may have more of. Time is what the test says.
#include "kairos/logs/DsLogNotification.h"
#include "kairos/logs/logs_testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sqlite3.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kairos::logs {
namespace {

using namespace DsLogAdmin;
using CosEventChannelAdmin::ConsumerAdmin_ptr;
using CosEventChannelAdmin::ConsumerAdmin_var;
using CosEventChannelAdmin::ProxyPullSupplier_ptr;
using CosEventChannelAdmin::ProxyPullSupplier_var;
using CosEventChannelAdmin::ProxyPushConsumer_ptr;
using CosEventChannelAdmin::ProxyPushConsumer_var;
using DsEventLogAdmin::EventLog;
using DsEventLogAdmin::EventLog_ptr;
using DsEventLogAdmin::EventLog_var;
using DsEventLogAdmin::EventLogFactory;
using DsEventLogAdmin::EventLogFactory_var;

class FewRecords : public LogTest {
  protected:
    static ServiceLimits few()
    {
        ServiceLimits limits;
        limits.logs_max = 3;
        limits.record_octets_max = 4000;
        limits.memory_octets_max = 8000;
        limits.reply_count_max = 3;
        limits.found_max = 10;
        limits.found_of_all_max = 12;
        limits.iterators_max = 2;
        limits.written_max = 12;
        return limits;
    }
    FewRecords() : LogTest(few()) {}
};

// --- Records -------------------------------------------------------------------------------------

TEST_F(LogTest, KeepsWhatIsWrittenAsItCame)
{
    const BasicLog_var log = make();
    write(log.in(), {"a", "b"});
    time_ += second;
    RecordList list;
    list.length(1);
    list[0].id = 77; // the log's own are given
    list[0].info <<= "c";
    list[0].attr_list = attributes({{"severity", 4}});
    log->write_recordlist(list);
    EXPECT_EQ(3U, log->get_n_records());
    Iterator_var rest;
    const RecordList_var all = log->retrieve(0, 10, rest.out());
    EXPECT_EQ("1:a 2:b 3:c", shown(all.in()));
    EXPECT_TRUE(CORBA::is_nil(rest.in()));
    EXPECT_EQ(sunday, all[1U].time);
    EXPECT_EQ(sunday + second, all[2U].time);
    ASSERT_EQ(1U, all[2U].attr_list.length());
    EXPECT_STREQ("severity", all[2U].attr_list[0U].name.in());
    const LogMgr_var factory = log->my_factory();
    EXPECT_TRUE(factory->_is_equivalent(factory_.in()));
}

TEST_F(LogTest, IsReadFromATimeOnAndBack)
{
    const BasicLog_var log = make();
    for (const char* text : {"a", "b", "c", "d"}) {
        write(log.in(), {text});
        time_ += second;
    }
    EXPECT_EQ("2:b 3:c", from(log.in(), sunday + second, 2));
    EXPECT_EQ("3:c 4:d", from(log.in(), sunday + second + 1, 9));
    EXPECT_EQ("2:b 1:a", from(log.in(), sunday + second, -5));
    EXPECT_EQ("4:d", from(log.in(), ~std::uint64_t{0}, -1));
    EXPECT_EQ("", from(log.in(), sunday + day, 5));
    EXPECT_EQ("", from(log.in(), sunday - 1, -5));
    EXPECT_EQ("", from(log.in(), sunday, 0));
    time_ = sunday; // times of records do not run backwards with the clock
    write(log.in(), {"e"});
    EXPECT_EQ("4:d 5:e", from(log.in(), sunday + 3 * second, 5));
}

TEST_F(LogTest, IsAskedByConstraints)
{
    const BasicLog_var log = make();
    write(log.in(), {"lamp", "lantern", "torch"});
    time_ += second;
    write(log.in(), {"candle"});
    log->set_record_attribute(2, attributes({{"price", 7}, {"floor", 1}}));
    EXPECT_EQ("1:lamp", ask(log.in(), "$.info == 'lamp'"));
    EXPECT_EQ("1:lamp 2:lantern", ask(log.in(), "'la' ~ $.info"));
    EXPECT_EQ("3:torch 4:candle", ask(log.in(), "$.id > 2"));
    EXPECT_EQ("4:candle", ask(log.in(), ("$.time > " + std::to_string(sunday)).c_str()));
    EXPECT_EQ("2:lantern", ask(log.in(), "$.attr_list(price) > 6"));
    EXPECT_EQ("2:lantern", ask(log.in(), "$.attr_list._length == 2"));
    EXPECT_EQ("1:lamp 2:lantern 3:torch 4:candle", ask(log.in(), ""));
    EXPECT_EQ(2U, log->match(default_grammar, "$.id < 3"));
    EXPECT_EQ(2U,
              log->set_records_attribute(default_grammar, "$.id < 3", attributes({{"sold", 1}})));
    const NVList_var now = log->get_record_attribute(2);
    ASSERT_EQ(1U, now->length());
    EXPECT_STREQ("sold", now[0U].name.in());
    EXPECT_EQ(2U, log->delete_records(default_grammar, "$.attr_list(sold) == 1"));
    RecordIdList ids;
    ids.length(3);
    ids[0] = 3;
    ids[1] = 3;
    ids[2] = 99;
    EXPECT_EQ(1U, log->delete_records_by_id(ids));
    EXPECT_EQ("4:candle", ask(log.in(), ""));
    write(log.in(), {"moon"});
    EXPECT_EQ("4:candle 5:moon", ask(log.in(), ""));
}

TEST_F(LogTest, RefusesWhatMakesNoSense)
{
    const BasicLog_var log = make();
    write(log.in(), {"a"});
    EXPECT_THROW(ask(log.in(), "$.id >"), InvalidConstraint);
    EXPECT_THROW((void)log->match("SQL", ""), InvalidGrammar);
    EXPECT_THROW((void)log->delete_records("SQL", ""), InvalidGrammar);
    EXPECT_THROW(log->set_record_attribute(2, {}), InvalidRecordId);
    EXPECT_THROW((void)NVList_var(log->get_record_attribute(2)), InvalidRecordId);
    EXPECT_THROW(log->set_record_attribute(1, attributes({{"", 1}})), InvalidAttribute);
    EXPECT_THROW(log->set_record_attribute(1, attributes({{"a", 1}, {"a", 2}})), InvalidAttribute);
    EXPECT_THROW(log->set_log_full_action(2), InvalidLogFullAction);
    LogId id = 0;
    EXPECT_THROW((void)BasicLog_var(factory_->create(7, 0, id)), InvalidLogFullAction);
    EXPECT_THROW(log->set_interval({second, second}), InvalidTimeInterval);
    EXPECT_THROW(log->set_interval({0, ~std::uint64_t{0}}), InvalidTime);
    CapacityAlarmThresholdList thresholds;
    thresholds.length(2);
    thresholds[0] = 50;
    thresholds[1] = 50;
    EXPECT_THROW(log->set_capacity_alarm_thresholds(thresholds), InvalidThreshold);
    thresholds[1] = 101;
    EXPECT_THROW(log->set_capacity_alarm_thresholds(thresholds), InvalidThreshold);
    WeekMask mask;
    mask.length(1);
    mask[0].days = 128;
    EXPECT_THROW(log->set_week_mask(mask), InvalidMask);
    mask[0].days = Monday;
    mask[0].intervals.length(1);
    mask[0].intervals[0] = {{9, 0}, {8, 59}};
    EXPECT_THROW(log->set_week_mask(mask), InvalidTimeInterval);
    mask[0].intervals[0] = {{9, 0}, {24, 0}};
    EXPECT_THROW(log->set_week_mask(mask), InvalidTime);
    QoSList qos;
    qos.length(2);
    qos[0] = QoSNone;
    qos[1] = QoSReliability;
    try {
        log->set_log_qos(qos);
        FAIL() << "memory is not reliable";
    } catch (const UnsupportedQoS& unsupported) {
        ASSERT_EQ(1U, unsupported.denied.length());
        EXPECT_EQ(QoSReliability, unsupported.denied[0U]);
    }
    EXPECT_THROW(log->flush(), UnsupportedQoS);
}

// --- What is full --------------------------------------------------------------------------------

TEST_F(LogTest, HaltsWhereItIsFull)
{
    const BasicLog_var probe = make();
    write(probe.in(), {"a"});
    const CORBA::ULongLong one = probe->get_current_size();
    const BasicLog_var log = make(3 * one);
    write(log.in(), {"a", "b"});
    EXPECT_FALSE(log->get_availability_status().log_full);
    try {
        write(log.in(), {"c", "d"});
        FAIL() << "there was no room";
    } catch (const LogFull& full) {
        EXPECT_EQ(1, full.n_records_written);
    }
    EXPECT_EQ("1:a 2:b 3:c", ask(log.in(), ""));
    EXPECT_TRUE(log->get_availability_status().log_full);
    EXPECT_THROW(log->set_max_size(3 * one - 1), InvalidParam);
    EXPECT_EQ(1U, log->delete_records(default_grammar, "$.id == 1"));
    EXPECT_FALSE(log->get_availability_status().log_full);
    write(log.in(), {"d"});
    EXPECT_EQ("2:b 3:c 4:d", ask(log.in(), ""));
    log->set_log_full_action(wrap);
    write(log.in(), {"e", "f"});
    EXPECT_EQ("4:d 5:e 6:f", ask(log.in(), ""));
    EXPECT_EQ(3 * one, log->get_current_size());
    EXPECT_FALSE(log->get_availability_status().log_full);
    EXPECT_THROW(write(log.in(), {std::string(1000, 'x')}), LogFull); // never fits
    EXPECT_EQ("4:d 5:e 6:f", ask(log.in(), ""));
    log->set_max_size(0);
    write(log.in(), {std::string(1000, 'x')});
    EXPECT_EQ(4U, log->get_n_records());
}

TEST_F(FewRecords, NobodyMayHaveMore)
{
    const BasicLog_var log = make();
    EXPECT_THROW(write(log.in(), {std::string(4000, 'x')}), CORBA::IMP_LIMIT);
    write(log.in(), {std::string(3500, 'x'), std::string(3500, 'x')});
    EXPECT_THROW(write(log.in(), {"a", std::string(3500, 'x')}), CORBA::NO_RESOURCES);
    EXPECT_EQ(2U, log->get_n_records()); // all or nothing, of what the store refuses
    EXPECT_EQ(2U, log->delete_records(default_grammar, ""));
    const std::vector<std::string> nine(9, "x");
    write(log.in(), nine);

    Iterator_var rest;
    const RecordList_var first = log->query(default_grammar, "", rest.out());
    EXPECT_EQ(3U, first->length());
    RecordList_var next = rest->get(3, 100);
    EXPECT_EQ("6:x 7:x 8:x", shown(next.in()));
    next = rest->get(8, 2);
    EXPECT_EQ("11:x", shown(next.in()).substr(0, 4));
    next = rest->get(9, 1);
    EXPECT_EQ(0U, next->length());
    EXPECT_THROW((void)RecordList_var(rest->get(10, 1)), InvalidParam);
    Iterator_var other; // iterators have as much as they may: the first one makes room
    const RecordList_var again = log->query(default_grammar, "", other.out());
    EXPECT_THROW((void)RecordList_var(rest->get(0, 1)), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(4U, log->delete_records(default_grammar, "$.id >= 4 and $.id <= 7"));
    next = other->get(3, 100); // what is gone is not counted: an empty list is the end
    EXPECT_EQ("8:x 9:x 10:x", shown(next.in()));
    next = other->get(6, 100);
    EXPECT_EQ("11:x", shown(next.in()));
    next = other->get(7, 100);
    EXPECT_EQ(0U, next->length());
    other->destroy();
    EXPECT_THROW((void)RecordList_var(other->get(0, 1)), CORBA::OBJECT_NOT_EXIST);
    write(log.in(), {"x", "x", "x", "x"});
    EXPECT_EQ("3:x 8:x 9:x ...", from(log.in(), 0, 5));
    write(log.in(), {"y", "y"});
    EXPECT_THROW(ask(log.in(), ""), CORBA::NO_RESOURCES); // eleven

    EXPECT_THROW(write(log.in(), std::vector<std::string>(13, "z")), CORBA::IMP_LIMIT);
    NVList large = attributes({{"a", 1}});
    large[0].value <<= std::string(3990, 'x').c_str();
    EXPECT_THROW(log->set_record_attribute(3, large), CORBA::IMP_LIMIT); // with what it has

    const BasicLog_var second_log = make();
    write(second_log.in(), {"1", "2", "3", "4"});
    Iterator_var of_second;
    const RecordList_var two = second_log->query(default_grammar, "", of_second.out());
    second_log->destroy();
    const BasicLog_var same = factory_->create_with_id(2, halt, 0);
    write(same.in(), {"a", "b", "c", "d"});
    EXPECT_THROW((void)RecordList_var(of_second->get(3, 1)), CORBA::OBJECT_NOT_EXIST);
    const BasicLog_var third_log = make();
    EXPECT_THROW((void)make(), CORBA::IMP_LIMIT);
}

// --- Duty ----------------------------------------------------------------------------------------

TEST_F(LogTest, IsOnDutyWhenItIsTold)
{
    const BasicLog_var log = make();
    log->set_administrative_state(locked);
    EXPECT_THROW(write(log.in(), {"a"}), LogLocked);
    EXPECT_EQ("", ask(log.in(), ""));
    log->set_administrative_state(unlocked);
    log->set_interval({sunday + day, sunday + 9 * day});
    EXPECT_THROW(write(log.in(), {"a"}), LogOffDuty);
    EXPECT_TRUE(log->get_availability_status().off_duty);
    time_ = sunday + day;
    write(log.in(), {"a"});
    WeekMask mask;
    mask.length(2);
    mask[0].days = Tuesday | Sunday;
    mask[0].intervals.length(1);
    mask[0].intervals[0] = {{8, 30}, {9, 29}};
    mask[1].days = Wednesday;
    log->set_week_mask(mask);
    const auto is_on = [&](std::uint64_t at) {
        time_ = sunday + at;
        return !log->get_availability_status().off_duty;
    };
    EXPECT_FALSE(is_on(day + 9 * 60 * minute));
    EXPECT_FALSE(is_on(2 * day + 8 * 60 * minute + 29 * minute));
    EXPECT_TRUE(is_on(2 * day + 8 * 60 * minute + 30 * minute));
    EXPECT_TRUE(is_on(2 * day + 9 * 60 * minute + 29 * minute + second));
    EXPECT_FALSE(is_on(2 * day + 9 * 60 * minute + 30 * minute));
    EXPECT_TRUE(is_on(3 * day));
    EXPECT_FALSE(is_on(4 * day));
    EXPECT_TRUE(is_on(7 * day + 9 * 60 * minute));
    EXPECT_FALSE(is_on(9 * day + 9 * 60 * minute)); // the interval is over
    const WeekMask_var told = log->get_week_mask();
    EXPECT_EQ(2U, told->length());
}

TEST_F(LogTest, ForgetsRecordsThatAreTooOld)
{
    const BasicLog_var log = make();
    log->set_max_record_life(10);
    write(log.in(), {"a", "b"});
    time_ += 5 * second;
    write(log.in(), {"c"});
    time_ += 5 * second - 1;
    EXPECT_EQ(3U, log->get_n_records());
    time_ += 1;
    EXPECT_EQ("3:c", ask(log.in(), ""));
    EXPECT_EQ(1U, log->get_n_records());
    time_ += day;
    EXPECT_EQ(0U, log->get_current_size());
    EXPECT_EQ("", from(log.in(), 0, 5));
    write(log.in(), {"d"});
    EXPECT_EQ("4:d", ask(log.in(), ""));
}

// --- Logs ----------------------------------------------------------------------------------------

TEST_F(LogTest, IsMadeFoundCopiedAndDestroyed)
{
    LogId id = 0;
    const BasicLog_var first = factory_->create(wrap, 5000, id);
    EXPECT_EQ(1U, id);
    const BasicLog_var named = factory_->create_with_id(2, halt, 0);
    EXPECT_THROW((void)BasicLog_var(factory_->create_with_id(2, halt, 0)), LogIdAlreadyExists);
    first->set_max_record_life(60);
    write(first.in(), {"a"});
    const Log_var copy = first->copy(id);
    EXPECT_EQ(3U, id); // 2 was taken
    EXPECT_EQ(60U, copy->get_max_record_life());
    EXPECT_EQ(5000U, copy->get_max_size());
    EXPECT_EQ(wrap, copy->get_log_full_action());
    EXPECT_EQ(0U, copy->get_n_records());
    EXPECT_THROW((void)Log_var(first->copy_with_id(3)), LogIdAlreadyExists);
    const Log_var eighth = first->copy_with_id(8);
    EXPECT_EQ(8U, eighth->id());
    LogIdList_var ids = factory_->list_logs_by_id();
    ASSERT_EQ(4U, ids->length());
    EXPECT_EQ(8U, ids[3U]);
    const LogList_var logs = factory_->list_logs();
    EXPECT_EQ(2U, logs[1U]->id());
    const Log_var found = factory_->find_log(1);
    EXPECT_TRUE(found->_is_equivalent(first.in()));
    const BasicLog_var narrowed = BasicLog::_narrow(copy.in());
    narrowed->destroy();
    EXPECT_THROW((void)copy->id(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_TRUE(CORBA::is_nil(Log_var(factory_->find_log(3)).in()));
    const BasicLog_var next = factory_->create(halt, 0, id);
    EXPECT_EQ(4U, id); // that of a log that was destroyed leads nowhere
    const CORBA::Object_var resolved =
        server_->resolve_initial_references("RootPOA"); // the service's own is below it
    EXPECT_FALSE(CORBA::is_nil(resolved.in()));
}

// --- Event channels ------------------------------------------------------------------------------

class EventLogTest : public LogTest {
  protected:
    EventLogTest()
    {
        const EventLogFactory_var made = service_->event_logs();
        const CORBA::String_var text = server_->object_to_string(made.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        events_ = EventLogFactory::_narrow(object.in());
    }
    [[nodiscard]] EventLog_var make_channel(CORBA::ULongLong max_size = 0,
                                            const CapacityAlarmThresholdList& list = {}) const
    {
        LogId id = 0;
        return events_->create(halt, max_size, list, id);
    }
    /// From now on.
    static ProxyPullSupplier_var pull_from(ConsumerAdmin_ptr admin)
    {
        ProxyPullSupplier_var from = admin->obtain_pull_supplier();
        from->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
        return from;
    }
    static ProxyPushConsumer_var push_to(EventLog_ptr log)
    {
        const CosEventChannelAdmin::SupplierAdmin_var admin = log->for_suppliers();
        ProxyPushConsumer_var to = admin->obtain_push_consumer();
        to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
        return to;
    }
    static void push(ProxyPushConsumer_ptr to, const char* text)
    {
        CORBA::Any event;
        event <<= text;
        to->push(event);
    }
    static std::string pulled_text(ProxyPullSupplier_ptr from)
    {
        const CORBA::Any_var event = from->pull();
        const char* text = "?";
        (void)(event.in() >>= text);
        return text;
    }
    /// Of what a log says of itself.
    template <typename Event>
    static Event pulled(ProxyPullSupplier_ptr from)
    {
        const CORBA::Any_var any = from->pull();
        const Event* event = nullptr;
        if (!(any.in() >>= event)) throw CORBA::BAD_PARAM();
        return *event;
    }

    EventLogFactory_var events_;
};

TEST_F(EventLogTest, WritesWhatPasses)
{
    const EventLog_var log = make_channel();
    const ConsumerAdmin_var consumers = log->for_consumers();
    const ProxyPullSupplier_var from = pull_from(consumers.in());
    const ProxyPushConsumer_var to = push_to(log.in());
    push(to.in(), "a");
    EXPECT_EQ("a", pulled_text(from.in()));
    log->set_administrative_state(locked); // passed on all the same
    push(to.in(), "b");
    EXPECT_EQ("b", pulled_text(from.in()));
    log->set_administrative_state(unlocked);
    log->set_forwarding_state(off);
    push(to.in(), "c");
    log->set_forwarding_state(DsLogAdmin::on);
    push(to.in(), "d");
    EXPECT_EQ("d", pulled_text(from.in()));
    EXPECT_EQ("1:a 2:c 3:d", ask(log.in(), ""));
    write(log.in(), {"e"}); // a log as others, too
    EXPECT_EQ("4:e", ask(log.in(), "$.info == 'e'"));
    EXPECT_TRUE(CORBA::is_nil(Log_var(factory_->find_log(1)).in()));
    const Log_var found = events_->find_log(1);
    const EventLog_var narrowed = EventLog::_narrow(found.in());
    ASSERT_FALSE(CORBA::is_nil(narrowed.in()));
    narrowed->destroy();
    EXPECT_THROW((void)log->get_n_records(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_ANY_THROW(push(to.in(), "f")); // its channel has ended, too
}

TEST_F(EventLogTest, SaysWhatHappensToIt)
{
    using namespace DsLogNotification;
    const ProxyPullSupplier_var told = pull_from(events_.in());
    const BasicLog_var silent = make();
    silent->set_max_record_life(5);
    CapacityAlarmThresholdList thresholds;
    thresholds.length(3);
    thresholds[0] = 40;
    thresholds[1] = 60;
    thresholds[2] = 100;
    write(silent.in(), {"a"});
    const CORBA::ULongLong one = silent->get_current_size();
    const EventLog_var log = make_channel(3 * one, thresholds);
    const auto created = pulled<ObjectCreation>(told.in());
    EXPECT_EQ(1U, created.id);
    EXPECT_EQ(sunday, created.time);
    log->set_max_record_life(7);
    const auto changed = pulled<AttributeValueChange>(told.in());
    EXPECT_EQ(maxRecordLife, changed.type);
    CORBA::ULong life = 0;
    EXPECT_TRUE(changed.new_value >>= life);
    EXPECT_EQ(7U, life);
    EXPECT_TRUE(changed.logref->_is_equivalent(log.in()));
    log->set_administrative_state(locked);
    const auto state = pulled<StateChange>(told.in());
    EXPECT_EQ(administrativeState, state.type);
    AdministrativeState now = unlocked;
    EXPECT_TRUE(state.new_value >>= now);
    EXPECT_EQ(locked, now);
    log->set_administrative_state(unlocked);
    (void)pulled<StateChange>(told.in());
    const ProxyPushConsumer_var to = push_to(log.in());
    push(to.in(), "a");
    push(to.in(), "b"); // two thirds
    auto alarm = pulled<ThresholdAlarm>(told.in());
    EXPECT_EQ(40U, alarm.crossed_value);
    EXPECT_EQ(66U, alarm.observed_value);
    EXPECT_EQ(minor, alarm.perceived_severity);
    alarm = pulled<ThresholdAlarm>(told.in());
    EXPECT_EQ(60U, alarm.crossed_value);
    EXPECT_THROW(write(log.in(), {std::string(one, 'c')}), LogFull);
    alarm = pulled<ThresholdAlarm>(told.in());
    EXPECT_EQ(100U, alarm.crossed_value);
    EXPECT_EQ(critical, alarm.perceived_severity);
    EXPECT_EQ(2U, log->delete_records(default_grammar, ""));
    push(to.in(), "d");
    push(to.in(), "e"); // once more
    EXPECT_EQ(40U, pulled<ThresholdAlarm>(told.in()).crossed_value);
    EXPECT_EQ(60U, pulled<ThresholdAlarm>(told.in()).crossed_value);
    log->destroy();
    EXPECT_EQ(1U, pulled<ObjectDeletion>(told.in()).id);
}

// --- In a file -----------------------------------------------------------------------------------

TEST_F(KeptLogs, AreThereAgain)
{
    const BasicLog_var log = make(5000, wrap);
    CapacityAlarmThresholdList thresholds;
    thresholds.length(1);
    thresholds[0] = 80;
    log->set_capacity_alarm_thresholds(thresholds);
    write(log.in(), {"a", "b", "c"});
    log->set_record_attribute(2, attributes({{"x", 1}}));
    EXPECT_EQ(1U, log->delete_records(default_grammar, "$.id == 3"));
    const CORBA::ULongLong size = log->get_current_size();
    LogId id = 0;
    const BasicLog_var gone = factory_->create(halt, 0, id);
    gone->destroy();

    const DsEventLogAdmin::EventLogFactory_var events = service_->event_logs();
    const EventLog_var channel = events->create_with_id(1, halt, 0, {}); // beside the basic one

    begin_again();
    const CosEventChannelAdmin::SupplierAdmin_var suppliers = channel->for_suppliers();
    const ProxyPushConsumer_var to = suppliers->obtain_push_consumer();
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    CORBA::Any event;
    event <<= "event";
    to->push(event);
    EXPECT_EQ("1:event", ask(channel.in(), ""));
    EXPECT_EQ(size, log->get_current_size()); // by the reference of before
    EXPECT_EQ(5000U, log->get_max_size());
    EXPECT_EQ(wrap, log->get_log_full_action());
    EXPECT_EQ(80U, CapacityAlarmThresholdList_var(log->get_capacity_alarm_thresholds())[0U]);
    EXPECT_EQ("2:b", ask(log.in(), "$.attr_list(x) == 1"));
    write(log.in(), {"d"});
    EXPECT_EQ("1:a 2:b 4:d", ask(log.in(), "")); // ids go on
    EXPECT_THROW((void)gone->id(), CORBA::OBJECT_NOT_EXIST);
    const BasicLog_var other = factory_->create(halt, 0, id);
    EXPECT_EQ(3U, id);
    const auto second_one = open_store({.path = file()});
    ASSERT_FALSE(second_one.ok());
    EXPECT_EQ("another log service has the store " + file() + " open", second_one.error().reason);
}

TEST_F(KeptLogs, AreFlushedAsTheyAreTold)
{
    const BasicLog_var log = make();
    log->flush(); // reliable at first
    QoSList qos;
    qos.length(1);
    qos[0] = QoSNone;
    log->set_log_qos(qos);
    EXPECT_THROW(log->flush(), UnsupportedQoS);
    qos[0] = QoSFlush;
    log->set_log_qos(qos);
    std::vector<std::thread> writers;
    writers.reserve(4);
    for (int i = 0; i < 4; ++i)
        writers.emplace_back([&] {
            for (int k = 0; k < 25; ++k)
                write(log.in(), {"x", "y"});
        });
    for (std::thread& writer : writers)
        writer.join();
    log->flush();
    EXPECT_EQ(200U, log->get_n_records());
    EXPECT_EQ(200U, log->match(default_grammar, "$.id <= 200"));
    EXPECT_EQ(QoSFlush, QoSList_var(log->get_log_qos())[0U]);
}

TEST_F(KeptLogs, SayWhenThereIsNoRoomAndTakeBackWhatIsFree)
{
    begin_again(60);
    const BasicLog_var log = make();
    const BasicLog_var other = make(4000, wrap);
    write(other.in(), {std::string(3000, 'o')});
    bool was_full = false;
    for (int i = 0; i < 100 && !was_full; ++i) {
        try {
            write(log.in(), {std::string(9000, 'x')});
        } catch (const CORBA::NO_RESOURCES&) {
            was_full = true;
        }
    }
    EXPECT_TRUE(was_full);
    const CORBA::ULongLong count = log->get_n_records();
    EXPECT_EQ(count, log->match(default_grammar, "")); // nothing half
    EXPECT_EQ(1U, other->get_n_records());
    EXPECT_EQ(count, log->delete_records(default_grammar, ""));
    write(log.in(), {std::string(9000, 'x')});
    write(other.in(), {std::string(3000, 'p')});
    EXPECT_EQ(1U, other->get_n_records());
}

TEST_F(KeptLogs, AreDeletedInLittleRoom)
{
    const BasicLog_var log = make();
    for (int i = 0; i < 12; ++i)
        write(log.in(), {std::string(1'000'000, 'x')});
    begin_again(); // with an empty write-ahead log
    EXPECT_EQ(11U, log->delete_records(default_grammar, "$.id > 1"));
    EXPECT_LT(std::filesystem::file_size(file() + "-wal"), 1'000'000U);
    log->destroy();
    EXPECT_THROW((void)log->id(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(KeptLogs, ReadersDoNotKeepTheWriteAheadLogGrowing)
{
    const BasicLog_var log = make();
    write(log.in(), {"first"});
    std::atomic<bool> is_over{false};
    std::vector<std::thread> readers;
    readers.reserve(3);
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!is_over)
                (void)log->match(default_grammar, "$.id > 0");
        });
    for (int i = 0; i < 60; ++i) // 60 MB
        write(log.in(), {std::string(1'000'000, 'x')});
    is_over = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_LT(std::filesystem::file_size(file() + "-wal"), 40'000'000U);
}

TEST_F(KeptLogs, LeaveOutWhatNobodyWroteLikeThis)
{
    const BasicLog_var log = make();
    write(log.in(), {"a", "b", "c"});
    log->set_record_attribute(2, attributes({{"x", 1}}));
    service_.reset();
    execute("UPDATE record SET info = x'01ff' WHERE number = 2;");
    begin(open());
    Iterator_var rest;
    const RecordList_var all = log->retrieve(0, 5, rest.out());
    EXPECT_TRUE(CORBA::is_nil(rest.in()));
    ASSERT_EQ(2U, all->length());
    EXPECT_EQ(0U, all[1U].attr_list.length()); // not those of the damaged one
    EXPECT_EQ("1:a 3:c", ask(log.in(), "exist $.info"));
    EXPECT_EQ("1:a 3:c", from(log.in(), 0, 5));
    EXPECT_EQ(1U, log->delete_records(default_grammar, "$.id == 2"));
    service_.reset();
    execute("UPDATE log SET settings = x'00'");
    EXPECT_THROW(begin(open()), CORBA::PERSIST_STORE);
    execute("PRAGMA user_version = 9");
    EXPECT_EQ(nullptr, open());
}

TEST_F(KeptLogs, AreDisabledWhereTheStoreIsBroken)
{
    const BasicLog_var log = make();
    const BasicLog_var other = make();
    write(log.in(), {"a"});
    execute("DROP TABLE record");
    EXPECT_THROW(write(log.in(), {"b"}), LogDisabled);
    EXPECT_EQ(disabled, log->get_operational_state());
    EXPECT_EQ(enabled, other->get_operational_state());
    EXPECT_THROW(ask(log.in(), ""), CORBA::PERSIST_STORE);
    execute("CREATE TABLE record(log INTEGER NOT NULL, number INTEGER NOT NULL, time INTEGER NOT "
            "NULL, attributes BLOB NOT NULL, info BLOB NOT NULL, PRIMARY KEY (log, number)) "
            "WITHOUT ROWID");
    write(log.in(), {"c"}); // is tried each time
    EXPECT_EQ(enabled, log->get_operational_state());
    EXPECT_EQ("2:c", ask(log.in(), ""));
}

} // namespace
} // namespace kairos::logs
