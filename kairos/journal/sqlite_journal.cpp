// SPDX-License-Identifier: Apache-2.0
//
// One connection, in WAL mode, which whoever has the turn uses: a commit is one write behind the
// log, and one wait for the disk.
#include "kairos/journal/sqlite_journal.h"

#include "kairos/base/pool.h"
#include "kairos/journal/filling.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/store_file.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace kairos::journal {
namespace {

using sqlite::Query;

constexpr const char* sqlite_schema = R"(
CREATE TABLE head(identity INTEGER NOT NULL, number INTEGER NOT NULL);
INSERT INTO head VALUES (random(), 0);
CREATE TABLE row(key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL);)";

enum Statement : std::size_t {
    begin_writing,
    commit,
    rollback,
    read_head,
    write_head,
    put_row,
    erase_row,
    all_keys,
    all_rows,
};
constexpr const char* all_rows_sql =
    "SELECT key, CASE WHEN length(value) <= 67108864 THEN value END,"
    " checksum FROM row ORDER BY key";
constexpr const char* sqlite_statements[] = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SELECT identity, number FROM head",
    "UPDATE head SET number = ?",
    "REPLACE INTO row VALUES (?, ?, ?)",
    "DELETE FROM row WHERE key = ?",
    "SELECT key FROM row ORDER BY key",
    all_rows_sql,
};
static_assert(std::size(sqlite_statements) == all_rows + 1);

/// What whoever has the turn has.
struct SqliteTurn {
    SqliteTurn(const JournalKind& kind, std::unique_ptr<sqlite::StoreFile> its_file)
        : file(std::move(its_file)), log(kind.owner, file->path())
    {
    }

    const std::unique_ptr<sqlite::StoreFile> file;
    JournalLog log;
    JournalReplica* replica = nullptr;
    bool is_uncertain = false; // whether the last change is in the file
};

class SqliteJournal final : public Journal {
  public:
    SqliteJournal(const SqliteOptions& options, std::unique_ptr<SqliteTurn> turn,
                  std::uint64_t identity, std::uint64_t number)
        : patience_(options.patience), identity_(identity), number_(number),
          turns_(one_of(std::move(turn)))
    {
    }

    std::uint64_t identity() const noexcept override { return identity_; }
    std::uint64_t number() const noexcept override { return number_; }

    JournalStatus begin(JournalReplica& replica) override
    {
        const Pool<SqliteTurn>::Use turn(turns_, {});
        (*turn).replica = &replica;
        Filling filling(replica, (*turn).log, true);
        return fill(*turn, filling);
    }

    JournalStatus write(const std::function<bool(JournalChange&)>& decide,
                        const std::function<void()>& apply) override
    {
        const Pool<SqliteTurn>::Use turn(turns_, Deadline::after(patience_));
        if (!turn) return JournalStatus::busy;
        if ((*turn).is_uncertain)
            if (const JournalStatus status = find_out(*turn); status != JournalStatus::done)
                return status;
        JournalChange change(number_ + 1);
        if (!decide(change) || change.rows().empty()) return JournalStatus::done;
        if (is_too_large(change)) return JournalStatus::full;
        const JournalStatus status = write(*turn, change);
        if (status != JournalStatus::done) return status;
        (*turn).is_uncertain = true;
        try {
            apply();
        } catch (const std::exception& failure) {
            (*turn).log.say_once(failure.what());
            return JournalStatus::uncertain;
        }
        (*turn).is_uncertain = false;
        number_ = change.number();
        return status;
    }

    void end() noexcept override {} // there is no other thread

  private:
    static std::vector<std::unique_ptr<SqliteTurn>> one_of(std::unique_ptr<SqliteTurn> turn)
    {
        std::vector<std::unique_ptr<SqliteTurn>> all;
        all.push_back(std::move(turn));
        return all;
    }

    /// What makes room needs some, too, on a full disk: in the log, and for what the log has and
    /// the file has not.
    [[nodiscard]] JournalStatus write(SqliteTurn& turn, const JournalChange& change)
    {
        JournalStatus status = attempt(turn, change);
        if (status == JournalStatus::full) {
            if (std::ranges::all_of(change.rows(), &JournalRow::is_erased))
                turn.file->reserve().release();
            turn.file->begin_log_anew();
            status = attempt(turn, change);
        }
        if (status != JournalStatus::done) return status;
        turn.file->reserve().restore();
        turn.log.say_written();
        return status;
    }

    [[nodiscard]] static JournalStatus attempt(SqliteTurn& turn, const JournalChange& change)
    {
        sqlite::Connection& connection = turn.file->connection();
        sqlite::Transaction transaction(connection, {begin_writing, commit, rollback});
        if (transaction.begun() != SQLITE_OK) return failed(turn, transaction.begun());
        const auto run = [&connection](Statement statement, sqlite::Values values) {
            Query query(connection, statement, values);
            (void)query.run();
            return query.failure();
        };
        int code = run(write_head, {sqlite::column_of(change.number())});
        for (const JournalRow& row : change.rows()) {
            if (code != SQLITE_OK) break;
            const std::string_view key = row.key;
            code =
                row.is_erased
                    ? run(erase_row, {key})
                    : run(put_row, {key, std::string_view(row.value), checksum_of(key, row.value)});
        }
        if (code != SQLITE_OK) return failed(turn, code);
        code = transaction.commit();
        if (code == SQLITE_OK) return JournalStatus::done;
        const JournalStatus status = failed(turn, code);
        if (status != JournalStatus::broken) return status;
        turn.is_uncertain = true;
        return JournalStatus::uncertain;
    }

    /// Of a change of which nobody knew whether it was made: it is asked what there is.
    [[nodiscard]] JournalStatus find_out(SqliteTurn& turn)
    {
        std::uint64_t there = 0;
        {
            Query head(turn.file->connection(), read_head);
            if (!head.next()) return failed(turn, head.ok() ? SQLITE_CORRUPT : head.failure());
            there = head.number(1);
        }
        if (there != number_ && turn.replica != nullptr) {
            Filling filling(*turn.replica, turn.log, false);
            const JournalStatus status = fill(turn, filling);
            if (status != JournalStatus::done) return status;
            if (filling.has_refused()) return JournalStatus::full;
        }
        number_ = there;
        turn.is_uncertain = false;
        return JournalStatus::done;
    }

    /// One row at a time is in memory twice.
    [[nodiscard]] static JournalStatus fill(SqliteTurn& turn, Filling& filling)
    {
        sqlite::Connection& connection = turn.file->connection();
        if (const std::vector<std::string> mine = filling.keys(); !mine.empty()) {
            std::vector<std::string> keys;
            Query there(connection, all_keys);
            while (there.next())
                keys.emplace_back(there.octets(0));
            if (!there.ok()) return failed(turn, there.failure());
            filling.keep_only(mine, keys);
        }
        Query rows(connection, all_rows);
        while (rows.next()) {
            const std::string_view key = rows.octets(0);
            const std::string_view value = rows.octets(1);
            filling.put(key, value,
                        rows.type(0) == SQLITE_BLOB && rows.type(1) == SQLITE_BLOB &&
                            rows.integer(2) == checksum_of(key, value));
        }
        return rows.ok() ? JournalStatus::done : failed(turn, rows.failure());
    }

    [[nodiscard]] static JournalStatus failed(SqliteTurn& turn, int code)
    {
        turn.log.say_once(sqlite3_errstr(code));
        const auto status = sqlite::status_of<JournalStatus>(code);
        return status == JournalStatus::done ? JournalStatus::broken : status;
    }

    const std::chrono::milliseconds patience_;
    const std::uint64_t identity_;
    std::atomic<std::uint64_t> number_; // changed by who has the turn
    Pool<SqliteTurn> turns_;
};

} // namespace

Result<std::unique_ptr<Journal>> open_sqlite_journal(const SqliteOptions& options,
                                                     const JournalKind& kind)
{
    const sqlite::StoreKind file_kind{.owner = kind.owner,
                                      .application_id = kind.application_id,
                                      .schema_version = 1,
                                      .schema = sqlite_schema,
                                      .statements = sqlite_statements};
    auto file = sqlite::StoreFile::open(file_kind, options.path, options.pages_max);
    if (!file) return file.error();
    auto turn = std::make_unique<SqliteTurn>(kind, std::move(file).value());
    std::uint64_t identity = 0;
    std::uint64_t number = 0;
    {
        Query head(turn->file->connection(), read_head);
        if (!head.next())
            return Error{ErrorCode::malformed,
                         options.path + ": the store has no identity: it is damaged"};
        identity = head.number(0);
        number = head.number(1);
    }
    std::unique_ptr<Journal> journal =
        std::make_unique<SqliteJournal>(options, std::move(turn), identity, number);
    return journal;
}

} // namespace kairos::journal
