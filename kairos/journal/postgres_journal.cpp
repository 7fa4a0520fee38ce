// SPDX-License-Identifier: Apache-2.0
//
// One row says how many changes there were: who makes one locks it, has the replica take in what it
// has missed, decides, and commits. Each row has the number of the change that wrote it; one that
// is erased stays for some time, without a value, so that others learn of it.
#include "kairos/journal/postgres_journal.h"

#include "kairos/base/pool.h"
#include "kairos/journal/filling.h"
#include "kairos/postgres/connection.h"
#include "kairos/postgres/owned_store.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace kairos::journal {
namespace {

using postgres::Connection;
using postgres::Parameters;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t schema_version = 1;
/// Of our locks: services that begin at the same time make the tables one after the other.
constexpr const char* making_tables = "SELECT pg_advisory_xact_lock(1265791599)";
/// Between attempts to reach a database that is not there.
constexpr std::chrono::milliseconds first_pause{50};
/// Rows that a change may have missed to be made nevertheless; who has missed more loads all anew.
constexpr std::size_t missed_max = 10'000;
constexpr std::size_t missed_octets_max = std::size_t{4} << 20;
/// What a row costs beside its octets, in octets: for the time that a change gets.
constexpr std::size_t row_octets = 1000;
/// Behind all keys.
constexpr std::string_view last_key = "\xff";

enum Statement : std::size_t {
    begin_writing,
    begin_reading,
    commit,
    rollback,
    take_head, ///< answers with identity, number, floor
    read_head, ///< likewise
    write_head,
    notify,
    put_row,
    erase_row,
    count_missed,
    missed_erased,
    missed_written,
    some_keys,
    some_rows,
    raise_floor,
    erase_for_good,
};

/// The first rows of those selected, as far as those before each are within so many octets.
std::string portion_of(const std::string& selected)
{
    return "SELECT key, CASE WHEN octet_length(value) <= 67108864 THEN value END, checksum FROM"
           " (SELECT *, COALESCE(sum(octet_length(value)) OVER"
           " (ORDER BY key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM (" +
           selected + ") AS portion) AS summed WHERE before < 4194304 ORDER BY key";
}

/// With the names of the kind's tables. They must outlive the connections that have them.
class PostgresStatements {
  public:
    explicit PostgresStatements(const std::string& table)
    {
        const std::string rows = table + "_row";
        // What has changed lately is found by that, and put into order then.
        const std::string missed =
            "(SELECT key, value, checksum FROM " + rows + " WHERE changed > $1 OFFSET 0) AS missed";
        add("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "");
        add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "");
        add("COMMIT", "");
        add("ROLLBACK", "");
        add("SELECT identity, number, floor FROM " + table + " FOR UPDATE", "");
        add("SELECT identity, number, floor FROM " + table, "");
        add("UPDATE " + table + " SET number = $1", "i");
        add("SELECT pg_notify('" + table + "', '')", "");
        add("INSERT INTO " + rows +
                " VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value,"
                " checksum = EXCLUDED.checksum, changed = EXCLUDED.changed",
            "ooii");
        add("UPDATE " + rows + " SET value = NULL, changed = $2 WHERE key = $1", "oi");
        add("SELECT count(*), COALESCE(sum(octet_length(value)), 0)::bigint FROM (SELECT value "
            "FROM " +
                rows + " WHERE changed > $1 LIMIT $2) AS counted",
            "ii");
        add("SELECT key FROM " + missed +
                " WHERE value IS NULL AND key < $2"
                " ORDER BY key DESC LIMIT 1000",
            "io");
        add(portion_of("SELECT * FROM " + missed +
                       " WHERE value IS NOT NULL AND key > $2 ORDER BY key LIMIT 1000"),
            "io");
        add("SELECT key FROM " + rows +
                " WHERE value IS NOT NULL AND key > $1"
                " ORDER BY key LIMIT 10000",
            "o");
        add(portion_of("SELECT key, value, checksum FROM " + rows +
                       " WHERE value IS NOT NULL AND key > $1 ORDER BY key LIMIT 1000"),
            "o");
        add("UPDATE " + table + " SET floor = $1 WHERE floor < $1", "i");
        // By places, so that who writes such a row again meanwhile keeps it.
        add("DELETE FROM " + rows + " WHERE ctid = ANY (ARRAY (SELECT ctid FROM " + rows +
                " WHERE value IS NULL AND changed <= $1 LIMIT 5000))"
                " AND value IS NULL AND changed <= $1",
            "i");
        for (std::size_t i = 0; i < texts_.size(); ++i)
            all_.push_back({.sql = texts_[i].c_str(), .parameters = parameters_[i]});
    }
    PostgresStatements(const PostgresStatements&) = delete;
    PostgresStatements& operator=(const PostgresStatements&) = delete;

    [[nodiscard]] std::span<const postgres::Statement> all() const noexcept { return all_; }

  private:
    void add(std::string text, std::string_view parameters)
    {
        texts_.push_back(std::move(text));
        parameters_.push_back(parameters);
    }

    std::vector<std::string> texts_;
    std::vector<std::string_view> parameters_;
    std::vector<postgres::Statement> all_;
};

struct Head {
    std::uint64_t identity = 0;
    std::uint64_t number = 0;
    std::uint64_t floor = 0; ///< what was erased up to here may have left nothing
};

Error postgres_error(const Connection& connection)
{
    return {connection.is_open() ? ErrorCode::system : ErrorCode::unreachable,
            connection.name() + ": " + connection.failure()};
}

Result<void> execute(Connection& connection, const std::string& sql)
{
    if (!connection.execute(sql.c_str()).ok()) return postgres_error(connection);
    return {};
}

/// What each connection is told, whenever it is made. A service that stands still with a change
/// that it has not sent, or is gone without a word, does not keep others from theirs for ever.
Result<void> prepare_connection(Connection& connection)
{
    if (auto set =
            execute(connection, "SELECT set_config('idle_in_transaction_session_timeout', '5000',"
                                " false),"
                                " set_config('tcp_keepalives_idle', '10', false),"
                                " set_config('tcp_keepalives_interval', '5', false),"
                                " set_config('tcp_keepalives_count', '3', false),"
                                " set_config('tcp_user_timeout', '10000', false)");
        !set)
        return set;
    return connection.prepare();
}

Result<void> make_tables(Connection& connection, const JournalKind& kind)
{
    const std::string table = kind.table;
    const std::string rows = table + "_row";
    for (const std::string& sql : {std::string("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
                                   std::string(making_tables)})
        if (auto done = execute(connection, sql); !done) return done;
    const postgres::Rows there = connection.execute(
        ("SELECT count(*) FROM pg_class WHERE oid = to_regclass('" + table + "')").c_str());
    if (!there.ok()) return postgres_error(connection);
    if (there.integer(0, 0) == 0)
        for (const std::string& sql :
             {"CREATE TABLE " + table +
                  "(version bigint NOT NULL, identity bigint NOT NULL, number bigint NOT NULL,"
                  " floor bigint NOT NULL)",
              "INSERT INTO " + table +
                  " VALUES (1, ('x' || substr(md5(gen_random_uuid()::text), 1, 16))"
                  "::bit(64)::bigint, 0, 0)",
              "CREATE TABLE " + rows +
                  "(key bytea PRIMARY KEY, value bytea, checksum bigint NOT NULL,"
                  " changed bigint NOT NULL)",
              std::string("CREATE INDEX ")
                  .append(rows)
                  .append("_changed ON ")
                  .append(rows)
                  .append("(changed)")})
            if (auto made = execute(connection, sql); !made) return made;
    return execute(connection, "COMMIT");
}

Result<Head> checked_head(Connection& connection, const JournalKind& kind)
{
    const postgres::Rows rows = connection.execute(
        (std::string("SELECT version, identity, number, floor FROM ") + kind.table).c_str());
    if (!rows.ok()) return postgres_error(connection);
    if (rows.count() != 1)
        return Error{ErrorCode::malformed, connection.name() + ": the store of the " + kind.owner +
                                               " has no identity: it is damaged"};
    if (rows.integer(0, 0) != schema_version)
        return Error{ErrorCode::invalid_argument,
                     connection.name() + ": the store was made by another version of the " +
                         kind.owner};
    return Head{.identity = static_cast<std::uint64_t>(rows.integer(0, 1)),
                .number = static_cast<std::uint64_t>(rows.integer(0, 2)),
                .floor = static_cast<std::uint64_t>(rows.integer(0, 3))};
}

// SQLSTATEs are in appendix A of PostgreSQL's manual.
constexpr std::string_view read_only = "25006"; // it has become a standby

JournalStatus status_of_state(std::string_view state)
{
    // A lock or a statement that took too long; others that were in the way; the connection; a
    // server that ends, or has not begun yet; a transaction that stood still for too long.
    if (state == read_only || state == "55P03" || state == "57014" || state.starts_with("40") ||
        state.empty() || state.starts_with("08") || state.starts_with("57P") || state == "25P03")
        return JournalStatus::busy;
    return state.starts_with("53") || state.starts_with("54") ? JournalStatus::full
                                                              : JournalStatus::broken;
}

/// What whoever has the turn has.
struct PostgresTurn {
    PostgresTurn(const JournalKind& kind, std::unique_ptr<Connection> its_connection)
        : connection(std::move(its_connection)), log(kind.owner, connection->name())
    {
    }

    const std::unique_ptr<Connection> connection;
    JournalLog log;
    JournalReplica* replica = nullptr;
};

/// Rolled back unless it is ended.
class PostgresTransaction {
  public:
    explicit PostgresTransaction(Connection& connection) : connection_(connection) {}
    PostgresTransaction(const PostgresTransaction&) = delete;
    PostgresTransaction& operator=(const PostgresTransaction&) = delete;
    ~PostgresTransaction()
    {
        if (is_open_ && connection_.is_open()) (void)connection_.run(rollback);
    }
    [[nodiscard]] postgres::Rows begin(Statement statement)
    {
        postgres::Rows begun = connection_.run(statement);
        is_open_ = begun.ok();
        return begun;
    }
    [[nodiscard]] postgres::Rows end()
    {
        is_open_ = false;
        return connection_.run(commit);
    }

  private:
    Connection& connection_;
    bool is_open_ = false;
};

class PostgresJournal final : public Journal {
  public:
    PostgresJournal(const PostgresOptions& options, const JournalKind& kind, const Head& head,
                    std::unique_ptr<const PostgresStatements> statements,
                    std::unique_ptr<PostgresTurn> turn)
        : options_(options), kind_(kind), identity_(head.identity),
          statements_(std::move(statements)), turns_(one_of(std::move(turn))),
          wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
    }
    ~PostgresJournal() override
    {
        end();
        if (wake_ >= 0) ::close(wake_);
    }

    std::uint64_t identity() const noexcept override { return identity_; }
    std::uint64_t number() const noexcept override { return number_; }

    JournalStatus begin(JournalReplica& replica) override
    {
        {
            const Pool<PostgresTurn>::Use turn(turns_, {});
            (*turn).replica = &replica;
            if (const JournalStatus status = catch_up(*turn, true); status != JournalStatus::done)
                return status;
        }
        listener_ = std::thread([this] { listen(); });
        return JournalStatus::done;
    }

    JournalStatus write(const std::function<bool(JournalChange&)>& decide,
                        const std::function<void()>& apply) override
    {
        if (Clock::now() < retry_at_.load()) return JournalStatus::busy;
        const Deadline deadline = Deadline::after(options_.timeout);
        const Pool<PostgresTurn>::Use turn(turns_, deadline);
        if (!turn) return JournalStatus::busy;
        Connection& connection = *(*turn).connection;
        connection.set_deadline(deadline);
        const JournalStatus status = write(*turn, decide, apply);
        // Who comes after has to wait no longer.
        if (connection.gave_up()) retry_at_ = Clock::now() + options_.timeout;
        return status;
    }

    void end() noexcept override
    {
        is_ending_ = true;
        const std::uint64_t one = 1;
        if (wake_ >= 0) (void)!::write(wake_, &one, sizeof one);
        if (listener_.joinable()) listener_.join();
    }

  private:
    static std::vector<std::unique_ptr<PostgresTurn>> one_of(std::unique_ptr<PostgresTurn> turn)
    {
        std::vector<std::unique_ptr<PostgresTurn>> all;
        all.push_back(std::move(turn));
        return all;
    }

    /// What a failure means, which the log says once.
    static JournalStatus failed(PostgresTurn& turn, const postgres::Rows& rows)
    {
        turn.log.say_once(turn.connection->failure());
        if (rows.state() == read_only) (void)turn.connection->reopen(); // another is to be written
        return turn.connection->is_open() ? status_of_state(rows.state()) : JournalStatus::busy;
    }

    /// If the connection was lost since it was used last, on a new one.
    JournalStatus begin(PostgresTurn& turn, PostgresTransaction& transaction, Statement statement)
    {
        Connection& connection = *turn.connection;
        if (connection.is_prepared() && connection.is_still_open()) {
            const postgres::Rows begun = transaction.begin(statement);
            if (begun.ok()) return JournalStatus::done;
            if (connection.is_open() || connection.gave_up()) return failed(turn, begun);
        }
        Result<void> opened = connection.reopen();
        if (opened) opened = prepare_connection(connection);
        if (!opened) {
            turn.log.say_once(opened.error().reason);
            return JournalStatus::busy;
        }
        const postgres::Rows begun = transaction.begin(statement);
        return begun.ok() ? JournalStatus::done : failed(turn, begun);
    }

    JournalStatus head_of(PostgresTurn& turn, Statement statement, Head& head) const
    {
        const postgres::Rows rows = turn.connection->run(statement);
        if (!rows.ok()) return failed(turn, rows);
        if (rows.count() == 1)
            head = {.identity = static_cast<std::uint64_t>(rows.integer(0, 0)),
                    .number = static_cast<std::uint64_t>(rows.integer(0, 1)),
                    .floor = static_cast<std::uint64_t>(rows.integer(0, 2))};
        if (rows.count() == 1 && head.identity == identity_) return JournalStatus::done;
        turn.log.say_once("another store is at the address now");
        return JournalStatus::broken;
    }

    JournalStatus write(PostgresTurn& turn, const std::function<bool(JournalChange&)>& decide,
                        const std::function<void()>& apply)
    {
        Connection& connection = *turn.connection;
        PostgresTransaction transaction(connection);
        JournalStatus status = begin(turn, transaction, begin_writing);
        Head head;
        if (status == JournalStatus::done) status = head_of(turn, take_head, head);
        if (status == JournalStatus::done && head.number != number_)
            status = take_in_missed(turn, head);
        if (status != JournalStatus::done) return status;

        JournalChange change(number_ + 1);
        if (!decide(change) || change.rows().empty()) return JournalStatus::done;
        if (is_too_large(change)) return JournalStatus::full;
        if (const postgres::Rows written = send(connection, change); !written.ok())
            return failed(turn, written);
        const postgres::Rows ended = transaction.end();
        if (ended.ok() && ended.done() == "COMMIT") {
            try {
                apply();
            } catch (const std::exception& failure) { // it is taken in as if it were another's
                turn.log.say_once(failure.what());
                return JournalStatus::uncertain;
            }
            number_ = change.number();
            turn.log.say_written();
            return JournalStatus::done;
        }
        status = failed(turn, ended);
        // Whether it is there, the next one who has the turn sees.
        return connection.is_open() ? status : JournalStatus::uncertain;
    }

    [[nodiscard]] postgres::Rows send(Connection& connection, const JournalChange& change) const
    {
        const auto number = static_cast<std::int64_t>(change.number());
        postgres::Progress progress(connection, options_.timeout);
        connection.begin_batch();
        for (const JournalRow& row : change.rows()) {
            if (row.is_erased)
                connection.add(erase_row, Parameters().octets(row.key).integer(number));
            else
                connection.add(put_row, Parameters()
                                            .octets(row.key)
                                            .octets(row.value)
                                            .integer(checksum_of(row.key, row.value))
                                            .integer(number));
            progress.note_added(row.key.size() + row.value.size() + row_octets);
        }
        connection.add(write_head, Parameters().integer(number));
        connection.add(notify);
        return connection.end_batch();
    }

    // --- What others have changed ----------------------------------------------------------------

    /// Within a transaction that has the head: what the replica has not seen, unless that is much,
    /// which is left to the listener.
    JournalStatus take_in_missed(PostgresTurn& turn, const Head& head)
    {
        bool is_much = true;
        bool is_large = false;
        const JournalStatus status = has_missed_much(turn, head, is_much, is_large);
        if (status != JournalStatus::done) return status;
        if (!is_much && !is_large) return take_in(turn, head, false);
        turn.log.say_once("there is much that was missed: it is taken in first");
        return JournalStatus::busy;
    }

    JournalStatus has_missed_much(PostgresTurn& turn, const Head& head, bool& is_much,
                                  bool& is_large) const
    {
        is_much = head.number < number_ || number_ < head.floor;
        if (is_much) return JournalStatus::done;
        const postgres::Rows count = turn.connection->run(
            count_missed, Parameters()
                              .integer(static_cast<std::int64_t>(number_.load()))
                              .integer(missed_max + 1));
        if (!count.ok()) return failed(turn, count);
        is_much = static_cast<std::size_t>(count.integer(0, 0)) > missed_max;
        is_large = static_cast<std::size_t>(count.integer(0, 1)) > missed_octets_max;
        return JournalStatus::done;
    }

    /// Portion by portion, until there is an empty one: `ask` for what is beyond a key.
    template <typename Ask, typename Take>
    JournalStatus for_each_portion(PostgresTurn& turn, std::string_view from, const Ask& ask,
                                   const Take& take)
    {
        std::string beyond(from);
        for (;;) {
            const postgres::Rows rows = ask(beyond);
            if (!rows.ok()) return failed(turn, rows);
            if (rows.count() == 0) return JournalStatus::done;
            if (is_ending_) return JournalStatus::busy;
            for (std::size_t i = 0; i < rows.count(); ++i)
                take(rows, i);
            beyond = rows.octets(rows.count() - 1, 0);
        }
    }

    static void put(Filling& filling, const postgres::Rows& rows, std::size_t i)
    {
        const std::string_view key = rows.octets(i, 0);
        const std::string_view value = rows.octets(i, 1);
        filling.put(key, value, rows.integer(i, 2) == checksum_of(key, value));
    }

    /// Each portion has its own time if it `has_time`.
    JournalStatus take_in(PostgresTurn& turn, const Head& head, bool has_time)
    {
        Connection& connection = *turn.connection;
        Filling filling(*turn.replica, turn.log, false);
        const auto seen = static_cast<std::int64_t>(number_.load());
        const auto since = [&](Statement statement) {
            return [&connection, statement, seen, has_time, this](std::string_view key) {
                if (has_time) connection.set_deadline(Deadline::after(options_.timeout));
                return connection.run(statement, Parameters().integer(seen).octets(key));
            };
        };
        JournalStatus status = for_each_portion(
            turn, last_key, since(missed_erased),
            [&](const postgres::Rows& rows, std::size_t i) { filling.erase(rows.octets(i, 0)); });
        if (status == JournalStatus::done)
            status = for_each_portion(
                turn, "", since(missed_written),
                [&](const postgres::Rows& rows, std::size_t i) { put(filling, rows, i); });
        return status == JournalStatus::done ? seen_up_to(head, filling) : status;
    }

    /// Where the replica has no room for some of it, that is tried again.
    JournalStatus seen_up_to(const Head& head, const Filling& filling)
    {
        if (filling.has_refused()) return JournalStatus::full;
        number_ = head.number;
        return JournalStatus::done;
    }

    JournalStatus load(PostgresTurn& turn, const Head& head, bool may_fail)
    {
        Connection& connection = *turn.connection;
        Filling filling(*turn.replica, turn.log, may_fail);
        const auto beyond = [&](Statement statement) {
            return [&connection, statement, this](std::string_view key) {
                connection.set_deadline(Deadline::after(options_.timeout));
                return connection.run(statement, Parameters().octets(key));
            };
        };
        if (const std::vector<std::string> mine = filling.keys(); !mine.empty()) {
            std::vector<std::string> there;
            const JournalStatus status = for_each_portion(
                turn, "", beyond(some_keys), [&](const postgres::Rows& rows, std::size_t i) {
                    there.emplace_back(rows.octets(i, 0));
                });
            if (status != JournalStatus::done) return status;
            filling.keep_only(mine, there);
        }
        const JournalStatus status = for_each_portion(
            turn, "", beyond(some_rows),
            [&](const postgres::Rows& rows, std::size_t i) { put(filling, rows, i); });
        return status == JournalStatus::done ? seen_up_to(head, filling) : status;
    }

    /// Has the replica take in what it has not seen, however much that is.
    JournalStatus catch_up(PostgresTurn& turn, bool is_first)
    {
        turn.connection->set_deadline(Deadline::after(options_.timeout));
        PostgresTransaction transaction(*turn.connection);
        JournalStatus status = begin(turn, transaction, begin_reading);
        Head head;
        if (status == JournalStatus::done) status = head_of(turn, read_head, head);
        bool is_much = true;
        if (status == JournalStatus::done && !is_first) {
            if (head.number == number_) return status;
            if (head.number < number_)
                turn.log.say("the database has fewer changes than before: it is loaded anew");
            bool is_large = false;
            status = has_missed_much(turn, head, is_much, is_large);
        }
        if (status != JournalStatus::done) return status;
        return is_much ? load(turn, head, is_first) : take_in(turn, head, true);
    }

    // --- The thread that is told of others' changes ----------------------------------------------

    void listen() noexcept
    {
        std::unique_ptr<Connection> connection;
        JournalLog log(kind_.owner, "of which others are told");
        auto pause = first_pause;
        while (!is_ending_) {
            try {
                if (!connection || !connection->is_open()) {
                    connection = open_listener(log);
                    if (!connection) {
                        (void)wait(pause);
                        pause = std::min(2 * pause, options_.watch_interval);
                        continue;
                    }
                    pause = first_pause;
                }
                look(*connection);
                if (!is_ending_ && connection->is_open())
                    (void)connection->await_notice(wake_, Deadline::after(options_.watch_interval));
            } catch (const std::exception& failure) { // there is no memory
                log.say_once(failure.what());
                (void)wait(options_.watch_interval);
            }
        }
    }

    [[nodiscard]] std::unique_ptr<Connection> open_listener(JournalLog& log) const
    {
        auto opened = Connection::open(options_.url, kind_.table, statements_->all(),
                                       Deadline::after(options_.timeout));
        Result<void> ready;
        if (opened) ready = prepare_connection(**opened);
        if (opened && ready) ready = execute(**opened, std::string("LISTEN ") + kind_.table);
        if (opened && ready) {
            log.say_written();
            return std::move(opened).value();
        }
        log.say_once(opened ? ready.error().reason : opened.error().reason);
        return nullptr;
    }

    /// Whether there is something that the replica has not seen, or that nobody needs any more.
    void look(Connection& connection)
    {
        connection.set_deadline(Deadline::after(options_.timeout));
        const postgres::Rows head = connection.run(read_head);
        if (!head.ok() || head.count() != 1) return;
        const auto number = static_cast<std::uint64_t>(head.integer(0, 1));
        const auto floor = static_cast<std::uint64_t>(head.integer(0, 2));
        if (number != number_) {
            const Pool<PostgresTurn>::Use turn(turns_, Deadline::after(options_.timeout));
            if (turn) (void)catch_up(*turn, false);
        }
        if (number < floor || number - floor < 2 * options_.changes_kept) return;
        const auto raised = static_cast<std::int64_t>(number - options_.changes_kept);
        if (!connection.run(raise_floor, Parameters().integer(raised)).ok()) return;
        postgres::Rows erased = connection.run(erase_for_good, Parameters().integer(raised));
        while (erased.ok() && erased.changed() != 0 && !is_ending_) {
            connection.set_deadline(Deadline::after(options_.timeout));
            erased = connection.run(erase_for_good, Parameters().integer(raised));
        }
    }

    /// Less long where this is about to end.
    [[nodiscard]] bool wait(std::chrono::milliseconds time) const
    {
        pollfd polled{.fd = wake_, .events = POLLIN, .revents = 0};
        return ::poll(&polled, 1, static_cast<int>(time.count())) > 0;
    }

    const PostgresOptions options_;
    const JournalKind kind_;
    const std::uint64_t identity_;
    std::atomic<std::uint64_t> number_{0};                       // changed by who has the turn
    std::atomic<Clock::time_point> retry_at_{};                  // until then nobody is asked
    const std::unique_ptr<const PostgresStatements> statements_; // outlives the connections
    Pool<PostgresTurn> turns_;
    const int wake_; // of the listener, once
    std::atomic<bool> is_ending_{false};
    std::thread listener_; // of who begins and ends this
};

} // namespace

Result<std::unique_ptr<Journal>> open_postgres_journal(const PostgresOptions& options,
                                                       const JournalKind& kind)
{
    auto statements = std::make_unique<const PostgresStatements>(kind.table);
    auto connection = Connection::open(options.url, kind.table, statements->all(),
                                       Deadline::after(options.opening_timeout));
    if (!connection) return connection.error();
    // Before us: then the connection stays.
    if (const auto limited = (*connection)->limit_statements(options.timeout * 3 / 4); !limited)
        return limited.error();
    if (const auto made = make_tables(**connection, kind); !made) return made.error();
    const auto head = checked_head(**connection, kind);
    if (!head) return head.error();
    if (const auto ready = prepare_connection(**connection); !ready) return ready.error();
    auto turn = std::make_unique<PostgresTurn>(kind, std::move(connection).value());
    std::unique_ptr<Journal> journal = std::make_unique<PostgresJournal>(
        options, kind, *head, std::move(statements), std::move(turn));
    return journal;
}

} // namespace kairos::journal
