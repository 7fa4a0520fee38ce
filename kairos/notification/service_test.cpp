// SPDX-License-Identifier: Apache-2.0
//
// Channels as their clients meet them, over loopback: every form pushed and pulled, filters on both
// sides, quality of service, limits, and who does not answer.
#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/notification/notification_testing.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace kairos::notification {
namespace {

using namespace CosNotifyChannelAdmin;
using CosNotification::StructuredEvent;
using PortableServer::Servant_var;

NotificationLimits small_limits()
{
    NotificationLimits limits;
    limits.call_timeout = events::patience;
    limits.poll_interval = std::chrono::milliseconds(5);
    return limits;
}

CosNotification::PropertySeq properties_with(const char* name, const CORBA::Any& value)
{
    CosNotification::PropertySeq all;
    all.length(1);
    all[0].name = name;
    all[0].value = value;
    return all;
}

template <typename T>
CosNotification::PropertySeq with(const char* name, const T& value)
{
    CORBA::Any any;
    any <<= value;
    return properties_with(name, any);
}

/// A service with an ORB of its own, a channel, and an ORB of clients.
class Notifications : public ::testing::Test {
  protected:
    explicit Notifications(const NotificationLimits& limits = small_limits()) { start(limits); }
    void start(const NotificationLimits& limits)
    {
        service_.reset(); // before there is another one
        service_.emplace(server_.in(), limits);
        const EventChannelFactory_var factory = service_->factory();
        factory_ = clients_.here<EventChannelFactory>(factory.in(), server_.in());
        const EventChannel_var made = factory_->create_channel({}, {}, id_);
        channel_ = KairosNotification::Channel::_narrow(made.in());
        consumers_ = channel_->default_consumer_admin();
        suppliers_ = channel_->default_supplier_admin();
    }

    template <typename Proxy>
    [[nodiscard]] typename Proxy::_var_type to_consumer(ClientType type, bool pulls,
                                                        ConsumerAdmin_ptr admin = nullptr)
    {
        ConsumerAdmin_ptr of = admin == nullptr ? consumers_.in() : admin;
        const ProxySupplier_var made = pulls ? of->obtain_notification_pull_supplier(type, proxy_)
                                             : of->obtain_notification_push_supplier(type, proxy_);
        return Proxy::_narrow(made.in());
    }
    template <typename Proxy>
    [[nodiscard]] typename Proxy::_var_type to_supplier(ClientType type, bool pulls = false)
    {
        const ProxyConsumer_var made =
            pulls ? suppliers_->obtain_notification_pull_consumer(type, proxy_)
                  : suppliers_->obtain_notification_push_consumer(type, proxy_);
        return Proxy::_narrow(made.in());
    }
    StructuredProxyPushSupplier_var connect(StructuredConsumer* consumer,
                                            ConsumerAdmin_ptr admin = nullptr)
    {
        const auto object = clients_.activate<CosNotifyComm::StructuredPushConsumer>(consumer);
        auto proxy = to_consumer<StructuredProxyPushSupplier>(STRUCTURED_EVENT, false, admin);
        proxy->connect_structured_push_consumer(object.in());
        return proxy;
    }
    SequenceProxyPushSupplier_var connect(SequenceConsumer* consumer)
    {
        const auto object = clients_.activate<CosNotifyComm::SequencePushConsumer>(consumer);
        auto proxy = to_consumer<SequenceProxyPushSupplier>(SEQUENCE_EVENT, false);
        proxy->connect_sequence_push_consumer(object.in());
        return proxy;
    }
    /// A proxy for a supplier that is not told of its end.
    [[nodiscard]] StructuredProxyPushConsumer_var supplier()
    {
        auto proxy = to_supplier<StructuredProxyPushConsumer>(STRUCTURED_EVENT);
        proxy->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
        return proxy;
    }
    void push(CORBA::Long number, const char* type = "Reading")
    {
        if (CORBA::is_nil(supplier_.in())) supplier_ = supplier();
        supplier_->push_structured_event(event_of("Lab", type, number));
    }
    [[nodiscard]] CosNotifyFilter::Filter_var filter(const char* text, const char* type = "*")
    {
        const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
        CosNotifyFilter::Filter_var made = factory->create_filter("EXTENDED_TCL");
        CosNotifyFilter::ConstraintExpSeq all;
        all.length(1);
        all[0].event_types = types_of({{"*", type}});
        all[0].constraint_expr = text;
        const CosNotifyFilter::ConstraintInfoSeq_var infos = made->add_constraints(all);
        EXPECT_EQ(1U, infos->length());
        return made;
    }

    events::LogLines log_; // before there is a thread that logs
    events::TestOrb server_;
    events::TestOrb clients_;
    std::optional<NotificationService> service_;
    EventChannelFactory_var factory_;
    ChannelID id_ = -1;
    KairosNotification::Channel_var channel_;
    ConsumerAdmin_var consumers_;
    SupplierAdmin_var suppliers_;
    StructuredProxyPushConsumer_var supplier_;
    ProxyID proxy_ = 0;
};

// --- Every form ----------------------------------------------------------------------------------

TEST_F(Notifications, StructuredEventsReachEveryFormOfConsumer)
{
    const Servant_var<StructuredConsumer> structured = new StructuredConsumer;
    const Servant_var<SequenceConsumer> sequence = new SequenceConsumer;
    const Servant_var<events::Consumer> plain = new events::Consumer;
    (void)connect(structured.in());
    (void)connect(sequence.in());
    // One that knows nothing but the Event Service.
    const CosEventChannelAdmin::ConsumerAdmin_var old = channel_->for_consumers();
    const auto from = CosEventChannelAdmin::ProxyPushSupplier_var(old->obtain_push_supplier());
    from->connect_push_consumer(clients_.activate<CosEventComm::PushConsumer>(plain.in()).in());
    const auto any = to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
    any->connect_any_pull_consumer(CosEventComm::PullConsumer::_nil());
    for (CORBA::Long i = 0; i < 3; ++i)
        push(i);
    EXPECT_TRUE(structured->are({0, 1, 2}));
    EXPECT_TRUE(sequence->are({0, 1, 2}));
    EXPECT_TRUE(plain->has(3)); // structured events in Anys, which it takes for no long
    const CORBA::Any_var event = any->pull();
    const StructuredEvent* inside = nullptr;
    ASSERT_TRUE(event.in() >>= inside);
    EXPECT_EQ(0, number_in(*inside));
    EXPECT_STREQ("Reading", inside->header.fixed_header.event_type.type_name.in());
}

TEST_F(Notifications, AnysReachEveryFormOfConsumer)
{
    const Servant_var<StructuredConsumer> structured = new StructuredConsumer;
    const Servant_var<events::Consumer> plain = new events::Consumer;
    (void)connect(structured.in());
    const auto from = to_consumer<ProxyPushSupplier>(ANY_EVENT, false);
    from->connect_any_push_consumer(clients_.activate<CosEventComm::PushConsumer>(plain.in()).in());
    const auto pulls = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    pulls->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const auto to = to_supplier<ProxyPushConsumer>(ANY_EVENT);
    to->connect_any_push_supplier(CosEventComm::PushSupplier::_nil());
    to->push(events::event_of(7));
    const CosEventChannelAdmin::SupplierAdmin_var old = channel_->for_suppliers();
    const auto plain_to = CosEventChannelAdmin::ProxyPushConsumer_var(old->obtain_push_consumer());
    plain_to->connect_push_supplier(CosEventComm::PushSupplier::_nil());
    plain_to->push(events::event_of(8));
    EXPECT_TRUE(structured->are({7, 8}));
    EXPECT_TRUE(plain->has(2));
    EXPECT_EQ((std::vector<CORBA::Long>{7, 8}), plain->values());
    const CosNotification::StructuredEvent_var event = pulls->pull_structured_event();
    EXPECT_STREQ("%ANY", event->header.fixed_header.event_type.type_name.in());
    EXPECT_EQ(7, number_in(event.in()));
}

TEST_F(Notifications, SequencesArePushedAndPulled)
{
    const auto pulls = to_consumer<SequenceProxyPullSupplier>(SEQUENCE_EVENT, true);
    pulls->connect_sequence_pull_consumer(CosNotifyComm::SequencePullConsumer::_nil());
    const auto to = to_supplier<SequenceProxyPushConsumer>(SEQUENCE_EVENT);
    CosNotification::EventBatch batch;
    batch.length(5);
    for (CORBA::ULong i = 0; i < 5; ++i)
        batch[i] = event_of("Lab", "Reading", static_cast<CORBA::Long>(i));
    EXPECT_THROW(to->push_structured_events(batch), CosEventComm::Disconnected);
    to->connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier::_nil());
    to->push_structured_events(batch);
    const CosNotification::EventBatch_var first = pulls->pull_structured_events(3);
    EXPECT_EQ(3U, first->length());
    CORBA::Boolean has_event = false;
    const CosNotification::EventBatch_var second =
        pulls->try_pull_structured_events(1000, has_event);
    EXPECT_TRUE(has_event);
    ASSERT_EQ(2U, second->length());
    EXPECT_EQ(4, number_in(second[1]));
    const CosNotification::EventBatch_var none = pulls->try_pull_structured_events(1, has_event);
    EXPECT_FALSE(has_event);
    EXPECT_EQ(0U, none->length());
    EXPECT_THROW((void)pulls->pull_structured_events(0), CORBA::BAD_PARAM);
}

TEST_F(Notifications, BatchesWaitUntilTheyAreFull)
{
    const Servant_var<SequenceConsumer> sequence = new SequenceConsumer;
    const auto object = clients_.activate<CosNotifyComm::SequencePushConsumer>(sequence.in());
    const auto proxy = to_consumer<SequenceProxyPushSupplier>(SEQUENCE_EVENT, false);
    CosNotification::QoSProperties qos = with(CosNotification::MaximumBatchSize, CORBA::Long{4});
    qos.length(2);
    qos[1].name = CosNotification::PacingInterval;
    qos[1].value <<= TimeBase::TimeT{10'000'000} * 3600;
    proxy->set_qos(qos);
    proxy->connect_sequence_push_consumer(object.in());
    for (CORBA::Long i = 0; i < 10; ++i)
        push(i);
    EXPECT_TRUE(sequence->are({0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ((std::vector<std::size_t>{4, 4}), sequence->batches());
    proxy->set_qos(with(CosNotification::PacingInterval, TimeBase::TimeT{0}));
    EXPECT_TRUE(sequence->are({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

/// Has structured events for whoever asks.
class Source final : public POA_CosNotifyComm::StructuredPullSupplier {
  public:
    StructuredEvent* pull_structured_event() override { throw CORBA::NO_IMPLEMENT(); }
    StructuredEvent* try_pull_structured_event(CORBA::Boolean_out has_event) override
    {
        CosNotification::StructuredEvent_var event = new StructuredEvent;
        notes_.change([&] {
            has_event = next_ < 3;
            if (next_ < 3) event = event_of("Lab", "Reading", next_++);
        });
        return event._retn();
    }
    void disconnect_structured_pull_supplier() override
    {
        notes_.change([&] { has_ended_ = true; });
    }
    void subscription_change(const CosNotification::EventTypeSeq& added,
                             const CosNotification::EventTypeSeq& removed) override
    {
        told_.add_types(added, removed);
    }
    [[nodiscard]] bool knows(const std::set<std::string>& types) { return told_.knows(types); }
    [[nodiscard]] bool has_ended()
    {
        return notes_.wait([&] { return has_ended_; });
    }

  private:
    events::Notes notes_;
    Numbers told_;
    CORBA::Long next_ = 0;
    bool has_ended_ = false;
};

TEST_F(Notifications, SuppliersArePulledFrom)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    (void)connect(consumer.in());
    const Servant_var<Source> source = new Source;
    const auto proxy = to_supplier<StructuredProxyPullConsumer>(STRUCTURED_EVENT, true);
    EXPECT_THROW(proxy->suspend_connection(), NotConnected);
    proxy->connect_structured_pull_supplier(
        clients_.activate<CosNotifyComm::StructuredPullSupplier>(source.in()).in());
    EXPECT_TRUE(consumer->are({0, 1, 2}));
    EXPECT_EQ(PULL_STRUCTURED, proxy->MyType());
    proxy->suspend_connection();
    EXPECT_THROW(proxy->suspend_connection(), ConnectionAlreadyInactive);
    proxy->resume_connection();
    EXPECT_THROW(proxy->resume_connection(), ConnectionAlreadyActive);
    channel_->destroy();
    EXPECT_TRUE(source->has_ended());
}

// --- Filters -------------------------------------------------------------------------------------

TEST_F(Notifications, FiltersHoldBackWhatTheyDoNotMean)
{
    const Servant_var<StructuredConsumer> filtered = new StructuredConsumer;
    const Servant_var<StructuredConsumer> all = new StructuredConsumer;
    const auto proxy = connect(filtered.in());
    (void)connect(all.in());
    const auto severe = filter("$number > 3", "Alarm");
    const CosNotifyFilter::FilterID id = proxy->add_filter(severe.in());
    push(9, "Reading");
    push(1, "Alarm");
    push(4, "Alarm");
    EXPECT_TRUE(filtered->are({4}));
    EXPECT_TRUE(all->are({9, 1, 4}));
    EXPECT_TRUE(severe->match_structured(event_of("Lab", "Alarm", 4)));
    EXPECT_FALSE(severe->match_structured(event_of("Lab", "Alarm", 3)));
    EXPECT_TRUE(severe->_is_equivalent(CosNotifyFilter::Filter_var(proxy->get_filter(id)).in()));
    // A filter that is no more lets nothing through; one that is removed does.
    severe->destroy();
    push(5, "Alarm");
    proxy->remove_filter(id);
    EXPECT_THROW(proxy->remove_filter(id), CosNotifyFilter::FilterNotFound);
    push(2, "Alarm");
    EXPECT_TRUE(filtered->are({4, 2}));
    EXPECT_THROW((void)severe->get_all_constraints(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)proxy->add_filter(severe.in()), CORBA::BAD_PARAM);
    EXPECT_THROW((void)proxy->add_filter(CosNotifyFilter::Filter::_nil()), CORBA::BAD_PARAM);
}

TEST_F(Notifications, AdminsJoinTheirFiltersWithThoseOfProxies)
{
    AdminID both_id = 0;
    AdminID either_id = 0;
    const ConsumerAdmin_var both = channel_->new_for_consumers(AND_OP, both_id);
    const ConsumerAdmin_var either = channel_->new_for_consumers(OR_OP, either_id);
    const Servant_var<StructuredConsumer> by_both = new StructuredConsumer;
    const Servant_var<StructuredConsumer> by_either = new StructuredConsumer;
    const auto big = filter("$number >= 10");
    const auto even = filter("$number == 2 or $number == 12");
    for (const auto& [admin, consumer] :
         {std::pair(both.in(), by_both.in()), std::pair(either.in(), by_either.in())}) {
        (void)admin->add_filter(big.in());
        const auto proxy = connect(consumer, admin);
        (void)proxy->add_filter(even.in());
    }
    for (const CORBA::Long number : {1, 2, 11, 12})
        push(number);
    EXPECT_TRUE(by_both->are({12}));
    EXPECT_TRUE(by_either->are({2, 11, 12}));
    EXPECT_EQ(OR_OP, either->MyOperator());
    EXPECT_EQ(either_id, either->MyID());
    EXPECT_EQ(3U, AdminIDSeq_var(channel_->get_all_consumeradmins())->length());
    either->destroy();
    EXPECT_TRUE(by_either->has_ended());
    EXPECT_THROW((void)channel_->get_consumeradmin(either_id), AdminNotFound);
    EXPECT_EQ(both_id, ConsumerAdmin_var(channel_->get_consumeradmin(both_id))->MyID());
}

TEST_F(Notifications, FiltersOfSuppliersHoldBackForAll)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    (void)connect(consumer.in());
    supplier_ = supplier();
    (void)supplier_->add_filter(filter("$number != 2").in());
    (void)suppliers_->add_filter(filter("$number != 1").in());
    for (CORBA::Long i = 0; i < 4; ++i)
        push(i);
    EXPECT_TRUE(consumer->are({0, 3}));
}

TEST_F(Notifications, ConsumersSayWhichTypesTheyWant)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->subscription_change(types_of({{"Lab", "Al*"}}), {});
    supplier_ = supplier();
    supplier_->offer_change(types_of({{"Lab", "Alarm"}, {"Lab", "Reading"}}), {});
    push(1, "Reading");
    push(2, "Alarm");
    EXPECT_TRUE(consumer->are({2}));
    const CosNotification::EventTypeSeq_var wanted =
        supplier_->obtain_subscription_types(ALL_NOW_UPDATES_OFF);
    ASSERT_EQ(1U, wanted->length());
    EXPECT_STREQ("Al*", wanted[0].type_name.in());
    const CosNotification::EventTypeSeq_var offered =
        proxy->obtain_offered_types(ALL_NOW_UPDATES_OFF);
    EXPECT_EQ(2U, offered->length());
    const CosNotification::EventTypeSeq_var nothing =
        proxy->obtain_offered_types(NONE_NOW_UPDATES_OFF);
    EXPECT_EQ(0U, nothing->length());
}

TEST_F(Notifications, ClientsAreToldWhichTypesThereAre)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const Servant_var<StructuredConsumer> silent = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    const auto other = connect(silent.in());
    (void)CosNotification::EventTypeSeq_var(other->obtain_offered_types(NONE_NOW_UPDATES_OFF));
    const StructuredProxyPushConsumer_var first = supplier();
    EXPECT_TRUE(consumer->knows({"*"}));
    first->offer_change(types_of({{"Lab", "Alarm"}, {"Lab", "Reading"}}), {});
    EXPECT_TRUE(consumer->knows({"Alarm", "Reading"}));
    const StructuredProxyPushConsumer_var second = supplier();
    second->offer_change(types_of({{"Lab", "Alarm"}}), {});
    first->offer_change({}, types_of({{"Lab", "Alarm"}}));
    first->disconnect_structured_push_consumer();
    EXPECT_TRUE(consumer->knows({"Alarm"})); // as long as one has it
    second->disconnect_structured_push_consumer();
    EXPECT_TRUE(consumer->knows({}));
    // A supplier hears what is wanted.
    const Servant_var<Source> source = new Source;
    const auto pulled = to_supplier<StructuredProxyPullConsumer>(STRUCTURED_EVENT, true);
    pulled->connect_structured_pull_supplier(
        clients_.activate<CosNotifyComm::StructuredPullSupplier>(source.in()).in());
    proxy->subscription_change(types_of({{"Lab", "Alarm"}}), {});
    other->subscription_change(types_of({{"Lab", "Alarm"}}), {});
    EXPECT_TRUE(source->knows({"Alarm"}));
    EXPECT_EQ(0U, silent->tellings());
    EXPECT_LE(3U, consumer->tellings());
}

TEST_F(Notifications, ClientsAreToldAsTheyHaveSaidBeforeTheyAreConnected)
{
    const Servant_var<StructuredConsumer> silent = new StructuredConsumer;
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = to_consumer<StructuredProxyPushSupplier>(STRUCTURED_EVENT, false);
    (void)CosNotification::EventTypeSeq_var(proxy->obtain_offered_types(ALL_NOW_UPDATES_OFF));
    proxy->connect_structured_push_consumer(
        clients_.activate<CosNotifyComm::StructuredPushConsumer>(silent.in()).in());
    (void)connect(consumer.in());
    supplier_ = supplier();
    EXPECT_TRUE(consumer->knows({"*"}));
    (void)CosNotification::EventTypeSeq_var(proxy->obtain_offered_types(NONE_NOW_UPDATES_ON));
    supplier_->offer_change(types_of({{"Lab", "Alarm"}}), {});
    EXPECT_TRUE(silent->knows({"Alarm"}));
    EXPECT_EQ(1U, silent->tellings());
}

TEST_F(Notifications, AllTypesMayBeReplacedAtOnce)
{
    NotificationLimits limits = small_limits();
    limits.types_max = 2;
    start(limits);
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    (void)connect(consumer.in());
    supplier_ = supplier();
    supplier_->offer_change(types_of({{"Lab", "a"}, {"Lab", "b"}}), {});
    EXPECT_TRUE(consumer->knows({"a", "b"}));
    supplier_->offer_change(types_of({{"Lab", "c"}, {"Lab", "d"}}),
                            types_of({{"Lab", "a"}, {"Lab", "b"}}));
    EXPECT_TRUE(consumer->knows({"c", "d"}));
    supplier_->offer_change({}, types_of({{"Lab", "c"}}));
    EXPECT_TRUE(consumer->knows({"d"}));
}

TEST_F(Notifications, TypesOfAllClientsAreBounded)
{
    NotificationLimits limits = small_limits();
    limits.side_types_octets_max = 240;
    start(limits);
    const auto first = supplier();
    const auto second = supplier();
    const auto pulled = to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
    const std::string name(100, 'a');
    first->offer_change(types_of({{"Lab", name}}), {});
    EXPECT_THROW(second->offer_change(types_of({{"Lab", "b"}, {"Lab", "c"}}), {}),
                 CORBA::IMP_LIMIT);
    EXPECT_EQ(2U,
              CosNotification::EventTypeSeq_var(pulled->obtain_offered_types(ALL_NOW_UPDATES_OFF))
                  ->length()); // that one, and the second's *
    second->offer_change(types_of({{"Lab", name}}), {});
    first->disconnect_structured_push_consumer();
    second->offer_change(types_of({{"Lab", "b"}}), types_of({{"Lab", name}}));
    const CosNotification::EventTypeSeq_var left =
        pulled->obtain_offered_types(ALL_NOW_UPDATES_OFF);
    ASSERT_EQ(1U, left->length());
    EXPECT_STREQ("b", left[0].type_name.in());
}

TEST_F(Notifications, RefusesHostileFilters)
{
    const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
    EXPECT_THROW((void)factory->create_filter("SQL"), CosNotifyFilter::InvalidGrammar);
    const CosNotifyFilter::Filter_var made = factory->create_filter("EXTENDED_TCL");
    CosNotifyFilter::ConstraintExpSeq all;
    all.length(1);
    const std::string deep = std::string(30'000, '(') + "TRUE" + std::string(30'000, ')');
    for (const std::string& text : {std::string("1 < 2 < 3"), deep, std::string(1 << 20, 'x')}) {
        all[0].constraint_expr = text.c_str();
        EXPECT_THROW((void)made->add_constraints(all), CosNotifyFilter::InvalidConstraint);
    }
    EXPECT_EQ(0U, CosNotifyFilter::ConstraintInfoSeq_var(made->get_all_constraints())->length());
    // A servant of somebody else's that would be asked of every event.
    const Servant_var<StructuredConsumer> other = new StructuredConsumer;
    const auto object = clients_.activate<CosNotifyFilter::Filter>(other.in());
    EXPECT_THROW((void)consumers_->add_filter(object.in()), CORBA::BAD_PARAM);
}

// --- Mapping filters -----------------------------------------------------------------------------

CosNotifyFilter::MappingConstraintPairSeq
pairs_of(const std::vector<std::pair<const char*, CORBA::Any>>& all)
{
    CosNotifyFilter::MappingConstraintPairSeq made;
    made.length(static_cast<CORBA::ULong>(all.size()));
    for (CORBA::ULong i = 0; i < made.length(); ++i) {
        made[i].constraint_expression.constraint_expr = all[i].first;
        made[i].result_to_set = all[i].second;
    }
    return made;
}

void add_pairs(CosNotifyFilter::MappingFilter_ptr filter,
               const CosNotifyFilter::MappingConstraintPairSeq& pairs)
{
    const CosNotifyFilter::MappingConstraintInfoSeq_var added =
        filter->add_mapping_constraints(pairs);
    EXPECT_EQ(pairs.length(), added->length());
}

template <typename T>
CORBA::Any any_with(const T& value)
{
    CORBA::Any any;
    any <<= value;
    return any;
}

CORBA::Short short_in(const CORBA::Any& any)
{
    CORBA::Short value = -1;
    EXPECT_TRUE(any >>= value);
    return value;
}

TEST_F(Notifications, MappingFiltersAnswerWithTheBestValue)
{
    const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
    const CORBA::Any usual = any_with(CORBA::Short{-3});
    EXPECT_THROW((void)factory->create_mapping_filter("SQL", usual),
                 CosNotifyFilter::InvalidGrammar);
    const CosNotifyFilter::MappingFilter_var made =
        factory->create_mapping_filter("EXTENDED_TCL", usual);
    EXPECT_STREQ("EXTENDED_TCL", CORBA::String_var(made->constraint_grammar()).in());
    EXPECT_EQ(-3, short_in(*CORBA::Any_var(made->default_value())));
    EXPECT_EQ(CORBA::tk_short, CORBA::TypeCode_var(made->value_type())->kind());
    EXPECT_THROW((void)made->add_mapping_constraints(pairs_of({{"1 < 2 < 3", usual}})),
                 CosNotifyFilter::InvalidConstraint);
    EXPECT_THROW((void)made->add_mapping_constraints(
                     pairs_of({{"", usual}, {"$number > 1", any_with(CORBA::Long{1})}})),
                 CosNotifyFilter::InvalidValue);
    const CosNotifyFilter::MappingConstraintInfoSeq_var added =
        made->add_mapping_constraints(pairs_of({{"$number > 1", any_with(CORBA::Short{1})},
                                                {"$number > 10", any_with(CORBA::Short{10})},
                                                {"$number > 5", any_with(CORBA::Short{5})}}));
    ASSERT_EQ(3U, added->length());
    const auto match = [&](CORBA::Long number, bool expected) {
        CORBA::Any_var result;
        EXPECT_EQ(expected,
                  made->match_structured(event_of("Lab", "Reading", number), result.out()));
        return short_in(result.in());
    };
    EXPECT_EQ(10, match(11, true));
    EXPECT_EQ(5, match(6, true));
    EXPECT_EQ(1, match(2, true));
    EXPECT_EQ(-3, match(1, false));
    CORBA::Any_var result;
    EXPECT_TRUE(made->match_typed(with("number", CORBA::Long{12}), result.out()));
    EXPECT_EQ(10, short_in(result.in()));
    EXPECT_FALSE(made->match(any_with(CORBA::Long{12}), result.out()));

    CosNotifyFilter::ConstraintIDSeq ids;
    ids.length(1);
    ids[0] = added[1U].constraint_id;
    CosNotifyFilter::MappingConstraintInfoSeq changed;
    changed.length(1);
    changed[0] = added[0U];
    changed[0].value <<= CORBA::Short{7};
    made->modify_mapping_constraints(ids, changed);
    EXPECT_EQ(7, match(11, true)); // the best one is gone, another is better now
    EXPECT_THROW((void)made->get_mapping_constraints(ids), CosNotifyFilter::ConstraintNotFound);
    EXPECT_THROW(made->modify_mapping_constraints(ids, changed),
                 CosNotifyFilter::ConstraintNotFound);
    ids[0] = added[0U].constraint_id;
    const CosNotifyFilter::MappingConstraintInfoSeq_var one = made->get_mapping_constraints(ids);
    ASSERT_EQ(1U, one->length());
    EXPECT_EQ(7, short_in(one[0U].value));
    EXPECT_STREQ("$number > 1", one[0U].constraint_expression.constraint_expr.in());
    ids.length(2);
    ids[1] = ids[0];
    EXPECT_THROW((void)made->get_mapping_constraints(ids), CosNotifyFilter::ConstraintNotFound);
    EXPECT_EQ(2U, CosNotifyFilter::MappingConstraintInfoSeq_var(made->get_all_mapping_constraints())
                      ->length());
    made->remove_all_mapping_constraints();
    EXPECT_EQ(-3, match(11, false));
    // A lifetime of 0, which has no end, is longer than any other.
    const CosNotifyFilter::MappingFilter_var lifetime =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(TimeBase::TimeT{5}));
    add_pairs(lifetime.in(), pairs_of({{"$number > 0", any_with(TimeBase::TimeT{1})},
                                       {"$number > 1", any_with(TimeBase::TimeT{0})},
                                       {"$number > 2", any_with(~TimeBase::TimeT{0})}}));
    TimeBase::TimeT longest = 9;
    EXPECT_TRUE(lifetime->match_structured(event_of("Lab", "Reading", 3), result.out()));
    EXPECT_TRUE(result.in() >>= longest);
    EXPECT_EQ(0U, longest);
    made->destroy();
    EXPECT_THROW((void)made->get_all_mapping_constraints(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(Notifications, MappingFiltersOrderWhatOneConsumerGets)
{
    const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
    const CosNotifyFilter::MappingFilter_var of_proxy =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(CORBA::Short{50}));
    add_pairs(of_proxy.in(), pairs_of({{"$number == 2", any_with(CORBA::Short{99})},
                                       {"$number == 3", any_with(CORBA::Short{0})}}));
    const CosNotifyFilter::MappingFilter_var of_admin =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(CORBA::Short{0}));
    add_pairs(of_admin.in(), pairs_of({{"$number == 4", any_with(CORBA::Short{9})}}));
    const CosNotifyFilter::MappingFilter_var lifetime =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(TimeBase::TimeT{0}));
    add_pairs(lifetime.in(), pairs_of({{"$number <= 1", any_with(TimeBase::TimeT{1})},
                                       {"$number == 0", any_with(TimeBase::TimeT{0})}}));
    AdminID id = 0;
    const ConsumerAdmin_var admin = channel_->new_for_consumers(AND_OP, id);
    EXPECT_THROW(admin->priority_filter(lifetime.in()), CORBA::BAD_PARAM);
    EXPECT_THROW(admin->lifetime_filter(of_admin.in()), CORBA::BAD_PARAM);
    EXPECT_TRUE(CORBA::is_nil(CosNotifyFilter::MappingFilter_var(admin->priority_filter()).in()));
    admin->priority_filter(of_admin.in());
    const CosNotifyFilter::MappingFilter_var found = admin->priority_filter();
    EXPECT_TRUE(found->_is_equivalent(of_admin.in()));

    const Servant_var<StructuredConsumer> mapped = new StructuredConsumer;
    const Servant_var<StructuredConsumer> as_admin = new StructuredConsumer;
    const Servant_var<StructuredConsumer> plain = new StructuredConsumer;
    const auto first = connect(mapped.in(), admin.in());
    const auto second = connect(as_admin.in(), admin.in());
    const auto third = connect(plain.in());
    first->priority_filter(of_proxy.in());
    first->lifetime_filter(lifetime.in());
    for (const StructuredProxyPushSupplier_var& one : {first, second, third})
        one->suspend_connection();
    for (CORBA::Long i = 0; i < 5; ++i)
        push(i);
    StructuredEvent said = event_of("Lab", "Reading", 5); // what an event says goes before defaults
    said.header.variable_header = with(CosNotification::Priority, CORBA::Short{70});
    supplier_->push_structured_event(said);
    for (const StructuredProxyPushSupplier_var& one : {first, second, third})
        one->resume_connection();
    EXPECT_TRUE(mapped->are({2, 5, 0, 4, 3}));
    EXPECT_TRUE(as_admin->are({5, 4, 0, 1, 2, 3}));
    EXPECT_TRUE(plain->are({5, 0, 1, 2, 3, 4}));
    EXPECT_EQ(1U, channel_->figures().lost);

    // One that was destroyed is none, and neither is one that was taken away: the admin's holds.
    of_proxy->destroy();
    first->lifetime_filter(CosNotifyFilter::MappingFilter::_nil());
    first->suspend_connection();
    for (CORBA::Long i = 1; i < 5; ++i)
        push(i);
    first->resume_connection();
    EXPECT_TRUE(mapped->are({2, 5, 0, 4, 3, 4, 1, 2, 3}));
}

TEST_F(Notifications, MappingFiltersAreBounded)
{
    NotificationLimits limits = small_limits();
    limits.filters_max = 2;
    limits.constraints_max = 2;
    limits.constraint_octets_max = 100'000;
    start(limits);
    const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
    const CosNotifyFilter::MappingFilter_var made =
        factory->create_mapping_filter("EXTENDED_TCL", any_with("usual"));
    EXPECT_THROW((void)factory->create_mapping_filter("EXTENDED_TCL",
                                                      any_with(std::string(200'000, 'x').c_str())),
                 CORBA::IMP_LIMIT);
    const auto second = filter("");
    EXPECT_THROW((void)factory->create_mapping_filter("EXTENDED_TCL", any_with("")),
                 CORBA::IMP_LIMIT);
    second->destroy();
    EXPECT_THROW((void)made->add_mapping_constraints(
                     pairs_of({{"", any_with(std::string(60'000, 'x').c_str())}})),
                 CORBA::IMP_LIMIT);
    const CORBA::Any one = any_with("one");
    EXPECT_THROW((void)made->add_mapping_constraints(pairs_of({{"", one}, {"", one}, {"", one}})),
                 CORBA::IMP_LIMIT);
    add_pairs(made.in(), pairs_of({{"", one}, {"", one}}));
    EXPECT_THROW(consumers_->priority_filter(made.in()), CORBA::BAD_PARAM);
    // A servant of somebody else's that would be asked of every event.
    const Servant_var<StructuredConsumer> other = new StructuredConsumer;
    const auto object = clients_.activate<CosNotifyFilter::MappingFilter>(other.in());
    EXPECT_THROW(consumers_->priority_filter(object.in()), CORBA::BAD_PARAM);
}

// --- Quality of service --------------------------------------------------------------------------

TEST_F(Notifications, OrdersByPriority)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->suspend_connection();
    StructuredEvent event = event_of("Lab", "Alarm", 0);
    event.header.variable_header.length(1);
    event.header.variable_header[0].name = CosNotification::Priority;
    supplier_ = supplier();
    for (const CORBA::Long priority : {1, 3, 2, 3}) {
        event.header.variable_header[0].value <<= static_cast<CORBA::Short>(priority);
        event.remainder_of_body <<= priority;
        supplier_->push_structured_event(event);
    }
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({3, 3, 2, 1}));
}

TEST_F(Notifications, KeepsNoMoreThanAConsumerWants)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->suspend_connection();
    proxy->set_qos(with(CosNotification::MaxEventsPerConsumer, CORBA::Long{2}));
    for (CORBA::Long i = 0; i < 5; ++i)
        push(i);
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({3, 4}));
    EXPECT_TRUE(log_.wait_for("drops events"));
    EXPECT_EQ(3U, channel_->figures().dropped);
}

TEST_F(Notifications, PropertiesArePassedDownAndRefused)
{
    channel_->set_qos(with(CosNotification::OrderPolicy, CosNotification::FifoOrder));
    AdminID id = 0;
    const ConsumerAdmin_var admin = channel_->new_for_consumers(AND_OP, id);
    const auto order_in = [](const CosNotification::QoSProperties& all) {
        for (CORBA::ULong i = 0; i < all.length(); ++i) {
            CORBA::Short value = -1;
            if (std::string_view(all[i].name.in()) == CosNotification::OrderPolicy &&
                (all[i].value >>= value))
                return value;
        }
        return CORBA::Short{-1};
    };
    EXPECT_EQ(CosNotification::FifoOrder,
              order_in(*CosNotification::QoSProperties_var(admin->get_qos())));
    const auto proxy =
        to_consumer<StructuredProxyPushSupplier>(STRUCTURED_EVENT, false, admin.in());
    EXPECT_EQ(CosNotification::FifoOrder,
              order_in(*CosNotification::QoSProperties_var(proxy->get_qos())));
    try {
        proxy->set_qos(with(CosNotification::ConnectionReliability, CosNotification::Persistent));
        FAIL() << "persistent";
    } catch (const CosNotification::UnsupportedQoS& raised) {
        ASSERT_EQ(1U, raised.qos_err.length());
        EXPECT_EQ(CosNotification::UNSUPPORTED_VALUE, raised.qos_err[0].code);
    }
    CosNotification::NamedPropertyRangeSeq_var ranges;
    proxy->validate_qos(with(CosNotification::Priority, CORBA::Short{1}), ranges.out());
    EXPECT_EQ(9U, ranges->length());
    proxy->validate_event_qos(with(CosNotification::Priority, CORBA::Short{1}), ranges.out());
    EXPECT_NE(0U, ranges->length());
    EXPECT_THROW(
        proxy->validate_event_qos(
            with(CosNotification::EventReliability, CosNotification::Persistent), ranges.out()),
        CosNotification::UnsupportedQoS);
    ChannelID other = 0;
    EXPECT_THROW(
        (void)factory_->create_channel(
            with(CosNotification::EventReliability, CosNotification::Persistent), {}, other),
        CosNotification::UnsupportedQoS);
    EXPECT_THROW(
        (void)factory_->create_channel({}, with(CosNotification::MaxConsumers, "many"), other),
        CosNotification::UnsupportedAdmin);
}

TEST_F(Notifications, AdministrationLimitsClients)
{
    channel_->set_admin(with(CosNotification::MaxConsumers, CORBA::Long{1}));
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    try {
        (void)to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
        FAIL() << "a second consumer";
    } catch (const AdminLimitExceeded& raised) {
        EXPECT_STREQ("MaxConsumers", raised.admin_property_err.name.in());
        CORBA::Long max = 0;
        EXPECT_TRUE((raised.admin_property_err.value >>= max) && max == 1);
    }
    const CosEventChannelAdmin::ConsumerAdmin_var old = channel_->for_consumers();
    EXPECT_THROW((void)old->obtain_pull_supplier(), CORBA::IMP_LIMIT);
    proxy->disconnect_structured_push_supplier();
    EXPECT_TRUE(consumer->has_ended());
    (void)to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
}

TEST_F(Notifications, AFullChannelRejectsOrDiscards)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->suspend_connection();
    CosNotification::AdminProperties admin = with(CosNotification::MaxQueueLength, CORBA::Long{2});
    admin.length(2);
    admin[1].name = CosNotification::RejectNewEvents;
    admin[1].value <<= CORBA::Any::from_boolean(true);
    channel_->set_admin(admin);
    push(0);
    push(1);
    EXPECT_THROW(push(2), CORBA::IMP_LIMIT);
    admin[1].value <<= CORBA::Any::from_boolean(false);
    channel_->set_admin(admin);
    push(3);
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({1, 3}));
}

TEST_F(Notifications, WhatHasExpiredDoesNotFillAChannel)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->suspend_connection();
    CosNotification::AdminProperties admin = with(CosNotification::MaxQueueLength, CORBA::Long{1});
    admin.length(2);
    admin[1].name = CosNotification::RejectNewEvents;
    admin[1].value <<= CORBA::Any::from_boolean(true);
    channel_->set_admin(admin);
    supplier_ = supplier();
    supplier_->set_qos(with(CosNotification::Timeout, TimeBase::TimeT{1}));
    push(0);
    supplier_->set_qos(with(CosNotification::Timeout, TimeBase::TimeT{0}));
    push(1);
    EXPECT_THROW(push(2), CORBA::IMP_LIMIT);
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({1}));
    EXPECT_EQ(1U, channel_->figures().lost);
}

TEST_F(Notifications, ABatchThatIsTakenInPartMayHaveBeenReceived)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    proxy->suspend_connection();
    CosNotification::AdminProperties admin = with(CosNotification::MaxQueueLength, CORBA::Long{1});
    admin.length(2);
    admin[1].name = CosNotification::RejectNewEvents;
    admin[1].value <<= CORBA::Any::from_boolean(true);
    channel_->set_admin(admin);
    const auto batches = to_supplier<SequenceProxyPushConsumer>(SEQUENCE_EVENT);
    batches->connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier::_nil());
    CosNotification::EventBatch batch;
    batch.length(2);
    batch[0] = event_of("Lab", "Reading", 0);
    batch[1] = event_of("Lab", "Reading", 1);
    for (const CORBA::CompletionStatus expected : {CORBA::COMPLETED_MAYBE, CORBA::COMPLETED_NO}) {
        try {
            batches->push_structured_events(batch);
            FAIL() << "there is no room";
        } catch (const CORBA::IMP_LIMIT& raised) {
            EXPECT_EQ(expected, raised.completed());
        }
    }
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({0}));
}

TEST_F(Notifications, WhoIsSuspendedForLongMakesRoom)
{
    NotificationLimits limits = small_limits();
    limits.proxies_max = 1;
    limits.proxy_idle_max = std::chrono::milliseconds(0);
    start(limits);
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    EXPECT_THROW((void)to_consumer<ProxyPullSupplier>(ANY_EVENT, true), CORBA::IMP_LIMIT);
    proxy->suspend_connection();
    (void)to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
    EXPECT_TRUE(consumer->has_ended());
}

// --- Objects -------------------------------------------------------------------------------------

TEST_F(Notifications, ChannelsAndProxiesAreFoundById)
{
    EXPECT_EQ(id_, channel_->MyID());
    const EventChannel_var found = factory_->get_event_channel(id_);
    EXPECT_TRUE(found->_is_equivalent(channel_.in()));
    EXPECT_EQ(1U, ChannelIDSeq_var(factory_->get_all_channels())->length());
    EXPECT_TRUE(EventChannel_var(consumers_->MyChannel())->_is_equivalent(channel_.in()));
    EXPECT_TRUE(EventChannelFactory_var(channel_->MyFactory())->_is_equivalent(factory_.in()));
    const auto proxy = to_consumer<ProxyPushSupplier>(ANY_EVENT, false);
    EXPECT_EQ(PUSH_ANY, proxy->MyType());
    EXPECT_TRUE(ConsumerAdmin_var(proxy->MyAdmin())->_is_equivalent(consumers_.in()));
    EXPECT_EQ(1U, ProxyIDSeq_var(consumers_->push_suppliers())->length());
    const ProxySupplier_var by_id = consumers_->get_proxy_supplier(proxy_);
    EXPECT_TRUE(by_id->_is_equivalent(proxy.in()));
    proxy->disconnect_push_supplier();
    EXPECT_EQ(0U, ProxyIDSeq_var(consumers_->push_suppliers())->length());
    EXPECT_THROW((void)consumers_->get_proxy_supplier(proxy_), ProxyNotFound);
    EXPECT_THROW((void)proxy->MyType(), CORBA::OBJECT_NOT_EXIST);
    channel_->destroy();
    EXPECT_THROW((void)factory_->get_event_channel(id_), ChannelNotFound);
    EXPECT_THROW((void)consumers_->MyID(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(Notifications, ChannelsWithNamesAreFoundByThem)
{
    const KairosNotification::Channel_var made = service_->create_channel("Lab");
    EXPECT_THROW((void)service_->create_channel("Lab"), KairosEvents::NameInUse);
    EXPECT_THROW((void)service_->create_channel("NotificationService"), KairosEvents::NameInUse);
    EXPECT_STREQ("Lab", CORBA::String_var(made->name()).in());
    EXPECT_EQ(2U, ChannelIDSeq_var(factory_->get_all_channels())->length());
}

TEST_F(Notifications, EverythingIsBounded)
{
    NotificationLimits limits = small_limits();
    limits.channels_max = 1;
    limits.admins_max = 3;
    limits.proxies_max = 1;
    limits.attachments_max = 1;
    limits.types_max = 2;
    start(limits);
    ChannelID channel = 0;
    EXPECT_THROW((void)factory_->create_channel({}, {}, channel), CORBA::IMP_LIMIT);
    AdminID admin = 0;
    const ConsumerAdmin_var third = channel_->new_for_consumers(OR_OP, admin);
    EXPECT_THROW((void)channel_->new_for_suppliers(OR_OP, admin), CORBA::IMP_LIMIT);
    const auto proxy = to_consumer<ProxyPullSupplier>(ANY_EVENT, true);
    EXPECT_THROW((void)to_consumer<ProxyPullSupplier>(ANY_EVENT, true), CORBA::IMP_LIMIT);
    const auto one = filter("");
    (void)proxy->add_filter(one.in());
    EXPECT_THROW((void)proxy->add_filter(one.in()), CORBA::IMP_LIMIT);
    proxy->remove_all_filters();
    (void)proxy->add_filter(one.in());
    EXPECT_THROW(proxy->subscription_change(types_of({{"a", "a"}, {"b", "b"}, {"c", "c"}}), {}),
                 CORBA::IMP_LIMIT);
    limits.batch_max = 0;
    EXPECT_THROW(start(limits), CORBA::BAD_PARAM);
}

TEST_F(Notifications, AConsumerThatBlocksDelaysNobody)
{
    events::TestOrb blocked; // a connection of its own
    const Servant_var<StructuredConsumer> slow = new StructuredConsumer;
    const Servant_var<StructuredConsumer> quick = new StructuredConsumer;
    slow->close();
    const auto object = blocked.activate<CosNotifyComm::StructuredPushConsumer>(slow.in());
    const auto proxy = to_consumer<StructuredProxyPushSupplier>(STRUCTURED_EVENT, false);
    proxy->connect_structured_push_consumer(
        clients_.here<CosNotifyComm::StructuredPushConsumer>(object.in(), blocked.in()).in());
    (void)connect(quick.in());
    push(0);
    ASSERT_TRUE(slow->is_called());
    for (CORBA::Long i = 1; i < 100; ++i)
        push(i);
    std::vector<CORBA::Long> expected;
    for (CORBA::Long i = 0; i < 100; ++i)
        expected.push_back(i);
    EXPECT_TRUE(quick->are(expected));
    slow->open();
    EXPECT_TRUE(slow->are(expected));
}

TEST_F(Notifications, AConsumerThatIsGoneIsGivenUp)
{
    const Servant_var<StructuredConsumer> gone = new StructuredConsumer;
    const auto proxy = connect(gone.in());
    clients_.deactivate(gone.in());
    push(1);
    EXPECT_TRUE(log_.wait_for("notify: channel ''"));
    EXPECT_THROW((void)proxy->MyType(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_EQ(1U, channel_->figures().given_up);
}

TEST_F(Notifications, FiltersMayChangeWhileEventsPass)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(consumer.in());
    std::thread changes([&] {
        for (int i = 0; i < 50; ++i) {
            const auto one = filter("$number >= 0", "Reading");
            const CosNotifyFilter::FilterID id = proxy->add_filter(one.in());
            proxy->subscription_change(types_of({{"Lab", "Reading"}}), {});
            proxy->remove_filter(id);
            one->destroy();
        }
    });
    std::vector<CORBA::Long> expected;
    for (CORBA::Long i = 0; i < 200; ++i) {
        push(i);
        expected.push_back(i);
    }
    changes.join();
    EXPECT_TRUE(consumer->are(expected)); // there was always either no filter or one that passes
}

} // namespace
} // namespace kairos::notification
