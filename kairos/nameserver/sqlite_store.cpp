// SPDX-License-Identifier: Apache-2.0
//
// One connection writes, a few read: in WAL mode neither waits for the other.
#include "kairos/nameserver/sqlite_store.h"

#include "kairos/base/pool.h"
#include "kairos/nameserver/sql_store.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/file.h"
#include "kairos/sqlite/reserve.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <utility>

namespace kairos::nameserver {
namespace {

using sqlite::Connection;
using sqlite::FileLock;
using sqlite::require;
using sqlite::TransactionStatements;

constexpr int schema_version = 1;
constexpr int application_id = 0x4b724e53; // "KrNS": whose file it is

/// AUTOINCREMENT: numbers of contexts that were destroyed are not used again.
constexpr const char* schema = R"(
BEGIN IMMEDIATE;
CREATE TABLE store(identity INTEGER NOT NULL);
INSERT INTO store VALUES (random());
CREATE TABLE context(number INTEGER PRIMARY KEY AUTOINCREMENT);
INSERT INTO context(number) VALUES (1);
CREATE TABLE binding(
    context INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind BLOB NOT NULL,
    type INTEGER NOT NULL,
    target INTEGER NOT NULL,
    reference BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (context, id, kind)) WITHOUT ROWID;
PRAGMA application_id = 1265782355;
PRAGMA user_version = 1;
COMMIT;)";
static_assert(application_id == 1265782355 && schema_version == 1);

enum Statement : std::size_t {
    begin_reading = sql_statements_end,
    begin_writing,
    commit,
    rollback,
    list_all,
    list_after,
};
/// One connection writes, and nobody else: rows need not be locked.
constexpr const char* context_row = "SELECT 1 FROM context WHERE number = ?";
constexpr const char* binding_row = "SELECT type, target, reference, checksum FROM binding"
                                    " WHERE context = ? AND id = ? AND kind = ?";
constexpr const char* statements[] = {
    context_row,
    context_row,
    context_row,
    binding_row,
    binding_row,
    "SELECT 1 FROM binding WHERE context = ? LIMIT 1",
    "INSERT INTO binding VALUES (?, ?, ?, ?, ?, ?, ?)",
    "REPLACE INTO binding VALUES (?, ?, ?, ?, ?, ?, ?)",
    "DELETE FROM binding WHERE context = ? AND id = ? AND kind = ?",
    "INSERT INTO context DEFAULT VALUES RETURNING number",
    "DELETE FROM context WHERE number = ?",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    ("SELECT type, target, reference, checksum, id, kind FROM binding"
     " WHERE context = ? ORDER BY id, kind"),
    ("SELECT type, target, reference, checksum, id, kind FROM binding"
     " WHERE context = ? AND (id, kind) > (?, ?) ORDER BY id, kind"),
};
static_assert(std::size(statements) == list_after + 1);
constexpr TransactionStatements reading{begin_reading, commit, rollback};
constexpr TransactionStatements writing{begin_writing, commit, rollback};

// --- rows ----------------------------------------------------------------------------------------

/// Kept on the disk: more than what the log has, usually up to 1000 pages, may add to the file.
constexpr std::size_t reserve_octets = std::size_t{8} << 20;

/// How long an operation waits for those before it.
constexpr std::chrono::seconds turn_max{2};

/// What std::timed_mutex is, by means that ThreadSanitizer knows.
class TimedMutex {
  public:
    void lock()
    {
        std::unique_lock lock(mutex_);
        free_.wait(lock, [this] { return !taken_; });
        taken_ = true;
    }
    bool try_lock()
    {
        const std::lock_guard lock(mutex_);
        return !std::exchange(taken_, true);
    }
    template <typename Duration>
    bool try_lock_for(const Duration& time)
    {
        std::unique_lock lock(mutex_);
        if (!free_.wait_for(lock, time, [this] { return !taken_; })) return false;
        taken_ = true;
        return true;
    }
    void unlock()
    {
        const std::lock_guard lock(mutex_);
        taken_ = false;
        free_.notify_one();
    }

  private:
    std::mutex mutex_; // guards taken_
    std::condition_variable free_;
    bool taken_ = false;
};

// --- opening -------------------------------------------------------------------------------------

/// Makes the tables of an empty file, or checks that the file is ours.
Result<void> prepare_schema(Connection& connection)
{
    const auto tables = connection.value_of("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == "0") {
        if (auto made = connection.execute(schema); !made) return made;
    }
    if (auto ours = require(connection, "PRAGMA application_id", std::to_string(application_id),
                            "is not a name server's store");
        !ours)
        return ours;
    if (auto known = require(connection, "PRAGMA user_version", std::to_string(schema_version),
                             "was written by another version of the name server");
        !known)
        return known;
    return require(connection, "SELECT count(*) FROM context WHERE number = 1", "1",
                   "is damaged: it has no root context");
}

/// FULL: a commit returns when the log is on the disk, not when the system has it.
Result<std::unique_ptr<Connection>> open_writer(const SqliteOptions& options)
{
    auto connection = Connection::open(options.path);
    if (!connection) return connection;
    Connection& writer = **connection;
    if (const auto wal = require(writer, "PRAGMA journal_mode = WAL", "wal",
                                 "is where SQLite cannot keep a write-ahead log");
        !wal)
        return wal.error();
    if (const auto set = writer.execute("PRAGMA synchronous = FULL"); !set) return set.error();
    if (const auto ours = prepare_schema(writer); !ours) return ours.error();
    if (options.pages_max != 0) {
        const std::string limit = "PRAGMA max_page_count = " + std::to_string(options.pages_max);
        if (const auto set = writer.execute(limit.c_str()); !set) return set.error();
    }
    if (const auto prepared = writer.prepare(statements); !prepared) return prepared.error();
    return connection;
}

Result<std::unique_ptr<Connection>> open_reader(const SqliteOptions& options)
{
    auto connection = Connection::open(options.path);
    if (!connection) return connection;
    if (const auto set = (*connection)->execute("PRAGMA query_only = ON"); !set) return set.error();
    if (const auto prepared = (*connection)->prepare(statements); !prepared)
        return prepared.error();
    return connection;
}

// --- the store -----------------------------------------------------------------------------------

Result<std::uint64_t> read_identity(Connection& connection)
{
    const auto text = connection.value_of("SELECT identity FROM store");
    if (!text) return text.error();
    std::int64_t identity = 0;
    const char* const end = text->data() + text->size();
    if (const auto [stop, error] = std::from_chars(text->data(), end, identity);
        error != std::errc{} || stop != end)
        return Error{ErrorCode::malformed, "is damaged: it has no identity"};
    return static_cast<std::uint64_t>(identity);
}

template <typename Action>
class AtEnd {
  public:
    explicit AtEnd(Action action) : action_(std::move(action)) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { action_(); }

  private:
    const Action action_;
};

class SqliteDatabase {
  public:
    SqliteDatabase(const std::string& path, std::uint64_t identity, std::unique_ptr<FileLock> lock,
                   std::unique_ptr<Connection> writer,
                   std::vector<std::unique_ptr<Connection>> readers)
        : log_(path), identity_(identity), lock_(std::move(lock)), writer_(std::move(writer)),
          reserve_(path + "-room", reserve_octets), readers_(std::move(readers))
    {
    }

    std::uint64_t identity() const noexcept { return identity_; }
    std::uint64_t changes() const noexcept { return changes_; }
    StoreLog& log() noexcept { return log_; }

    class Rows : public sqlite::Query {
      public:
        using Query::Query;
        [[nodiscard]] bool is_binding() const
        {
            return type(0) == SQLITE_INTEGER && type(1) == SQLITE_INTEGER &&
                   type(2) == SQLITE_BLOB && type(3) == SQLITE_INTEGER;
        }
    };

    class Transaction {
      public:
        Transaction(SqliteDatabase& database, Connection& connection, TransactionStatements kind)
            : database_(database), connection_(connection), inner_(connection, kind)
        {
        }

        int begun() const noexcept { return inner_.begun(); }
        int commit() { return inner_.commit(); }
        Rows run(SqlStatement statement, SqlValues values)
        {
            return {connection_, statement, values};
        }
        Rows list(ContextId context, const ior::NameComponent* after, const PortionBounds&)
        {
            const auto column = static_cast<std::int64_t>(context);
            if (after == nullptr) return {connection_, list_all, {column}};
            return {connection_, list_after, {column, after->id, after->kind}};
        }
        StoreStatus failed(const Rows& rows)
        {
            return database_.failed(connection_, rows.failure());
        }
        /// From here to the end of the `write`.
        void begin_change() { database_.changes_ |= 1; }
        static StoreStatus collision() { return StoreStatus::broken; } // nobody else writes

      private:
        SqliteDatabase& database_;
        Connection& connection_;
        sqlite::Transaction inner_;
    };

    template <typename Action>
    StoreStatus read(Action&& action);
    /// Again, with the room that is kept for it, if it makes room and there is no other.
    template <typename Action>
    StoreStatus write(Room room, Action&& action);

  private:
    template <typename Action>
    StoreStatus attempt(Action&& action);
    void end_change() { changes_ += changes_ % 2; }
    /// Others were before, for longer than we wait.
    StoreStatus late();
    /// What SQLite's code means for the caller; logged.
    StoreStatus failed(const Connection& connection, int code);

    StoreLog log_;
    const std::uint64_t identity_;
    const std::unique_ptr<FileLock> lock_; // given back last
    // guards writer_, reserve_ and changes of changes_; held for one change, until it is on the
    // disk; outside StoreLog's
    TimedMutex writing_mutex_;
    std::atomic<std::uint64_t> changes_ = 0;
    const std::unique_ptr<Connection> writer_;
    sqlite::Reserve reserve_;
    Pool<Connection> readers_; // as many may read at the same time
};

template <typename Action>
StoreStatus SqliteDatabase::read(Action&& action)
{
    const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
    if (!connection) return late();
    Transaction transaction(*this, *connection, reading);
    return transaction.begun() == SQLITE_OK ? action(transaction)
                                            : failed(*connection, transaction.begun());
}

/// What makes room needs some, too, on a full disk: in the log, and for what the log has and the
/// file has not.
template <typename Action>
StoreStatus SqliteDatabase::write(Room room, Action&& action)
{
    const std::unique_lock lock(writing_mutex_, turn_max);
    if (!lock.owns_lock()) return late();
    StoreStatus status = attempt(action);
    if (status == StoreStatus::full) {
        if (room == Room::makes) {
            reserve_.release();
            status = attempt(action);
        }
        // The log begins anew, in the room that it has already.
        (void)writer_->value_of("PRAGMA wal_checkpoint(RESTART)");
        if (status == StoreStatus::full) status = attempt(action);
    }
    if (status == StoreStatus::done) reserve_.restore();
    return status;
}

template <typename Action>
StoreStatus SqliteDatabase::attempt(Action&& action)
{
    const AtEnd ended([this] { end_change(); }); // after the transaction's end
    Transaction transaction(*this, *writer_, writing);
    if (transaction.begun() != SQLITE_OK) return failed(*writer_, transaction.begun());
    const StoreStatus status = action(transaction);
    if (status != StoreStatus::done) return status;
    const int committed = transaction.commit();
    if (committed != SQLITE_OK) {
        // What SQLite calls full it has not written; what could not be synchronised it may have.
        const StoreStatus why = failed(*writer_, committed);
        return why == StoreStatus::full ? why : StoreStatus::uncertain;
    }
    log_.forget();
    return StoreStatus::done;
}

StoreStatus SqliteDatabase::late()
{
    log_.say_once("operations take too long for others to wait for their turn");
    return StoreStatus::unreachable;
}

StoreStatus SqliteDatabase::failed(const Connection& connection, int code)
{
    log_.say_once(connection.failure().reason);
    switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_BUSY: // somebody else's lock, for longer than we wait
        return StoreStatus::full;
    default:
        return StoreStatus::broken;
    }
}

} // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteOptions& options)
{
    const auto refuse = [&](const Error& error) {
        const bool named = error.reason.find(options.path) != std::string::npos;
        return Error{error.code, named ? error.reason : options.path + ": " + error.reason,
                     error.system_errno};
    };
    // Two names of one file must be one lock.
    std::error_code ignored;
    SqliteOptions real = options;
    const auto canonical = std::filesystem::weakly_canonical(options.path, ignored);
    if (!canonical.empty()) real.path = canonical;

    auto lock = FileLock::take(real.path, "name server");
    if (!lock) return refuse(lock.error());
    if (const auto made = sqlite::make_private(real.path); !made) return refuse(made.error());
    auto writer = open_writer(real);
    if (!writer) return refuse(writer.error());
    const auto identity = read_identity(**writer);
    if (!identity) return refuse(identity.error());
    std::vector<std::unique_ptr<Connection>> readers;
    for (std::size_t i = 0; i < std::max<std::size_t>(real.readers, 1); ++i) {
        auto reader = open_reader(real);
        if (!reader) return refuse(reader.error());
        readers.push_back(std::move(reader).value());
    }
    std::unique_ptr<Store> store =
        std::make_unique<SqlStore<SqliteDatabase>>(real.path, *identity, std::move(lock).value(),
                                                   std::move(writer).value(), std::move(readers));
    return store;
}

} // namespace kairos::nameserver
