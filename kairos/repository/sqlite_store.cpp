// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/sqlite_store.h"

#include "kairos/repository/row.h"

#include <random>
#include <sqlite3.h>
#include <utility>

namespace kairos::repository {
namespace {

/// In the file's header: tells it from those of others.
constexpr int application_id = 0x4B494652; // "KIFR"
constexpr int version = 1;

} // namespace

/// A connection that has the file alone, and its statements.
struct SqliteStore::Database {
    enum Statement { begin, commit, rollback, put, erase, set_next, statements_end };

    Database() = default;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database()
    {
        for (sqlite3_stmt* statement : statements)
            sqlite3_finalize(statement);
        sqlite3_close(handle);
    }

    [[nodiscard]] Error failure(const std::string& what) const
    {
        return {ErrorCode::system, what + ": " + sqlite3_errmsg(handle)};
    }
    [[nodiscard]] bool execute(const char* sql) const
    {
        return sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    /// The first column of the first row; -1 for none.
    [[nodiscard]] std::int64_t number_of(const char* sql) const
    {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr) != SQLITE_OK) return -1;
        const std::int64_t number =
            sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
        sqlite3_finalize(statement);
        return number;
    }
    [[nodiscard]] bool prepare()
    {
        constexpr const char* sql[statements_end] = {
            "BEGIN IMMEDIATE",
            "COMMIT",
            "ROLLBACK",
            "INSERT OR REPLACE INTO definitions(key, octets) VALUES(?1, ?2)",
            "DELETE FROM definitions WHERE key = ?1",
            "UPDATE repository SET next = ?1",
        };
        for (int i = 0; i < statements_end; ++i)
            if (sqlite3_prepare_v3(handle, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i],
                                   nullptr) != SQLITE_OK)
                return false;
        return true;
    }
    [[nodiscard]] bool run(Statement which)
    {
        const int code = sqlite3_step(statements[which]);
        sqlite3_reset(statements[which]);
        sqlite3_clear_bindings(statements[which]);
        return code == SQLITE_DONE;
    }
    [[nodiscard]] bool run(Statement which, std::int64_t number)
    {
        sqlite3_bind_int64(statements[which], 1, number);
        return run(which);
    }
    [[nodiscard]] bool write(const std::vector<const Definition*>& written,
                             const std::vector<Key>& erased, Key next)
    {
        for (const Key key : erased)
            if (!run(erase, static_cast<std::int64_t>(key))) return false;
        for (const Definition* definition : written) {
            const std::string octets = encode(*definition);
            sqlite3_bind_blob64(statements[put], 2, octets.data(), octets.size(), SQLITE_STATIC);
            if (!run(put, static_cast<std::int64_t>(definition->key))) return false;
        }
        return run(set_next, static_cast<std::int64_t>(next));
    }

    sqlite3* handle = nullptr;
    sqlite3_stmt* statements[statements_end] = {};
};

SqliteStore::SqliteStore(std::unique_ptr<Database> database)
    : database_(std::move(database)), identity_(static_cast<std::uint64_t>(database_->number_of(
                                          "SELECT identity FROM repository LIMIT 1")))
{
}

SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path)
{
    auto database = std::make_unique<Database>();
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path.c_str(), &database->handle, flags, nullptr) != SQLITE_OK)
        return database->failure(path);
    // The lock that others are refused by stays until the end. A row that nobody wrote like this
    // may be anything, so the schema is not trusted either.
    if (!database->execute("PRAGMA trusted_schema = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                           "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                           "BEGIN EXCLUSIVE"))
        return database->failure(path);
    const std::int64_t id = database->number_of("PRAGMA application_id");
    const bool is_empty = database->number_of("SELECT count(*) FROM sqlite_master") == 0;
    if (is_empty && id == 0) {
        std::random_device random;
        const std::uint64_t identity =
            ((std::uint64_t{random()} << 32 | random()) & 0x7FFF'FFFF'FFFF'FFFF) | 1;
        const std::string sql =
            "PRAGMA application_id = " + std::to_string(application_id) +
            "; PRAGMA user_version = " + std::to_string(version) +
            "; CREATE TABLE repository(identity INTEGER NOT NULL, next INTEGER NOT NULL);"
            "CREATE TABLE definitions(key INTEGER PRIMARY KEY, octets BLOB NOT NULL);"
            "INSERT INTO repository VALUES(" +
            std::to_string(identity) + ", " + std::to_string(first_free) + ")";
        if (!database->execute(sql.c_str())) return database->failure(path);
    } else if (id != application_id) {
        return Error{ErrorCode::invalid_argument, path + " is not an Interface Repository"};
    } else if (database->number_of("PRAGMA user_version") != version) {
        return Error{ErrorCode::invalid_argument,
                     path + " was written by another version of Kairos"};
    }
    if (!database->execute("COMMIT") || !database->prepare()) return database->failure(path);
    return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(database)));
}

Result<Store::Kept> SqliteStore::read()
{
    Kept kept;
    const std::int64_t next = database_->number_of("SELECT next FROM repository LIMIT 1");
    if (next < 0) return database_->failure("the number of definitions cannot be read");
    kept.next = static_cast<Key>(next);
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_->handle, "SELECT key, octets FROM definitions", -1, &statement,
                           nullptr) != SQLITE_OK)
        return database_->failure("definitions cannot be read");
    int code = SQLITE_ROW;
    bool is_good = true;
    while (is_good && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const void* data = sqlite3_column_blob(statement, 1);
        const int size = sqlite3_column_bytes(statement, 1);
        const std::string_view octets =
            data == nullptr
                ? std::string_view()
                : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
        std::optional<Definition> definition = decode(octets);
        is_good = definition.has_value() &&
                  definition->key == static_cast<Key>(sqlite3_column_int64(statement, 0));
        if (is_good) kept.definitions.push_back(std::move(*definition));
    }
    sqlite3_finalize(statement);
    if (!is_good) return Error{ErrorCode::malformed, "a definition in the store is damaged"};
    if (code != SQLITE_DONE) return database_->failure("definitions cannot be read");
    return kept;
}

Result<void> SqliteStore::write(const std::vector<const Definition*>& written,
                                const std::vector<Key>& erased, Key next)
{
    if (!database_->run(Database::begin)) return database_->failure("no change can begin");
    if (database_->write(written, erased, next) && database_->run(Database::commit)) return {};
    Error error = database_->failure("a change cannot be written");
    static_cast<void>(database_->run(Database::rollback));
    return error;
}

} // namespace kairos::repository
