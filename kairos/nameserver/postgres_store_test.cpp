// SPDX-License-Identifier: Apache-2.0
//
// The store in PostgreSQL, against a server that the test starts: that it is a store, that several
// over one database are one, and what it does when rows are damaged or the server goes away.
#include "kairos/nameserver/open_store.h"
#include "kairos/nameserver/postgres_testing.h"
#include "kairos/nameserver/store_conformance_testing.h"
#include "kairos/nameserver/store_crash_testing.h"

#include <future>

namespace kairos::nameserver {

using Status = StoreStatus;

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, StoreConformance, PostgresBackend);

namespace {

class PostgresStoreTest : public testing::Test {
  protected:
    PostgresStoreTest() : store_(backend_.open()), other_(backend_.open()) {}

    LoggedLines log_;
    const PostgresBackend backend_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Store> other_;
};

} // namespace

// --- several servers -----------------------------------------------------------------------------

TEST_F(PostgresStoreTest, OneSeesWhatTheOtherDidAndBothAreOneStore)
{
    EXPECT_EQ(store_->identity(), other_->identity());
    const auto name = component("a");
    ASSERT_EQ(store_->bind(root_context, name, object_entry(1)), Status::done);
    EXPECT_EQ(bound(*other_, root_context, name), object_entry(1));
    EXPECT_EQ(other_->bind(root_context, name, object_entry(2)), Status::already_bound);
    ASSERT_EQ(other_->rebind(root_context, name, object_entry(2)), Status::done);
    EXPECT_EQ(bound(*store_, root_context, name), object_entry(2));
    ContextId mine = 0;
    ContextId theirs = 0;
    ASSERT_EQ(store_->new_context(mine), Status::done);
    ASSERT_EQ(other_->new_context(theirs), Status::done);
    EXPECT_NE(mine, theirs);
    EXPECT_EQ(store_->find_context(theirs), Status::done);
    ASSERT_EQ(other_->destroy_context(mine), Status::done);
    EXPECT_EQ(store_->bind(mine, name, object_entry(1)), Status::no_context);
    EXPECT_EQ(store_->changes() % 2, 1u); // or answers would be kept
}

TEST_F(PostgresStoreTest, OfTwoThatBindANameOneSucceeds)
{
    constexpr int names = 60;
    const auto bind_all = [](Store& store, int number) {
        std::vector<Status> statuses;
        for (int i = 0; i < names; ++i)
            statuses.push_back(
                store.bind(root_context, component(std::to_string(i)), object_entry(number)));
        return statuses;
    };
    auto first = std::async(std::launch::async, [&] { return bind_all(*store_, 1); });
    const std::vector<Status> theirs = bind_all(*other_, 2);
    const std::vector<Status> mine = first.get();
    for (std::size_t i = 0; i < names; ++i) {
        const bool won = mine[i] == Status::done;
        EXPECT_EQ(mine[i], won ? Status::done : Status::already_bound);
        EXPECT_EQ(theirs[i], won ? Status::already_bound : Status::done);
        EXPECT_EQ(bound(*store_, root_context, component(std::to_string(i))),
                  object_entry(won ? 1 : 2));
    }
}

TEST_F(PostgresStoreTest, OfTwoThatRebindANameBothSucceed)
{
    const auto rebind_all = [](Store& store) {
        int done = 0;
        for (int i = 0; i < 60; ++i) {
            const auto name = component(std::to_string(i % 7));
            done += store.rebind(root_context, name, object_entry(i)) == Status::done ? 1 : 0;
            if (i % 3 == 0) (void)store.unbind(root_context, name);
        }
        return done;
    };
    auto first = std::async(std::launch::async, [&] { return rebind_all(*store_); });
    EXPECT_EQ(rebind_all(*other_), 60);
    EXPECT_EQ(first.get(), 60);
}

TEST_F(PostgresStoreTest, NothingIsBoundInAContextThatIsDestroyedMeanwhile)
{
    for (int i = 0; i < 40; ++i) {
        ContextId context = 0;
        ASSERT_EQ(store_->new_context(context), Status::done);
        auto destroyed =
            std::async(std::launch::async, [&] { return other_->destroy_context(context); });
        const Status in = store_->bind(context, component("x"), object_entry(1));
        const Status to = store_->rebind(root_context, component("c"), context_entry(context));
        if (destroyed.get() == Status::done) {
            EXPECT_EQ(in, Status::no_context);
            EXPECT_EQ(backend_.execute("SELECT count(*) FROM kairos_binding WHERE context = " +
                                       std::to_string(context)),
                      0);
        } else {
            EXPECT_EQ(in, Status::done);
            EXPECT_EQ(to, Status::done);
        }
    }
}

TEST(PostgresStores, ThatBeginAtTheSameTimeMakeOneStore)
{
    const PostgresBackend backend;
    std::vector<std::future<std::uint64_t>> identities;
    for (int i = 0; i < 4; ++i)
        identities.push_back(
            std::async(std::launch::async, [&] { return backend.open(1)->identity(); }));
    const std::uint64_t identity = identities[0].get();
    for (std::size_t i = 1; i < identities.size(); ++i)
        EXPECT_EQ(identities[i].get(), identity);
}

// --- what is not ours, or damaged ----------------------------------------------------------------

TEST(PostgresStores, OfAnotherVersionOrWithoutTheirBeginningAreRefused)
{
    const PostgresBackend backend;
    const auto refusal = [&] {
        const auto store = open_postgres_store({.url = backend.url(), .connections = 1});
        return store ? std::string("accepted") : store.error().reason;
    };
    (void)backend.open();
    EXPECT_EQ(refusal(), "accepted");
    backend.execute("UPDATE kairos_naming SET version = 2");
    EXPECT_NE(refusal().find("another version"), std::string::npos);
    backend.execute("DELETE FROM kairos_naming");
    EXPECT_NE(refusal().find("no identity"), std::string::npos);
    backend.execute("INSERT INTO kairos_naming VALUES (1, 5)");
    backend.execute("DELETE FROM kairos_context");
    EXPECT_NE(refusal().find("no root context"), std::string::npos);
}

TEST(PostgresStores, AreFoundByTheirUrl)
{
    const PostgresBackend backend;
    const auto store = open_store(backend.url());
    ASSERT_TRUE(store.ok()) << store.error().reason;
    EXPECT_EQ((*store)->identity(), backend.open()->identity());
    const auto nobody = open_store("postgresql:///names?host=/no/such/folder");
    ASSERT_FALSE(nobody.ok());
    EXPECT_NE(nobody.error().reason.find("/no/such/folder"), std::string::npos);
    EXPECT_FALSE(open_store("postgres://?nonsense").ok());
}

TEST_F(PostgresStoreTest, ADamagedRowIsBrokenAndNothingElseIs)
{
    for (const std::string damage : {"reference = '\\x00'", "type = 1, target = 1", "type = 7",
                                     "target = 3", "checksum = checksum + 1", "reference = ''"}) {
        const auto name = component("a");
        ASSERT_EQ(store_->bind(root_context, name, object_entry(1)), Status::done);
        ASSERT_EQ(store_->bind(root_context, component("good"), object_entry(2)), Status::done);
        backend_.execute("UPDATE kairos_binding SET " + damage + " WHERE id = 'a'");
        Resolution resolution;
        EXPECT_EQ(resolve(*store_, root_context, {name}, resolution), Status::broken) << damage;
        EXPECT_EQ(store_->bind(root_context, name, object_entry(3)), Status::broken) << damage;
        EXPECT_EQ(store_->rebind(root_context, name, object_entry(3)), Status::broken) << damage;
        EXPECT_EQ(store_->unbind(root_context, name), Status::broken) << damage;
        // Left out of lists, whatever their bounds are, and named.
        for (const std::size_t portion : {1u, 10u}) {
            const auto listed = list_all(*store_, root_context, portion);
            EXPECT_EQ(listed.size(), 1u) << damage;
            EXPECT_EQ(listed.at(0).component, component("good")) << damage;
        }
        EXPECT_TRUE(log_.say("the row of " + name.id + " in context 1")) << damage;
        EXPECT_EQ(bound(*store_, root_context, component("good")), object_entry(2));
        backend_.execute("DELETE FROM kairos_binding");
    }
}

TEST_F(PostgresStoreTest, ANameThatItsIndexCannotHoldIsRefusedAndNothingHappens)
{
    std::mt19937 random(3);
    std::string noise(20'000, '\0');
    for (char& octet : noise)
        octet = static_cast<char>(random());
    EXPECT_EQ(store_->bind(root_context, component(noise), object_entry(1)), Status::full);
    EXPECT_TRUE(list_all(*store_, root_context, 10).empty());
    EXPECT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
}

TEST_F(PostgresStoreTest, ADatabaseThatMayNotBeChangedIsBrokenForChangesOnly)
{
    ASSERT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
    backend_.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                     " 'BEGIN RAISE EXCEPTION ''no''; END'");
    backend_.execute("CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON kairos_binding"
                     " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
    // When it is committed.
    EXPECT_EQ(store_->bind(root_context, component("b"), object_entry(1)), Status::broken);
    EXPECT_EQ(bound(*store_, root_context, component("a")), object_entry(1));
    Resolution resolution;
    EXPECT_EQ(resolve(*store_, root_context, {component("b")}, resolution), Status::not_bound);
    EXPECT_EQ(store_->unbind(root_context, component("a")), Status::done);
}

// --- processes that are killed -------------------------------------------------------------------

using PostgresCrash = Crash<PostgresBackend>;

TEST_F(PostgresCrash, EveryAcknowledgedChangeIsThere) { crash_often(crashes(12)); }

// --- a server that goes away ---------------------------------------------------------------------

TEST_F(PostgresStoreTest, AConnectionThatWasLostIsMadeAgain)
{
    ASSERT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
    backend_.end_connections();
    EXPECT_EQ(bound(*store_, root_context, component("a")), object_entry(1));
    EXPECT_EQ(other_->bind(root_context, component("b"), object_entry(2)), Status::done);
}

TEST_F(PostgresStoreTest, WithoutItsServerItSaysSoAndGoesOnWhenThatIsBack)
{
    ASSERT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
    postgres::server().stop();
    Resolution resolution;
    Portion listed;
    ContextId created = 0;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(resolve(*store_, root_context, {component("a")}, resolution),
                  Status::unreachable);
        EXPECT_EQ(store_->list(root_context, nullptr, {.count = 10}, listed), Status::unreachable);
        EXPECT_EQ(store_->find_context(root_context), Status::unreachable);
        EXPECT_EQ(store_->bind(root_context, component("b"), object_entry(1)), Status::unreachable);
        EXPECT_EQ(store_->rebind(root_context, component("a"), object_entry(2)),
                  Status::unreachable);
        EXPECT_EQ(store_->unbind(root_context, component("a")), Status::unreachable);
        EXPECT_EQ(store_->new_context(created), Status::unreachable);
    }
    postgres::server().start();
    EXPECT_EQ(bound(*store_, root_context, component("a")), object_entry(1));
    EXPECT_EQ(list_all(*store_, root_context, 10).size(), 1u);
    EXPECT_EQ(store_->bind(root_context, component("b"), object_entry(1)), Status::done);
}

TEST_F(PostgresStoreTest, AServerThatDoesNotAnswerIsNotWaitedForForEver)
{
    ASSERT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
    constexpr std::chrono::milliseconds soon(100);
    auto quick = open_postgres_store({.url = backend_.url(), .connections = 1, .timeout = soon});
    ASSERT_TRUE(quick.ok());
    postgres::server().freeze();
    Resolution resolution;
    // Several at once, for one connection: those who wait for it are not served one by one.
    std::vector<std::future<Status>> waiting;
    for (int i = 0; i < 8; ++i)
        waiting.push_back(std::async(std::launch::async, [&] {
            return (*quick)->bind(root_context, component("b"), object_entry(1));
        }));
    for (auto& one : waiting)
        EXPECT_EQ(one.get(), Status::unreachable);
    EXPECT_EQ(resolve(**quick, root_context, {component("a")}, resolution), Status::unreachable);
    EXPECT_TRUE(log_.say("does not answer in time"));
    EXPECT_FALSE(open_postgres_store({.url = backend_.url(), .opening_timeout = soon}).ok());
    postgres::server().thaw();
    while (resolve(**quick, root_context, {component("a")}, resolution) != Status::done)
        std::this_thread::yield(); // until it is asked again
    EXPECT_EQ(resolution.entry, object_entry(1));
    EXPECT_EQ(resolve(**quick, root_context, {component("b")}, resolution), Status::not_bound);
}

TEST_F(PostgresStoreTest, AnotherStoreAtItsAddressIsNotTakenForIt)
{
    backend_.execute("UPDATE kairos_naming SET identity = identity + 1");
    EXPECT_EQ(store_->find_context(root_context), Status::done);
    backend_.end_connections();
    EXPECT_EQ(store_->find_context(root_context), Status::broken);
    EXPECT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::broken);
}

} // namespace kairos::nameserver

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
