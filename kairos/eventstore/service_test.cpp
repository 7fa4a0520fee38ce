// SPDX-License-Identifier: Apache-2.0
//
// Channels that outlive the service: what is there again, what is sent again, and what happens
// where the store cannot take it. One process restarts its service; another is killed.
#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/eventstore/killed_testing.h"
#include "kairos/eventstore/sqlite_store.h"
#include "kairos/notification/notification_testing.h"
#include "kairos/sqlite/disk_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sqlite3.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kairos::eventstore {
namespace {

using namespace CosNotifyChannelAdmin;
using namespace CosNotification;
using notification::event_of;
using notification::number_in;
using notification::StructuredConsumer;
using notification::types_of;
using PortableServer::Servant_var;

class Folder {
  public:
    Folder()
    {
        char name[] = "/tmp/kairos-eventstore-XXXXXX";
        path_ = mkdtemp(name);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string file() const { return path_ + "/events"; }
    [[nodiscard]] std::unique_ptr<notification::Store> open(std::uint32_t pages_max = 0) const
    {
        auto store = open_sqlite_store({.path = file(), .pages_max = pages_max});
        return store ? std::move(store).value() : nullptr;
    }
    /// What the file's only number is that a statement asks for.
    [[nodiscard]] int ask(const char* sql) const
    {
        sqlite3* handle = nullptr;
        EXPECT_EQ(SQLITE_OK, sqlite3_open(file().c_str(), &handle));
        sqlite3_busy_timeout(handle, 10'000);
        int number = -1;
        const auto read = [](void* to, int, char** values, char**) {
            *static_cast<int*>(to) = std::atoi(values[0]);
            return 0;
        };
        EXPECT_EQ(SQLITE_OK, sqlite3_exec(handle, sql, read, &number, nullptr)) << sql;
        sqlite3_close(handle);
        return number;
    }

  private:
    std::string path_;
};

// --- Killed, before this process has threads ---------------------------------------------------

TEST(KilledService, HasWhatItHasAcknowledged)
{
    const Folder folder;
    keep_what_was_acknowledged([&folder] { return folder.open(); });
}

// --- Begun again --------------------------------------------------------------------------------

/// What a store does that is told to.
struct Troubles {
    std::atomic<bool> fails{false};
    std::atomic<bool> is_slow{false};    // what is to be safe waits until it is not
    std::atomic<bool> is_at_work{false}; // on that
};

class TroubledStore final : public notification::Store {
  public:
    TroubledStore(std::unique_ptr<notification::Store> store, Troubles& troubles)
        : store_(std::move(store)), troubles_(troubles)
    {
    }
    notification::StoreStatus load(notification::Stored& all) override { return store_->load(all); }
    notification::StoreStatus write(std::span<const notification::StoreChange> changes,
                                    bool safe) override
    {
        if (troubles_.fails) return notification::StoreStatus::broken;
        if (safe && troubles_.is_slow) {
            troubles_.is_at_work = true;
            troubles_.is_at_work.notify_all();
            troubles_.is_slow.wait(true);
        }
        return store_->write(changes, safe);
    }

  private:
    const std::unique_ptr<notification::Store> store_;
    Troubles& troubles_;
};

QoSProperties property(const char* name, CORBA::Long value)
{
    QoSProperties qos;
    qos.length(1);
    qos[0].name = name;
    qos[0].value <<= value;
    return qos;
}
QoSProperties connection(CORBA::Short value)
{
    QoSProperties qos;
    qos.length(1);
    qos[0].name = ConnectionReliability;
    qos[0].value <<= value;
    return qos;
}

/// A service with a store and a channel, all of which begin again when they are told.
class KeptChannels : public ::testing::Test {
  protected:
    KeptChannels() { begin(); }
    ~KeptChannels() override { service_.reset(); }
    void begin(std::uint32_t pages_max = 0)
    {
        service_.emplace(server_.in(), limits_,
                         std::make_unique<TroubledStore>(folder_.open(pages_max), troubles_));
        const auto lab =
            KairosNotification::Channel_var(service_->create_channel("Lab", all_persistent()));
        channel_ = clients_.here<KairosNotification::Channel>(lab.in(), server_.in());
    }
    void begin_again(std::uint32_t pages_max = 0)
    {
        service_.reset();
        begin(pages_max);
    }
    template <typename Proxy>
    [[nodiscard]] typename Proxy::_var_type to_consumer(ClientType type, bool pulls)
    {
        const ConsumerAdmin_var admin = channel_->default_consumer_admin();
        const ProxySupplier_var made = pulls ? admin->obtain_notification_pull_supplier(type, id_)
                                             : admin->obtain_notification_push_supplier(type, id_);
        return Proxy::_narrow(made.in());
    }
    StructuredProxyPushSupplier_var connect(StructuredConsumer* consumer)
    {
        const auto object = clients_.activate<CosNotifyComm::StructuredPushConsumer>(consumer);
        auto proxy = to_consumer<StructuredProxyPushSupplier>(STRUCTURED_EVENT, false);
        proxy->connect_structured_push_consumer(object.in());
        return proxy;
    }
    template <typename Proxy>
    [[nodiscard]] typename Proxy::_var_type to_supplier(ClientType type)
    {
        const SupplierAdmin_var admin = channel_->default_supplier_admin();
        const ProxyConsumer_var made = admin->obtain_notification_push_consumer(type, id_);
        return Proxy::_narrow(made.in());
    }
    [[nodiscard]] StructuredProxyPushConsumer_var supplier()
    {
        auto proxy = to_supplier<StructuredProxyPushConsumer>(STRUCTURED_EVENT);
        proxy->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
        return proxy;
    }
    /// The service has the answers of all consumers.
    void wait_until_all_is_taken() const
    {
        while (folder_.ask("SELECT count(*) FROM event") != 0)
            std::this_thread::yield();
    }
    /// One that pulls.
    [[nodiscard]] StructuredProxyPullSupplier_var pulling()
    {
        auto proxy = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
        proxy->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
        return proxy;
    }
    /// One of Anys, that is pushed to.
    ProxyPushSupplier_var connect(events::Consumer* consumer, CORBA::Long events_max = 0)
    {
        const auto object = clients_.activate<CosEventComm::PushConsumer>(consumer);
        auto proxy = to_consumer<ProxyPushSupplier>(ANY_EVENT, false);
        if (events_max != 0) proxy->set_qos(property(MaxEventsPerConsumer, events_max));
        proxy->connect_any_push_consumer(object.in());
        return proxy;
    }
    [[nodiscard]] ProxyPushConsumer_var any_supplier()
    {
        auto proxy = to_supplier<ProxyPushConsumer>(ANY_EVENT);
        proxy->connect_any_push_supplier(CosEventComm::PushSupplier::_nil());
        return proxy;
    }
    /// What a consumer gets that pulls until there is nothing.
    [[nodiscard]] static std::vector<CORBA::Long> pulled(StructuredProxyPullSupplier_ptr proxy)
    {
        std::vector<CORBA::Long> all;
        CORBA::Boolean has_event = true;
        for (;;) {
            const StructuredEvent_var event = proxy->try_pull_structured_event(has_event);
            if (!has_event) return all;
            all.push_back(number_in(event.in()));
        }
    }
    [[nodiscard]] CosNotifyFilter::Filter_var filter(const char* text)
    {
        return filter(text, channel_->default_filter_factory());
    }
    [[nodiscard]] static CosNotifyFilter::Filter_var
    filter(const char* text, const CosNotifyFilter::FilterFactory_var& factory)
    {
        CosNotifyFilter::Filter_var made = factory->create_filter("EXTENDED_TCL");
        CosNotifyFilter::ConstraintExpSeq all;
        all.length(1);
        all[0].constraint_expr = text;
        const CosNotifyFilter::ConstraintInfoSeq_var infos = made->add_constraints(all);
        return made;
    }

    Troubles troubles_;
    events::LogLines log_; // before there is a thread that logs
    const Folder folder_;
    notification::NotificationLimits limits_ = limits_of_tests();
    events::TestOrb server_;
    events::TestOrb clients_;
    std::optional<notification::NotificationService> service_;
    KairosNotification::Channel_var channel_;
    ProxyID id_ = 0;
};

TEST_F(KeptChannels, GiveWhoWasAwayWhatWasMissed)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const StructuredProxyPushSupplier_var proxy = connect(consumer.in());
    const ProxyID id = id_;
    const StructuredProxyPushConsumer_var from = supplier();
    from->push_structured_event(event_of("Lab", "Reading", 1));
    ASSERT_TRUE(consumer->are({1}));
    proxy->suspend_connection();
    from->push_structured_event(event_of("Lab", "Reading", 2));
    from->push_structured_event(event_of("Lab", "Reading", 3));

    begin_again();
    EXPECT_THROW(proxy->suspend_connection(), ConnectionAlreadyInactive); // as it was
    from->push_structured_event(event_of("Lab", "Reading", 4));           // by the same reference
    proxy->resume_connection();
    EXPECT_TRUE(consumer->are({1, 2, 3, 4}));
    const ConsumerAdmin_var admin = channel_->default_consumer_admin();
    EXPECT_EQ(1U, ProxyIDSeq_var(admin->push_suppliers())->length());
    const ProxySupplier_var found = admin->get_proxy_supplier(id);
    EXPECT_TRUE(found->_is_equivalent(proxy.in()));

    wait_until_all_is_taken();
    begin_again(); // nothing is sent twice whose answer the service had
    from->push_structured_event(event_of("Lab", "Reading", 5));
    EXPECT_TRUE(consumer->has_last(5));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4, 5}), consumer->all());
    proxy->disconnect_structured_push_supplier();
    EXPECT_TRUE(consumer->has_ended());
    begin_again();
    EXPECT_THROW(proxy->suspend_connection(), CORBA::OBJECT_NOT_EXIST);
    service_.reset(); // which writes what is to be written before
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM event"));
}

TEST_F(KeptChannels, ComeBackWithAllThatWasSaid)
{
    const ConsumerAdmin_var first = channel_->default_consumer_admin();
    AdminID admin_id = 0;
    const ConsumerAdmin_var admin = channel_->new_for_consumers(OR_OP, admin_id);
    const CosNotifyFilter::Filter_var high = filter("$number > 10");
    const CosNotifyFilter::Filter_var low = filter("$number < 5");
    const CosNotifyFilter::FilterID of_admin = admin->add_filter(high.in());
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto object = clients_.activate<CosNotifyComm::StructuredPushConsumer>(consumer.in());
    const ProxySupplier_var made = admin->obtain_notification_push_supplier(STRUCTURED_EVENT, id_);
    const auto proxy =
        StructuredProxyPushSupplier_var(StructuredProxyPushSupplier::_narrow(made.in()));
    const CosNotifyFilter::FilterID gone = proxy->add_filter(high.in());
    const CosNotifyFilter::FilterID of_proxy = proxy->add_filter(low.in());
    proxy->remove_filter(gone);
    proxy->subscription_change(types_of({{"Lab", "Reading"}}), {});
    QoSProperties qos;
    qos.length(1);
    qos[0].name = MaxEventsPerConsumer;
    qos[0].value <<= CORBA::Long(7);
    proxy->set_qos(qos);
    proxy->connect_structured_push_consumer(object.in());
    AdminProperties administration;
    administration.length(1);
    administration[0].name = MaxConsumers;
    administration[0].value <<= CORBA::Long(1);
    channel_->set_admin(administration);
    EventChannelFactory_var factory = channel_->MyFactory();
    const ChannelID number = channel_->MyID();

    begin_again();
    EXPECT_EQ(number, channel_->MyID());
    const ConsumerAdmin_var first_again = channel_->default_consumer_admin();
    EXPECT_TRUE(first_again->_is_equivalent(first.in()));
    EXPECT_EQ(admin_id, admin->MyID());
    EXPECT_EQ(OR_OP, admin->MyOperator());
    EXPECT_TRUE(
        CosNotifyFilter::Filter_var(admin->get_filter(of_admin))->_is_equivalent(high.in()));
    const CosNotifyFilter::FilterIDSeq_var ids = proxy->get_all_filters();
    ASSERT_EQ(1U, ids->length());
    EXPECT_EQ(of_proxy, ids[0U]);
    EXPECT_EQ(of_proxy + 1, proxy->add_filter(low.in()));
    const CosNotifyFilter::ConstraintInfoSeq_var all = low->get_all_constraints();
    ASSERT_EQ(1U, all->length());
    EXPECT_STREQ("$number < 5", all[0U].constraint_expression.constraint_expr.in());
    EXPECT_THROW((void)admin->obtain_notification_push_supplier(STRUCTURED_EVENT, id_),
                 AdminLimitExceeded);
    const StructuredProxyPushConsumer_var from = supplier();
    for (const CORBA::Long value : {7, 3, 12})
        from->push_structured_event(event_of("Lab", "Reading", value));
    from->push_structured_event(event_of("Lab", "Other", 13));
    from->push_structured_event(event_of("Lab", "Reading", 14));
    EXPECT_TRUE(consumer->are({3, 12, 14}));
    const QoSProperties_var now = proxy->get_qos();
    for (CORBA::ULong i = 0; i < now->length(); ++i) {
        if (std::string_view(now[i].name.in()) != MaxEventsPerConsumer) continue;
        CORBA::Long value = 0;
        EXPECT_TRUE(now[i].value >>= value);
        EXPECT_EQ(7, value);
    }
    // What ends is not there again.
    high->destroy();
    channel_->destroy();
    service_.reset();
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM object"));
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM waiting"));
}

TEST_F(KeptChannels, ComeBackWithTheirMappingFilters)
{
    const auto any_with = [](auto value) {
        CORBA::Any any;
        any <<= value;
        return any;
    };
    const CosNotifyFilter::FilterFactory_var factory = channel_->default_filter_factory();
    const CosNotifyFilter::MappingFilter_var first =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(CORBA::Short{1}));
    const CosNotifyFilter::MappingFilter_var gone =
        factory->create_mapping_filter("EXTENDED_TCL", any_with(TimeBase::TimeT{0}));
    CosNotifyFilter::MappingConstraintPairSeq pairs;
    pairs.length(1);
    pairs[0].constraint_expression.constraint_expr = "$number == 3";
    pairs[0].result_to_set <<= CORBA::Short{9};
    const CosNotifyFilter::MappingConstraintInfoSeq_var added =
        first->add_mapping_constraints(pairs);
    const StructuredProxyPullSupplier_var proxy = pulling();
    proxy->priority_filter(first.in());
    const ConsumerAdmin_var admin = channel_->default_consumer_admin();
    admin->lifetime_filter(gone.in());
    const StructuredProxyPushConsumer_var from = supplier();
    for (const CORBA::Long value : {1, 2, 3})
        from->push_structured_event(event_of("Lab", "Reading", value));
    gone->destroy();

    begin_again();
    const CosNotifyFilter::MappingFilter_var now = proxy->priority_filter();
    EXPECT_TRUE(now->_is_equivalent(first.in()));
    EXPECT_TRUE(CORBA::is_nil(CosNotifyFilter::MappingFilter_var(admin->lifetime_filter()).in()));
    const CosNotifyFilter::MappingConstraintInfoSeq_var all = now->get_all_mapping_constraints();
    ASSERT_EQ(1U, all->length());
    CORBA::Short value = 0;
    EXPECT_TRUE(all[0U].value >>= value);
    EXPECT_EQ(9, value);
    EXPECT_EQ((std::vector<CORBA::Long>{3, 1, 2}), pulled(proxy.in())); // of those that waited, too
    for (const CORBA::Long value : {4, 3})
        supplier()->push_structured_event(event_of("Lab", "Reading", value));
    limits_.restored_mapping_max = {}; // where there is no time for it, events are as they say
    begin_again();
    EXPECT_EQ((std::vector<CORBA::Long>{4, 3}), pulled(proxy.in()));
    EXPECT_TRUE(log_.wait_for("for 2 of them they were not asked"));
    const CosNotifyFilter::MappingConstraintInfoSeq_var more = now->add_mapping_constraints(pairs);
    EXPECT_EQ(added[0U].constraint_id + 1, more[0U].constraint_id);
    // A filter that would not be there again.
    const auto other = KairosNotification::Channel_var(service_->create_channel("Other"));
    const CosNotifyFilter::FilterFactory_var others = other->default_filter_factory();
    const CosNotifyFilter::MappingFilter_var brief =
        others->create_mapping_filter("EXTENDED_TCL", any_with(CORBA::Short{1}));
    EXPECT_THROW(proxy->priority_filter(brief.in()), CORBA::BAD_PARAM);
}

TEST_F(KeptChannels, KeepEveryFormForEveryFormOfConsumer)
{
    // Consumers that are given nothing before the service has begun again.
    const auto structured = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    structured->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const auto sequence = to_consumer<SequenceProxyPullSupplier>(SEQUENCE_EVENT, true);
    sequence->connect_sequence_pull_consumer(CosNotifyComm::SequencePullConsumer::_nil());
    const ConsumerAdmin_var admin = channel_->default_consumer_admin();
    const auto plain = CosEventChannelAdmin::ProxyPullSupplier_var(admin->obtain_pull_supplier());
    plain->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
    supplier()->push_structured_event(event_of("Lab", "Reading", 1));
    const auto batches = to_supplier<SequenceProxyPushConsumer>(SEQUENCE_EVENT);
    batches->connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier::_nil());
    EventBatch batch;
    batch.length(2);
    batch[0] = event_of("Lab", "Reading", 2);
    batch[1] = event_of("Lab", "Reading", 3);
    batches->push_structured_events(batch);
    const auto anys = to_supplier<ProxyPushConsumer>(ANY_EVENT);
    anys->connect_any_push_supplier(CosEventComm::PushSupplier::_nil());
    anys->push(events::event_of(4));

    begin_again();
    for (CORBA::Long number = 1; number <= 3; ++number)
        EXPECT_EQ(number, number_in(StructuredEvent_var(structured->pull_structured_event()).in()));
    StructuredEvent_var last = structured->pull_structured_event();
    EXPECT_STREQ("%ANY", last->header.fixed_header.event_type.type_name.in());
    EXPECT_EQ(4, number_in(last.in()));
    const EventBatch_var all = sequence->pull_structured_events(10);
    ASSERT_EQ(4U, all->length());
    EXPECT_EQ(3, number_in(all[2U]));
    for (CORBA::Long number = 1; number <= 3; ++number) {
        const CORBA::Any_var any = plain->pull();
        const StructuredEvent* event = nullptr;
        ASSERT_TRUE(any.in() >>= event);
        EXPECT_EQ(number, number_in(*event));
    }
    CORBA::Long number = 0;
    EXPECT_TRUE(CORBA::Any_var(plain->pull()).in() >>= number);
    EXPECT_EQ(4, number);

    // Each pull says that what the one before it gave is there; the last ones were not said to be.
    begin_again();
    EXPECT_EQ(4, number_in(StructuredEvent_var(structured->pull_structured_event()).in()));
    EXPECT_EQ(4U, EventBatch_var(sequence->pull_structured_events(10))->length());
    CORBA::Boolean has_event = true;
    (void)StructuredEvent_var(structured->try_pull_structured_event(has_event));
    EXPECT_FALSE(has_event);
    (void)EventBatch_var(sequence->try_pull_structured_events(1, has_event));
    EXPECT_FALSE(has_event);
    plain->disconnect_pull_supplier();
    service_.reset();
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM event"));
}

TEST_F(KeptChannels, KeepOnlyWhatIsToBeKept)
{
    const auto kept = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    kept->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const auto other = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    QoSProperties qos;
    qos.length(1);
    qos[0].name = ConnectionReliability;
    qos[0].value <<= BestEffort;
    other->set_qos(qos);
    other->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    EXPECT_THROW(channel_->set_qos(qos), UnsupportedQoS); // which it is to its end
    StructuredEvent event = event_of("Lab", "Reading", 1);
    event.header.variable_header.length(1);
    event.header.variable_header[0].name = EventReliability;
    event.header.variable_header[0].value <<= BestEffort;
    const StructuredProxyPushConsumer_var from = supplier();
    from->push_structured_event(event);
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM event"));
    from->push_structured_event(event_of("Lab", "Reading", 2));
    EXPECT_EQ(1, folder_.ask("SELECT count(*) FROM event"));
    EXPECT_EQ(1, folder_.ask("SELECT count(*) FROM waiting"));
    channel_->set_qos(reliability(BestEffort, Persistent));
    from->push_structured_event(event_of("Lab", "Reading", 3));
    event.header.variable_header[0].value <<= Persistent;
    event.remainder_of_body <<= CORBA::Long(4);
    from->push_structured_event(event);

    // Channels that are not kept, of the same service.
    const EventChannelFactory_var factory = channel_->MyFactory();
    ChannelID id = 0;
    const EventChannel_var brief = factory->create_channel({}, {}, id);
    EXPECT_THROW(brief->set_qos(all_persistent()), UnsupportedQoS);
    EXPECT_THROW((void)factory->create_channel(reliability(Persistent, BestEffort), {}, id),
                 UnsupportedQoS);

    begin_again();
    EXPECT_EQ(2, number_in(StructuredEvent_var(kept->pull_structured_event()).in()));
    EXPECT_EQ(4, number_in(StructuredEvent_var(kept->pull_structured_event()).in()));
    EXPECT_THROW((void)other->pull_structured_event(), CORBA::OBJECT_NOT_EXIST);
    EXPECT_THROW((void)brief->get_qos(), CORBA::OBJECT_NOT_EXIST);
}

TEST_F(KeptChannels, SendAgainUntilTheConsumerHasIt)
{
    const Servant_var<events::Consumer> consumer = new events::Consumer;
    std::atomic<int> refusals{0};
    consumer->raise([&refusals] {
        if (++refusals <= 20) throw CORBA::TRANSIENT();
    });
    const auto object = clients_.activate<CosEventComm::PushConsumer>(consumer.in());
    const auto proxy = to_consumer<ProxyPushSupplier>(ANY_EVENT, false);
    proxy->connect_any_push_consumer(object.in());
    const auto from = to_supplier<ProxyPushConsumer>(ANY_EVENT);
    from->connect_any_push_supplier(CosEventComm::PushSupplier::_nil());
    from->push(events::event_of(1));
    from->push(events::event_of(2));
    EXPECT_TRUE(consumer->has(2)); // more refusals than others are allowed
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2}), consumer->values());
    EXPECT_EQ(0U, channel_->figures().given_up);
}

TEST_F(KeptChannels, PassOverOnlyWhatTheConsumerDoesNotTake)
{
    const Servant_var<events::Consumer> consumer = new events::Consumer;
    std::atomic<int> refusals{10};
    std::atomic<bool> later{true};
    consumer->raise([&] {
        if (refusals-- <= 0) return;
        if (later) throw CORBA::NO_RESOURCES();
        throw CORBA::BAD_PARAM();
    });
    const auto proxy = connect(consumer.in());
    const auto from = any_supplier();
    from->push(events::event_of(1));
    ASSERT_TRUE(consumer->has(1));
    later = false;
    refusals = static_cast<int>(limits_.event_tries_max);
    from->push(events::event_of(2));
    from->push(events::event_of(3));
    EXPECT_TRUE(consumer->has(2));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 3}), consumer->values());
}

TEST_F(KeptChannels, KeepWhatTheyHaveTakenWhenTheyTakeNoMore)
{
    const Servant_var<events::Consumer> consumer = new events::Consumer;
    std::atomic<bool> away{true};
    std::atomic<int> tries{0};
    consumer->raise([&] {
        ++tries;
        tries.notify_all();
        if (away) throw CORBA::COMM_FAILURE(0, CORBA::COMPLETED_MAYBE);
    });
    const auto proxy = connect(consumer.in());
    any_supplier()->push(events::event_of(1));
    tries.wait(0);
    channel_->set_qos(reliability(BestEffort, Persistent));
    tries.wait(tries);
    away = false;
    EXPECT_TRUE(consumer->has(1));
}

TEST_F(KeptChannels, GiveAgainWhatWasGivenBesideWhatWaits)
{
    const auto pulls = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    pulls->set_qos(property(MaxEventsPerConsumer, 1));
    pulls->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const StructuredProxyPushConsumer_var from = supplier();
    from->push_structured_event(event_of("Lab", "Reading", 1));
    EXPECT_EQ(1, number_in(StructuredEvent_var(pulls->pull_structured_event()).in()));
    from->push_structured_event(event_of("Lab", "Reading", 2));

    const Servant_var<events::Consumer> consumer = new events::Consumer;
    struct Tries {
        std::atomic<bool> are_vain{true};
        std::atomic<int> count{0};
    };
    const auto tries = std::make_shared<Tries>(); // the last is after the test, perhaps
    consumer->raise([tries] {
        ++tries->count;
        tries->count.notify_all();
        if (tries->are_vain) throw CORBA::TRANSIENT();
    });
    const auto pushed = connect(consumer.in(), 1);
    from->push_structured_event(event_of("Lab", "Reading", 3)); // 2 goes, there
    tries->count.wait(0);
    pushed->suspend_connection();
    from->push_structured_event(event_of("Lab", "Reading", 4)); // 3 is under way, here
    EXPECT_EQ(3, folder_.ask("SELECT count(*) FROM event"));

    begin_again();
    tries->are_vain = false;
    pushed->resume_connection();
    EXPECT_TRUE(consumer->has(2));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 4}), pulled(pulls.in()));
    for (const CORBA::Long number : {5, 6}) // as few as ever
        from->push_structured_event(event_of("Lab", "Reading", number));
    EXPECT_EQ((std::vector<CORBA::Long>{6}), pulled(pulls.in()));
}

TEST_F(KeptChannels, LoseNothingToLowerLimits)
{
    const auto kept = pulling();
    const auto wants_many = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    wants_many->set_qos(property(MaxEventsPerConsumer, 500));
    const StructuredProxyPushConsumer_var from = supplier();
    std::vector<CORBA::Long> all;
    for (CORBA::Long number = 1; number <= 30; ++number) {
        from->push_structured_event(event_of("Lab", "Reading", number));
        all.push_back(number);
    }
    const notification::NotificationLimits before = limits_;
    limits_.queue_max = 3;
    begin_again();
    const QoSProperties_var now = wants_many->get_qos();
    for (CORBA::ULong i = 0; i < now->length(); ++i) {
        CORBA::Long value = 0;
        if (std::string_view(now[i].name.in()) == MaxEventsPerConsumer && (now[i].value >>= value))
            EXPECT_EQ(3, value);
    }
    limits_.octets_of_all_max = 10'000;
    begin_again();
    EXPECT_TRUE(log_.wait_for("they stay there"));
    limits_ = before;
    begin_again();
    EXPECT_EQ(all, pulled(kept.in()));
}

TEST_F(KeptChannels, GiveNoKeyTwice)
{
    const auto kept = pulling();
    const StructuredProxyPushConsumer_var from = supplier();
    const CosNotifyFilter::Filter_var high = filter("$number > 10");
    const CosNotifyFilter::FilterID id = kept->add_filter(high.in());
    high->destroy();
    begin_again();
    const CosNotifyFilter::Filter_var low = filter("$number < 5");
    begin_again();
    const CosNotifyFilter::Filter_var now = kept->get_filter(id);
    EXPECT_TRUE(CORBA::is_nil(now.in()) || !now->_is_equivalent(low.in()));
    from->push_structured_event(event_of("Lab", "Reading", 1));
    EXPECT_TRUE(pulled(kept.in()).empty());
}

TEST_F(KeptChannels, HaveOnePlaceForEachObject)
{
    constexpr const char* objects = "SELECT count(*) FROM object";
    const auto kept = pulling();
    const int there = folder_.ask(objects);
    troubles_.fails = true;
    EXPECT_THROW(kept->set_qos(connection(BestEffort)), CORBA::PERSIST_STORE);
    EXPECT_THROW(kept->disconnect_structured_pull_supplier(), CORBA::PERSIST_STORE);
    troubles_.fails = false;
    kept->set_qos(connection(Persistent)); // by the key that it had
    EXPECT_EQ(there, folder_.ask(objects));

    const auto gone = pulling();
    troubles_.fails = true;
    EXPECT_THROW(gone->set_qos(connection(BestEffort)), CORBA::PERSIST_STORE);
    troubles_.fails = false;
    gone->disconnect_structured_pull_supplier();
    service_.reset();
    EXPECT_EQ(there, folder_.ask(objects));
    // A file in which there are two of one place.
    (void)folder_.ask("INSERT INTO object SELECT key + 1000, channel, state FROM object "
                      "WHERE key = (SELECT max(key) FROM object)");
    begin();
    EXPECT_TRUE(log_.wait_for("two objects at one place"));
    EXPECT_NO_THROW((void)QoSProperties_var(kept->get_qos()));
    service_.reset();
    EXPECT_EQ(there, folder_.ask(objects));
}

TEST_F(KeptChannels, HaveNoFiltersOfThoseThatAreNotKept)
{
    const EventChannelFactory_var factory = channel_->MyFactory();
    ChannelID id = 0;
    const EventChannel_var brief = factory->create_channel({}, {}, id);
    const CosNotifyFilter::Filter_var others =
        filter("$number > 0", brief->default_filter_factory());
    const auto proxy = pulling();
    const int there = folder_.ask("SELECT count(*) FROM object");
    EXPECT_THROW((void)proxy->add_filter(others.in()), CORBA::BAD_PARAM);
    proxy->set_qos(connection(BestEffort));
    (void)proxy->add_filter(others.in());
    EXPECT_THROW(proxy->set_qos(connection(Persistent)), CORBA::BAD_PARAM);
    proxy->remove_all_filters();
    proxy->set_qos(connection(Persistent));
    EXPECT_EQ(there, folder_.ask("SELECT count(*) FROM object"));
}

TEST_F(KeptChannels, LetOnlySoManyWaitForTheStore)
{
    const auto kept = pulling();
    const StructuredProxyPushConsumer_var from = supplier();
    limits_.store_waiting_max = 1;
    begin_again();
    troubles_.is_slow = true;
    std::thread waits([&from] { from->push_structured_event(event_of("Lab", "Reading", 1)); });
    troubles_.is_at_work.wait(false);
    EXPECT_THROW(from->push_structured_event(event_of("Lab", "Reading", 2)), CORBA::TRANSIENT);
    troubles_.is_slow = false;
    troubles_.is_slow.notify_all();
    waits.join();
    from->push_structured_event(event_of("Lab", "Reading", 3));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 3}), pulled(kept.in()));
}

TEST_F(KeptChannels, ServeManyAtOnce)
{
    constexpr CORBA::Long suppliers = 4;
    constexpr CORBA::Long each = 25;
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const StructuredProxyPushSupplier_var proxy = connect(consumer.in());
    std::vector<StructuredProxyPushConsumer_var> proxies;
    for (CORBA::Long which = 0; which < suppliers; ++which)
        proxies.push_back(supplier());
    std::vector<std::thread> threads;
    for (CORBA::Long which = 0; which < suppliers; ++which)
        threads.emplace_back([&proxies, which] {
            const StructuredProxyPushConsumer_var& from = proxies[static_cast<std::size_t>(which)];
            for (CORBA::Long i = 0; i < each; ++i)
                from->push_structured_event(event_of("Lab", "Reading", which * each + i));
        });
    for (int i = 0; i < 10; ++i) { // others come and go meanwhile
        const auto brief = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
        brief->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
        brief->disconnect_structured_pull_supplier();
    }
    for (std::thread& thread : threads)
        thread.join();
    const std::size_t all = static_cast<std::size_t>(suppliers) * each;
    ASSERT_TRUE(consumer->has(all));
    std::vector<CORBA::Long> numbers = consumer->all();
    std::vector<CORBA::Long> last(suppliers, -1);
    for (const CORBA::Long number : numbers) {
        CORBA::Long& before = last[static_cast<std::size_t>(number / each)];
        EXPECT_LT(before, number); // those of one supplier in their order, each once
        before = number;
    }
    EXPECT_EQ(all, numbers.size());
    proxy->disconnect_structured_push_supplier();
    begin_again(); // what was under way when it ended goes now
    service_.reset();
    EXPECT_EQ(0, folder_.ask("SELECT count(*) FROM event"));
}

TEST_F(KeptChannels, SayWhenThereIsNoRoom)
{
    const auto kept = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    kept->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const StructuredProxyPushConsumer_var from = supplier();
    begin_again(40);
    StructuredEvent event = event_of("Lab", "Reading", 0);
    event.remainder_of_body <<= std::string(9000, 'x').c_str();
    int taken = 0;
    bool was_full = false;
    while (!was_full && taken < 1000) {
        try {
            from->push_structured_event(event);
            ++taken;
        } catch (const CORBA::NO_RESOURCES& raised) {
            was_full = true;
            EXPECT_EQ(CORBA::COMPLETED_NO, raised.completed());
        }
    }
    EXPECT_TRUE(was_full);
    EXPECT_GT(taken, 3);
    EXPECT_EQ(taken, folder_.ask("SELECT count(*) FROM event"));
    EXPECT_TRUE(log_.wait_for("database or disk is full"));
    // What need not be kept goes on.
    event.header.variable_header.length(1);
    event.header.variable_header[0].name = EventReliability;
    event.header.variable_header[0].value <<= BestEffort;
    from->push_structured_event(event);
    for (int i = 0; i < taken + 1; ++i)
        (void)StructuredEvent_var(kept->pull_structured_event());
    CORBA::Boolean has_event = true;
    (void)StructuredEvent_var(kept->try_pull_structured_event(has_event)); // says that all is there
    EXPECT_FALSE(has_event);
    event.header.variable_header.length(0);
    from->push_structured_event(
        event); // there is room again: what was before it in the queue is out
    EXPECT_EQ(1, folder_.ask("SELECT count(*) FROM event"));
}

TEST_F(KeptChannels, SayWhenTheStoreIsBroken)
{
    const auto kept = to_consumer<StructuredProxyPullSupplier>(STRUCTURED_EVENT, true);
    kept->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    const StructuredProxyPushConsumer_var from = supplier();
    from->push_structured_event(event_of("Lab", "Reading", 1));
    from->push_structured_event(event_of("Lab", "Reading", 2));
    (void)folder_.ask("ALTER TABLE event RENAME TO elsewhere");
    EXPECT_THROW(from->push_structured_event(event_of("Lab", "Reading", 3)), CORBA::PERSIST_STORE);
    EXPECT_TRUE(log_.wait_for("notify: the store " + folder_.file()));
    (void)folder_.ask("ALTER TABLE elsewhere RENAME TO event");
    from->push_structured_event(event_of("Lab", "Reading", 4));

    service_.reset();
    (void)folder_.ask(
        "UPDATE event SET state = x'01ff' WHERE number = 1"); // which nobody wrote like this
    begin();
    EXPECT_TRUE(log_.wait_for("1 events that cannot be read"));
    EXPECT_EQ(2, number_in(StructuredEvent_var(kept->pull_structured_event()).in()));
    EXPECT_EQ(4, number_in(StructuredEvent_var(kept->pull_structured_event()).in()));
    service_.reset();
    EXPECT_EQ(1, folder_.ask("SELECT count(*) FROM event WHERE number = 1")); // it stays
    (void)folder_.ask("UPDATE object SET state = x'0100ff'");
    EXPECT_THROW(begin(), CORBA::PERSIST_STORE);
    service_.reset();
    (void)folder_.ask("PRAGMA user_version = 9");
    EXPECT_EQ(nullptr, folder_.open());
    std::ofstream(folder_.file(), std::ios::trunc) << std::string(10'000, 'x');
    EXPECT_EQ(nullptr, folder_.open());
}

TEST_F(KeptChannels, SayThatOthersHaveTheStore)
{
    const auto kept = pulling();
    const StructuredProxyPushConsumer_var from = supplier();
    sqlite3* other = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(folder_.file().c_str(), &other));
    ASSERT_EQ(SQLITE_OK, sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr));
    try {
        from->push_structured_event(event_of("Lab", "Reading", 1));
        ADD_FAILURE() << "who has that?";
    } catch (const CORBA::TRANSIENT& raised) {
        EXPECT_EQ(CORBA::COMPLETED_NO, raised.completed());
    }
    EXPECT_EQ(SQLITE_OK, sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr));
    sqlite3_close(other);
    from->push_structured_event(event_of("Lab", "Reading", 2));
    EXPECT_EQ((std::vector<CORBA::Long>{2}), pulled(kept.in()));
}

/// What makes room has some: the store's reserve.
TEST(EventStores, AreEmptiedOnAFullDisk)
{
    using notification::StoreChange;
    using notification::StoreStatus;
    using Action = StoreChange::Action;
    const Folder folder;
    const auto store = folder.open();
    notification::Stored none;
    ASSERT_EQ(StoreStatus::done, store->load(none));
    const sqlite::SmallDisk disk(std::filesystem::path(folder.file()).parent_path(),
                                 std::size_t{9} << 20); // the reserve, and 1 MiB
    const auto add = [&store](std::uint64_t number) {
        const StoreChange changes[] = {
            {.action = Action::add_event, .key = number, .state = std::string(500, 'x')},
            {.action = Action::add_waiting, .key = 1, .other = number}};
        return store->write(changes, true);
    };
    std::uint64_t last = 0;
    StoreStatus status = StoreStatus::done;
    while (status == StoreStatus::done && last < 10'000)
        status = add(++last);
    ASSERT_EQ(StoreStatus::full, status);
    ASSERT_GT(last, 100U);
    EXPECT_EQ(StoreStatus::full, add(last));
    for (std::uint64_t number = 1; number < last; ++number) {
        const StoreChange changes[] = {{.action = Action::erase_waiting, .key = 1, .other = number},
                                       {.action = Action::erase_event, .key = number}};
        ASSERT_EQ(StoreStatus::done, store->write(changes, false)) << number << " of " << last;
    }
    for (std::uint64_t number = 1; number < last / 2; ++number)
        ASSERT_EQ(StoreStatus::done, add(number)) << number;
}

} // namespace
} // namespace kairos::eventstore
