// SPDX-License-Identifier: Apache-2.0
//
// A repository in a file: what one run keeps, the next one has; what nobody wrote is refused.
#include "kairos/repository/sqlite_store.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>
#include <utility>

namespace kairos::repository {
namespace {

class RepositoryStore : public testing::Test {
  protected:
    RepositoryStore()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "kairosXXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        path = folder_ + "/types.db";
    }
    ~RepositoryStore() override { std::filesystem::remove_all(folder_); }

    static Definition module_of(Key key, const std::string& name)
    {
        Definition definition;
        definition.key = key;
        definition.kind = Kind::module;
        definition.container = root;
        definition.id = "IDL:" + name + ":1.0";
        definition.name = name;
        definition.version = "1.0";
        return definition;
    }

    void execute(const char* sql) const
    {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(handle);
    }

    std::string path;

  private:
    std::string folder_;
};

TEST_F(RepositoryStore, KeepsWhatIsWritten)
{
    const Definition one = module_of(first_free, "One");
    const Definition two = module_of(first_free + 1, "Two");
    std::uint64_t identity = 0;
    {
        auto store = SqliteStore::open(path);
        ASSERT_TRUE(store) << store.error().reason;
        identity = (*store)->identity();
        ASSERT_TRUE((*store)->write({&one, &two}, {}, first_free + 2));
        ASSERT_TRUE((*store)->write({}, {first_free}, first_free + 2));
    }
    auto store = SqliteStore::open(path);
    ASSERT_TRUE(store) << store.error().reason;
    EXPECT_EQ((*store)->identity(), identity);
    EXPECT_NE(identity, 0U);
    const auto kept = (*store)->read();
    ASSERT_TRUE(kept);
    ASSERT_EQ(kept->definitions.size(), 1U);
    EXPECT_EQ(kept->definitions.front(), two);
    EXPECT_EQ(kept->next, first_free + 2); // the number of what was erased is not used again
}

TEST_F(RepositoryStore, IsOpenedByOneAtATime)
{
    auto store = SqliteStore::open(path);
    ASSERT_TRUE(store);
    EXPECT_FALSE(SqliteStore::open(path));
}

TEST_F(RepositoryStore, RefusesWhatNobodyWrote)
{
    const Definition one = module_of(first_free, "One");
    {
        auto store = SqliteStore::open(path);
        ASSERT_TRUE(store);
        ASSERT_TRUE((*store)->write({&one}, {}, first_free + 1));
    }
    execute("UPDATE definitions SET octets = x'01ff'");
    auto store = SqliteStore::open(path);
    ASSERT_TRUE(store);
    EXPECT_FALSE((*store)->read());
}

TEST_F(RepositoryStore, LeavesFilesOfOthersAlone)
{
    execute("CREATE TABLE mine(a)");
    EXPECT_FALSE(SqliteStore::open(path));
}

} // namespace
} // namespace kairos::repository
