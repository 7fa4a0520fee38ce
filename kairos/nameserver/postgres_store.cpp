// SPDX-License-Identifier: Apache-2.0
//
// Servers exclude each other by locks on rows alone: whoever binds in a context, or binds one,
// shares its row until the end of the transaction; whoever destroys it has the row alone.
#include "kairos/nameserver/postgres_store.h"

#include "kairos/base/pool.h"
#include "kairos/nameserver/sql_store.h"
#include "kairos/postgres/connection.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>

namespace kairos::nameserver {
namespace {

constexpr std::int64_t schema_version = 1;

/// Numbers of an identity column are not given out again, also not those of transactions that were
/// rolled back.
constexpr const char* schema[] = {
    "CREATE TABLE kairos_naming(version bigint NOT NULL, identity bigint NOT NULL)",
    "INSERT INTO kairos_naming VALUES (1,"
    " ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint)",
    "CREATE TABLE kairos_context("
    "number bigint GENERATED ALWAYS AS IDENTITY (START WITH 2) PRIMARY KEY)",
    "INSERT INTO kairos_context OVERRIDING SYSTEM VALUE VALUES (1)",
    "CREATE TABLE kairos_binding("
    "context bigint NOT NULL, id bytea NOT NULL, kind bytea NOT NULL, type bigint NOT NULL,"
    " target bigint NOT NULL, reference bytea NOT NULL, checksum bigint NOT NULL,"
    " PRIMARY KEY (context, id, kind))",
};

enum Statement : std::size_t {
    begin_reading = sql_statements_end,
    begin_writing,
    commit,
    rollback,
    list_all,
    list_after,
};
/// The first rows of those selected, as far as those before each are within so many octets, and how
/// many were selected: all of them come at once, and clients choose how large they are.
#define KAIROS_LIST(where, octets_max)                                                             \
    "SELECT type, target, reference, checksum, id, kind, selected FROM ("                          \
    "SELECT *, count(*) OVER () AS selected, COALESCE(sum(octet_length(id) + octet_length(kind)"   \
    " + octet_length(reference)) OVER (ORDER BY id, kind ROWS BETWEEN UNBOUNDED PRECEDING AND"     \
    " 1 PRECEDING), 0) AS before FROM (SELECT * FROM kairos_binding " where                        \
    ") AS portion) AS summed WHERE before < " octets_max " ORDER BY id, kind"
constexpr postgres::Statement statements[] = {
    {"SELECT 1 FROM kairos_context WHERE number = $1", "i"},
    {"SELECT 1 FROM kairos_context WHERE number = $1 FOR KEY SHARE", "i"},
    {"SELECT 1 FROM kairos_context WHERE number = $1 FOR UPDATE", "i"},
    {"SELECT type, target, reference, checksum FROM kairos_binding"
     " WHERE context = $1 AND id = $2 AND kind = $3",
     "ioo"},
    {"SELECT type, target, reference, checksum FROM kairos_binding"
     " WHERE context = $1 AND id = $2 AND kind = $3 FOR UPDATE",
     "ioo"},
    {"SELECT 1 FROM kairos_binding WHERE context = $1 LIMIT 1", "i"},
    {"INSERT INTO kairos_binding VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     "iooiioi"},
    {"UPDATE kairos_binding SET type = $4, target = $5, reference = $6, checksum = $7"
     " WHERE context = $1 AND id = $2 AND kind = $3",
     "iooiioi"},
    {"DELETE FROM kairos_binding WHERE context = $1 AND id = $2 AND kind = $3", "ioo"},
    {"INSERT INTO kairos_context DEFAULT VALUES RETURNING number", ""},
    {"DELETE FROM kairos_context WHERE number = $1", "i"},
    {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""},
    {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ""},
    {"COMMIT", ""},
    {"ROLLBACK", ""},
    {KAIROS_LIST("WHERE context = $1 ORDER BY id, kind LIMIT $2", "$3"), "iii"},
    {KAIROS_LIST("WHERE context = $1 AND (id, kind) > ($2, $3) ORDER BY id, kind LIMIT $4", "$5"),
     "iooii"},
};
static_assert(std::size(statements) == list_after + 1);

// --- transactions --------------------------------------------------------------------------------

/// What a failure means for the caller. SQLSTATEs are in appendix A of PostgreSQL's manual.
StoreStatus status_of(std::string_view state)
{
    // Resources; limits; a lock or a statement that took too long.
    if (state.starts_with("53") || state.starts_with("54") || state == "55P03" || state == "57014")
        return StoreStatus::full;
    // The connection; a server that ends, or has not begun yet.
    if (state.empty() || state.starts_with("08") || state.starts_with("57P"))
        return StoreStatus::unreachable;
    return StoreStatus::broken;
}

/// Whether the transaction may succeed if it is made again: others were in its way.
bool collided(std::string_view state) { return state == "40001" || state == "40P01"; }

/// What a statement gave, row by row.
class Rows {
  public:
    explicit Rows(postgres::Rows rows) : rows_(std::move(rows)) {}

    bool next() noexcept { return ok() && ++next_ <= rows_.count(); }
    bool ok() const noexcept { return rows_.ok(); }
    std::size_t changed() const noexcept { return rows_.changed(); }
    std::int64_t integer(int column) const noexcept { return rows_.integer(next_ - 1, column); }
    std::string_view octets(int column) const noexcept { return rows_.octets(next_ - 1, column); }
    static bool is_binding() noexcept { return true; } // the schema says so
    const postgres::Rows& all() const noexcept { return rows_; }

  private:
    postgres::Rows rows_;
    std::size_t next_ = 0;
};

/// The rows of a listing, asked for in portions until nobody wants more: those that come may be
/// damaged, and not count.
class Listing {
  public:
    Listing(postgres::Connection& connection, ContextId context, const ior::NameComponent* after,
            const PortionBounds& bounds)
        : connection_(connection), context_(context), bounds_(bounds), rows_(ask(after))
    {
    }

    bool next()
    {
        if (rows_.next()) return true;
        const std::size_t count = ok() ? rows_.all().count() : 0;
        if (count == 0) return false;
        const std::size_t end = count - 1;
        if (count < wanted() && count == static_cast<std::size_t>(rows_.all().integer(end, 6)))
            return false; // there were no more
        const ior::NameComponent last{std::string(rows_.all().octets(end, 4)),
                                      std::string(rows_.all().octets(end, 5))};
        rows_ = ask(&last);
        return rows_.next();
    }
    bool ok() const noexcept { return rows_.ok(); }
    std::int64_t integer(int column) const noexcept { return rows_.integer(column); }
    std::string_view octets(int column) const noexcept { return rows_.octets(column); }
    static bool is_binding() noexcept { return Rows::is_binding(); }
    const postgres::Rows& all() const noexcept { return rows_.all(); }

  private:
    [[nodiscard]] std::size_t wanted() const noexcept { return bounds_.count + 1; }

    [[nodiscard]] Rows ask(const ior::NameComponent* after)
    {
        postgres::Parameters parameters;
        parameters.integer(static_cast<std::int64_t>(context_));
        if (after != nullptr) parameters.octets(after->id).octets(after->kind);
        parameters.integer(static_cast<std::int64_t>(wanted()));
        parameters.integer(static_cast<std::int64_t>(std::max<std::size_t>(bounds_.octets, 1)));
        return Rows(connection_.run(after != nullptr ? list_after : list_all, parameters));
    }

    postgres::Connection& connection_;
    const ContextId context_;
    const PortionBounds bounds_;
    Rows rows_;
};

/// Rolled back unless it is committed.
class Transaction {
  public:
    Transaction(postgres::Connection& connection, StoreLog& log)
        : connection_(connection), log_(log)
    {
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction()
    {
        if (open_ && connection_.is_open()) (void)connection_.run(rollback);
    }

    [[nodiscard]] StoreStatus begin(Statement statement)
    {
        const postgres::Rows begun = connection_.run(statement);
        if (!begun.ok()) return failed(begun);
        open_ = true;
        return StoreStatus::done;
    }
    [[nodiscard]] StoreStatus end()
    {
        const postgres::Rows ended = connection_.run(commit);
        open_ = false;
        if (ended.ok()) return ended.done() == "COMMIT" ? StoreStatus::done : StoreStatus::broken;
        const StoreStatus why = failed(ended);
        return connection_.is_open() ? why : StoreStatus::uncertain;
    }
    [[nodiscard]] Rows run(SqlStatement statement, SqlValues values)
    {
        postgres::Parameters parameters;
        for (const SqlValue& value : values)
            if (const auto* octets = std::get_if<std::string_view>(&value))
                parameters.octets(*octets);
            else
                parameters.integer(std::get<std::int64_t>(value));
        return Rows(connection_.run(statement, parameters));
    }
    [[nodiscard]] Listing list(ContextId context, const ior::NameComponent* after,
                               const PortionBounds& bounds)
    {
        return {connection_, context, after, bounds};
    }
    static void begin_change() noexcept {} // nobody is told of other servers' either

    template <typename SomeRows>
    StoreStatus failed(const SomeRows& rows)
    {
        return failed(rows.all());
    }
    StoreStatus failed(const postgres::Rows& rows)
    {
        log_.say_once(connection_.failure());
        if (!connection_.is_open()) return StoreStatus::unreachable;
        if (!collided(rows.state())) return status_of(rows.state());
        return collision();
    }
    /// Others were in its way. What is to be answered if they are again and again.
    StoreStatus collision()
    {
        again_ = true;
        return StoreStatus::full;
    }
    [[nodiscard]] bool again() const noexcept { return again_; }

  private:
    postgres::Connection& connection_;
    StoreLog& log_;
    bool open_ = false;
    bool again_ = false;
};

// --- the store -----------------------------------------------------------------------------------

class PostgresDatabase {
  public:
    using Transaction = nameserver::Transaction;

    PostgresDatabase(const std::string& name, std::uint64_t identity,
                     std::chrono::milliseconds timeout,
                     std::vector<std::unique_ptr<postgres::Connection>> connections)
        : log_(name), identity_(identity), timeout_(timeout), connections_(std::move(connections))
    {
    }

    std::uint64_t identity() const noexcept { return identity_; }
    static std::uint64_t changes() noexcept { return 1; } // other servers' are not known
    StoreLog& log() noexcept { return log_; }

    template <typename Action>
    StoreStatus read(Action&& action)
    {
        const StoreStatus status = transact(begin_reading, action);
        // Nothing was to be made durable.
        return status == StoreStatus::uncertain ? StoreStatus::unreachable : status;
    }
    template <typename Action>
    StoreStatus write(Room, Action&& action)
    {
        const StoreStatus status = transact(begin_writing, action);
        if (status == StoreStatus::done) log_.forget();
        return status;
    }

  private:
    /// Runs `action` in a transaction that begins so and is committed if the action answers `done`.
    template <typename Action>
    StoreStatus transact(Statement beginning, Action&& action);
    StoreStatus late();
    StoreStatus begin(postgres::Connection& connection, Transaction& transaction,
                      Statement beginning);
    Result<void> reopen(postgres::Connection& connection) const;

    StoreLog log_;
    const std::uint64_t identity_;
    const std::chrono::milliseconds timeout_;
    std::atomic<Deadline::Clock::time_point> retry_at_{}; // until then nobody is asked
    Pool<postgres::Connection> connections_;
};

Result<std::uint64_t> read_identity(postgres::Connection& connection)
{
    const postgres::Rows rows = connection.execute("SELECT version, identity FROM kairos_naming");
    if (!rows.ok()) return Error{ErrorCode::system, connection.failure()};
    if (rows.count() != 1)
        return Error{ErrorCode::malformed, "the store is damaged: it has no identity"};
    if (rows.integer(0, 0) != schema_version)
        return Error{ErrorCode::invalid_argument,
                     "the store was made by another version of the name server"};
    return static_cast<std::uint64_t>(rows.integer(0, 1));
}

template <typename Action>
StoreStatus PostgresDatabase::transact(Statement beginning, Action&& action)
{
    constexpr int attempts_max = 8;
    if (Deadline::Clock::now() < retry_at_.load()) return StoreStatus::unreachable;
    const Deadline deadline = Deadline::after(timeout_);
    const Pool<postgres::Connection>::Use connection(connections_, deadline);
    if (!connection) return late();
    (*connection).set_deadline(deadline);
    for (int attempt = 1;; ++attempt) {
        Transaction transaction(*connection, log_);
        StoreStatus status = begin(*connection, transaction, beginning);
        if (status == StoreStatus::done) status = action(transaction);
        if (status == StoreStatus::done) status = transaction.end();
        if (!(*connection).is_open() && deadline.has_passed()) (void)late();
        if (!transaction.again() || attempt == attempts_max) return status;
    }
}

/// Who comes after has to wait no longer.
StoreStatus PostgresDatabase::late()
{
    retry_at_ = Deadline::Clock::now() + timeout_;
    return StoreStatus::unreachable;
}

/// If the connection was lost since it was used last, on a new one.
StoreStatus PostgresDatabase::begin(postgres::Connection& connection, Transaction& transaction,
                                    Statement beginning)
{
    if (connection.is_open()) {
        const StoreStatus begun = transaction.begin(beginning);
        if (connection.is_open() || connection.gave_up()) return begun;
    }
    if (const auto opened = reopen(connection); !opened) {
        log_.say_once(opened.error().reason);
        return opened.error().code == ErrorCode::malformed ? StoreStatus::broken
                                                           : StoreStatus::unreachable;
    }
    return transaction.begin(beginning);
}

Result<void> PostgresDatabase::reopen(postgres::Connection& connection) const
{
    if (auto opened = connection.reopen(); !opened) return opened;
    const auto identity = read_identity(connection);
    if (!identity) return identity.error();
    if (*identity != identity_)
        return Error{ErrorCode::malformed, "another store is at the address now"};
    return connection.prepare();
}

// --- opening -------------------------------------------------------------------------------------

Result<void> execute(postgres::Connection& connection, const char* sql)
{
    if (!connection.execute(sql).ok()) return Error{ErrorCode::system, connection.failure()};
    return {};
}

/// Servers that start at the same time make the tables one after the other, so one of them does.
Result<void> prepare_schema(postgres::Connection& connection)
{
    for (const char* sql : {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                            "SELECT pg_advisory_xact_lock(1265782355)"})
        if (auto done = execute(connection, sql); !done) return done;
    const postgres::Rows tables = connection.execute(
        "SELECT count(*) FROM pg_class WHERE oid = to_regclass('kairos_naming')");
    if (!tables.ok()) return Error{ErrorCode::system, connection.failure()};
    if (tables.integer(0, 0) == 0)
        for (const char* sql : schema)
            if (auto made = execute(connection, sql); !made) return made;
    if (auto done = execute(connection, "COMMIT"); !done) return done;
    const auto known = read_identity(connection);
    if (!known) return known.error();
    const postgres::Rows root =
        connection.execute("SELECT count(*) FROM kairos_context WHERE number = 1");
    if (!root.ok()) return Error{ErrorCode::system, connection.failure()};
    if (root.integer(0, 0) != 1)
        return Error{ErrorCode::malformed, "the store is damaged: it has no root context"};
    return {};
}

} // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options)
{
    std::vector<std::unique_ptr<postgres::Connection>> connections;
    const Deadline deadline = Deadline::after(options.opening_timeout);
    for (std::size_t i = 0; i < std::max<std::size_t>(options.connections, 1); ++i) {
        auto connection =
            postgres::Connection::open(options.url, "kairos-naming", statements, deadline);
        if (!connection) return connection.error();
        // Before us: then the connection stays.
        if (const auto limited = (*connection)->limit_statements(options.timeout * 3 / 4); !limited)
            return limited.error();
        if (i == 0)
            if (const auto ours = prepare_schema(**connection); !ours) return ours.error();
        if (const auto prepared = (*connection)->prepare(); !prepared) return prepared.error();
        connections.push_back(std::move(connection).value());
    }
    const auto identity = read_identity(*connections.front());
    if (!identity) return identity.error();
    const std::string name = connections.front()->name();
    std::unique_ptr<Store> store = std::make_unique<SqlStore<PostgresDatabase>>(
        name, *identity, options.timeout, std::move(connections));
    return store;
}

} // namespace kairos::nameserver
