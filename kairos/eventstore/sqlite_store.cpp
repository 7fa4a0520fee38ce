// SPDX-License-Identifier: Apache-2.0
//
// One connection, of the one thread that uses the store, in WAL mode: a commit is one write behind
// the log, and one wait for the disk if it is to be safe.
#include "kairos/eventstore/sqlite_store.h"

#include "kairos/base/log.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/file.h"
#include "kairos/sqlite/reserve.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>

namespace kairos::eventstore {
namespace {

using notification::Store;
using notification::StoreChange;
using notification::Stored;
using notification::StoreStatus;
using sqlite::Connection;
using sqlite::Query;
using Action = StoreChange::Action;

constexpr int schema_version = 1;
constexpr int application_id = 0x4b724e74; // "KrNt": whose file it is

constexpr const char* schema = R"(
BEGIN IMMEDIATE;
CREATE TABLE object(key INTEGER PRIMARY KEY, channel INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE event(number INTEGER PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE waiting(
    object INTEGER NOT NULL,
    event INTEGER NOT NULL,
    PRIMARY KEY (object, event)) WITHOUT ROWID;
PRAGMA application_id = 1265782388;
PRAGMA user_version = 1;
COMMIT;)";
static_assert(application_id == 1265782388 && schema_version == 1);

enum Statement : std::size_t {
    begin_writing,
    commit,
    rollback,
    put_object,
    erase_object,
    erase_object_waits,
    erase_channel,
    erase_channel_waits,
    add_event,
    add_waiting,
    erase_waiting,
    erase_event,
    all_objects,
    all_events,
    all_waits,
};
constexpr const char* statements[] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "REPLACE INTO object VALUES (?, ?, ?)",
    "DELETE FROM object WHERE key = ?",
    "DELETE FROM waiting WHERE object = ?",
    "DELETE FROM object WHERE channel = ?",
    "DELETE FROM waiting WHERE object IN (SELECT key FROM object WHERE channel = ?)",
    "REPLACE INTO event VALUES (?, ?)",
    "REPLACE INTO waiting VALUES (?, ?)",
    "DELETE FROM waiting WHERE object = ? AND event = ?",
    "DELETE FROM event WHERE number = ?",
    "SELECT key, channel, state FROM object ORDER BY key",
    "SELECT number, state FROM event ORDER BY number",
    "SELECT object, event FROM waiting ORDER BY object, event",
};
static_assert(std::size(statements) == all_waits + 1);

/// Kept on the disk: more than what the log has, usually up to 1000 pages, may add to the file.
constexpr std::size_t reserve_octets = std::size_t{8} << 20;

std::int64_t column(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t number_in(const Query& row, int place)
{
    return static_cast<std::uint64_t>(row.integer(place));
}

StoreStatus status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
        return StoreStatus::done;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
        return StoreStatus::full;
    case SQLITE_BUSY: // somebody else's lock, for longer than we wait
        return StoreStatus::busy;
    default:
        return StoreStatus::broken;
    }
}

class SqliteStore final : public Store {
  public:
    SqliteStore(const std::string& path, std::unique_ptr<sqlite::FileLock> lock,
                std::unique_ptr<Connection> connection)
        : path_(path), lock_(std::move(lock)), connection_(std::move(connection)),
          reserve_(path + "-room", reserve_octets)
    {
    }

    StoreStatus load(Stored& all) override
    {
        Query objects(*connection_, all_objects);
        while (objects.next())
            all.objects.push_back({.key = number_in(objects, 0),
                                   .channel = number_in(objects, 1),
                                   .state = std::string(objects.octets(2))});
        Query events(*connection_, all_events);
        while (events.next())
            all.events.push_back(
                {.number = number_in(events, 0), .state = std::string(events.octets(1))});
        Query waits(*connection_, all_waits);
        while (waits.next())
            all.waits.push_back({.object = number_in(waits, 0), .event = number_in(waits, 1)});
        for (const Query* const one : {&objects, &events, &waits})
            if (!one->ok()) return failed(one->failure());
        return StoreStatus::done;
    }

    /// What makes room needs some, too, on a full disk: in the log, and for what the log has and
    /// the file has not.
    StoreStatus write(std::span<const StoreChange> changes, bool safe) override
    {
        StoreStatus status = attempt(changes, safe);
        if (status == StoreStatus::full) {
            if (std::ranges::all_of(changes, &StoreChange::makes_room)) reserve_.release();
            // The log begins anew, in the room that it has already.
            (void)connection_->value_of("PRAGMA wal_checkpoint(RESTART)");
            status = attempt(changes, safe);
        }
        if (status != StoreStatus::done) return status;
        reserve_.restore();
        if (std::exchange(has_said_, false))
            log::warning("notify: the store " + path_ + " can be written again");
        return status;
    }

  private:
    [[nodiscard]] StoreStatus attempt(std::span<const StoreChange> changes, bool safe)
    {
        // FULL: a commit returns when the log is on the disk, with all of it that was not before.
        if (safe != is_safe_) {
            if (!connection_->execute(safe ? "PRAGMA synchronous = FULL"
                                           : "PRAGMA synchronous = NORMAL"))
                return failed(SQLITE_IOERR);
            is_safe_ = safe;
        }
        sqlite::Transaction transaction(*connection_, {begin_writing, commit, rollback});
        if (transaction.begun() != SQLITE_OK) return failed(transaction.begun());
        for (const StoreChange& change : changes)
            if (const int code = make(change); code != SQLITE_OK) return failed(code);
        const int committed = transaction.commit();
        return committed == SQLITE_OK ? StoreStatus::done : failed(committed);
    }

    [[nodiscard]] int make(const StoreChange& change)
    {
        const std::int64_t key = column(change.key);
        const std::int64_t other = column(change.other);
        switch (change.action) {
        case Action::put_object:
            return run(put_object, {key, other, std::string_view(change.state)});
        case Action::erase_object:
            if (const int code = run(erase_object_waits, {key}); code != SQLITE_OK) return code;
            return run(erase_object, {key});
        case Action::erase_channel:
            if (const int code = run(erase_channel_waits, {key}); code != SQLITE_OK) return code;
            return run(erase_channel, {key});
        case Action::add_event:
            return run(add_event, {key, std::string_view(change.state)});
        case Action::add_waiting:
            return run(add_waiting, {key, other});
        case Action::erase_waiting:
            return run(erase_waiting, {key, other});
        case Action::erase_event:
            return run(erase_event, {key});
        }
        return SQLITE_MISUSE;
    }
    [[nodiscard]] int run(Statement statement, sqlite::Values values)
    {
        Query query(*connection_, statement, values);
        (void)query.run();
        return query.failure();
    }

    StoreStatus failed(int code)
    {
        if (!std::exchange(has_said_, true))
            log::error("notify: the store " + path_ + ": " + sqlite3_errstr(code));
        const StoreStatus status = status_of(code);
        return status == StoreStatus::done ? StoreStatus::broken : status;
    }

    const std::string path_;
    const std::unique_ptr<sqlite::FileLock> lock_;
    const std::unique_ptr<Connection> connection_;
    sqlite::Reserve reserve_;
    bool is_safe_ = true;   // how it was told to write
    bool has_said_ = false; // that something failed, since something was written
};

// --- Opening -------------------------------------------------------------------------------------

Result<void> prepare_schema(Connection& connection)
{
    const auto tables = connection.value_of("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == "0") {
        if (auto made = connection.execute(schema); !made) return made;
    }
    if (auto ours =
            sqlite::require(connection, "PRAGMA application_id", std::to_string(application_id),
                            "is not a notification service's store");
        !ours)
        return ours;
    return sqlite::require(connection, "PRAGMA user_version", std::to_string(schema_version),
                           "was written by another version of the notification service");
}

Result<std::unique_ptr<Connection>> open_connection(const StoreOptions& options)
{
    auto opened = Connection::open(options.path);
    if (!opened) return opened;
    Connection& connection = **opened;
    if (const auto wal = sqlite::require(connection, "PRAGMA journal_mode = WAL", "wal",
                                         "is where SQLite cannot keep a write-ahead log");
        !wal)
        return wal.error();
    // A row that nobody wrote like this may be anything, so the schema is not trusted either.
    if (const auto set = connection.execute("PRAGMA trusted_schema = OFF; "
                                            "PRAGMA synchronous = FULL; "
                                            "PRAGMA secure_delete = OFF; "
                                            "PRAGMA journal_size_limit = 16777216");
        !set)
        return set.error();
    if (const auto ours = prepare_schema(connection); !ours) return ours.error();
    if (options.pages_max != 0) {
        const std::string limit = "PRAGMA max_page_count = " + std::to_string(options.pages_max);
        if (const auto set = connection.execute(limit.c_str()); !set) return set.error();
    }
    if (const auto prepared = connection.prepare(statements); !prepared) return prepared.error();
    return opened;
}

} // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const StoreOptions& options)
{
    const auto refuse = [&](const Error& error) {
        const bool named = error.reason.find(options.path) != std::string::npos;
        return Error{error.code, named ? error.reason : options.path + ": " + error.reason,
                     error.system_errno};
    };
    // Two names of one file must be one lock.
    std::error_code ignored;
    StoreOptions real = options;
    const auto canonical = std::filesystem::weakly_canonical(options.path, ignored);
    if (!canonical.empty()) real.path = canonical;

    auto lock = sqlite::FileLock::take(real.path, "notification service");
    if (!lock) return refuse(lock.error());
    if (const auto made = sqlite::make_private(real.path); !made) return refuse(made.error());
    auto connection = open_connection(real);
    if (!connection) return refuse(connection.error());
    std::unique_ptr<Store> store = std::make_unique<SqliteStore>(real.path, std::move(lock).value(),
                                                                 std::move(connection).value());
    return store;
}

} // namespace kairos::eventstore
