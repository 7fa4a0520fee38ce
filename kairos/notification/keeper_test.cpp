// SPDX-License-Identifier: Apache-2.0
//
// Who writes into a store that has no room, fails, hangs, or does so for one of those that wait;
// and what channels make of that. Over a store in memory.
#include "kairos/corba/ior_table.h"
#include "kairos/events/CosEventChannelAdmin.h"
#include "kairos/notification/keeper.h"
#include "kairos/notification/notification_testing.h"
#include "kairos/notification/store_testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace kairos::notification {
namespace {

using namespace CosNotification;
using namespace CosNotifyChannelAdmin;
using PortableServer::Servant_var;
using Action = StoreChange::Action;

NotificationLimits limits_of_keepers()
{
    NotificationLimits limits;
    limits.call_timeout = events::patience;
    limits.store_patience = events::patience;
    limits.retry_pause = std::chrono::milliseconds(1);
    limits.poll_interval = std::chrono::milliseconds(5);
    return limits;
}

constexpr std::uint64_t bad = 13; // an object's key

bool is_about(Rows::Changes changes, std::uint64_t object, Action action)
{
    return std::ranges::any_of(
        changes, [&](const StoreChange& one) { return one.action == action && one.key == object; });
}
StoreStatus has_no_room(Rows::Changes changes)
{
    return std::ranges::all_of(changes, &StoreChange::makes_room) ? StoreStatus::done
                                                                  : StoreStatus::full;
}
StoreStatus is_broken(Rows::Changes) { return StoreStatus::broken; }

// --- Who writes ----------------------------------------------------------------------------------

/// Events that are entered one after the other while the store takes its time with the first.
class Keepers : public ::testing::Test {
  protected:
    struct Entered {
        explicit Entered(const std::shared_ptr<Keeper>& keeper) : keeping(keeper) {}
        Keeper::Keeping keeping;
        std::vector<NotificationPtr> claims;
    };
    ~Keepers() override
    {
        rows_.judge(nullptr);
        rows_.open();
        keeper_->close();
        entered_.clear();
    }

    [[nodiscard]] std::unique_ptr<Entered> event_for(std::uint64_t object) const
    {
        auto made = std::make_unique<Entered>(keeper_);
        const auto event = std::make_shared<Notification>(events::event_of(1), EventDefaults{});
        made->claims = made->keeping.add(event, std::span(&object, 1));
        return made;
    }
    void enter(std::uint64_t object)
    {
        entered_.push_back(event_for(object));
        keeper_->begin_to_keep(entered_.back()->keeping,
                               [this] { notes_.change([this] { ++over_; }); });
    }
    /// The store has one, and waits; all others are to come.
    void begin_together(const std::vector<std::uint64_t>& objects)
    {
        rows_.close();
        enter(1);
        rows_.wait_for_writer();
        for (const std::uint64_t object : objects)
            enter(object);
    }
    void end_together()
    {
        rows_.open();
        EXPECT_TRUE(notes_.wait([this] { return over_ == entered_.size(); }));
    }
    template <typename Raised>
    [[nodiscard]] bool has_raised(std::size_t which)
    {
        try {
            (void)keeper_->is_kept(entered_[which]->keeping);
            return false;
        } catch (const Raised&) {
            return true;
        }
    }

    const events::TestOrb orb_;
    Rows rows_;
    NotificationLimits limits_ = limits_of_keepers();
    std::shared_ptr<Keeper> keeper_ =
        std::make_shared<Keeper>(std::make_unique<MemoryStore>(rows_), orb_.in(), limits_);
    events::Notes notes_;
    std::size_t over_ = 0;
    std::vector<std::unique_ptr<Entered>> entered_;
};

TEST_F(Keepers, MakeAllDurableTogetherThatHasCome)
{
    begin_together({2, 3, 4});
    end_together();
    EXPECT_EQ((std::vector<std::size_t>{2, 6}), rows_.sizes());
    for (const auto& one : entered_)
        EXPECT_TRUE(keeper_->is_kept(one->keeping));
    EXPECT_EQ((std::set<std::uint64_t>{1, 2, 3, 4}), rows_.objects_that_wait());
}

TEST_F(Keepers, GiveEachItsOwnAnswerWhereOneIsAtFault)
{
    rows_.judge([](Rows::Changes changes) {
        return is_about(changes, bad, Action::add_waiting) ? StoreStatus::broken
                                                           : StoreStatus::done;
    });
    begin_together({2, bad, 4});
    end_together();
    EXPECT_TRUE(keeper_->is_kept(entered_[1]->keeping));
    EXPECT_TRUE(has_raised<CORBA::PERSIST_STORE>(2));
    EXPECT_TRUE(keeper_->is_kept(entered_[3]->keeping));
    EXPECT_EQ((std::set<std::uint64_t>{1, 2, 4}), rows_.objects_that_wait());
}

TEST_F(Keepers, TryAFewWhereThereIsNoRoom)
{
    constexpr std::size_t many = 100;
    rows_.close();
    enter(1);
    rows_.wait_for_writer();
    rows_.judge(has_no_room);
    for (std::size_t i = 0; i < many; ++i)
        enter(i + 2);
    keeper_->write_later({.action = Action::erase_event, .key = 77});
    end_together();
    for (std::size_t i = 1; i <= many; ++i)
        EXPECT_TRUE(has_raised<CORBA::NO_RESOURCES>(i)) << i;
    // The first, all, what makes room, and then not each of them.
    const std::vector<std::size_t> sizes = rows_.sizes();
    ASSERT_GE(sizes.size(), 3U);
    EXPECT_EQ(2 * many + 1, sizes[1]);
    EXPECT_EQ(1U, sizes[2]);
    EXPECT_LE(sizes.size(), 10U);
}

/// Its end was entered behind it, and goes first.
TEST_F(Keepers, EnterNoObjectThatHasEnded)
{
    constexpr std::uint64_t ended = 5;
    rows_.close();
    enter(1);
    rows_.wait_for_writer();
    rows_.judge([](Rows::Changes changes) { // once the writer goes on
        return changes.size() == 1 || is_about(changes, 1, Action::add_waiting) ? StoreStatus::done
                                                                                : StoreStatus::full;
    });
    std::atomic<bool> saves{false};
    std::thread saving([&] {
        keeper_->save([&] {
            saves = true;
            saves.notify_all();
            return StoreChange{.action = Action::put_object, .key = ended, .other = 1};
        });
    });
    saves.wait(false);
    keeper_->forget_later([] { return ended; }); // which waits until that is entered
    end_together();
    saving.join();
    keeper_->close();
    EXPECT_EQ(2U, rows_.sizes()[1]); // both, in vain
    Stored all;
    rows_.load(all);
    EXPECT_TRUE(all.objects.empty());
}

TEST_F(Keepers, TellAllWhereOthersHaveTheStore)
{
    rows_.close();
    enter(1);
    rows_.wait_for_writer();
    rows_.judge([](Rows::Changes) { return StoreStatus::busy; });
    for (const std::uint64_t object : {2U, 3U, 4U})
        enter(object);
    end_together();
    EXPECT_EQ(2U, rows_.sizes().size()); // nobody is tried alone
    for (const std::size_t which : {1U, 2U, 3U})
        EXPECT_TRUE(has_raised<CORBA::TRANSIENT>(which)) << which;
}

TEST_F(Keepers, EraseWhatCanBeErasedAndServeOthersMeanwhile)
{
    rows_.judge([](Rows::Changes changes) {
        return is_about(changes, bad, Action::erase_waiting) ? StoreStatus::broken
                                                             : StoreStatus::done;
    });
    begin_together({bad, 2, 3, 4, 5});
    end_together();
    for (const auto& one : entered_)
        EXPECT_TRUE(keeper_->is_kept(one->keeping));
    for (std::size_t i = 1; i < 6; ++i) // whose rows go, later
        entered_[i].reset();
    const auto other = event_for(6);
    keeper_->keep(other->keeping);
    rows_.wait_for_events(2); // that of 1, and this
    EXPECT_EQ((std::set<std::uint64_t>{1, 6, bad}), rows_.objects_that_wait());
    keeper_->close(); // which does not wait for what cannot be done
    entered_.clear();
}

class ImpatientKeepers : public Keepers {
  protected:
    ImpatientKeepers()
    {
        limits_.store_patience = std::chrono::milliseconds(20);
        keeper_ =
            std::make_shared<Keeper>(std::make_unique<MemoryStore>(rows_), orb_.in(), limits_);
    }
    /// What is said of the first that the thread has begun with, however busy this machine is.
    [[nodiscard]] CORBA::CompletionStatus completion_of_one() const
    {
        for (;;) {
            const auto one = event_for(1);
            try {
                keeper_->keep(one->keeping);
                return CORBA::COMPLETED_YES;
            } catch (const CORBA::PERSIST_STORE& raised) {
                return raised.completed();
            } catch (const CORBA::TRANSIENT&) {
                std::this_thread::yield();
            }
        }
    }
};

TEST_F(ImpatientKeepers, LetNobodyWaitForAStoreThatHangs)
{
    rows_.close();
    EXPECT_EQ(CORBA::COMPLETED_MAYBE, completion_of_one());
    const auto second = event_for(2);
    EXPECT_THROW(keeper_->keep(second->keeping), CORBA::TRANSIENT); // at once
    EXPECT_THROW(keeper_->begin_to_keep(event_for(3)->keeping, [] {}), CORBA::TRANSIENT);
    rows_.open();
    rows_.wait_for_attempts(1);
    rows_.wait_for_events(0); // of what was written after all nobody knows
    while (completion_of_one() != CORBA::COMPLETED_YES) // as soon as this machine is so quick
        rows_.wait_for_events(0);
}

// --- Channels ------------------------------------------------------------------------------------

QoSProperties persistent()
{
    QoSProperties qos;
    qos.length(2);
    qos[0].name = EventReliability;
    qos[0].value <<= Persistent;
    qos[1].name = ConnectionReliability;
    qos[1].value <<= Persistent;
    return qos;
}

/// Has numbers for whoever asks, in batches.
class Batches final : public POA_CosNotifyComm::SequencePullSupplier {
  public:
    explicit Batches(CORBA::Long count) : count_(count) {}
    EventBatch* pull_structured_events(CORBA::Long) override { throw CORBA::NO_IMPLEMENT(); }
    EventBatch* try_pull_structured_events(CORBA::Long max, CORBA::Boolean_out has_event) override
    {
        EventBatch_var batch = new EventBatch;
        const CORBA::Long length = std::min(max, count_ - last_);
        has_event = length != 0;
        batch->length(static_cast<CORBA::ULong>(length));
        for (CORBA::ULong i = 0; i < batch->length(); ++i)
            batch[i] = event_of("Lab", "Reading", ++last_);
        return batch._retn();
    }
    void disconnect_sequence_pull_supplier() override {}
    void subscription_change(const EventTypeSeq&, const EventTypeSeq&) override {}

  private:
    const CORBA::Long count_;
    std::atomic<CORBA::Long> last_{0}; // of the one who asks
};

class TroubledChannels : public ::testing::Test {
  protected:
    TroubledChannels()
    {
        limits_.quick_threads = limits_.fresh_threads = limits_.patient_threads = 1;
        begin();
    }
    ~TroubledChannels() override
    {
        rows_.judge(nullptr);
        rows_.open();
        service_.reset();
    }
    void begin()
    {
        service_.emplace(server_.in(), limits_, std::make_unique<MemoryStore>(rows_));
        lab_ = create("Lab", persistent());
    }
    void begin_again()
    {
        service_.reset();
        begin();
    }
    [[nodiscard]] KairosNotification::Channel_var create(const char* name, const QoSProperties& qos)
    {
        const auto made = KairosNotification::Channel_var(service_->create_channel(name, qos));
        return clients_.here<KairosNotification::Channel>(made.in(), server_.in());
    }
    [[nodiscard]] StructuredProxyPullSupplier_var pulling()
    {
        const ConsumerAdmin_var admin = lab_->default_consumer_admin();
        const ProxySupplier_var made =
            admin->obtain_notification_pull_supplier(STRUCTURED_EVENT, id_);
        auto proxy =
            StructuredProxyPullSupplier_var(StructuredProxyPullSupplier::_narrow(made.in()));
        proxy->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
        return proxy;
    }
    StructuredProxyPushSupplier_var connect(const KairosNotification::Channel_var& channel,
                                            StructuredConsumer* consumer)
    {
        const ConsumerAdmin_var admin = channel->default_consumer_admin();
        const ProxySupplier_var made =
            admin->obtain_notification_push_supplier(STRUCTURED_EVENT, id_);
        auto proxy =
            StructuredProxyPushSupplier_var(StructuredProxyPushSupplier::_narrow(made.in()));
        const auto object = clients_.activate<CosNotifyComm::StructuredPushConsumer>(consumer);
        proxy->connect_structured_push_consumer(object.in());
        return proxy;
    }
    [[nodiscard]] StructuredProxyPushConsumer_var
    supplier(const KairosNotification::Channel_var& channel)
    {
        const SupplierAdmin_var admin = channel->default_supplier_admin();
        const ProxyConsumer_var made =
            admin->obtain_notification_push_consumer(STRUCTURED_EVENT, id_);
        auto proxy =
            StructuredProxyPushConsumer_var(StructuredProxyPushConsumer::_narrow(made.in()));
        proxy->connect_structured_push_supplier(CosNotifyComm::StructuredPushSupplier::_nil());
        return proxy;
    }
    /// The channel asks it.
    void poll(events::PullSupplierServant* servant)
    {
        const SupplierAdmin_var admin = lab_->default_supplier_admin();
        const ProxyConsumer_var made = admin->obtain_notification_pull_consumer(ANY_EVENT, id_);
        const auto proxy = ProxyPullConsumer_var(ProxyPullConsumer::_narrow(made.in()));
        proxy->connect_any_pull_supplier(
            clients_.activate<CosEventComm::PullSupplier>(servant).in());
    }
    /// What is pulled, as far as it is there or comes.
    [[nodiscard]] static std::vector<CORBA::Long> pull(StructuredProxyPullSupplier_ptr from,
                                                       std::size_t count)
    {
        std::vector<CORBA::Long> all;
        for (std::size_t i = 0; i < count; ++i)
            all.push_back(number_in(StructuredEvent_var(from->pull_structured_event()).in()));
        return all;
    }

    events::LogLines log_; // before there is a thread that logs
    Rows rows_;
    NotificationLimits limits_ = limits_of_keepers();
    events::TestOrb server_;
    events::TestOrb clients_;
    std::optional<NotificationService> service_;
    KairosNotification::Channel_var lab_;
    ProxyID id_ = 0;
};

TEST_F(TroubledChannels, DelayNobodysEventsForWhatIsPulled)
{
    const auto kept = pulling();
    const KairosNotification::Channel_var brief = create("Brief", {});
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(brief, consumer.in());
    const auto from = supplier(brief);
    const Servant_var<events::PullSupplierServant> polled = new events::PullSupplierServant;
    poll(polled.in());
    rows_.close();
    polled->add(1);
    rows_.wait_for_writer();
    for (const CORBA::Long number : {1, 2, 3})
        from->push_structured_event(event_of("Lab", "Brief", number));
    EXPECT_TRUE(consumer->are({1, 2, 3}));
    rows_.open();
    EXPECT_EQ((std::vector<CORBA::Long>{1}), pull(kept.in(), 1));
}

TEST_F(TroubledChannels, KeepWhatTheyHavePulledUntilTheStoreTakesIt)
{
    const auto kept = pulling();
    const Servant_var<events::PullSupplierServant> polled = new events::PullSupplierServant;
    poll(polled.in());
    rows_.judge(is_broken);
    (void)rows_.sizes();
    for (const CORBA::Long number : {1, 2})
        polled->add(number);
    rows_.wait_for_attempts(3);
    rows_.judge(has_no_room);
    (void)rows_.sizes();
    polled->add(3);
    rows_.wait_for_attempts(3);
    rows_.judge(nullptr);
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3}), pull(kept.in(), 3));
}

TEST_F(TroubledChannels, KeepABatchInOneChange)
{
    const auto kept = pulling();
    const SupplierAdmin_var admin = lab_->default_supplier_admin();
    const ProxyConsumer_var made = admin->obtain_notification_pull_consumer(SEQUENCE_EVENT, id_);
    const auto pulls = SequenceProxyPullConsumer_var(SequenceProxyPullConsumer::_narrow(made.in()));
    QoSProperties qos;
    qos.length(1);
    qos[0].name = MaximumBatchSize;
    qos[0].value <<= CORBA::Long(4);
    pulls->set_qos(qos);
    const Servant_var<Batches> batches = new Batches(6);
    const auto object = clients_.activate<CosNotifyComm::SequencePullSupplier>(batches.in());
    (void)rows_.sizes();
    pulls->connect_sequence_pull_supplier(object.in());
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4, 5, 6}), pull(kept.in(), 6));
    EXPECT_LE(1, std::ranges::count(rows_.sizes(), 8U)); // four events, each for one

    const ProxyConsumer_var pushed = admin->obtain_notification_push_consumer(SEQUENCE_EVENT, id_);
    const auto pushes =
        SequenceProxyPushConsumer_var(SequenceProxyPushConsumer::_narrow(pushed.in()));
    pushes->connect_sequence_push_supplier(CosNotifyComm::SequencePushSupplier::_nil());
    EventBatch batch;
    for (const CORBA::Long number : {7, 8, 9}) {
        batch.length(batch.length() + 1);
        batch[batch.length() - 1] = event_of("Lab", "Reading", number);
    }
    batch[1].header.variable_header.length(1);
    batch[1].header.variable_header[0].name = EventReliability;
    batch[1].header.variable_header[0].value <<= BestEffort;
    pushes->push_structured_events(batch);
    EXPECT_EQ((std::vector<CORBA::Long>{7, 8, 9}), pull(kept.in(), 3)); // in their order
    rows_.judge(is_broken);
    try {
        pushes->push_structured_events(batch);
        ADD_FAILURE() << "two of them are not kept";
    } catch (const CORBA::PERSIST_STORE& raised) {
        EXPECT_EQ(CORBA::COMPLETED_MAYBE, raised.completed());
    }
    EXPECT_EQ((std::vector<CORBA::Long>{8}), pull(kept.in(), 1)); // best effort goes on
    rows_.judge(nullptr);
}

TEST_F(TroubledChannels, TakeAChangeAgainThatCouldNotBeWritten)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(lab_, consumer.in());
    const CosNotifyFilter::FilterFactory_var factory = lab_->default_filter_factory();
    const CosNotifyFilter::Filter_var filter = factory->create_filter("EXTENDED_TCL");
    CosNotifyFilter::ConstraintExpSeq constraints;
    constraints.length(1);
    constraints[0].constraint_expr = "$number > 1";
    const CosNotifyFilter::FilterID attached = proxy->add_filter(filter.in());

    rows_.judge(is_broken);
    EXPECT_THROW(proxy->suspend_connection(), CORBA::PERSIST_STORE);
    EXPECT_THROW((void)proxy->add_filter(filter.in()), CORBA::PERSIST_STORE);
    EXPECT_EQ(1U, CosNotifyFilter::FilterIDSeq_var(proxy->get_all_filters())->length());
    EXPECT_THROW(proxy->remove_filter(attached), CORBA::PERSIST_STORE);
    EXPECT_EQ(1U, CosNotifyFilter::FilterIDSeq_var(proxy->get_all_filters())->length());
    EXPECT_THROW((void)filter->add_constraints(constraints), CORBA::PERSIST_STORE);
    EXPECT_EQ(0U, CosNotifyFilter::ConstraintInfoSeq_var(filter->get_all_constraints())->length());
    EXPECT_THROW((void)proxy->obtain_offered_types(ALL_NOW_UPDATES_OFF), CORBA::PERSIST_STORE);
    rows_.judge(nullptr);
    proxy->suspend_connection();
    EXPECT_THROW(proxy->suspend_connection(), ConnectionAlreadyInactive);
    proxy->remove_filter(attached);
    EXPECT_THROW(proxy->remove_filter(attached), CosNotifyFilter::FilterNotFound);

    begin_again();
    EXPECT_THROW(proxy->suspend_connection(), ConnectionAlreadyInactive);
    EXPECT_EQ(0U, CosNotifyFilter::FilterIDSeq_var(proxy->get_all_filters())->length());
}

TEST_F(TroubledChannels, ConnectWhoAsksAgain)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto object = clients_.activate<CosNotifyComm::StructuredPushConsumer>(consumer.in());
    const ConsumerAdmin_var admin = lab_->default_consumer_admin();
    const ProxySupplier_var made = admin->obtain_notification_push_supplier(STRUCTURED_EVENT, id_);
    const auto proxy =
        StructuredProxyPushSupplier_var(StructuredProxyPushSupplier::_narrow(made.in()));
    rows_.judge(has_no_room);
    EXPECT_THROW(proxy->connect_structured_push_consumer(object.in()), CORBA::NO_RESOURCES);
    EXPECT_THROW(proxy->suspend_connection(), NotConnected);
    rows_.judge(nullptr);
    proxy->connect_structured_push_consumer(object.in());
    EXPECT_THROW(proxy->connect_structured_push_consumer(object.in()),
                 CosEventChannelAdmin::AlreadyConnected);
    supplier(lab_)->push_structured_event(event_of("Lab", "Reading", 1));
    EXPECT_TRUE(consumer->are({1}));
}

TEST_F(TroubledChannels, AreThereWhereTheirNamesAreOthers)
{
    const KairosNotification::Channel_var other = create("Other", persistent());
    const ConsumerAdmin_var of_other = other->default_consumer_admin();
    service_.reset();
    const CORBA::Object_var initial = server_->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(initial.in());
    table->bind("Other", "corbaloc::127.0.0.1:9/Elsewhere");
    begin();
    EXPECT_TRUE(log_.wait_for("the name of the channel Other is in use"));
    EXPECT_STREQ("Other", CORBA::String_var(other->name()));
    EXPECT_EQ(0, of_other->MyID());
    table->unbind("Other");
}

/// What a consumer has answered when the service ends it does not get again.
TEST_F(TroubledChannels, EndWhenTheCallsUnderWayHaveEnded)
{
    const Servant_var<StructuredConsumer> consumer = new StructuredConsumer;
    const auto proxy = connect(lab_, consumer.in());
    const auto from = supplier(lab_);
    consumer->close();
    for (const CORBA::Long number : {1, 2})
        from->push_structured_event(event_of("Lab", "Reading", number));
    ASSERT_TRUE(consumer->is_called());
    std::thread ends([this] { service_->begin_to_end(); });
    for (;;) { // until it has begun to
        try {
            (void)QoSProperties_var(lab_->get_qos());
        } catch (const CORBA::TRANSIENT&) {
            break;
        }
    }
    consumer->open();
    ends.join();
    EXPECT_EQ((std::vector<CORBA::Long>{1}), consumer->all());
    begin_again();
    EXPECT_TRUE(consumer->are({1, 2}));
    from->push_structured_event(event_of("Lab", "Reading", 3));
    EXPECT_TRUE(consumer->are({1, 2, 3}));
}

} // namespace
} // namespace kairos::notification
