// SPDX-License-Identifier: Apache-2.0
//
// One connection writes, a few read: in WAL mode neither waits for the other. Changes that come
// while one is made durable are made together, in the transaction that follows.
#include "kairos/base/log.h"
#include "kairos/base/pool.h"
#include "kairos/logs/change_queue.h"
#include "kairos/logs/store.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/store_file.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <iterator>
#include <utility>

namespace kairos::logs {
namespace {

using sqlite::Connection;
using sqlite::Query;

constexpr const char* schema = R"(
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
    PRIMARY KEY (log, number)) WITHOUT ROWID;)";

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

constexpr sqlite::StoreKind logs_kind{.owner = "log service",
                                      .application_id = 0x4b724c47, // "KrLG": whose file it is
                                      .schema_version = 1,
                                      .schema = schema,
                                      .statements = statements};

/// Pages of the write-ahead log from which on it is copied into the file, and from which on readers
/// are held back for that: as long as one of them or another reads, it cannot begin anew.
constexpr std::size_t copied_pages = 1000;
constexpr std::size_t held_back_pages = 4000;
constexpr std::chrono::seconds held_back_max{2};

using sqlite::column_of;
using sqlite::status_of;

/// What can be asked of any of the connections.
StoreStatus first_of(Connection& connection, LogKey log, std::uint64_t from, Brief& brief)
{
    Query row(connection, first_record, {column_of(log), column_of(from)});
    if (!row.next())
        return row.ok() ? StoreStatus::not_found : status_of<StoreStatus>(row.failure());
    brief = {row.number(0), row.number(1), Row::counted(static_cast<std::size_t>(row.integer(2))),
             static_cast<std::size_t>(row.integer(3))};
    return StoreStatus::done;
}

class SqliteTables final : public Tables {
  public:
    explicit SqliteTables(Connection& connection) : connection_(connection) {}

    StoreStatus insert(LogKey log, const RowPtr& row) override
    {
        return run(insert_record, {column_of(log), column_of(row->number), column_of(row->time),
                                   std::string_view(row->attributes), std::string_view(row->info)});
    }
    StoreStatus erase(LogKey log, std::uint64_t number) override
    {
        return run_on_one(erase_record, {column_of(log), column_of(number)});
    }
    StoreStatus set_attributes(LogKey log, std::uint64_t number,
                               const std::string& attributes) override
    {
        return run_on_one(set_record,
                          {column_of(log), column_of(number), std::string_view(attributes)});
    }
    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        return first_of(connection_, log, from, brief);
    }
    StoreStatus set_counts(LogKey log, const Counts& counts) override
    {
        return run(set_log_counts,
                   {column_of(log), column_of(counts.next), column_of(counts.records),
                    column_of(counts.octets), column_of(counts.newest)});
    }
    StoreStatus put_log(const KeptLog& log) override
    {
        return run(put_log_row, {column_of(log.key), std::string_view(log.settings),
                                 column_of(log.counts.next), column_of(log.counts.records),
                                 column_of(log.counts.octets), column_of(log.counts.newest)});
    }
    StoreStatus erase_log(LogKey log) override
    {
        const StoreStatus status = run(erase_records, {column_of(log)});
        return status == StoreStatus::done ? run(erase_log_row, {column_of(log)}) : status;
    }
    /// What is written as it was before SQLite does not write at all.
    StoreStatus touch() override { return run(count_flush, {}); }
    StoreStatus set_last_key(LogKey key) override
    {
        const StoreStatus status = run(erase_last_keys, {column_of(key >> 32)});
        return status == StoreStatus::done ? run(insert_last_key, {column_of(key)}) : status;
    }

  private:
    StoreStatus run(Statement statement, sqlite::Values values)
    {
        Query query(connection_, statement, values);
        (void)query.run();
        return status_of<StoreStatus>(query.failure());
    }
    StoreStatus run_on_one(Statement statement, sqlite::Values values)
    {
        Query query(connection_, statement, values);
        if (!query.run()) return status_of<StoreStatus>(query.failure());
        return query.changed() == 0 ? StoreStatus::not_found : StoreStatus::done;
    }

    Connection& connection_;
};

class SqliteStore final : public Store {
  public:
    SqliteStore(std::unique_ptr<sqlite::StoreFile> file,
                std::vector<std::unique_ptr<Connection>> readers)
        : file_(std::move(file)), reader_count_(readers.size()), readers_(std::move(readers))
    {
        const auto keep_size = [](void* pages, sqlite3*, const char*, int count) {
            *static_cast<std::size_t*>(pages) = static_cast<std::size_t>(std::max(count, 0));
            return SQLITE_OK;
        };
        sqlite3_wal_hook(file_->connection().handle(), keep_size, &pages_);
    }

    bool is_durable() const noexcept override { return true; }

    StoreStatus load(std::vector<KeptLog>& logs, std::vector<LogKey>& last_keys) override
    {
        Query rows(file_->connection(), all_logs);
        while (rows.next()) {
            KeptLog& log = logs.emplace_back();
            log.key = rows.number(0);
            log.settings = rows.octets(1);
            log.counts = {.next = rows.number(2),
                          .records = rows.number(3),
                          .octets = rows.number(4),
                          .newest = rows.number(5)};
        }
        if (!rows.ok()) return status_of<StoreStatus>(rows.failure());
        Query keys(file_->connection(), all_last_keys);
        while (keys.next())
            last_keys.push_back(keys.number(0));
        return status_of<StoreStatus>(keys.failure());
    }

    StoreStatus change(Change& change, bool safe) override
    {
        return queue_.change(change, safe, [this](WaitingChanges together) {
            work(together);
            copy_log();
        });
    }

    StoreStatus read(LogKey log, const Span& span, std::vector<RowPtr>& rows) override
    {
        const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
        if (!connection) return StoreStatus::busy;
        const auto count =
            static_cast<std::int64_t>(std::min<std::size_t>(span.count_max, std::size_t{1} << 30));
        Query found(*connection, span.is_backwards ? read_backwards : read_forwards,
                    {column_of(log), column_of(span.from), count});
        std::size_t octets = 0;
        for (bool is_first = true; found.next(); is_first = false) {
            octets += Row::counted(found.octets(2).size() + found.octets(3).size());
            if (!is_first && octets > span.octets_max) return StoreStatus::done;
            rows.push_back(
                std::make_shared<const Row>(Row{.number = found.number(0),
                                                .time = found.number(1),
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
                    {column_of(log), column_of(span.from), count});
        while (found.next())
            numbers.push_back(found.number(0));
        return found.ok() ? StoreStatus::done : failed(found.failure());
    }

    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        const Pool<Connection>::Use connection(readers_, Deadline::after(turn_max));
        return connection ? first_of(*connection, log, from, brief) : StoreStatus::busy;
    }

  private:
    [[nodiscard]] StoreStatus attempt(WaitingChanges together);
    void work(WaitingChanges together);
    void work_on_one(WaitingChange& one, bool& is_begun_anew);
    void copy_log();
    StoreStatus failed(int code) noexcept;

    const std::unique_ptr<sqlite::StoreFile> file_; // used by who is at work
    std::size_t pages_ = 0;                         // likewise: of the write-ahead log
    std::size_t hold_back_at_ = held_back_pages;    // likewise
    const std::size_t reader_count_;
    Pool<Connection> readers_;
    ChangeQueue queue_;
    std::atomic<bool> has_said_{false}; // what failed
};

void SqliteStore::work(WaitingChanges together)
{
    if (together.size() > 1) {
        const StoreStatus status = attempt(together);
        if (status == StoreStatus::done) file_->reserve().restore();
        if (status == StoreStatus::done || status == StoreStatus::busy) {
            for (WaitingChange* const one : together)
                one->status = status;
            return;
        }
    }
    // One of them is at fault: each gets its own answer.
    bool is_begun_anew = false;
    for (WaitingChange* const one : together)
        work_on_one(*one, is_begun_anew);
}

/// The write-ahead log grows as long as somebody reads what is in it.
void SqliteStore::copy_log()
{
    if (pages_ < copied_pages) return;
    if (pages_ < hold_back_at_) {
        (void)sqlite3_wal_checkpoint_v2(file_->connection().handle(), nullptr,
                                        SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
        return;
    }
    // Each of them reads a portion; then it waits.
    const Deadline late = Deadline::after(held_back_max);
    std::deque<Pool<Connection>::Use> held;
    while (held.size() < reader_count_ && held.emplace_back(readers_, late)) {
    }
    int pages = 0;
    const int code = sqlite3_wal_checkpoint_v2(file_->connection().handle(), nullptr,
                                               SQLITE_CHECKPOINT_TRUNCATE, &pages, nullptr);
    if (code == SQLITE_OK) pages_ = 0;
    // Another process reads: it is not waited for after each change.
    hold_back_at_ = code == SQLITE_OK ? held_back_pages : pages_ * 2;
}

/// What makes room needs some, too, on a full disk: in the log, and for what the log has and the
/// file has not.
void SqliteStore::work_on_one(WaitingChange& one, bool& is_begun_anew)
{
    WaitingChange* const alone[] = {&one};
    one.status = attempt(alone);
    if (one.status == StoreStatus::full && one.change->makes_room()) {
        file_->reserve().release();
        one.status = attempt(alone);
        is_begun_anew = false; // with more room
    }
    if (one.status == StoreStatus::full && !is_begun_anew) {
        is_begun_anew = true;
        file_->begin_log_anew();
        one.status = attempt(alone);
    }
    if (one.status == StoreStatus::done) file_->reserve().restore();
}

StoreStatus SqliteStore::attempt(WaitingChanges together)
{
    const bool safe = std::ranges::any_of(together, &WaitingChange::safe);
    if (!file_->set_safe(safe)) return failed(SQLITE_IOERR);
    sqlite::Transaction transaction(file_->connection(), {begin_writing, commit, rollback});
    if (transaction.begun() != SQLITE_OK) return failed(transaction.begun());
    SqliteTables tables(file_->connection());
    std::size_t made = 0;
    StoreStatus status = StoreStatus::done;
    while (made < together.size() && status == StoreStatus::done)
        status = together[made++]->change->make(tables);
    if (status == StoreStatus::done) {
        const int committed = transaction.commit();
        if (committed == SQLITE_OK) {
            has_said_ = false;
            return status;
        }
        status = failed(committed);
    } else {
        (void)failed(sqlite3_extended_errcode(file_->connection().handle()));
    }
    while (made != 0)
        together[--made]->change->undo();
    return status;
}

StoreStatus SqliteStore::failed(int code) noexcept
{
    const bool says = !has_said_.exchange(true);
    try {
        if (says) log::error("log service's store " + file_->path() + ": " + sqlite3_errstr(code));
    } catch (const std::exception&) { // no memory to say it
    }
    const StoreStatus status = status_of<StoreStatus>(code);
    return status == StoreStatus::done ? StoreStatus::broken : status;
}

} // namespace

Result<std::unique_ptr<Store>> open_store(const StoreOptions& options)
{
    auto file = sqlite::StoreFile::open(logs_kind, options.path, options.pages_max);
    if (!file) return file.error();
    std::vector<std::unique_ptr<Connection>> readers;
    for (std::size_t i = 0; i < std::max<std::size_t>(options.readers, 1); ++i) {
        auto reader = (*file)->open_reader();
        if (!reader) return reader.error();
        readers.push_back(std::move(reader).value());
    }
    std::unique_ptr<Store> store =
        std::make_unique<SqliteStore>(std::move(file).value(), std::move(readers));
    return store;
}

} // namespace kairos::logs
