// SPDX-License-Identifier: Apache-2.0
//
// The store in one file: that it is a store, and what it does when rows are damaged, the disk is
// full or the file is not its own.
#include "kairos/nameserver/store_conformance_testing.h"
#include "kairos/sqlite/disk_testing.h"

#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kairos::nameserver {
namespace {

class SqliteStoreTest : public testing::Test {
  protected:
    SqliteStoreTest() : store_(folder_.open()) {}

    void reopen(std::uint32_t pages_max = 0)
    {
        store_.reset();
        store_ = folder_.open(pages_max);
    }
    /// Behind the store's back.
    void execute(const std::string& sql) const
    {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(folder_.file().c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(handle);
        sqlite3_close(handle);
    }

    LoggedLines log_;
    StoreFolder folder_;
    std::unique_ptr<Store> store_;
};

using Status = StoreStatus;

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, StoreConformance, StoreFolder);

// --- files ---------------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, ASecondServerIsRefused)
{
    const auto second = open_sqlite_store({.path = folder_.file(), .readers = 1, .pages_max = 0});
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().reason,
              "another name server has the store " + folder_.file() + " open");
    // Also by another name.
    const std::string alias = folder_.path() / "alias";
    std::filesystem::create_symlink(folder_.file(), alias);
    EXPECT_FALSE(open_sqlite_store({.path = alias, .readers = 1, .pages_max = 0}).ok());
    // The first one noticed nothing, and the next one is welcome.
    EXPECT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
    store_.reset();
    EXPECT_TRUE(open_sqlite_store({.path = alias, .readers = 1, .pages_max = 0}).ok());
}

/// What others may do with the files of the folder that are files.
std::map<std::string, unsigned> modes_in(const std::filesystem::path& folder)
{
    std::map<std::string, unsigned> modes;
    for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.is_regular_file())
            modes[file.path().filename()] = static_cast<unsigned>(file.status().permissions());
    return modes;
}

TEST(SqliteStoreFile, FilesAreTheirOwnersAlone)
{
    const mode_t before = umask(0);
    const StoreFolder folder;
    std::unique_ptr<Store> store = folder.open();
    ASSERT_EQ(store->bind(root_context, component("a"), object_entry(1)), Status::done);
    const auto modes = modes_in(folder.path());
    EXPECT_EQ(modes.size(), 5u); // and its log, what readers share, the lock, the room
    for (const auto& [name, mode] : modes)
        EXPECT_EQ(mode, 0600u) << name;
    store.reset();

    // Those of before: nobody else opens them any more, so nobody keeps the lock.
    const std::filesystem::path lock = folder.file() + "-lock";
    using std::filesystem::perms;
    std::filesystem::permissions(lock, perms{0644});
    std::filesystem::permissions(folder.file(), perms{0664});
    store = folder.open();
    const auto after = modes_in(folder.path());
    EXPECT_EQ(after.at(lock.filename()), 0600u);
    EXPECT_EQ(after.at(std::filesystem::path(folder.file()).filename()), 0660u);
    for (const auto& [name, mode] : after)
        EXPECT_EQ(mode & 07, 0u) << name;
    store.reset();

    // A lock that leads elsewhere is none.
    std::filesystem::remove(lock);
    std::filesystem::create_symlink(folder.path() / "elsewhere", lock);
    EXPECT_FALSE(open_sqlite_store({.path = folder.file(), .readers = 1, .pages_max = 0}).ok());
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "elsewhere"));
    umask(before);
}

TEST(SqliteStoreFile, OthersAreRefusedAndLeftAlone)
{
    const StoreFolder folder;
    const auto refusal = [&](const std::string& path) {
        const auto store = open_sqlite_store({.path = path, .readers = 1, .pages_max = 0});
        return store ? std::string("accepted") : store.error().reason;
    };
    EXPECT_NE(refusal(folder.path() / "no" / "names").find("No such file"), std::string::npos);

    const std::string text = "this is no database, but a text that somebody wrote and wants back";
    std::ofstream(folder.file()) << text;
    EXPECT_NE(refusal(folder.file()).find("not a database"), std::string::npos);
    std::ifstream file(folder.file());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
    std::filesystem::remove(folder.file());

    const auto change = [&](const char* sql) {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(folder.file().c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(handle);
    };
    change("CREATE TABLE theirs(x)");
    EXPECT_NE(refusal(folder.file()).find("is not a name server's store"), std::string::npos);
    std::filesystem::remove(folder.file());

    (void)folder.open();
    change("PRAGMA user_version = 2");
    EXPECT_NE(refusal(folder.file()).find("another version"), std::string::npos);
    change("PRAGMA user_version = 1; DELETE FROM store");
    EXPECT_NE(refusal(folder.file()).find("no identity"), std::string::npos);
    change("DELETE FROM context");
    EXPECT_NE(refusal(folder.file()).find("no root context"), std::string::npos);
}

// --- damage --------------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, ADamagedRowIsBrokenAndNothingElseIs)
{
    const std::vector<std::string> damages{
        "reference = x'00'", "reference = 5",   "type = 1, target = 1",    "type = 7",
        "type = 'object'",   "target = 3",      "checksum = checksum + 1", "checksum = 'x'",
        "id = x'6261'",      "reference = x''",
    };
    for (const std::string& damage : damages) {
        ASSERT_EQ(store_->bind(root_context, component("a"), object_entry(1)), Status::done);
        ASSERT_EQ(store_->bind(root_context, component("good"), object_entry(2)), Status::done);
        execute("UPDATE binding SET " + damage + " WHERE id = x'61'");
        const auto name = damage.starts_with("id") ? component("ba") : component("a");
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
        execute("DELETE FROM binding");
    }
}

TEST_F(SqliteStoreTest, ADamagedFileIsBrokenAndNeverACrash)
{
    for (int i = 0; i < 200; ++i)
        ASSERT_EQ(store_->bind(root_context, component(std::to_string(i)), object_entry(i)),
                  Status::done);
    store_.reset(); // everything is in the file now
    std::mt19937 random(5);
    const auto size = std::filesystem::file_size(folder_.file());
    for (int round = 0; round < 30; ++round) {
        std::filesystem::copy_file(folder_.file(), folder_.path() / "copy",
                                   std::filesystem::copy_options::overwrite_existing);
        {
            std::fstream file(folder_.path() / "copy");
            for (int i = 0; i < 40; ++i) {
                file.seekp(static_cast<std::streamoff>(100 + random() % (size - 100)));
                file.put(static_cast<char>(random()));
            }
        }
        const auto store =
            open_sqlite_store({.path = folder_.path() / "copy", .readers = 1, .pages_max = 0});
        if (!store) continue;
        for (int i = 0; i < 200; ++i) {
            Resolution resolution;
            const Status status =
                resolve(**store, root_context, {component(std::to_string(i))}, resolution);
            // A page may have lost the row, but none is another than it was.
            if (status == Status::done) {
                EXPECT_EQ(resolution.entry, object_entry(i));
            }
        }
    }
}

// --- no room -------------------------------------------------------------------------------------

TEST_F(SqliteStoreTest, AFullStoreSaysSoServesReadsAndWorksAgainWhenThereIsRoom)
{
    reopen(40);
    int bindings = 0;
    const std::string filler(500, 'x');
    Status status = Status::done;
    for (; bindings < 1000; ++bindings) {
        status = store_->bind(root_context, component(std::to_string(bindings), filler),
                              object_entry(bindings));
        if (status != Status::done) break;
    }
    EXPECT_EQ(status, Status::full);
    ContextId created = 0;
    EXPECT_EQ(list_all(*store_, root_context, 50).size(), static_cast<std::size_t>(bindings));
    for (int i = 0; i < bindings; ++i) {
        EXPECT_EQ(bound(*store_, root_context, component(std::to_string(i), filler)),
                  object_entry(i));
        ASSERT_EQ(store_->unbind(root_context, component(std::to_string(i), filler)), Status::done);
    }
    EXPECT_EQ(store_->bind_new_context(root_context, component("a"), created), Status::done);
}

TEST_F(SqliteStoreTest, OnAFullDiskEverythingCanBeUnbound)
{
    ContextId inner = 0;
    ASSERT_EQ(store_->bind_new_context(root_context, component("c"), inner), Status::done);
    const sqlite::SmallDisk disk(folder_.path(), std::size_t{9} << 20); // the reserve, and 1 MiB
    const std::string filler(500, 'x');
    int bindings = 0;
    Status status = Status::done;
    for (; status == Status::done && bindings < 10'000; ++bindings)
        status = store_->bind(root_context, component(std::to_string(bindings), filler),
                              object_entry(bindings));
    ASSERT_EQ(status, Status::full);
    --bindings;
    ASSERT_GT(bindings, 100);
    EXPECT_EQ(store_->bind(root_context, component("none"), object_entry(1)), Status::full);
    for (int i = 0; i < bindings; ++i)
        ASSERT_EQ(store_->unbind(root_context, component(std::to_string(i), filler)), Status::done)
            << i << " of " << bindings;
    EXPECT_EQ(store_->unbind(root_context, component("c")), Status::done);
    EXPECT_EQ(store_->destroy_context(inner), Status::done);
    // And there is room again, in the file.
    for (int i = 0; i < bindings / 2; ++i)
        ASSERT_EQ(store_->bind(root_context, component(std::to_string(i)), object_entry(i)),
                  Status::done);
}

/// In a child process, because the limit cannot be taken back: 0 if all was as it must be.
static int fill_a_disk(const StoreFolder& folder)
{
    // Files may not grow beyond this; a write that would fails, as on a full or broken disk.
    const rlimit limit{std::size_t{1} << 18, std::size_t{1} << 18};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 10;
    const auto store = folder.open();
    int bound_names = 0;
    Status status = Status::done;
    for (; bound_names < 5000; ++bound_names) {
        status = store->bind(root_context, component(std::to_string(bound_names)),
                             object_entry(bound_names));
        if (status != Status::done) break;
    }
    if (status != Status::broken && status != Status::full && status != Status::uncertain)
        return 11;
    for (int i = 0; i < bound_names; ++i) {
        Resolution resolution;
        if (resolve(*store, root_context, {component(std::to_string(i))}, resolution) !=
                Status::done ||
            resolution.entry != object_entry(i))
            return 12;
    }
    return write(STDOUT_FILENO, &bound_names, sizeof bound_names) == sizeof bound_names ? 0 : 13;
}

TEST(SqliteStoreDisk, ThatRefusesToBeWrittenKeepsWhatWasAcknowledged)
{
    const StoreFolder folder;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        _exit(fill_a_disk(folder));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 0);
    int bound_names = 0;
    ASSERT_EQ(read(ends[0], &bound_names, sizeof bound_names),
              static_cast<ssize_t>(sizeof bound_names));
    close(ends[0]);
    close(ends[1]);
    EXPECT_GT(bound_names, 10);
    const auto store = folder.open();
    for (int i = 0; i < bound_names; ++i)
        EXPECT_EQ(bound(*store, root_context, component(std::to_string(i))), object_entry(i));
}

} // namespace kairos::nameserver
