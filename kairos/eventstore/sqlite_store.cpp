// SPDX-License-Identifier: Apache-2.0
//
// One connection, of the one thread that uses the store, in WAL mode: a commit is one write behind
// the log, and one wait for the disk if it is to be safe.
#include "kairos/eventstore/sqlite_store.h"

#include "kairos/base/log.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/store_file.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace kairos::eventstore {
namespace {

using notification::Store;
using notification::StoreChange;
using notification::Stored;
using notification::StoreStatus;
using sqlite::Query;
using Action = StoreChange::Action;

constexpr const char* schema = R"(
CREATE TABLE object(key INTEGER PRIMARY KEY, channel INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE event(number INTEGER PRIMARY KEY, state BLOB NOT NULL);
CREATE TABLE waiting(
    object INTEGER NOT NULL,
    event INTEGER NOT NULL,
    PRIMARY KEY (object, event)) WITHOUT ROWID;)";

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

constexpr sqlite::StoreKind events_kind{.owner = "notification service",
                                        .application_id = 0x4b724e74, // "KrNt": whose file it is
                                        .schema_version = 1,
                                        .schema = schema,
                                        .statements = statements};

class SqliteStore final : public Store {
  public:
    explicit SqliteStore(std::unique_ptr<sqlite::StoreFile> file) : file_(std::move(file)) {}

    StoreStatus load(Stored& all) override
    {
        Query objects(file_->connection(), all_objects);
        while (objects.next())
            all.objects.push_back({.key = objects.number(0),
                                   .channel = objects.number(1),
                                   .state = std::string(objects.octets(2))});
        Query events(file_->connection(), all_events);
        while (events.next())
            all.events.push_back(
                {.number = events.number(0), .state = std::string(events.octets(1))});
        Query waits(file_->connection(), all_waits);
        while (waits.next())
            all.waits.push_back({.object = waits.number(0), .event = waits.number(1)});
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
            if (std::ranges::all_of(changes, &StoreChange::makes_room)) file_->reserve().release();
            file_->begin_log_anew();
            status = attempt(changes, safe);
        }
        if (status != StoreStatus::done) return status;
        file_->reserve().restore();
        if (std::exchange(has_said_, false))
            log::warning("notify: the store " + file_->path() + " can be written again");
        return status;
    }

  private:
    [[nodiscard]] StoreStatus attempt(std::span<const StoreChange> changes, bool safe)
    {
        if (!file_->set_safe(safe)) return failed(SQLITE_IOERR);
        sqlite::Transaction transaction(file_->connection(), {begin_writing, commit, rollback});
        if (transaction.begun() != SQLITE_OK) return failed(transaction.begun());
        for (const StoreChange& change : changes)
            if (const int code = make(change); code != SQLITE_OK) return failed(code);
        const int committed = transaction.commit();
        return committed == SQLITE_OK ? StoreStatus::done : failed(committed);
    }

    [[nodiscard]] int make(const StoreChange& change)
    {
        const std::int64_t key = sqlite::column_of(change.key);
        const std::int64_t other = sqlite::column_of(change.other);
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
        Query query(file_->connection(), statement, values);
        (void)query.run();
        return query.failure();
    }

    StoreStatus failed(int code)
    {
        if (!std::exchange(has_said_, true))
            log::error("notify: the store " + file_->path() + ": " + sqlite3_errstr(code));
        const StoreStatus status = sqlite::status_of<StoreStatus>(code);
        return status == StoreStatus::done ? StoreStatus::broken : status;
    }

    const std::unique_ptr<sqlite::StoreFile> file_;
    bool has_said_ = false; // that something failed, since something was written
};

} // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const StoreOptions& options)
{
    auto file = sqlite::StoreFile::open(events_kind, options.path, options.pages_max);
    if (!file) return file.error();
    std::unique_ptr<Store> store = std::make_unique<SqliteStore>(std::move(file).value());
    return store;
}

} // namespace kairos::eventstore
