// SPDX-License-Identifier: Apache-2.0
//
// What is kept in one file: that it is kept, and what happens when the disk is full, or the file is
// somebody else's.
#include "kairos/journal/open_store.h"
#include "kairos/journal/sqlite_journal.h"
#include "kairos/sqlite/disk_testing.h"
#include "tests/kept/kept_testing.h"
#include "tests/kept/killed_testing.h"

#include <filesystem>
#include <random>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>

namespace kairos::kept {
namespace {

class SqliteBackend {
  public:
    SqliteBackend()
    {
        std::string path = std::filesystem::temp_directory_path() / "kairos_kept_XXXXXX";
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = path;
    }
    SqliteBackend(const SqliteBackend&) = delete;
    SqliteBackend& operator=(const SqliteBackend&) = delete;
    ~SqliteBackend()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] std::string file(const JournalKind& kind) const { return folder_ / kind.table; }
    [[nodiscard]] std::unique_ptr<Journal> open(const JournalKind& kind,
                                                std::uint32_t pages_max = 0) const
    {
        auto opened = journal::open_sqlite_journal(
            {.path = file(kind), .pages_max = pages_max, .patience = std::chrono::minutes(1)},
            kind);
        if (!opened) throw std::runtime_error(opened.error().reason);
        return std::move(opened).value();
    }
    void execute(const JournalKind& kind, const std::string& sql) const
    {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(file(kind).c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(handle);
        sqlite3_close(handle);
    }
    void damage(const JournalKind& kind, const std::string& key) const
    {
        execute(kind, "UPDATE row SET value = x'00' WHERE key = CAST('" + key + "' AS BLOB)");
    }

  private:
    std::filesystem::path folder_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, Kept, SqliteBackend);

TEST(KeptInAFile, OffersAreThereWhenTheTraderWasKilled)
{
    keep_what_was_acknowledged<NumberedOffers>(SqliteBackend(), 7);
}

TEST(KeptInAFile, PropertiesAreThereWhenTheServiceWasKilled)
{
    keep_what_was_acknowledged<NumberedProperties>(SqliteBackend(), 8);
}

TEST(KeptInAFile, OneProcessHasIt)
{
    const SqliteBackend backend;
    const MapService service(backend.open(test_kind));
    const auto second = journal::open_store(backend.file(test_kind), test_kind);
    ASSERT_FALSE(second);
    EXPECT_NE(std::string::npos, second.error().reason.find("another test has the store"))
        << second.error().reason;
    struct stat status {};
    ASSERT_EQ(0, stat(backend.file(test_kind).c_str(), &status));
    EXPECT_EQ(0600U, status.st_mode & 0777U);
}

/// A change that was made durable and not in memory is taken in before the next one.
TEST(KeptInAFile, TakesInWhatMemoryHasNot)
{
    const SqliteBackend backend;
    MapService service(backend.open(test_kind));
    EXPECT_EQ(JournalStatus::uncertain, service.journal->write(
                                            [](JournalChange& change) {
                                                change.put("a", "1");
                                                return true;
                                            },
                                            [] { throw std::bad_alloc(); }));
    EXPECT_EQ(JournalStatus::done, service.write({{.key = "b", .value = "2"}}));
    EXPECT_EQ((Rows{{"a", "1"}, {"b", "2"}}), service.replica.rows);
    EXPECT_EQ(2U, service.journal->number());
}

TEST(KeptInAFile, IsOfOneKind)
{
    const SqliteBackend backend;
    (void)MapService(backend.open(test_kind));
    const auto other = journal::open_store(backend.file(test_kind), trading::store_kind);
    ASSERT_FALSE(other);
    EXPECT_NE(std::string::npos, other.error().reason.find("is not a trader's store"))
        << other.error().reason;
}

TEST(KeptInAFile, AFullStoreSaysSoAndTakesBackWhatIsFree)
{
    const SqliteBackend backend;
    MapService service(backend.open(test_kind, 40));
    int count = 0;
    const auto put = [&] {
        return service.write({{.key = std::to_string(count), .value = std::string(3000, 'x')}});
    };
    for (; put() == JournalStatus::done; ++count)
        ASSERT_LT(count, 100);
    EXPECT_EQ(JournalStatus::full, put());
    EXPECT_EQ(static_cast<std::size_t>(count), service.replica.rows.size());
    EXPECT_EQ(static_cast<std::uint64_t>(count), service.journal->number());
    for (int i = 0; i < count; ++i)
        EXPECT_EQ(JournalStatus::done,
                  service.write({{.key = std::to_string(i), .is_erased = true}}));
    EXPECT_EQ(JournalStatus::done, put());
}

TEST(KeptInAFile, OnAFullDiskEverythingCanBeTakenOut)
{
    const SqliteBackend backend;
    MapService service(backend.open(test_kind));
    std::vector<JournalRow> rows;
    for (int i = 0; i < 300; ++i)
        rows.push_back({.key = std::to_string(i), .value = std::string(3000, 'x')});
    ASSERT_EQ(JournalStatus::done, service.write(rows));
    std::uintmax_t used = 0;
    for (const auto& each : std::filesystem::directory_iterator(backend.folder()))
        used += each.file_size();
    const sqlite::SmallDisk disk(backend.folder(), used);
    JournalStatus status = JournalStatus::done;
    for (int i = 0; i < 10'000 && status == JournalStatus::done; ++i)
        status = service.write(
            {{.key = "more " + std::to_string(i), .value = std::string(30'000, 'y')}});
    EXPECT_EQ(JournalStatus::full, status);
    for (JournalRow& row : rows)
        row.is_erased = true;
    EXPECT_EQ(JournalStatus::done, service.write(rows));
}

TEST(KeptInAFile, ClientsAreToldThatThereIsNoRoom)
{
    const SqliteBackend backend;
    const Place place;
    properties::PropertyService service(place.orb(), {}, backend.open(properties::store_kind, 40));
    const CosPropertyService::PropertySetDef_var set = service.create_set("Plant");
    CORBA::Any large;
    large <<= std::string(300'000, 'x').c_str();
    EXPECT_THROW(set->define_property("large", large), CORBA::NO_RESOURCES);
    EXPECT_FALSE(set->is_property_defined("large"));
    set->define_property("small", long_any(1));
    EXPECT_EQ(1, long_in(set.in(), "small"));
}

} // namespace
} // namespace kairos::kept
