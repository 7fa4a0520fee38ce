// SPDX-License-Identifier: Apache-2.0
//
// Logs that are notification channels as their clients meet them, over loopback: what they write,
// what they pass on, what they say of themselves, and what is there again.
#include "kairos/logs/DsLogNotification.h"
#include "kairos/logs/logs_testing.h"

#include <gtest/gtest.h>

#include <string_view>
#include <thread>

namespace kairos::logs {
namespace {

using namespace DsLogAdmin;
using CosNotifyChannelAdmin::StructuredProxyPullSupplier;
using CosNotifyChannelAdmin::StructuredProxyPullSupplier_ptr;
using CosNotifyChannelAdmin::StructuredProxyPullSupplier_var;
using DsEventLogAdmin::EventLog;
using DsEventLogAdmin::EventLog_var;
using DsNotifyLogAdmin::NotifyLog;
using DsNotifyLogAdmin::NotifyLog_ptr;
using DsNotifyLogAdmin::NotifyLog_var;
using DsNotifyLogAdmin::NotifyLogFactory;
using DsNotifyLogAdmin::NotifyLogFactory_var;

class NotifyLogTest : public KeptLogs {
  protected:
    NotifyLogTest()
    {
        const NotifyLogFactory_var made = service_->notify_logs();
        const CORBA::String_var text = server_->object_to_string(made.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        notify_ = NotifyLogFactory::_narrow(object.in());
    }
    [[nodiscard]] NotifyLog_var make_channel(const CosNotification::QoSProperties& qos = {}) const
    {
        LogId id = 0;
        return notify_->create(halt, 0, {}, qos, {}, id);
    }
    static void push(NotifyLog_ptr log, const char* type, CORBA::Long number)
    {
        const CosNotifyChannelAdmin::SupplierAdmin_var admin = log->default_supplier_admin();
        CosNotifyChannelAdmin::ProxyID id = 0;
        const CosNotifyChannelAdmin::ProxyConsumer_var made =
            admin->obtain_notification_push_consumer(CosNotifyChannelAdmin::STRUCTURED_EVENT, id);
        const auto to = CosNotifyChannelAdmin::StructuredProxyPushConsumer_var(
            CosNotifyChannelAdmin::StructuredProxyPushConsumer::_narrow(made.in()));
        to->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
        CosNotification::StructuredEvent event;
        event.header.fixed_header.event_type.domain_name = "Plant";
        event.header.fixed_header.event_type.type_name = type;
        event.header.fixed_header.event_name = "";
        event.filterable_data.length(1);
        event.filterable_data[0].name = "number";
        event.filterable_data[0].value <<= number;
        to->push_structured_event(event);
        to->disconnect_structured_push_consumer();
    }
    static StructuredProxyPullSupplier_var pull_from(CosNotifyChannelAdmin::ConsumerAdmin_ptr admin)
    {
        CosNotifyChannelAdmin::ProxyID id = 0;
        const CosNotifyChannelAdmin::ProxySupplier_var made =
            admin->obtain_notification_pull_supplier(CosNotifyChannelAdmin::STRUCTURED_EVENT, id);
        StructuredProxyPullSupplier_var from = StructuredProxyPullSupplier::_narrow(made.in());
        from->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
        return from;
    }
    /// The number of the next event; -1 where there is none.
    static CORBA::Long pulled(StructuredProxyPullSupplier_ptr from)
    {
        CORBA::Boolean has_event = false;
        const CosNotification::StructuredEvent_var event =
            from->try_pull_structured_event(has_event);
        CORBA::Long number = -1;
        if (has_event) (void)(event->filterable_data[0U].value >>= number);
        return number;
    }
    /// How many records there are for which a constraint holds.
    static CORBA::ULong count(Log_ptr log, const char* constraint)
    {
        return log->match(default_grammar, constraint);
    }
    static CosNotifyFilter::Filter_var filter(NotifyLog_ptr of, const char* text)
    {
        const CosNotifyFilter::FilterFactory_var factory = of->default_filter_factory();
        CosNotifyFilter::Filter_var made = factory->create_filter(default_grammar);
        CosNotifyFilter::ConstraintExpSeq all;
        all.length(1);
        all[0].constraint_expr = text;
        const CosNotifyFilter::ConstraintInfoSeq_var added = made->add_constraints(all);
        return made;
    }
    static CORBA::Short order_of(NotifyLog_ptr log)
    {
        const CosNotification::QoSProperties_var all = log->get_qos();
        CORBA::Short value = -1;
        for (CORBA::ULong i = 0; i < all->length(); ++i)
            if (std::string_view(all[i].name.in()) == CosNotification::OrderPolicy)
                (void)(all[i].value >>= value);
        return value;
    }
    /// A number that the file has.
    [[nodiscard]] int octets(const char* sql) const
    {
        sqlite3* handle = nullptr;
        EXPECT_EQ(SQLITE_OK, sqlite3_open(file().c_str(), &handle));
        const auto read = [](void* into, int, char** values, char**) {
            *static_cast<int*>(into) = std::atoi(values[0]);
            return 0;
        };
        int number = -1;
        EXPECT_EQ(SQLITE_OK, sqlite3_exec(handle, sql, read, &number, nullptr));
        sqlite3_close(handle);
        return number;
    }
    /// Of the settings of all logs.
    [[nodiscard]] int octets_kept() const
    {
        return octets("SELECT sum(length(settings)) FROM log");
    }
    static CosNotification::QoSProperties order(CORBA::Short value)
    {
        CosNotification::QoSProperties qos;
        qos.length(1);
        qos[0].name = CosNotification::OrderPolicy;
        qos[0].value <<= value;
        return qos;
    }

    NotifyLogFactory_var notify_;
};

TEST_F(NotifyLogTest, WritesWhatItsFilterLetsThroughAndPassesAllOn)
{
    const NotifyLog_var log = make_channel();
    push(log.in(), "Alarm", 1); // there is nobody but the log
    const CosNotifyChannelAdmin::ConsumerAdmin_var admin = log->default_consumer_admin();
    const StructuredProxyPullSupplier_var from = pull_from(admin.in());
    EXPECT_TRUE(CORBA::is_nil(CosNotifyFilter::Filter_var(log->get_filter()).in()));
    const CosNotifyFilter::Filter_var high = filter(log.in(), "$number > 5");
    log->set_filter(high.in());
    EXPECT_TRUE(CosNotifyFilter::Filter_var(log->get_filter())->_is_equivalent(high.in()));
    push(log.in(), "Alarm", 2);
    push(log.in(), "Alarm", 6);
    EXPECT_EQ(2, pulled(from.in()));
    EXPECT_EQ(6, pulled(from.in()));
    EXPECT_EQ(2U, log->get_n_records());
    EXPECT_EQ(1U, count(log.in(), "$.info.filterable_data(number) == 6"));
    EXPECT_EQ(2U, count(log.in(), "$.info.header.fixed_header.event_type.type_name == 'Alarm'"));
    log->set_forwarding_state(off); // whether it is written or not
    push(log.in(), "Alarm", 3);
    push(log.in(), "Alarm", 7);
    EXPECT_EQ(-1, pulled(from.in()));
    EXPECT_EQ(3U, log->get_n_records());
    log->set_forwarding_state(DsLogAdmin::on);
    log->set_filter(CosNotifyFilter::Filter::_nil());
    push(log.in(), "Alarm", 4);
    EXPECT_EQ(4, pulled(from.in()));
    EXPECT_EQ(4U, log->get_n_records());

    // What the filters of suppliers hold back is no event of the channel's.
    const CosNotifyChannelAdmin::SupplierAdmin_var suppliers = log->default_supplier_admin();
    (void)suppliers->add_filter(filter(log.in(), "$number == 8").in());
    push(log.in(), "Alarm", 5);
    push(log.in(), "Alarm", 8);
    EXPECT_EQ(8, pulled(from.in()));
    EXPECT_EQ(5U, log->get_n_records());
    const CosNotifyFilter::Filter_var none = CosNotifyFilter::Filter::_unchecked_narrow(admin.in());
    EXPECT_THROW(log->set_filter(none.in()), CORBA::BAD_PARAM);
}

TEST_F(NotifyLogTest, IsAChannelToItsAdminsAndAnEventLogToOthers)
{
    const NotifyLog_var log = make_channel();
    const CosNotifyChannelAdmin::ConsumerAdmin_var admin = log->default_consumer_admin();
    const CosNotifyChannelAdmin::EventChannel_var channel = admin->MyChannel();
    EXPECT_TRUE(channel->_is_equivalent(log.in()));
    EXPECT_TRUE(
        CORBA::is_nil(CosNotifyChannelAdmin::EventChannelFactory_var(log->MyFactory()).in()));
    const EventLog_var old = EventLog::_narrow(log.in());
    ASSERT_FALSE(CORBA::is_nil(old.in()));
    const CosEventChannelAdmin::SupplierAdmin_var suppliers = old->for_suppliers();
    const CosEventChannelAdmin::ProxyPushConsumer_var to = suppliers->obtain_push_consumer();
    to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    CORBA::Any event;
    event <<= "a";
    to->push(event);
    EXPECT_EQ("1:a", ask(log.in(), ""));
    CosNotifyChannelAdmin::AdminID id = 0;
    const CosNotifyChannelAdmin::ConsumerAdmin_var second =
        log->new_for_consumers(CosNotifyChannelAdmin::OR_OP, id);
    EXPECT_EQ(2U, CosNotifyChannelAdmin::AdminIDSeq_var(log->get_all_consumeradmins())->length());
    EXPECT_TRUE(CosNotifyChannelAdmin::ConsumerAdmin_var(log->get_consumeradmin(id))
                    ->_is_equivalent(second.in()));
    const Log_var found = notify_->find_log(1);
    EXPECT_TRUE(found->_is_equivalent(log.in()));
    LogId copied = 0;
    const Log_var copy = log->copy(copied);
    EXPECT_EQ(2U, copied);
    EXPECT_FALSE(CORBA::is_nil(NotifyLog_var(NotifyLog::_narrow(copy.in())).in()));
    log->destroy();
    EXPECT_THROW((void)log->get_n_records(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)admin->MyID(), CORBA::OBJECT_NOT_EXIST);
    LogId next = 0;
    EXPECT_THROW((void)notify_->create(halt, 0, {}, order(77), {}, next),
                 CosNotification::UnsupportedQoS);
    EXPECT_EQ(1U, LogIdList_var(notify_->list_logs_by_id())->length());
}

TEST_F(NotifyLogTest, SaysWhatHappensToItByNotifications)
{
    CosNotifyChannelAdmin::ProxyID id = 0;
    const CosNotifyChannelAdmin::ProxySupplier_var made =
        notify_->obtain_notification_pull_supplier(CosNotifyChannelAdmin::ANY_EVENT, id);
    const auto told = CosNotifyChannelAdmin::ProxyPullSupplier_var(
        CosNotifyChannelAdmin::ProxyPullSupplier::_narrow(made.in()));
    told->connect_any_pull_consumer(CosEventComm::PullConsumer::_nil());
    EXPECT_TRUE(CORBA::is_nil(CosNotifyChannelAdmin::EventChannel_var(notify_->MyChannel()).in()));
    EXPECT_THROW(notify_->destroy(), CORBA::NO_PERMISSION);
    const DsEventLogAdmin::EventLogFactory_var events = service_->event_logs();
    (void)EventLog_var(events->create_with_id(9, halt, 0, {})); // of which others are told
    const NotifyLog_var log = make_channel();
    const CORBA::Any_var first = told->pull();
    const DsLogNotification::ObjectCreation* created = nullptr;
    ASSERT_TRUE(first.in() >>= created);
    EXPECT_EQ(1U, created->id);
    log->set_max_record_life(7);
    const CORBA::Any_var second = told->pull();
    const DsLogNotification::AttributeValueChange* changed = nullptr;
    ASSERT_TRUE(second.in() >>= changed);
    EXPECT_TRUE(changed->logref->_is_equivalent(log.in()));
    EXPECT_EQ(DsLogNotification::maxRecordLife, changed->type);
    const CosNotifyFilter::Filter_var high = filter(log.in(), "$number > 5");
    log->set_filter(high.in());
    const CORBA::Any_var third = told->pull();
    ASSERT_TRUE(third.in() >>= changed);
    EXPECT_EQ(DsLogNotification::filter, changed->type);
    CosNotifyFilter::Filter_ptr value = CosNotifyFilter::Filter::_nil();
    ASSERT_TRUE(changed->old_value >>= value);
    EXPECT_TRUE(CORBA::is_nil(value));
    ASSERT_TRUE(changed->new_value >>= value);
    EXPECT_TRUE(value->_is_equivalent(high.in()));

    // Who hears it cannot end it for others: the admin behind is the factory's.
    const CosNotifyChannelAdmin::ConsumerAdmin_var behind = made->MyAdmin();
    EXPECT_THROW(behind->destroy(), CORBA::NO_PERMISSION);
    EXPECT_EQ(1U, CosNotifyChannelAdmin::ProxyIDSeq_var(notify_->pull_suppliers())->length());
    log->destroy();
    const DsLogNotification::ObjectDeletion* deleted = nullptr;
    EXPECT_TRUE(CORBA::Any_var(told->pull()).in() >>= deleted);
}

/// What comes by a call may be as large as a call, and is not kept as it came.
TEST_F(NotifyLogTest, KeepsOfWhatIsWantedWhatItSays)
{
    const std::string long_name(100'000, 'x');
    CORBA::Any value;
    value <<= CosNotification::FifoOrder;
    const CORBA::TypeCode_var kind = value.type();
    value.type(CORBA::TypeCode_var(
        client_->create_alias_tc("IDL:Order:1.0", long_name.c_str(), kind.in())));
    CosNotification::QoSProperties wanted;
    wanted.length(1);
    wanted[0].name = CosNotification::OrderPolicy;
    wanted[0].value = value;
    const NotifyLog_var log = make_channel(wanted);
    EXPECT_EQ(CosNotification::FifoOrder, order_of(log.in()));
    EXPECT_LT(octets_kept(), 10'000);
    log->set_qos(wanted);
    LogId copied = 0;
    (void)Log_var(log->copy(copied));
    EXPECT_LT(octets_kept(), 20'000);
    LogId next = 0;
    EXPECT_THROW((void)notify_->create_with_id(9, halt, 0, {}, order(77), {}),
                 CosNotification::UnsupportedQoS);
    EXPECT_EQ(2, octets("SELECT count(*) FROM log")) << "of what was refused there is nothing";
    (void)NotifyLog_var(notify_->create(halt, 0, {}, {}, {}, next));
    EXPECT_EQ(3U, next) << "nor has it taken an id";
}

TEST_F(NotifyLogTest, IsAsTheStoreHasItWhereThatCannotBeWritten)
{
    const NotifyLog_var log = make_channel(order(CosNotification::FifoOrder));
    execute("CREATE TRIGGER refusing BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no'); END");
    EXPECT_THROW(log->set_qos(order(CosNotification::DeadlineOrder)), CORBA::SystemException);
    EXPECT_EQ(CosNotification::FifoOrder, order_of(log.in()));
    execute("DROP TRIGGER refusing");
    log->set_qos(order(CosNotification::DeadlineOrder));
    begin_again();
    EXPECT_EQ(CosNotification::DeadlineOrder, order_of(log.in()));
}

/// One at a time is the channel's and the store's word, however many say what it is to be.
TEST_F(NotifyLogTest, IsThereAgainAsTheLastOneHasSetIt)
{
    const NotifyLog_var log = make_channel();
    const auto set_often = [&log](CORBA::Short value) {
        for (int i = 0; i < 20; ++i)
            log->set_qos(order(static_cast<CORBA::Short>(i % 2 == 0 ? value : 0)));
    };
    {
        const std::jthread other(set_often, CosNotification::DeadlineOrder);
        set_often(CosNotification::FifoOrder);
    }
    const CORBA::Short last = order_of(log.in());
    begin_again();
    EXPECT_EQ(last, order_of(log.in()));
}

/// Settings of before there were such logs end earlier.
TEST_F(NotifyLogTest, LogsOfAnEarlierVersionAreThere)
{
    const DsLogAdmin::BasicLog_var log = make(1000);
    service_.reset();
    execute("UPDATE log SET settings = substr(settings, 1, length(settings) - 8)");
    begin(open());
    EXPECT_EQ(1000U, log->get_max_size());
    service_.reset();
    execute("UPDATE log SET settings = substr(settings, 1, length(settings) - 4)");
    EXPECT_THROW(begin(open()), CORBA::PERSIST_STORE) << "of what is cut off not all is there";
}

TEST_F(NotifyLogTest, IsThereAgainWithWhatWasSetOfIt)
{
    const NotifyLog_var log = make_channel(order(CosNotification::FifoOrder));
    push(log.in(), "Alarm", 1);
    begin_again();
    EXPECT_EQ(1U, log->get_n_records());
    EXPECT_EQ(CosNotification::FifoOrder, order_of(log.in()));
    log->set_qos(order(CosNotification::DeadlineOrder));
    CosNotification::AdminProperties administration;
    administration.length(1);
    administration[0].name = CosNotification::MaxConsumers;
    administration[0].value <<= CORBA::Long{7};
    log->set_admin(administration);
    begin_again();
    EXPECT_EQ(CosNotification::DeadlineOrder, order_of(log.in()));
    const CosNotification::AdminProperties_var now = log->get_admin();
    CORBA::Long consumers = 0;
    for (CORBA::ULong i = 0; i < now->length(); ++i)
        if (std::string_view(now[i].name.in()) == CosNotification::MaxConsumers)
            EXPECT_TRUE(now[i].value >>= consumers);
    EXPECT_EQ(7, consumers);
    push(log.in(), "Alarm", 2);
    EXPECT_EQ(2U, log->get_n_records());
}

} // namespace
} // namespace kairos::logs
