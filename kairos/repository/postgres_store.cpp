// SPDX-License-Identifier: Apache-2.0
//
// The server that has a repository holds a lock that ends with its connection, so others are
// refused. A server may lose it without knowing, or share a connection with others behind a pooler:
// that somebody else has changed something is told by a number in the tables. Every change counts
// it on, and only from where its server knows it to be.
#include "kairos/repository/postgres_store.h"

#include "kairos/postgres/connection.h"
#include "kairos/repository/row.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace kairos::repository {
namespace {

constexpr std::int64_t schema_version = 1;

constexpr const char* schema[] = {
    "CREATE TABLE kairos_repository(version bigint NOT NULL, identity bigint NOT NULL,"
    " next bigint NOT NULL, changes bigint NOT NULL)",
    // A positive number, by chance. 64 is first_free.
    "INSERT INTO kairos_repository VALUES (1,"
    " ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint"
    " & 9223372036854775807 | 1, 64, 0)",
    "CREATE TABLE kairos_definition(key bigint PRIMARY KEY, octets bytea NOT NULL)",
};
static_assert(first_free == 64);

/// The number of our locks, and within it that of the table: repositories in several schemas are
/// several.
#define KAIROS_LOCK "(1265781074, 'kairos_repository'::regclass::oid::int4)"
constexpr const char* lock_sql = "SELECT pg_advisory_lock" KAIROS_LOCK;
constexpr const char* try_lock_sql = "SELECT pg_try_advisory_lock" KAIROS_LOCK "::int::bigint";
/// Servers that start at the same time make the tables one after the other.
constexpr const char* lock_making_sql = "SELECT pg_advisory_xact_lock(1265781074)";
constexpr const char* find_row_sql =
    "SELECT version, identity, next, changes FROM kairos_repository";

enum Statement : std::size_t {
    begin_reading,
    begin_writing,
    commit,
    rollback,
    find_row,
    count_change,
    put,
    erase,
    list_after,
};
constexpr postgres::Statement statements[] = {
    {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""},
    {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ""},
    {"COMMIT", ""},
    {"ROLLBACK", ""},
    {find_row_sql, ""},
    {"UPDATE kairos_repository SET next = $1, changes = changes + 1"
     " WHERE identity = $2 AND changes = $3",
     "iii"},
    {"INSERT INTO kairos_definition VALUES ($1, $2)"
     " ON CONFLICT (key) DO UPDATE SET octets = EXCLUDED.octets",
     "io"},
    {"DELETE FROM kairos_definition WHERE key = ANY($1)", "l"},
    // In portions, or reading would take longer than a statement may. The first ones as far as
    // those before each are within so many octets: clients choose how large definitions are.
    {"SELECT key, octets FROM (SELECT *, COALESCE(sum(octet_length(octets)) OVER (ORDER BY key"
     " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM"
     " (SELECT * FROM kairos_definition WHERE key > $1 ORDER BY key LIMIT 4096) AS portion)"
     " AS summed WHERE before < 4194304 ORDER BY key",
     "i"},
};
static_assert(std::size(statements) == list_after + 1);

/// How many definitions one statement erases.
constexpr std::size_t erased_at_once = 8192;

/// The row of the repository itself.
struct Row {
    std::int64_t identity;
    std::int64_t next;
    std::int64_t changes;
};

Result<Row> row_in(const postgres::Rows& rows)
{
    if (rows.count() != 1)
        return Error{ErrorCode::malformed, "the repository is damaged: it has no identity"};
    if (rows.integer(0, 0) != schema_version)
        return Error{ErrorCode::invalid_argument,
                     "the repository was made by another version of Kairos"};
    return Row{
        .identity = rows.integer(0, 1), .next = rows.integer(0, 2), .changes = rows.integer(0, 3)};
}

class PostgresStore final : public Store {
  public:
    PostgresStore(std::unique_ptr<postgres::Connection> connection,
                  std::chrono::milliseconds timeout)
        : connection_(std::move(connection)), timeout_(timeout)
    {
    }

    /// Makes the tables, if they are not there, and takes the lock: once, before everything else.
    [[nodiscard]] Result<void> begin();

    [[nodiscard]] std::uint64_t identity() const noexcept override
    {
        return static_cast<std::uint64_t>(identity_);
    }
    [[nodiscard]] Result<void> check() override;
    [[nodiscard]] Result<Kept> read() override;
    [[nodiscard]] Result<void> write(const std::vector<const Definition*>& written,
                                     const std::vector<Key>& erased, Key next) override;

  private:
    class Transaction;

    [[nodiscard]] postgres::Rows run(Statement statement, const postgres::Parameters& = {});
    [[nodiscard]] postgres::Rows execute(const std::string& sql);
    /// Why the last statement failed.
    [[nodiscard]] Error failure();
    [[nodiscard]] Result<Row> reach();
    [[nodiscard]] Result<void> take();
    [[nodiscard]] Result<void> lock();
    [[nodiscard]] Result<Row> same_row(const postgres::Rows& rows);
    [[nodiscard]] Result<Kept> read_all();
    [[nodiscard]] bool write_all(const std::vector<const Definition*>& written,
                                 const std::vector<Key>& erased);

    const std::unique_ptr<postgres::Connection> connection_;
    const std::chrono::milliseconds timeout_;
    std::int64_t identity_ = 0; // none is yet known
    std::int64_t changes_ = 0;  // when it was read, and ours since
    bool has_lock_ = false;     // as long as the connection lives
    std::string session_;       // that has the lock, or had it: a condition on pg_stat_activity
    Deadline::Clock::time_point retry_at_{}; // until then nobody is asked
};

/// Rolled back unless it is committed.
class PostgresStore::Transaction {
  public:
    Transaction(PostgresStore& store, Statement beginning) : store_(store)
    {
        is_open_ = store_.run(beginning).ok();
    }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction()
    {
        if (is_open_ && store_.connection_->is_open()) (void)store_.run(rollback);
    }

    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    [[nodiscard]] bool end()
    {
        is_open_ = false;
        const postgres::Rows ended = store_.run(commit);
        return ended.ok() && ended.done() == "COMMIT";
    }

  private:
    PostgresStore& store_;
    bool is_open_ = false;
};

postgres::Rows PostgresStore::run(Statement statement, const postgres::Parameters& parameters)
{
    connection_->set_deadline(Deadline::after(timeout_));
    return connection_->run(statement, parameters);
}

postgres::Rows PostgresStore::execute(const std::string& sql)
{
    connection_->set_deadline(Deadline::after(timeout_));
    return connection_->execute(sql.c_str());
}

Error PostgresStore::failure()
{
    // Who comes after has to wait no longer.
    if (connection_->gave_up()) retry_at_ = Deadline::Clock::now() + timeout_;
    return {connection_->is_open() ? ErrorCode::system : ErrorCode::unreachable,
            connection_->name() + ": " + connection_->failure()};
}

Result<void> PostgresStore::begin()
{
    if (auto limited = connection_->limit_statements(timeout_ * 3 / 4); !limited) return limited;
    if (!execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").ok() ||
        !execute(lock_making_sql).ok())
        return failure();
    const postgres::Rows tables =
        execute("SELECT count(*) FROM pg_class WHERE oid = to_regclass('kairos_repository')");
    if (!tables.ok()) return failure();
    if (tables.integer(0, 0) == 0)
        for (const char* sql : schema)
            if (!execute(sql).ok()) return failure();
    if (!execute("COMMIT").ok()) return failure();
    return take();
}

/// On a new connection: looks whether it is the same repository, and takes the lock.
Result<void> PostgresStore::take()
{
    has_lock_ = false;
    // The server finds out within half a minute when we are gone without a word, and the lock is
    // another's. Of Unix sockets there is nothing to find out.
    if (!execute("SELECT set_config('tcp_keepalives_idle', '10', false),"
                 " set_config('tcp_keepalives_interval', '5', false),"
                 " set_config('tcp_keepalives_count', '3', false),"
                 " set_config('tcp_user_timeout', '10000', false)")
             .ok())
        return failure();
    const postgres::Rows found = execute(find_row_sql);
    if (!found.ok()) return failure();
    if (const auto row = same_row(found); !row) return row.error();
    if (auto locked = lock(); !locked) return locked;
    constexpr const char* began = "(extract(epoch FROM backend_start) * 1000000)::bigint";
    const postgres::Rows session = execute(std::string("SELECT pid::bigint, ") + began +
                                           " FROM pg_stat_activity WHERE pid = pg_backend_pid()");
    if (!session.ok()) return failure();
    session_.clear();
    if (session.count() == 1)
        session_ = "pid = " + std::to_string(session.integer(0, 0)) + " AND " + began + " = " +
                   std::to_string(session.integer(0, 1));
    connection_->set_deadline(Deadline::after(timeout_));
    if (!connection_->prepare()) return failure();
    has_lock_ = true;
    return {};
}

/// Waits for a server that has ended, as long as a statement may, and for nobody else: the one
/// before us when we begin, and later ourselves where it was not noticed that our last connection
/// has ended.
Result<void> PostgresStore::lock()
{
    bool may_wait = session_.empty();
    if (!may_wait) {
        const postgres::Rows ended = execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE " + session_);
        if (!ended.ok()) return failure();
        may_wait = ended.integer(0, 0) != 0;
    }
    const postgres::Rows locked = execute(may_wait ? lock_sql : try_lock_sql);
    if (locked.ok() && (may_wait || locked.integer(0, 0) == 1)) return {};
    constexpr std::string_view lock_not_available = "55P03";
    constexpr std::string_view query_canceled = "57014";
    if (!locked.ok() && locked.state() != lock_not_available && locked.state() != query_canceled)
        return failure();
    return Error{ErrorCode::closed,
                 "another server has the Interface Repository in " + connection_->name() + " open"};
}

Result<Row> PostgresStore::same_row(const postgres::Rows& rows)
{
    Result<Row> row = row_in(rows);
    if (!row) return row;
    if (identity_ == 0) identity_ = row->identity;
    if (row->identity != identity_)
        return Error{ErrorCode::malformed, "another repository is at the address now"};
    return row;
}

/// The repository's row, with the lock: if the connection was lost since it was used last, on a new
/// one.
Result<Row> PostgresStore::reach()
{
    if (Deadline::Clock::now() < retry_at_)
        return Error{ErrorCode::unreachable, connection_->name() + " did not answer in time"};
    if (connection_->is_open() && has_lock_) {
        const postgres::Rows found = run(find_row);
        if (found.ok()) return same_row(found);
        if (connection_->is_open() || connection_->gave_up()) return failure();
    }
    has_lock_ = false;
    connection_->set_deadline(Deadline::after(timeout_));
    if (!connection_->reopen()) return failure();
    if (const auto taken = take(); !taken) return taken.error();
    const postgres::Rows found = run(find_row);
    if (!found.ok()) return failure();
    return same_row(found);
}

Result<void> PostgresStore::check()
{
    const auto row = reach();
    if (!row) return row.error();
    if (row->changes != changes_)
        return Error{ErrorCode::closed, "another server has changed the repository"};
    return {};
}

Result<Store::Kept> PostgresStore::read()
{
    if (const auto row = reach(); !row) return row.error();
    Transaction transaction(*this, begin_reading);
    if (!transaction.is_open()) return failure();
    Result<Kept> kept = read_all();
    if (kept && !transaction.end()) return failure();
    return kept;
}

Result<Store::Kept> PostgresStore::read_all()
{
    const postgres::Rows found = run(find_row);
    if (!found.ok()) return failure();
    const auto row = same_row(found);
    if (!row) return row.error();
    if (row->next < 0) return Error{ErrorCode::malformed, "the number of definitions is damaged"};
    Kept kept;
    kept.next = static_cast<Key>(row->next);
    std::int64_t last = -1;
    for (;;) {
        const postgres::Rows rows = run(list_after, postgres::Parameters().integer(last));
        if (!rows.ok()) return failure();
        if (rows.count() == 0) break;
        for (std::size_t i = 0; i < rows.count(); ++i) {
            last = rows.integer(i, 0);
            std::optional<Definition> definition = decode(rows.octets(i, 1));
            if (!definition || definition->key != static_cast<Key>(last))
                return Error{ErrorCode::malformed, "a definition in the store is damaged"};
            kept.definitions.push_back(std::move(*definition));
        }
    }
    changes_ = row->changes;
    return kept;
}

Result<void> PostgresStore::write(const std::vector<const Definition*>& written,
                                  const std::vector<Key>& erased, Key next)
{
    if (!connection_->is_open() || !has_lock_)
        return Error{ErrorCode::unreachable, "the connection to the database was lost"};
    Transaction transaction(*this, begin_writing);
    if (!transaction.is_open()) return failure();
    const postgres::Rows counted = run(count_change, postgres::Parameters()
                                                         .integer(static_cast<std::int64_t>(next))
                                                         .integer(identity_)
                                                         .integer(changes_));
    if (!counted.ok()) return failure();
    if (counted.changed() != 1)
        return Error{ErrorCode::closed, "another server has changed the repository"};
    if (!write_all(written, erased) || !transaction.end()) return failure();
    ++changes_;
    return {};
}

bool PostgresStore::write_all(const std::vector<const Definition*>& written,
                              const std::vector<Key>& erased)
{
    std::vector<std::int64_t> keys;
    keys.reserve(erased.size());
    for (const Key key : erased)
        keys.push_back(static_cast<std::int64_t>(key));
    for (std::span<const std::int64_t> left = keys; !left.empty();) {
        const auto portion = left.first(std::min(left.size(), erased_at_once));
        left = left.subspan(portion.size());
        const std::string list = postgres::list_of(portion);
        if (!run(erase, postgres::Parameters().octets(list)).ok()) return false;
    }
    return std::ranges::all_of(written, [this](const Definition* definition) {
        const std::string octets = encode(*definition);
        return run(put, postgres::Parameters()
                            .integer(static_cast<std::int64_t>(definition->key))
                            .octets(octets))
            .ok();
    });
}

} // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options)
{
    auto connection = postgres::Connection::open(options.url, "kairos-ifr", statements,
                                                 Deadline::after(options.opening_timeout));
    if (!connection) return connection.error();
    auto store = std::make_unique<PostgresStore>(std::move(connection).value(), options.timeout);
    if (const auto begun = store->begin(); !begun) return begun.error();
    return std::unique_ptr<Store>(std::move(store));
}

} // namespace kairos::repository
