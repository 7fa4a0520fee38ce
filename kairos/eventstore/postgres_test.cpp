// SPDX-License-Identifier: Apache-2.0
//
// Channels that are kept in a database: what is there after the owner was killed, who becomes the
// owner, who is one no more, and what happens while the database is away.
#include "kairos/eventstore/postgres_store.h"

#include "kairos/eventstore/killed_testing.h"
#include "kairos/eventstore/open_store.h"
#include "kairos/eventstore/shares_testing.h"
#include "kairos/postgres/postgres_testing.h"

#include <atomic>
#include <optional>
#include <thread>

namespace kairos::eventstore {
namespace {

using notification::event_of;
using notification::Store;
using notification::StoreChange;
using notification::Stored;
using notification::StoreStatus;
using Action = StoreChange::Action;

/// No machine is so slow.
constexpr std::chrono::milliseconds long_time{100'000};

/// One that waits for the owner's end as long as it takes.
PostgresOptions patient_options(const postgres::Schema& schema)
{
    return {.url = schema.url(),
            .timeout = long_time,
            .opening_timeout = long_time,
            .watch_interval = long_time,
            .stand_by =
                [] {
                    std::this_thread::yield();
                    return true;
                },
            .lost = {}};
}
std::unique_ptr<Store> opened(const PostgresOptions& options)
{
    auto store = open_postgres_store(options);
    if (!store) throw std::runtime_error(store.error().reason);
    return std::move(store).value();
}

/// An event that waits for an object.
std::vector<StoreChange> event_for(std::uint64_t object, std::uint64_t number)
{
    return {{.action = Action::add_event, .key = number, .state = std::string("e\0\xff", 3)},
            {.action = Action::add_waiting, .key = object, .other = number}};
}

// --- Killed, before this process has threads -----------------------------------------------------

TEST(KilledOwner, HasWhatItHasAcknowledged)
{
    const postgres::Schema schema;
    keep_what_was_acknowledged([&schema] { return opened(patient_options(schema)); });
}

// --- The store -----------------------------------------------------------------------------------

class OwnedChannels : public ::testing::Test {
  protected:
    [[nodiscard]] std::int64_t events() const
    {
        return schema_.execute("SELECT count(*) FROM kairos_channel_event");
    }
    /// Options of one that is told when it is lost.
    [[nodiscard]] PostgresOptions options()
    {
        PostgresOptions options = patient_options(schema_);
        options.lost = [this] {
            ++lost_;
            lost_.notify_all();
        };
        return options;
    }

    const postgres::Schema schema_;
    std::atomic<int> lost_{0};
};

TEST_F(OwnedChannels, HaveWhatWasWritten)
{
    {
        const auto store = opened(options());
        Stored none;
        ASSERT_EQ(StoreStatus::done, store->load(none));
        EXPECT_TRUE(none.objects.empty() && none.events.empty() && none.waits.empty());
        const std::string large(3'000'000, 'x'); // more than one portion has
        std::vector<StoreChange> changes;
        for (const std::uint64_t key : {2, 1, 3})
            changes.push_back({.action = Action::put_object, .key = key, .other = 1, .state = "a"});
        changes.push_back({.action = Action::put_object, .key = 4, .other = 4, .state = large});
        changes.push_back({.action = Action::put_object, .key = 5, .other = 4, .state = large});
        changes.push_back({.action = Action::put_object, .key = 2, .other = 1, .state = ""});
        ASSERT_EQ(StoreStatus::done, store->write(changes, true));
        for (const std::uint64_t number : {7, 8, 9})
            ASSERT_EQ(StoreStatus::done, store->write(event_for(2, number), number != 8));
        const StoreChange more[] = {{.action = Action::erase_waiting, .key = 2, .other = 7},
                                    {.action = Action::erase_waiting, .key = 2, .other = 70},
                                    {.action = Action::erase_event, .key = 7},
                                    {.action = Action::add_waiting, .key = 3, .other = 9},
                                    {.action = Action::erase_object, .key = 3}};
        ASSERT_EQ(StoreStatus::done, store->write(more, false));
    }
    const auto store = opened(options());
    Stored all;
    ASSERT_EQ(StoreStatus::done, store->load(all));
    ASSERT_EQ(4U, all.objects.size());
    EXPECT_EQ(2U, all.objects[1].key);
    EXPECT_EQ(1U, all.objects[1].channel);
    EXPECT_EQ("", all.objects[1].state);
    EXPECT_EQ(3'000'000U, all.objects[3].state.size());
    ASSERT_EQ(2U, all.events.size());
    EXPECT_EQ(8U, all.events[0].number);
    EXPECT_EQ(std::string("e\0\xff", 3), all.events[0].state);
    ASSERT_EQ(2U, all.waits.size());
    EXPECT_EQ(2U, all.waits[1].object);
    EXPECT_EQ(9U, all.waits[1].event);
    const StoreChange end[] = {{.action = Action::erase_channel, .key = 1}};
    ASSERT_EQ(StoreStatus::done, store->write(end, true));
    EXPECT_EQ(2, schema_.execute("SELECT count(*) FROM kairos_channel_object"));
    EXPECT_EQ(0, schema_.execute("SELECT count(*) FROM kairos_channel_waiting"));
}

TEST_F(OwnedChannels, AreOneServicesUntilItEnds)
{
    std::unique_ptr<Store> first = opened(options());
    ASSERT_EQ(StoreStatus::done, first->write(event_for(1, 1), true));
    PostgresOptions impatient = options();
    impatient.timeout = std::chrono::milliseconds(2000);
    impatient.stand_by = {};
    const auto refused = open_postgres_store(impatient);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(ErrorCode::closed, refused.error().code);
    EXPECT_NE(std::string::npos, refused.error().reason.find("another notification service"));
    impatient.stand_by = [] { return false; };
    EXPECT_FALSE(open_postgres_store(impatient).ok());

    std::atomic<bool> stands_by{false};
    PostgresOptions patient = options();
    patient.stand_by = [&stands_by] {
        stands_by = true;
        stands_by.notify_all();
        return true;
    };
    std::unique_ptr<Store> second;
    std::thread waiting([&] { second = opened(patient); });
    stands_by.wait(false);
    ASSERT_EQ(StoreStatus::done, first->write(event_for(1, 2), true));
    first.reset();
    waiting.join();
    Stored all;
    ASSERT_EQ(StoreStatus::done, second->load(all));
    EXPECT_EQ(2U, all.events.size());
    EXPECT_EQ(0, lost_);
}

TEST_F(OwnedChannels, AreWrittenByNobodyWhoHasLostThem)
{
    const auto first = opened(options());
    ASSERT_EQ(StoreStatus::done, first->write(event_for(1, 1), true));
    std::unique_ptr<Store> second;
    std::atomic<bool> stands_by{false};
    PostgresOptions patient = patient_options(schema_);
    patient.stand_by = [&stands_by] {
        stands_by = true;
        stands_by.notify_all();
        return true;
    };
    std::thread waiting([&] { second = opened(patient); });
    stands_by.wait(false);
    schema_.end_connections(); // the owner's, too, which does not look after it by itself
    waiting.join();
    EXPECT_EQ(0, lost_);
    EXPECT_EQ(StoreStatus::busy, first->write(event_for(1, 2), true));
    EXPECT_EQ(1, lost_);
    EXPECT_EQ(StoreStatus::busy, first->write(event_for(1, 3), true));
    EXPECT_EQ(1, lost_);
    EXPECT_EQ(1, events());
    EXPECT_EQ(StoreStatus::done, second->write(event_for(1, 4), true));
    EXPECT_EQ(2, events());
}

/// Who stands by, and cannot take them over, is not in the way of others.
TEST_F(OwnedChannels, AreLeftToOthersByWhoCannotHaveThem)
{
    opened(options()).reset();
    schema_.execute("ALTER TABLE kairos_channel_event RENAME TO elsewhere");
    PostgresOptions unlucky = options();
    unlucky.stand_by = [this] {
        const std::int64_t owners = schema_.execute("SELECT owner FROM kairos_channels");
        if (owners != 2) return owners < 2; // it has not tried, or has tried again in vain
        EXPECT_EQ(1, schema_.execute("SELECT pg_try_advisory_lock(1265782369,"
                                     " 'kairos_channels'::regclass::oid::int4)::int::bigint"));
        schema_.execute("ALTER TABLE IF EXISTS elsewhere RENAME TO kairos_channel_event");
        return true;
    };
    const auto store = open_postgres_store(unlucky);
    ASSERT_TRUE(store.ok()) << store.error().reason;
    EXPECT_EQ(StoreStatus::done, (*store)->write(event_for(1, 1), true));
}

TEST_F(OwnedChannels, AreNotWaitedForByWhoMayNotHaveThem)
{
    opened(options()).reset();
    schema_.execute("CREATE ROLE reader LOGIN");
    schema_.execute("DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO "
                    "reader'; END $$");
    schema_.execute("GRANT SELECT ON kairos_channels TO reader");
    PostgresOptions as_reader = options();
    as_reader.url.replace(as_reader.url.find("tester"), 6, "reader");
    const auto refused = open_postgres_store(as_reader);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(ErrorCode::invalid_argument, refused.error().code) << refused.error().reason;
    EXPECT_EQ(StoreStatus::done, opened(options())->write(event_for(1, 1), true));
}

/// As after a crash of the database, which has lost what it had not on its disk.
TEST_F(OwnedChannels, AreKeptWhereOnlyErasuresAreLost)
{
    const auto store = opened(options());
    ASSERT_EQ(StoreStatus::done, store->write(event_for(1, 1), true));
    for (const std::uint64_t number : {7, 8})
        ASSERT_EQ(
            StoreStatus::done,
            store->write(std::vector<StoreChange>{{.action = Action::erase_event, .key = number}},
                         false));
    const auto go_back = [this](const char* to) {
        schema_.execute(std::string("UPDATE kairos_channels SET writes = ") + to);
        schema_.end_connections();
    };
    const auto write = [&](std::uint64_t number) {
        StoreStatus status = StoreStatus::busy;
        while (status == StoreStatus::busy && lost_ == 0)
            status = store->write(event_for(1, number), true);
        return status;
    };
    go_back("writes - 1");
    EXPECT_EQ(StoreStatus::done, write(2));
    EXPECT_EQ(0, lost_);
    go_back("writes - 1"); // which was safe
    EXPECT_EQ(StoreStatus::busy, write(3));
    EXPECT_EQ(1, lost_);
    EXPECT_EQ(2, events());
}

/// As behind a pooler, which may give several services one session.
TEST_F(OwnedChannels, AreLostWhoeverHasTheLock)
{
    const auto store = opened(options());
    schema_.execute("UPDATE kairos_channels SET owner = owner + 1");
    EXPECT_EQ(StoreStatus::busy, store->write(event_for(1, 1), true));
    EXPECT_EQ(1, lost_);
    EXPECT_EQ(0, events());
}

TEST_F(OwnedChannels, TellWhoDoesNotWriteThatTheyAreLost)
{
    PostgresOptions watchful = options();
    watchful.watch_interval = std::chrono::milliseconds(1);
    const auto store = opened(watchful);
    schema_.execute("UPDATE kairos_channels SET owner = owner + 1");
    lost_.wait(0);
    EXPECT_EQ(StoreStatus::busy, store->write(event_for(1, 1), true));
    EXPECT_EQ(1, lost_);
}

TEST_F(OwnedChannels, AreReachedAgainWhenTheDatabaseIsBack)
{
    const auto store = opened(options());
    ASSERT_EQ(StoreStatus::done, store->write(event_for(1, 1), true));
    postgres::server().stop();
    EXPECT_NE(StoreStatus::done, store->write(event_for(1, 2), true));
    EXPECT_EQ(StoreStatus::busy, store->write(event_for(1, 3), true)); // at once
    postgres::server().start();
    while (store->write(event_for(1, 4), true) != StoreStatus::done)
        std::this_thread::yield();
    EXPECT_EQ(1, schema_.execute("SELECT count(*) FROM kairos_channel_event WHERE number = 1"));
    EXPECT_EQ(0, schema_.execute("SELECT count(*) FROM kairos_channel_event WHERE number = 3"));
    EXPECT_EQ(0, lost_);
}

TEST_F(OwnedChannels, WaitForADatabaseThatDoesNotAnswerOnlySoLong)
{
    PostgresOptions impatient = options();
    impatient.timeout = std::chrono::milliseconds(1500);
    const auto store = opened(impatient);
    postgres::server().freeze();
    EXPECT_EQ(StoreStatus::broken, store->write(event_for(1, 1), true)); // which may be there
    EXPECT_EQ(StoreStatus::busy, store->write(event_for(1, 2), true));
    postgres::server().thaw();
    while (store->write(event_for(1, 3), true) != StoreStatus::done)
        std::this_thread::yield();
    EXPECT_EQ(0, schema_.execute("SELECT count(*) FROM kairos_channel_event WHERE number = 2"));
    EXPECT_EQ(1, schema_.execute("SELECT count(*) FROM kairos_channel_event WHERE number = 3"));
    EXPECT_EQ(0, lost_);
}

/// The server commits and does not say so: it waits for another, and is told to end.
TEST_F(OwnedChannels, KnowWhetherACommitHasHappened)
{
    const auto store = opened(options());
    schema_.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    schema_.execute("SELECT pg_reload_conf()::int::bigint");
    std::int64_t ended = 0;
    std::uint64_t number = 0;
    while (ended == 0) { // it may take a while until the server knows
        std::atomic<bool> is_over{false};
        StoreStatus status = StoreStatus::full;
        std::thread writes([&] {
            status = store->write(event_for(1, ++number), true);
            is_over = true;
        });
        while (!is_over && ended == 0)
            ended = schema_.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                                    " WHERE wait_event = 'SyncRep'");
        writes.join();
        EXPECT_EQ(StoreStatus::done, status);
    }
    schema_.execute("ALTER SYSTEM RESET synchronous_standby_names");
    schema_.execute("SELECT pg_reload_conf()::int::bigint");
    EXPECT_EQ(StoreStatus::done, store->write(event_for(1, number + 1), true));
    EXPECT_EQ(static_cast<std::int64_t>(number) + 1, events());
    EXPECT_EQ(0, lost_);
}

/// It is not committed, and the connection is lost.
TEST_F(OwnedChannels, KnowThatACommitHasNotHappened)
{
    const auto store = opened(options());
    schema_.execute("CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    " PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$");
    schema_.execute("CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON kairos_channel_event"
                    " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.number = 1)"
                    " EXECUTE FUNCTION die()");
    EXPECT_EQ(StoreStatus::busy, store->write(event_for(1, 1), true));
    EXPECT_EQ(StoreStatus::done, store->write(event_for(1, 2), true));
    EXPECT_EQ(1, events());
    EXPECT_EQ(0, lost_);
}

TEST_F(OwnedChannels, ChangeAllOrNothing)
{
    const auto store = opened(options());
    schema_.execute("ALTER TABLE kairos_channel_waiting RENAME TO elsewhere");
    EXPECT_EQ(StoreStatus::broken, store->write(event_for(1, 1), true));
    EXPECT_EQ(0, events());
    schema_.execute("ALTER TABLE elsewhere RENAME TO kairos_channel_waiting");
    EXPECT_EQ(StoreStatus::done, store->write(event_for(1, 1), true));
    EXPECT_EQ(1, events());
    EXPECT_EQ(0, lost_);
}

TEST_F(OwnedChannels, AreNotOpenedWhereTheyAreNoneOfOurs)
{
    EXPECT_FALSE(open_store("postgresql:///nowhere?host=/nowhere/at/all").ok());
    ASSERT_TRUE(open_store(schema_.url()).ok());
    schema_.execute("UPDATE kairos_channels SET version = 9");
    const auto later = open_store(schema_.url());
    ASSERT_FALSE(later.ok());
    EXPECT_NE(std::string::npos, later.error().reason.find("another version"));
    schema_.execute("DELETE FROM kairos_channels");
    EXPECT_FALSE(open_store(schema_.url()).ok());
}

// --- The service ---------------------------------------------------------------------------------

class ChannelsInADatabase : public OwnedChannels {
  protected:
    ChannelsInADatabase() { begin(); }
    ~ChannelsInADatabase() override { service_.reset(); }
    void begin()
    {
        service_.reset();
        service_.emplace(server_.in(), limits_of_tests(), opened(options()));
        const auto lab =
            KairosNotification::Channel_var(service_->create_channel("Lab", all_persistent()));
        channel_ = clients_.here<KairosNotification::Channel>(lab.in(), server_.in());
    }

    events::LogLines log_; // before there is a thread that logs
    events::TestOrb server_;
    events::TestOrb clients_;
    std::optional<notification::NotificationService> service_;
    KairosNotification::Channel_var channel_;
};

TEST_F(ChannelsInADatabase, AreThereAgain)
{
    const auto pulls = pulling_proxy(channel_.in());
    const auto from = pushed_proxy(channel_.in());
    for (const CORBA::Long number : {1, 2, 3})
        from->push_structured_event(event_of("Lab", "Reading", number));
    EXPECT_EQ(3, events());
    begin();
    from->push_structured_event(event_of("Lab", "Reading", 4)); // by the same reference
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 3, 4}), all_pulled(pulls.in()));
    service_.reset();
    EXPECT_EQ(0, events());
}

TEST_F(ChannelsInADatabase, ServeManyAtOnce)
{
    const auto pulls = pulling_proxy(channel_.in());
    std::vector<std::thread> threads;
    for (CORBA::Long which = 0; which < 4; ++which)
        threads.emplace_back([this, which] {
            const auto from = pushed_proxy(channel_.in());
            for (CORBA::Long i = 0; i < 25; ++i)
                from->push_structured_event(event_of("Lab", "Reading", which * 25 + i));
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(100, events());
    std::vector<CORBA::Long> all = all_pulled(pulls.in());
    std::ranges::sort(all);
    ASSERT_EQ(100U, all.size());
    for (CORBA::Long i = 0; i < 100; ++i)
        EXPECT_EQ(i, all[static_cast<std::size_t>(i)]);
}

TEST_F(ChannelsInADatabase, AskSuppliersToComeAgainWhileItIsAway)
{
    const auto pulls = pulling_proxy(channel_.in());
    const auto from = pushed_proxy(channel_.in());
    from->push_structured_event(event_of("Lab", "Reading", 1));
    postgres::server().stop();
    CosNotification::StructuredEvent brief = event_of("Lab", "Reading", 2);
    brief.header.variable_header.length(1);
    brief.header.variable_header[0].name = CosNotification::EventReliability;
    brief.header.variable_header[0].value <<= CosNotification::BestEffort;
    from->push_structured_event(brief); // which needs no database
    EXPECT_THROW(from->push_structured_event(event_of("Lab", "Reading", 3)),
                 CORBA::SystemException);
    EXPECT_THROW(from->push_structured_event(event_of("Lab", "Reading", 3)), CORBA::TRANSIENT);
    EXPECT_TRUE(log_.wait_for("notification service's store postgresql://"));
    postgres::server().start();
    for (;;) {
        try {
            from->push_structured_event(event_of("Lab", "Reading", 4));
            break;
        } catch (const CORBA::TRANSIENT&) {
            std::this_thread::yield();
        }
    }
    EXPECT_TRUE(log_.wait_for("can be written again"));
    EXPECT_EQ((std::vector<CORBA::Long>{1, 2, 4}), all_pulled(pulls.in()));
}

} // namespace
} // namespace kairos::eventstore

int main(int argc, char** argv)
{
    using namespace kairos::eventstore;
    if (argc == 5 && std::string_view(argv[1]) == serve_argument)
        return serve_shares(argv[2], argv[3], argv[4]);
    return kairos::postgres::run_tests(argc, argv);
}
