// SPDX-License-Identifier: Apache-2.0
//
// Logs in a database: that they are what they are in memory, whatever is done to them; who becomes
// their owner; and what happens while the database is away.
#include "kairos/logs/postgres_store.h"

#include "kairos/corba/CORBA.h"
#include "kairos/logs/DsLogAdmin.h"
#include "kairos/logs/open_store.h"
#include "kairos/logs/service.h"
#include "kairos/postgres/postgres_testing.h"

#include <atomic>
#include <functional>
#include <optional>
#include <random>
#include <thread>

namespace kairos::logs {
namespace {

constexpr std::chrono::milliseconds long_time{100'000};

PostgresOptions patient_options(const postgres::Schema& schema)
{
    return {.url = schema.url(),
            .readers = 2,
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

/// A change that a function makes.
class MadeBy final : public Change {
  public:
    explicit MadeBy(std::function<StoreStatus(Tables&)> make) : make_(std::move(make)) {}
    StoreStatus make(Tables& tables) override
    {
        ++made_;
        return make_(tables);
    }
    void undo() noexcept override { --made_; }
    bool makes_room() const noexcept override { return false; }
    /// How often it was made and not undone.
    [[nodiscard]] int made() const { return made_; }

  private:
    const std::function<StoreStatus(Tables&)> make_;
    int made_ = 0;
};
StoreStatus make(Store& store, std::function<StoreStatus(Tables&)> how, bool safe = true)
{
    MadeBy change(std::move(how));
    const StoreStatus status = store.change(change, safe);
    EXPECT_EQ(status == StoreStatus::done ? 1 : 0, change.made());
    return status;
}
RowPtr row(std::uint64_t number, std::size_t octets = 3)
{
    return std::make_shared<const Row>(Row{.number = number,
                                           .time = number * 10,
                                           .attributes = std::string(number % 3, '\0'),
                                           .info = std::string(octets, '\xfe')});
}
StoreStatus insert(Store& store, LogKey log, std::uint64_t number)
{
    return make(store, [&](Tables& tables) { return tables.insert(log, row(number)); });
}

std::string text_of(const std::vector<RowPtr>& rows)
{
    std::string text;
    for (const RowPtr& one : rows)
        text += std::to_string(one->number) + "@" + std::to_string(one->time) + ":" +
                std::to_string(one->attributes.size()) + "+" + std::to_string(one->info.size()) +
                " ";
    return text;
}
/// All that can be read of a log, in several ways.
std::string text_of(Store& store, LogKey log)
{
    std::string text;
    for (const std::size_t octets : {0, 60, 1'000'000}) {
        for (const bool is_backwards : {false, true})
            for (const std::uint64_t from :
                 {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
                const Span span{.from = from,
                                .is_backwards = is_backwards,
                                .count_max = 5 + octets,
                                .octets_max = octets};
                std::vector<RowPtr> rows;
                EXPECT_EQ(StoreStatus::done, store.read(log, span, rows));
                std::vector<std::uint64_t> numbers;
                EXPECT_EQ(StoreStatus::done, store.read_numbers(log, span, numbers));
                text += text_of(rows) + "; " + std::to_string(numbers.size()) + "\n";
            }
    }
    Brief brief;
    if (store.first(log, 5, brief) == StoreStatus::done)
        text += "first " + std::to_string(brief.number) + " " + std::to_string(brief.time) + " " +
                std::to_string(brief.octets) + " " + std::to_string(brief.attributes);
    return text;
}

class LogsInADatabase : public ::testing::Test {
  protected:
    [[nodiscard]] std::int64_t records() const
    {
        return schema_.execute("SELECT count(*) FROM kairos_log_record");
    }
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

/// Changes by chance, made in both.
TEST_F(LogsInADatabase, AreWhatTheyAreInMemory)
{
    const auto store = opened(options());
    const auto memory = make_memory_store(std::size_t{1} << 24);
    std::mt19937 random(31);
    std::uint64_t next[3] = {1, 1, 1};
    for (int i = 0; i < 60; ++i) {
        const auto seed = static_cast<unsigned>(random());
        const LogKey log = 1 + seed % 2;
        const std::uint64_t from = next[log];
        const auto change = [&](Tables& tables) {
            StoreStatus status = StoreStatus::done;
            std::uint64_t number = from;
            for (unsigned k = 0; k < 1 + seed % 7; ++k)
                if (status == StoreStatus::done) status = tables.insert(log, row(number++, k * 9));
            Brief brief;
            if (seed % 3 == 0 && tables.first(log, seed % 20, brief) == StoreStatus::done)
                status = tables.erase(log, brief.number);
            if (seed % 4 == 0 && tables.first(log, number - 1, brief) == StoreStatus::done)
                status = tables.set_attributes(log, brief.number, "more than there was");
            if (status != StoreStatus::done) return status;
            return tables.put_log({.key = log,
                                   .settings = "s" + std::to_string(i),
                                   .counts = {.next = number, .records = 1, .octets = 2}});
        };
        ASSERT_EQ(StoreStatus::done, make(*store, change, seed % 5 != 0));
        ASSERT_EQ(StoreStatus::done, make(*memory, change));
        next[log] += 1 + seed % 7;
    }
    for (const LogKey log : {1, 2, 3})
        EXPECT_EQ(text_of(*memory, log), text_of(*store, log));
}

TEST_F(LogsInADatabase, AreThereAgain)
{
    constexpr LogKey key = (LogKey{1} << 32) + 5;
    {
        const auto store = opened(options());
        ASSERT_EQ(StoreStatus::done, make(*store, [&](Tables& tables) {
                      (void)tables.put_log({.key = key, .settings = "old", .counts = {}});
                      (void)tables.put_log({.key = 9, .settings = "other", .counts = {}});
                      (void)tables.set_last_key(key - 1);
                      return tables.insert(9, row(1));
                  }));
        ASSERT_EQ(StoreStatus::done, make(*store, [&](Tables& tables) {
                      (void)tables.set_last_key(key);
                      (void)tables.erase_log(9);
                      (void)tables.put_log({.key = key, .settings = "new", .counts = {}});
                      return tables.set_counts(key,
                                               {.next = 2, .records = 3, .octets = 4, .newest = 5});
                  }));
    }
    const auto store = opened(options());
    std::vector<KeptLog> logs;
    std::vector<LogKey> last_keys;
    ASSERT_EQ(StoreStatus::done, store->load(logs, last_keys));
    ASSERT_EQ(1U, logs.size());
    EXPECT_EQ(key, logs[0].key);
    EXPECT_EQ("new", logs[0].settings);
    EXPECT_EQ(2U, logs[0].counts.next);
    EXPECT_EQ(5U, logs[0].counts.newest);
    EXPECT_EQ(std::vector<LogKey>{key}, last_keys);
    EXPECT_EQ(0, records());
}

TEST_F(LogsInADatabase, ChangeAllOrNothing)
{
    const auto store = opened(options());
    ASSERT_EQ(StoreStatus::done, insert(*store, 1, 1));
    EXPECT_EQ(StoreStatus::full, make(*store, [](Tables& tables) {
                  (void)tables.insert(1, row(2));
                  return StoreStatus::full; // as for a failure of the service's own
              }));
    EXPECT_EQ(StoreStatus::broken, make(*store, [](Tables& tables) {
                  (void)tables.insert(1, row(2));
                  return tables.insert(1, row(1)); // which is there
              }));
    EXPECT_EQ(1, records());
    EXPECT_EQ(StoreStatus::done, insert(*store, 1, 2));
    EXPECT_EQ(0, lost_);
}

/// Those that come together are made together, and one that cannot be made harms no other.
TEST_F(LogsInADatabase, AreChangedByManyAtOnce)
{
    const auto store = opened(options());
    ASSERT_EQ(StoreStatus::done, insert(*store, 9, 1));
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (LogKey log = 1; log <= 4; ++log)
        threads.emplace_back([&, log] {
            for (std::uint64_t number = 1; number <= 25; ++number) {
                EXPECT_EQ(StoreStatus::done, insert(*store, log, number));
                if (number % 10 == 0 && insert(*store, 9, 1) == StoreStatus::broken) ++refused;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(101, records());
    EXPECT_EQ(8, refused);
}

TEST_F(LogsInADatabase, AreWrittenByNobodyWhoHasLostThem)
{
    const auto first = opened(options());
    ASSERT_EQ(StoreStatus::done, insert(*first, 1, 1));
    PostgresOptions impatient = options();
    impatient.timeout = std::chrono::milliseconds(2000);
    impatient.stand_by = {};
    const auto refused = open_postgres_store(impatient);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(std::string::npos, refused.error().reason.find("another log service"));

    std::atomic<bool> stands_by{false};
    PostgresOptions patient = patient_options(schema_);
    patient.stand_by = [&stands_by] {
        stands_by = true;
        stands_by.notify_all();
        return true;
    };
    std::unique_ptr<Store> second;
    std::thread waiting([&] { second = opened(patient); });
    stands_by.wait(false);
    schema_.end_connections();
    waiting.join();
    EXPECT_EQ(StoreStatus::busy, insert(*first, 1, 2));
    EXPECT_EQ(1, lost_);
    Brief brief;
    EXPECT_EQ(StoreStatus::busy, first->first(1, 0, brief));
    EXPECT_EQ(StoreStatus::done, insert(*second, 1, 2));
    EXPECT_EQ(2, records());
}

/// Who reads is not ready as soon as it is connected again.
TEST_F(LogsInADatabase, AreReadAgainWhereThatHasFailedOnce)
{
    PostgresOptions one_reader = options();
    one_reader.readers = 1;
    const auto store = opened(one_reader);
    ASSERT_EQ(StoreStatus::done, insert(*store, 1, 1));
    schema_.execute("ALTER TABLE kairos_log_record RENAME TO elsewhere");
    schema_.end_connections();
    Brief brief;
    EXPECT_EQ(StoreStatus::busy, store->first(1, 0, brief));
    schema_.execute("ALTER TABLE elsewhere RENAME TO kairos_log_record");
    StoreStatus status = StoreStatus::busy;
    while (status == StoreStatus::busy)
        status = store->first(1, 0, brief);
    EXPECT_EQ(StoreStatus::done, status);
    EXPECT_EQ(1U, brief.number);
}

/// What nobody knew turns out to have happened: what the service counts is wrong then.
TEST_F(LogsInADatabase, AreLostWhereNobodyKnowsWhatTheyHave)
{
    PostgresOptions impatient = options();
    impatient.timeout = std::chrono::milliseconds(1500);
    const auto store = opened(impatient);
    // Which the server makes as soon as it goes on: it has got all of it.
    postgres::server().freeze();
    EXPECT_EQ(StoreStatus::broken, insert(*store, 1, 1));
    EXPECT_EQ(StoreStatus::busy, insert(*store, 1, 1));
    postgres::server().thaw();
    while (lost_ == 0 && insert(*store, 1, 1) != StoreStatus::done)
        std::this_thread::yield();
    EXPECT_EQ(1, records()); // either of the two
}

class LogServiceInADatabase : public LogsInADatabase {
  protected:
    LogServiceInADatabase() : orb_(make_orb()) { begin(); }
    ~LogServiceInADatabase() override
    {
        service_.reset();
        orb_->destroy();
    }
    static CORBA::ORB_ptr make_orb()
    {
        static int count = 0;
        std::string options[] = {"test", "-ORBListenEndpoints", "iiop://127.0.0.1"};
        char* argv[] = {options[0].data(), options[1].data(), options[2].data(), nullptr};
        int argc = 3;
        return CORBA::ORB_init(argc, argv, ("logs " + std::to_string(++count)).c_str());
    }
    void begin()
    {
        service_.reset();
        service_.emplace(orb_.in(), opened(options()));
    }
    static void write(DsLogAdmin::Log_ptr log, CORBA::Long number)
    {
        DsLogAdmin::Anys anys;
        anys.length(1);
        anys[0] <<= number;
        log->write_records(anys);
    }

    CORBA::ORB_var orb_;
    std::optional<LogService> service_;
};

TEST_F(LogServiceInADatabase, HasItsRecordsAgain)
{
    DsLogAdmin::BasicLogFactory_var factory = service_->basic_logs();
    DsLogAdmin::LogId id = 0;
    const DsLogAdmin::BasicLog_var log = factory->create(DsLogAdmin::wrap, 1000, id);
    for (CORBA::Long number = 1; number <= 100; ++number)
        write(log.in(), number);
    const CORBA::ULongLong before = log->get_n_records();
    EXPECT_LT(before, 100U); // the oldest are gone
    begin();
    write(log.in(), 101); // by the same reference
    EXPECT_EQ(before, log->get_n_records());
    DsLogAdmin::Iterator_var rest;
    const DsLogAdmin::RecordList_var list = log->query("EXTENDED_TCL", "$.info > 99", rest.out());
    ASSERT_EQ(2U, list->length());
    EXPECT_EQ(101U, list[1U].id);
    EXPECT_EQ(2U, log->delete_records("EXTENDED_TCL", "$.info > 99"));
    EXPECT_EQ(static_cast<std::int64_t>(before) - 2, records());
    log->destroy();
    EXPECT_EQ(0, records());
}

TEST_F(LogServiceInADatabase, AsksToComeAgainWhileItIsAway)
{
    DsLogAdmin::BasicLogFactory_var factory = service_->basic_logs();
    DsLogAdmin::LogId id = 0;
    const DsLogAdmin::BasicLog_var log = factory->create(DsLogAdmin::halt, 0, id);
    write(log.in(), 1);
    postgres::server().stop();
    DsLogAdmin::Iterator_var rest;
    EXPECT_THROW((void)log->query("EXTENDED_TCL", "", rest.out()), CORBA::TRANSIENT);
    EXPECT_THROW(write(log.in(), 2), CORBA::TRANSIENT);
    postgres::server().start();
    for (;;) {
        try {
            write(log.in(), 3);
            break;
        } catch (const CORBA::TRANSIENT&) {
            std::this_thread::yield();
        }
    }
    EXPECT_EQ(2U, log->get_n_records());
    EXPECT_EQ(2, records());
}

} // namespace
} // namespace kairos::logs

int main(int argc, char** argv) { return kairos::postgres::run_tests(argc, argv); }
