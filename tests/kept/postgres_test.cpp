// SPDX-License-Identifier: Apache-2.0
//
// What is kept in PostgreSQL, by several services at once: that it is kept, that all of them have
// the same, and what happens when the database is away, or one of them was.
#include "kairos/journal/open_store.h"
#include "kairos/journal/postgres_journal.h"
#include "kairos/postgres/postgres_testing.h"
#include "tests/kept/kept_testing.h"
#include "tests/kept/killed_testing.h"

#include <atomic>
#include <functional>

namespace kairos::kept {
namespace {

class PostgresBackend : public postgres::Schema {
  public:
    [[nodiscard]] std::unique_ptr<Journal> open(const JournalKind& kind) const
    {
        // Tests that wait for their turn on a busy machine are not to be told that it is late.
        return open({.url = url(), .timeout = std::chrono::minutes(1)}, kind);
    }
    [[nodiscard]] static std::unique_ptr<Journal> open(journal::PostgresOptions options,
                                                       const JournalKind& kind)
    {
        options.opening_timeout = std::chrono::minutes(1);
        // Where the time is short it may not be enough on a busy machine.
        for (;;)
            if (auto opened = journal::open_postgres_journal(options, kind))
                return std::move(opened).value();
    }
    void damage(const JournalKind& kind, const std::string& key) const
    {
        execute(std::string("UPDATE ") + kind.table + "_row SET value = '\\x00' WHERE key = '" +
                key + "'");
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgres, Kept, PostgresBackend);

/// While another serves, which has all that those had acknowledged who were killed beside it.
template <template <typename> typename Service>
void miss_nobody(unsigned seed)
{
    const PostgresBackend backend;
    std::mt19937 chance(seed); // the same points of the run each time, about
    constexpr std::size_t runs = 4;
    std::vector<std::unique_ptr<Victim<Service, PostgresBackend>>> others;
    for (std::size_t run = 0; run < runs; ++run)
        others.push_back(std::make_unique<Victim<Service, PostgresBackend>>(
            backend, static_cast<CORBA::Long>(1000 * run + 1)));
    Service<PostgresBackend> service(backend);
    Numbers there;
    Numbers gone;
    for (std::size_t run = 0; run < runs; ++run) {
        others[run]->run_and_kill(1 + static_cast<unsigned>(chance() % 40), there, gone);
        // A change takes in what was before.
        const auto mine = static_cast<CORBA::Long>(100'000 + 2 * run);
        service.add(mine);
        there.insert(mine);
        expect_kept(service.all(), there, gone, run + 1);
    }
}

TEST(KeptByMany, OffersAreThereWhenAnotherTraderWasKilled) { miss_nobody<NumberedOffers>(9); }

TEST(KeptByMany, PropertiesAreThereWhenAnotherServiceWasKilled)
{
    miss_nobody<NumberedProperties>(10);
}

/// Until it is so: others' changes come by themselves.
template <typename Condition>
void await(Condition condition)
{
    while (!condition())
        std::this_thread::yield();
}

/// Until the database, which was away, answers again.
JournalStatus insist(MapService& service, const std::vector<JournalRow>& rows)
{
    for (;;)
        if (const JournalStatus status = service.write(rows);
            status != JournalStatus::busy && status != JournalStatus::uncertain)
            return status;
}

/// Rows, for one thread that writes while others read.
class SharedReplica final : public JournalReplica {
  public:
    bool put(std::string_view key, std::string_view value) override
    {
        const std::lock_guard lock(mutex_);
        return rows_.put(key, value);
    }
    void erase(std::string_view key) override
    {
        const std::lock_guard lock(mutex_);
        rows_.erase(key);
    }
    std::vector<std::string> keys() const override
    {
        const std::lock_guard lock(mutex_);
        return rows_.keys();
    }
    [[nodiscard]] Rows rows() const
    {
        const std::lock_guard lock(mutex_);
        return rows_.rows;
    }

  private:
    mutable std::mutex mutex_; // guards rows_; nothing is called while it is held
    MapReplica rows_;
};

/// A journal that others change, and what its replica has.
struct Watching {
    explicit Watching(std::unique_ptr<Journal> opened) : journal(std::move(opened))
    {
        JournalStatus status = JournalStatus::busy;
        while (status == JournalStatus::busy)
            status = journal->begin(replica);
        EXPECT_EQ(JournalStatus::done, status);
    }
    Watching(const Watching&) = delete;
    Watching& operator=(const Watching&) = delete;
    ~Watching() { journal->end(); }
    void await_rows(const Rows& expected) const
    {
        await([&] { return replica.rows() == expected; });
    }

    SharedReplica replica;
    const std::unique_ptr<Journal> journal;
};

TEST(KeptByMany, AreToldOfEachOthersChanges)
{
    const PostgresBackend backend;
    const Watching watching(backend.open(test_kind));
    MapService one(backend.open(test_kind));
    EXPECT_EQ(JournalStatus::done,
              one.write({{.key = "a", .value = "1"}, {.key = "b", .value = "2"}}));
    watching.await_rows({{"a", "1"}, {"b", "2"}});
    EXPECT_EQ(JournalStatus::done,
              one.write({{.key = "a", .is_erased = true}, {.key = "c", .value = "3"}}));
    watching.await_rows({{"b", "2"}, {"c", "3"}});
    EXPECT_EQ(JournalStatus::done, one.write({{.key = "a", .value = "4"}}));
    watching.await_rows({{"a", "4"}, {"b", "2"}, {"c", "3"}});
    await([&] { return watching.journal->number() == 3; });
}

/// Each adds one to the same number: none is lost.
TEST(KeptByMany, DecideByWhatIsThere)
{
    const PostgresBackend backend;
    constexpr int times = 40;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&backend] {
            Watching service(backend.open(test_kind));
            for (int i = 0; i < times; ++i) {
                std::string next;
                ASSERT_EQ(JournalStatus::done,
                          service.journal->write(
                              [&](JournalChange& change) {
                                  const Rows rows = service.replica.rows();
                                  const auto row = rows.find("n");
                                  const int before = row == rows.end() ? 0 : std::stoi(row->second);
                                  next = std::to_string(before + 1);
                                  change.put("n", next);
                                  return true;
                              },
                              [&] { (void)service.replica.put("n", next); }));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ((Rows{{"n", std::to_string(3 * times)}}),
              MapService(backend.open(test_kind)).replica.rows);
}

TEST(KeptByMany, GoOnWhenTheDatabaseIsBack)
{
    const PostgresBackend backend;
    const journal::PostgresOptions options{.url = backend.url(),
                                           .timeout = std::chrono::seconds(10)};
    const Watching watching(PostgresBackend::open(options, test_kind));
    MapService one(PostgresBackend::open(options, test_kind));
    EXPECT_EQ(JournalStatus::done, insist(one, {{.key = "a", .value = "1"}}));
    postgres::server().stop();
    EXPECT_EQ(JournalStatus::busy, one.write({{.key = "b", .value = "2"}}));
    EXPECT_EQ((Rows{{"a", "1"}}), one.replica.rows);
    postgres::server().start();
    EXPECT_EQ(JournalStatus::done, insist(one, {{.key = "c", .value = "3"}}));
    watching.await_rows({{"a", "1"}, {"c", "3"}});
    backend.end_connections();
    EXPECT_EQ(JournalStatus::done, insist(one, {{.key = "d", .value = "4"}}));
    watching.await_rows({{"a", "1"}, {"c", "3"}, {"d", "4"}});
}

TEST(KeptByMany, DoNotWaitForADatabaseThatDoesNotAnswer)
{
    const PostgresBackend backend;
    MapService one(PostgresBackend::open(
        {.url = backend.url(), .timeout = std::chrono::milliseconds(300)}, test_kind));
    EXPECT_EQ(JournalStatus::done, insist(one, {{.key = "a", .value = "1"}}));
    postgres::server().freeze();
    // Where it had begun to be made durable, nobody knows.
    const JournalStatus status = one.write({{.key = "b", .value = "2"}});
    EXPECT_TRUE(status == JournalStatus::busy || status == JournalStatus::uncertain);
    EXPECT_EQ((Rows{{"a", "1"}}), one.replica.rows);
    postgres::server().thaw();
    EXPECT_EQ(JournalStatus::done, insist(one, {{.key = "b", .value = "3"}}));
    EXPECT_EQ((Rows{{"a", "1"}, {"b", "3"}}), MapService(backend.open(test_kind)).replica.rows);
}

/// One that has missed what nothing says any more, and one whose database was set back.
TEST(KeptByMany, LoadAnewWhereTheyAreTooFarBehind)
{
    const PostgresBackend backend;
    const Watching watching(backend.open(test_kind));
    {
        MapService one(backend.open(test_kind));
        EXPECT_EQ(JournalStatus::done, one.write({{.key = "a", .value = "1"},
                                                  {.key = "b", .value = "2"},
                                                  {.key = "c", .value = "3"}}));
    }
    watching.await_rows({{"a", "1"}, {"b", "2"}, {"c", "3"}});
    // Behind their backs, at once: as if it had not listened for long.
    backend.execute("WITH gone AS (DELETE FROM kairos_test_row WHERE key = 'b'), changed AS"
                    " (UPDATE kairos_test_row SET changed = 50 WHERE key = 'c')"
                    " UPDATE kairos_test SET number = 50, floor = 40");
    watching.await_rows({{"a", "1"}, {"c", "3"}});
    await([&] { return watching.journal->number() == 50; });
    backend.execute("WITH gone AS (DELETE FROM kairos_test_row WHERE key = 'c')"
                    " UPDATE kairos_test SET number = 2, floor = 0");
    watching.await_rows({{"a", "1"}});
    await([&] { return watching.journal->number() == 2; });
}

/// What one has no room for now it has later, and does not decide without it.
TEST(KeptByMany, TakeInLaterWhatTheyHaveNoRoomForNow)
{
    const PostgresBackend backend;
    const Watching watching(backend.open(test_kind));
    MapService one(backend.open(test_kind));
    EXPECT_EQ(JournalStatus::done, one.write({{.key = "a", .value = "much"}}));
    bool was_decided = false;
    EXPECT_EQ(JournalStatus::full, watching.journal->write(
                                       [&](JournalChange&) {
                                           was_decided = true;
                                           return false;
                                       },
                                       [] {}));
    EXPECT_FALSE(was_decided);
    EXPECT_EQ(JournalStatus::done, one.write({{.key = "a", .value = "little"}}));
    watching.await_rows({{"a", "little"}});
}

/// A change that was made durable and not in memory is taken in as others' are.
TEST(KeptByMany, TakeInTheirOwnWhereMemoryFailed)
{
    const PostgresBackend backend;
    MapService one(backend.open(test_kind));
    EXPECT_EQ(JournalStatus::uncertain, one.journal->write(
                                            [](JournalChange& change) {
                                                change.put("a", "1");
                                                return true;
                                            },
                                            [] { throw std::bad_alloc(); }));
    EXPECT_EQ(JournalStatus::done, one.write({{.key = "b", .value = "2"}}));
    EXPECT_EQ(2U, one.journal->number());
}

TEST(KeptByMany, NothingIsLeftOfWhatWasErasedLongAgo)
{
    const PostgresBackend backend;
    const Watching watching(PostgresBackend::open(
        {.url = backend.url(), .timeout = std::chrono::minutes(1), .changes_kept = 5}, test_kind));
    MapService one(backend.open(test_kind));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(JournalStatus::done, one.write({{.key = "k", .value = "v"}}));
        EXPECT_EQ(JournalStatus::done, one.write({{.key = "k", .is_erased = true}}));
        EXPECT_EQ(JournalStatus::done, one.write({{.key = "n", .value = std::to_string(i)}}));
    }
    watching.await_rows({{"n", "19"}});
    await([&] {
        return backend.execute("SELECT floor FROM kairos_test") > 40 &&
               backend.execute("SELECT count(*) FROM kairos_test_row WHERE value IS NULL AND"
                               " changed <= (SELECT floor FROM kairos_test)") == 0;
    });
}

TEST(KeptByMany, AnotherStoreAtTheAddressIsRefused)
{
    const PostgresBackend backend;
    MapService one(backend.open(test_kind));
    EXPECT_EQ(JournalStatus::done, one.write({{.key = "a", .value = "1"}}));
    backend.execute("UPDATE kairos_test SET identity = identity + 1");
    EXPECT_EQ(JournalStatus::broken, one.write({{.key = "b", .value = "2"}}));
    backend.execute("UPDATE kairos_test SET version = 2");
    const auto later = journal::open_store(backend.url(), test_kind);
    ASSERT_FALSE(later);
    EXPECT_NE(std::string::npos, later.error().reason.find("another version of the test"));
}

TEST(KeptByMany, SetsAreTheSameEverywhere)
{
    using namespace CosPropertyService;
    const PostgresBackend backend;
    const ServedProperties<PostgresBackend> here(backend);
    const ServedProperties<PostgresBackend> there(backend);
    const auto make = [](const ServedProperties<PostgresBackend>& served) {
        return PropertySetDef_var(
            const_cast<properties::PropertyService&>(served.service).create_set("Plant"));
    };
    const PropertySetDef_var mine = make(here);
    const PropertySetDef_var others = make(there); // the same, though it may not have known of it
    mine->define_property("a", long_any(1));
    others->define_property("b", long_any(2));
    await([&] { return mine->is_property_defined("b") && others->is_property_defined("a"); });
    EXPECT_EQ(1, long_in(others.in(), "a"));
    EXPECT_EQ(2, long_in(mine.in(), "b"));
    // Decided by what the other has done, seen before or not.
    others->define_property_with_mode("c", long_any(3), fixed_normal);
    EXPECT_THROW(mine->delete_property("c"), FixedProperty);
    mine->delete_property("b");
    EXPECT_THROW(others->delete_property("b"), PropertyNotFound);
    EXPECT_EQ(2U, others->get_number_of_properties());
}

TEST(KeptByMany, OffersAreTheSameEverywhere)
{
    using trading::any_of;
    const PostgresBackend backend;
    ServedTrader<PostgresBackend> here(backend);
    ServedTrader<PostgresBackend> there(backend);
    here.add_type("T", {{"n", CORBA::_tc_long}});
    EXPECT_THROW(there.add_type("T", {}), trading::Repository::ServiceTypeExists);
    const std::string mine = here.offer("T", {{"n", any_of<CORBA::Long>(1)}});
    const std::string others = there.offer("T", {{"n", any_of<CORBA::Long>(2)}});
    const trading::Names both{mine, others};
    await([&] { return here.ids() == both && there.ids() == both; });
    EXPECT_EQ(1U, here.count("T", "n == 2"));
    here.offers->modify(others.c_str(), CosTrading::PropertyNameSeq(),
                        trading::properties_of({{"n", any_of<CORBA::Long>(3)}}));
    there.offers->withdraw(mine.c_str());
    EXPECT_EQ(1U, there.count("T", "n == 3")) << "a change takes in those of before";
    EXPECT_THROW(here.offers->withdraw(mine.c_str()), CosTrading::UnknownOfferId);
    EXPECT_EQ(1000U, here.admin->set_max_list(50));
    await([&] { return there.admin->max_list() == 50; });
    here.types->remove_type("T");
    await([&] {
        try {
            (void)there.count("T", "");
            return false;
        } catch (const CosTrading::UnknownServiceType&) {
            return there.ids().empty();
        }
    });
    here.add_type("T", {});
    (void)here.offer("T", {});
    await([&] { return there.ids().size() == 1; });
}

TEST(KeptByMany, ReadsGoOnWhileTheDatabaseIsAway)
{
    const PostgresBackend backend;
    const Place place;
    properties::PropertyService service(
        place.orb(), {},
        PostgresBackend::open({.url = backend.url(), .timeout = std::chrono::seconds(10)},
                              properties::store_kind));
    CosPropertyService::PropertySetDef_var set;
    const auto define = [&](CORBA::Long value) {
        for (;;) {
            try {
                if (CORBA::is_nil(set.in())) set = service.create_set("Plant");
                return set->define_property("n", long_any(value));
            } catch (const CORBA::TRANSIENT&) {
                std::this_thread::yield();
            } catch (const CORBA::PERSIST_STORE&) { // nobody knows, so again
            }
        }
    };
    define(1);
    postgres::server().stop();
    EXPECT_THROW(set->define_property("n", long_any(2)), CORBA::TRANSIENT);
    EXPECT_EQ(1, long_in(set.in(), "n"));
    postgres::server().start();
    define(3);
    EXPECT_EQ(3, long_in(set.in(), "n"));
}

} // namespace
} // namespace kairos::kept

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
