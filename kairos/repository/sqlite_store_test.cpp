// SPDX-License-Identifier: Apache-2.0
//
// A repository in a file: that it is a store, and leaves others' files alone.
#include "kairos/repository/sqlite_store.h"

#include "kairos/repository/open_store.h"
#include "kairos/repository/store_conformance_testing.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>

namespace kairos::repository {
namespace {

class SqliteBackend {
  public:
    SqliteBackend()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "kairosXXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    SqliteBackend(const SqliteBackend&) = delete;
    SqliteBackend& operator=(const SqliteBackend&) = delete;
    ~SqliteBackend() { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path() const { return folder_ + "/types.db"; }
    [[nodiscard]] Result<std::unique_ptr<Store>> open() const { return open_store(path()); }
    void damage() const { execute("UPDATE definitions SET octets = x'01ff'"); }
    void execute(const char* sql) const
    {
        sqlite3* handle = nullptr;
        ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
        EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
        sqlite3_close(handle);
    }

  private:
    std::string folder_;
};

TEST(SqliteStoreFile, OfOthersIsLeftAlone)
{
    const SqliteBackend backend;
    backend.execute("CREATE TABLE mine(a)");
    EXPECT_FALSE(SqliteStore::open(backend.path()));
}

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, StoreConformance, SqliteBackend);

} // namespace kairos::repository
