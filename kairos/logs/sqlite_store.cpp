// SPDX-License-Identifier: Apache-2.0
//
// One connection writes, a few read: in WAL mode neither waits for the other. Changes that come
// while one is made durable are made together, in the transaction that follows.
#include "kairos/base/log.h"
#include "kairos/base/pool.h"
#include "kairos/logs/store.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/file.h"
#include "kairos/sqlite/reserve.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

namespace kairos::logs {
namespace {

using sqlite::Connection;
using sqlite::Query;

constexpr int schema_version = 1;
constexpr int application_id = 0x4b724c47; // "KrLG": whose file it is

constexpr const char* schema = R"(
BEGIN IMMEDIATE;
CREATE TABLE log(
    key INTEGER PRIMARY KEY,
    settings BLOB NOT NULL,
    next INTEGER NOT NULL,
    records INTEGER NOT NULL,
    octets INTEGER NOT NULL,
    newest INTEGER NOT NULL);
CREATE TABLE flush(count INTEGER NOT NULL);
INSERT INTO flush VALUES (0);
CREATE TABLE last_key(key INTEGER PRIMARY KEY);
CREATE TABLE record(
    log INTEGER NOT NULL,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    attributes BLOB NOT NULL,
    info BLOB NOT NULL,
    PRIMARY KEY (log, number)) WITHOUT ROWID;
PRAGMA application_id = 1265781831;
PRAGMA user_version = 1;
COMMIT;)";
static_assert(application_id == 1265781831 && schema_version == 1);

enum Statement : std::size_t {
    begin_writing,
    commit,
    rollback,
    insert_record,
    erase_record,
    set_record,
    first_record,
    set_log_counts,
    put_log_row,
    erase_log_row,
    erase_records,
    count_flush,
    erase_last_keys,
    insert_last_key,
    read_forwards,
    read_backwards,
    numbers_forwards,
    numbers_backwards,
    all_logs,
    all_last_keys,
};
constexpr const char* statements[] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "INSERT INTO record VALUES (?, ?, ?, ?, ?)",
    "DELETE FROM record WHERE log = ? AND number = ?",
    "UPDATE record SET attributes = ?3 WHERE log = ?1 AND number = ?2",
    ("SELECT number, time, length(attributes) + length(info), length(attributes) FROM record"
     " WHERE log = ? AND number >= ? ORDER BY number LIMIT 1"),
    "UPDATE log SET next = ?2, records = ?3, octets = ?4, newest = ?5 WHERE key = ?1",
    "REPLACE INTO log VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM log WHERE key = ?",
    "DELETE FROM record WHERE log = ?",
    "UPDATE flush SET count = count + 1",
    "DELETE FROM last_key WHERE key >> 32 = ?",
    "INSERT INTO last_key VALUES (?)",
    ("SELECT number, time, attributes, info FROM record"
     " WHERE log = ? AND number >= ? ORDER BY number LIMIT ?"),
    ("SELECT number, time, attributes, info FROM record"
     " WHERE log = ? AND number <= ? ORDER BY number DESC LIMIT ?"),
    "SELECT number FROM record WHERE log = ? AND number >= ? ORDER BY number LIMIT ?",
    "SELECT number FROM record WHERE log = ? AND number <= ? ORDER BY number DESC LIMIT ?",
    "SELECT key, settings, next, records, octets, newest FROM log",
    "SELECT key FROM last_key",
};
static_assert(std::size(statements) == all_last_keys + 1);

/// Kept on the disk: more than what the log has, usually up to 1000 pages, may add to the file.
constexpr std::size_t reserve_octets = std::size_t{8} << 20;
/// How long an operation waits for those before it.
constexpr std::chrono::seconds turn_max{10};
/// Changes in one transaction.
constexpr std::size_t together_max = 200;
/// Pages of the write-ahead log from which on it is copied into the file, and from which on readers
/// are held back for that: as long as one of them or another reads, it cannot begin anew.
constexpr std::size_t copied_pages = 1000;
constexpr std::size_t held_back_pages = 4000;
constexpr std::chrono::seconds held_back_max{2};

std::int64_t column(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t number_in(const Query& row, int place)
{
    return static_cast<std::uint64_t>(row.integer(place));
}

/// As it is answered, and said once until a change succeeds.
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

/// What can be asked of any of the connections.
StoreStatus first_of(Connection& connection, LogKey log, std::uint64_t from, Brief& brief)
{
    Query row(connection, first_record, {column(log), column(from)});
    if (!row.next()) return row.ok() ? StoreStatus::not_found : status_of(row.failure());
    brief = {number_in(row, 0), number_in(row, 1),
             Row::counted(static_cast<std::size_t>(row.integer(2))),
             static_cast<std::size_t>(row.integer(3))};
    return StoreStatus::done;
}

class SqliteTables final : public Tables {
  public:
    explicit SqliteTables(Connection& connection) : connection_(connection) {}

    StoreStatus insert(LogKey log, const RowPtr& row) override
    {
        return run(insert_record, {column(log), column(row->number), column(row->time),
                                   std::string_view(row->attributes), std::string_view(row->info)});
    }
    StoreStatus erase(LogKey log, std::uint64_t number) override
    {
        return run_on_one(erase_record, {column(log), column(number)});
    }
    StoreStatus set_attributes(LogKey log, std::uint64_t number,
                               const std::string& attributes) override
    {
        return run_on_one(set_record, {column(log), column(number), std::string_view(attributes)});
    }
    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        return first_of(connection_, log, from, brief);
    }
    StoreStatus set_counts(LogKey log, const Counts& counts) override
    {
        return run(set_log_counts, {column(log), column(counts.next), column(counts.records),
                                    column(counts.octets), column(counts.newest)});
    }
    StoreStatus put_log(const KeptLog& log) override
    {
        return run(put_log_row, {column(log.key), std::string_view(log.settings),
                                 column(log.counts.next), column(log.counts.records),
                                 column(log.counts.octets), column(log.counts.newest)});
    }
    StoreStatus erase_log(LogKey log) override
    {
        const StoreStatus status = run(erase_records, {column(log)});
        return status == StoreStatus::done ? run(erase_log_row, {column(log)}) : status;
    }
    /// What is written as it was before SQLite does not write at all.
    StoreStatus touch() override { return run(count_flush, {}); }
    StoreStatus set_last_key(LogKey key) override
    {
        const StoreStatus status = run(erase_last_keys, {column(key >> 32)});
        return status == StoreStatus::done ? run(insert_last_key, {column(key)}) : status;
    }

  private:
    StoreStatus run(Statement statement, sqlite::Values values)
    {
        Query query(connection_, statement, values);
        (void)query.run();
        return status_of(query.failure());
    }
    StoreStatus run_on_one(Statement statement, sqlite::Values values)
    {
        Query query(connection_, statement, values);
        if (!query.run()) return status_of(query.failure());
        return query.changed() == 0 ? StoreStatus::not_found : StoreStatus::done;
    }

    Connection& connection_;
};

class SqliteStore final : public Store {
  public:
    SqliteStore(const std::string& path, std::unique_ptr<sqlite::FileLock> lock,
                std::unique_ptr<Connection> writer,
                std::vector<std::unique_ptr<Connection>> readers)
        : path_(path), lock_(std::move(lock)), writer_(std::move(writer)),
          reserve_(path + "-room", reserve_octets), reader_count_(readers.size()),
          readers_(std::move(readers))
    {
        const auto keep_size = [](void* pages, sqlite3*, const char*, int count) {
            *static_cast<std::size_t*>(pages) = static_cast<std::size_t>(std::max(count, 0));
            return SQLITE_OK;
        };
        sqlite3_wal_hook(writer_->handle(), keep_size, &pages_);
    }

    bool is_durable() const noexcept override { return true; }

    StoreStatus load(std::vector<KeptLog>& logs, std::vector<LogKey>& last_keys) override
    {
        Query rows(*writer_, all_logs);
        while (rows.next()) {
            KeptLog& log = logs.emplace_back();
            log.key = number_in(rows, 0);
            log.settings = rows.octets(1);
            log.counts = {.next = number_in(rows, 2),
                          .records = number_in(rows, 3),
                          .octets = number_in(rows, 4),
                          .newest = number_in(rows, 5)};
        }
        if (!rows.ok()) return status_of(rows.failure());
        Query keys(*writer_, all_last_keys);
        while (keys.next())
            last_keys.push_back(number_in(keys, 0));
        return status_of(keys.failure());
    }

    StoreStatus change(Change& change, bool safe) override;

    StoreStatus read(LogKey log, const Span& span, std::vector<RowPtr>& rows) override
    {
        const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
        if (!connection) return StoreStatus::busy;
        const auto count =
            static_cast<std::int64_t>(std::min<std::size_t>(span.count_max, std::size_t{1} << 30));
        Query found(*connection, span.is_backwards ? read_backwards : read_forwards,
                    {column(log), column(span.from), count});
        std::size_t octets = 0;
        for (bool is_first = true; found.next(); is_first = false) {
            octets += Row::counted(found.octets(2).size() + found.octets(3).size());
            if (!is_first && octets > span.octets_max) return StoreStatus::done;
            rows.push_back(
                std::make_shared<const Row>(Row{.number = number_in(found, 0),
                                                .time = number_in(found, 1),
                                                .attributes = std::string(found.octets(2)),
                                                .info = std::string(found.octets(3))}));
        }
        return found.ok() ? StoreStatus::done : failed(found.failure());
    }

    StoreStatus read_numbers(LogKey log, const Span& span,
                             std::vector<std::uint64_t>& numbers) override
    {
        const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
        if (!connection) return StoreStatus::busy;
        const auto count =
            static_cast<std::int64_t>(std::min<std::size_t>(span.count_max, std::size_t{1} << 30));
        Query found(*connection, span.is_backwards ? numbers_backwards : numbers_forwards,
                    {column(log), column(span.from), count});
        while (found.next())
            numbers.push_back(number_in(found, 0));
        return found.ok() ? StoreStatus::done : failed(found.failure());
    }

    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
        return connection ? first_of(*connection, log, from, brief) : StoreStatus::busy;
    }

  private:
    struct Waiting {
        Change* change;
        bool safe;
        StoreStatus status = StoreStatus::broken;
        bool is_over = false;
    };

    [[nodiscard]] StoreStatus attempt(std::span<Waiting* const> together);
    void work(std::span<Waiting* const> together);
    void work_on_one(Waiting& one, bool& is_begun_anew);
    void copy_log();
    StoreStatus failed(int code) noexcept;

    const std::string path_;
    const std::unique_ptr<sqlite::FileLock> lock_;
    const std::unique_ptr<Connection> writer_;   // used by who is at work
    sqlite::Reserve reserve_;                    // likewise
    bool is_safe_ = true;                        // likewise: how it was told to write
    std::size_t pages_ = 0;                      // likewise: of the write-ahead log
    std::size_t hold_back_at_ = held_back_pages; // likewise
    const std::size_t reader_count_;
    Pool<Connection> readers_;
    std::mutex mutex_; // guards what follows; nothing is called while it is held
    std::condition_variable changed_;
    std::deque<Waiting*> waiting_;
    bool is_at_work_ = false; // somebody, for all that wait
    bool has_said_ = false;   // what failed
};

/// Whoever finds nobody at work makes all changes that wait, until its own is made.
StoreStatus SqliteStore::change(Change& change, bool safe)
{
    Waiting mine{.change = &change, .safe = safe};
    const auto late = std::chrono::steady_clock::now() + turn_max;
    std::unique_lock lock(mutex_);
    waiting_.push_back(&mine);
    const auto may_go_on = [&] { return mine.is_over || !is_at_work_; };
    if (!changed_.wait_until(lock, late, may_go_on)) {
        const auto place = std::ranges::find(waiting_, &mine);
        if (place != waiting_.end()) {
            waiting_.erase(place);
            return StoreStatus::busy;
        }
        changed_.wait(lock, may_go_on); // somebody is at work on it
    }
    while (!mine.is_over) {
        is_at_work_ = true;
        std::array<Waiting*, together_max> all{}; // what throws here would stop the store
        const std::size_t count = std::min(waiting_.size(), together_max);
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(waiting_.begin(), end, all.begin());
        waiting_.erase(waiting_.begin(), end);
        const std::span<Waiting* const> together(all.data(), count);
        lock.unlock();
        try {
            work(together);
            copy_log();
        } catch (const std::exception&) { // no memory: those without an answer are `broken`
        }
        lock.lock();
        for (Waiting* const one : together)
            one->is_over = true;
        is_at_work_ = false;
        changed_.notify_all();
    }
    return mine.status;
}

void SqliteStore::work(std::span<Waiting* const> together)
{
    if (together.size() > 1) {
        const StoreStatus status = attempt(together);
        if (status == StoreStatus::done) reserve_.restore();
        if (status == StoreStatus::done || status == StoreStatus::busy) {
            for (Waiting* const one : together)
                one->status = status;
            return;
        }
    }
    // One of them is at fault: each gets its own answer.
    bool is_begun_anew = false;
    for (Waiting* const one : together)
        work_on_one(*one, is_begun_anew);
}

/// The write-ahead log grows as long as somebody reads what is in it.
void SqliteStore::copy_log()
{
    if (pages_ < copied_pages) return;
    if (pages_ < hold_back_at_) {
        (void)sqlite3_wal_checkpoint_v2(writer_->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                        nullptr, nullptr);
        return;
    }
    // Each of them reads a portion; then it waits.
    const Deadline late = Deadline::after(held_back_max);
    std::deque<Pool<Connection>::Use> held;
    while (held.size() < reader_count_ && held.emplace_back(readers_, late)) {
    }
    int pages = 0;
    const int code = sqlite3_wal_checkpoint_v2(writer_->handle(), nullptr,
                                               SQLITE_CHECKPOINT_TRUNCATE, &pages, nullptr);
    if (code == SQLITE_OK) pages_ = 0;
    // Another process reads: it is not waited for after each change.
    hold_back_at_ = code == SQLITE_OK ? held_back_pages : pages_ * 2;
}

/// What makes room needs some, too, on a full disk: in the log, and for what the log has and the
/// file has not.
void SqliteStore::work_on_one(Waiting& one, bool& is_begun_anew)
{
    Waiting* const alone[] = {&one};
    one.status = attempt(alone);
    if (one.status == StoreStatus::full && one.change->makes_room()) {
        reserve_.release();
        one.status = attempt(alone);
        is_begun_anew = false; // with more room
    }
    if (one.status == StoreStatus::full && !is_begun_anew) {
        // The log begins anew, in the room that it has already.
        is_begun_anew = true;
        (void)writer_->value_of("PRAGMA wal_checkpoint(RESTART)");
        one.status = attempt(alone);
    }
    if (one.status == StoreStatus::done) reserve_.restore();
}

StoreStatus SqliteStore::attempt(std::span<Waiting* const> together)
{
    const bool safe = std::ranges::any_of(together, &Waiting::safe);
    // FULL: a commit returns when the log is on the disk, with all of it that was not before.
    if (safe != is_safe_) {
        if (!writer_->execute(safe ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"))
            return failed(SQLITE_IOERR);
        is_safe_ = safe;
    }
    sqlite::Transaction transaction(*writer_, {begin_writing, commit, rollback});
    if (transaction.begun() != SQLITE_OK) return failed(transaction.begun());
    SqliteTables tables(*writer_);
    std::size_t made = 0;
    StoreStatus status = StoreStatus::done;
    while (made < together.size() && status == StoreStatus::done)
        status = together[made++]->change->make(tables);
    if (status == StoreStatus::done) {
        const int committed = transaction.commit();
        if (committed == SQLITE_OK) {
            const std::lock_guard lock(mutex_);
            has_said_ = false;
            return status;
        }
        status = failed(committed);
    } else {
        (void)failed(sqlite3_extended_errcode(writer_->handle()));
    }
    while (made != 0)
        together[--made]->change->undo();
    return status;
}

StoreStatus SqliteStore::failed(int code) noexcept
{
    bool says = false;
    {
        const std::lock_guard lock(mutex_);
        says = !std::exchange(has_said_, true);
    }
    try {
        if (says) log::error("log service's store " + path_ + ": " + sqlite3_errstr(code));
    } catch (const std::exception&) { // no memory to say it
    }
    const StoreStatus status = status_of(code);
    return status == StoreStatus::done ? StoreStatus::broken : status;
}

// --- Opening -------------------------------------------------------------------------------------

Result<void> prepare_log_schema(Connection& connection)
{
    const auto tables = connection.value_of("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == "0") {
        if (auto made = connection.execute(schema); !made) return made;
    }
    if (auto ours = sqlite::require(connection, "PRAGMA application_id",
                                    std::to_string(application_id), "is not a log service's store");
        !ours)
        return ours;
    return sqlite::require(connection, "PRAGMA user_version", std::to_string(schema_version),
                           "was written by another version of the log service");
}

Result<std::unique_ptr<Connection>> open_log_writer(const StoreOptions& options)
{
    auto connection = Connection::open(options.path);
    if (!connection) return connection;
    Connection& writer = **connection;
    if (const auto wal = sqlite::require(writer, "PRAGMA journal_mode = WAL", "wal",
                                         "is where SQLite cannot keep a write-ahead log");
        !wal)
        return wal.error();
    // A row that nobody wrote like this may be anything, so the schema is not trusted either.
    // What is deleted is not overwritten: that would need as much room as it has, in the log. Which
    // is cut off where it had to become large.
    if (const auto set = writer.execute("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL; "
                                        "PRAGMA secure_delete = OFF; "
                                        "PRAGMA journal_size_limit = 16777216");
        !set)
        return set.error();
    if (const auto ours = prepare_log_schema(writer); !ours) return ours.error();
    if (options.pages_max != 0) {
        const std::string limit = "PRAGMA max_page_count = " + std::to_string(options.pages_max);
        if (const auto set = writer.execute(limit.c_str()); !set) return set.error();
    }
    if (const auto prepared = writer.prepare(statements); !prepared) return prepared.error();
    return connection;
}

Result<std::unique_ptr<Connection>> open_log_reader(const StoreOptions& options)
{
    auto connection = Connection::open(options.path);
    if (!connection) return connection;
    if (const auto set =
            (*connection)->execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON");
        !set)
        return set.error();
    if (const auto prepared = (*connection)->prepare(statements); !prepared)
        return prepared.error();
    return connection;
}

} // namespace

Result<std::unique_ptr<Store>> open_store(const StoreOptions& options)
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

    auto lock = sqlite::FileLock::take(real.path, "log service");
    if (!lock) return refuse(lock.error());
    if (const auto made = sqlite::make_private(real.path); !made) return refuse(made.error());
    auto writer = open_log_writer(real);
    if (!writer) return refuse(writer.error());
    std::vector<std::unique_ptr<Connection>> readers;
    for (std::size_t i = 0; i < std::max<std::size_t>(real.readers, 1); ++i) {
        auto reader = open_log_reader(real);
        if (!reader) return refuse(reader.error());
        readers.push_back(std::move(reader).value());
    }
    std::unique_ptr<Store> store = std::make_unique<SqliteStore>(
        real.path, std::move(lock).value(), std::move(writer).value(), std::move(readers));
    return store;
}

} // namespace kairos::logs
