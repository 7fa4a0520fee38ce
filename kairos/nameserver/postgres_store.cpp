// SPDX-License-Identifier: Apache-2.0
//
// Servers exclude each other by locks on rows alone: whoever binds in a context, or binds one,
// shares its row until the end of the transaction; whoever destroys it has the row alone.
#include "kairos/nameserver/postgres_store.h"

#include "kairos/nameserver/pool.h"
#include "kairos/nameserver/portion.h"
#include "kairos/nameserver/postgres.h"
#include "kairos/nameserver/row.h"
#include "kairos/nameserver/store_log.h"
#include "kairos/nameserver/walk.h"

#include <algorithm>
#include <atomic>
#include <chrono>

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
    begin_reading,
    begin_writing,
    commit,
    rollback,
    find_context_row,
    share_context_row,
    take_context_row,
    find_binding,
    take_binding,
    list_all,
    list_after,
    any_binding,
    insert_binding,
    update_binding,
    delete_binding,
    insert_context,
    delete_context,
};
/// The first rows of those selected, as far as those before each are within so many octets, and how
/// many were selected: all of them come at once, and clients choose how large they are.
#define KAIROS_LIST(where, octets_max)                                                             \
    "SELECT type, target, reference, checksum, id, kind, selected FROM ("                          \
    "SELECT *, count(*) OVER () AS selected, COALESCE(sum(octet_length(id) + octet_length(kind)"   \
    " + octet_length(reference)) OVER (ORDER BY id, kind ROWS BETWEEN UNBOUNDED PRECEDING AND"     \
    " 1 PRECEDING), 0) AS before FROM (SELECT * FROM kairos_binding " where                        \
    ") AS portion) AS summed WHERE before < " octets_max " ORDER BY id, kind"
constexpr PostgresStatement statements[] = {
    {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ""},
    {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ""},
    {"COMMIT", ""},
    {"ROLLBACK", ""},
    {"SELECT 1 FROM kairos_context WHERE number = $1", "i"},
    {"SELECT 1 FROM kairos_context WHERE number = $1 FOR KEY SHARE", "i"},
    {"SELECT 1 FROM kairos_context WHERE number = $1 FOR UPDATE", "i"},
    {"SELECT type, target, reference, checksum FROM kairos_binding"
     " WHERE context = $1 AND id = $2 AND kind = $3",
     "ioo"},
    {"SELECT type, target, reference, checksum FROM kairos_binding"
     " WHERE context = $1 AND id = $2 AND kind = $3 FOR UPDATE",
     "ioo"},
    {KAIROS_LIST("WHERE context = $1 ORDER BY id, kind LIMIT $2", "$3"), "iii"},
    {KAIROS_LIST("WHERE context = $1 AND (id, kind) > ($2, $3) ORDER BY id, kind LIMIT $4", "$5"),
     "iooii"},
    {"SELECT 1 FROM kairos_binding WHERE context = $1 LIMIT 1", "i"},
    {"INSERT INTO kairos_binding VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
     "iooiioi"},
    {"UPDATE kairos_binding SET type = $4, target = $5, reference = $6, checksum = $7"
     " WHERE context = $1 AND id = $2 AND kind = $3",
     "iooiioi"},
    {"DELETE FROM kairos_binding WHERE context = $1 AND id = $2 AND kind = $3", "ioo"},
    {"INSERT INTO kairos_context DEFAULT VALUES RETURNING number", ""},
    {"DELETE FROM kairos_context WHERE number = $1", "i"},
};

std::int64_t as_column(ContextId context) { return static_cast<std::int64_t>(context); }

PostgresParameters key_of(ContextId context, const ior::NameComponent& component)
{
    PostgresParameters key;
    key.integer(as_column(context)).octets(component.id).octets(component.kind);
    return key;
}

std::optional<Entry> entry_of(const PostgresRows& rows, std::size_t row, ContextId context,
                              std::string_view id, std::string_view kind)
{
    return nameserver::entry_of(context, id, kind,
                                {.type = rows.integer(row, 0),
                                 .target = rows.integer(row, 1),
                                 .reference = rows.octets(row, 2),
                                 .checksum = rows.integer(row, 3)});
}

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

/// Rolled back unless it is committed.
class Transaction {
  public:
    Transaction(PostgresConnection& connection, StoreLog& log) : connection_(connection), log_(log)
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
        const PostgresRows begun = connection_.run(statement);
        if (!begun.ok()) return failed(begun);
        open_ = true;
        return StoreStatus::done;
    }
    [[nodiscard]] StoreStatus end()
    {
        const PostgresRows ended = connection_.run(commit);
        open_ = false;
        if (ended.ok()) return ended.done() == "COMMIT" ? StoreStatus::done : StoreStatus::broken;
        const StoreStatus why = failed(ended);
        return connection_.is_open() ? why : StoreStatus::uncertain;
    }
    [[nodiscard]] PostgresRows run(Statement statement, const PostgresParameters& parameters = {})
    {
        return connection_.run(statement, parameters);
    }

    StoreStatus failed(const PostgresRows& rows)
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
    PostgresConnection& connection_;
    StoreLog& log_;
    bool open_ = false;
    bool again_ = false;
};

// --- the store -----------------------------------------------------------------------------------

class PostgresStore final : public Store {
  public:
    PostgresStore(const std::string& name, std::uint64_t identity,
                  std::chrono::milliseconds timeout,
                  std::vector<std::unique_ptr<PostgresConnection>> connections)
        : log_(name), identity_(identity), timeout_(timeout), connections_(std::move(connections))
    {
    }

    std::uint64_t identity() const noexcept override { return identity_; }
    std::uint64_t changes() const noexcept override { return 1; } // other servers' are not known
    StoreStatus resolve(ContextId start, std::span<const ior::NameComponent> name,
                        Resolution& resolution) override;
    StoreStatus bind(ContextId context, const ior::NameComponent& component,
                     const Entry& entry) override;
    StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                       const Entry& entry) override;
    StoreStatus unbind(ContextId context, const ior::NameComponent& component) override;
    StoreStatus new_context(ContextId& created) override;
    StoreStatus bind_new_context(ContextId context, const ior::NameComponent& component,
                                 ContextId& created) override;
    StoreStatus destroy_context(ContextId context) override;
    StoreStatus find_context(ContextId context) override;
    StoreStatus list(ContextId context, const ior::NameComponent* after,
                     const PortionBounds& bounds, Portion& portion) override;

  private:
    /// Runs `action` in a transaction that begins so and is committed if the action answers `done`.
    template <typename Action>
    StoreStatus transact(Statement beginning, Action&& action);
    template <typename Action>
    StoreStatus read(Action&& action)
    {
        const StoreStatus status = transact(begin_reading, action);
        // Nothing was to be made durable.
        return status == StoreStatus::uncertain ? StoreStatus::unreachable : status;
    }
    template <typename Action>
    StoreStatus write(Action&& action)
    {
        const StoreStatus status = transact(begin_writing, action);
        if (status == StoreStatus::done) log_.forget();
        return status;
    }

    StoreStatus late();
    StoreStatus begin(PostgresConnection& connection, Transaction& transaction,
                      Statement beginning);
    Result<void> reopen(PostgresConnection& connection) const;

    /// With one of the three statements about a context's row.
    StoreStatus require_context(Transaction& transaction, Statement statement, ContextId context);
    StoreStatus find(Transaction& transaction, ContextId context,
                     const ior::NameComponent& component, Entry& entry);
    /// For a change: neither the context nor the binding, if there is one, changes until its end.
    StoreStatus take(Transaction& transaction, ContextId context,
                     const ior::NameComponent& component, Entry& entry);
    /// How many rows there were before: one, or none, but somebody may be faster.
    StoreStatus put(Transaction& transaction, Statement statement, ContextId context,
                    const ior::NameComponent& component, const Entry& entry);
    StoreStatus insert_new_context(Transaction& transaction, ContextId& created);
    StoreStatus only_row(Transaction& transaction, const PostgresRows& rows, ContextId context,
                         const ior::NameComponent& component, Entry& entry);
    StoreStatus damaged(ContextId context, const ior::NameComponent& component);

    StoreLog log_;
    const std::uint64_t identity_;
    const std::chrono::milliseconds timeout_;
    std::atomic<Deadline::Clock::time_point> retry_at_{}; // until then nobody is asked
    Pool<PostgresConnection> connections_;
};

Result<std::uint64_t> read_identity(PostgresConnection& connection)
{
    const PostgresRows rows = connection.execute("SELECT version, identity FROM kairos_naming");
    if (!rows.ok()) return Error{ErrorCode::system, connection.failure()};
    if (rows.count() != 1)
        return Error{ErrorCode::malformed, "the store is damaged: it has no identity"};
    if (rows.integer(0, 0) != schema_version)
        return Error{ErrorCode::invalid_argument,
                     "the store was made by another version of the name server"};
    return static_cast<std::uint64_t>(rows.integer(0, 1));
}

template <typename Action>
StoreStatus PostgresStore::transact(Statement beginning, Action&& action)
{
    constexpr int attempts_max = 8;
    if (Deadline::Clock::now() < retry_at_.load()) return StoreStatus::unreachable;
    const Deadline deadline = Deadline::after(timeout_);
    const Pool<PostgresConnection>::Use connection(connections_, deadline);
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
StoreStatus PostgresStore::late()
{
    retry_at_ = Deadline::Clock::now() + timeout_;
    return StoreStatus::unreachable;
}

/// If the connection was lost since it was used last, on a new one.
StoreStatus PostgresStore::begin(PostgresConnection& connection, Transaction& transaction,
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

Result<void> PostgresStore::reopen(PostgresConnection& connection) const
{
    if (auto opened = connection.reopen(); !opened) return opened;
    const auto identity = read_identity(connection);
    if (!identity) return identity.error();
    if (*identity != identity_)
        return Error{ErrorCode::malformed, "another store is at the address now"};
    return connection.prepare();
}

StoreStatus PostgresStore::resolve(ContextId start, std::span<const ior::NameComponent> name,
                                   Resolution& resolution)
{
    return read([&](Transaction& transaction) {
        return walk(start, name, resolution,
                    [&](ContextId context, const ior::NameComponent& component, Entry& entry) {
                        return find(transaction, context, component, entry);
                    });
    });
}

StoreStatus PostgresStore::bind(ContextId context, const ior::NameComponent& component,
                                const Entry& entry)
{
    return write([&](Transaction& transaction) {
        Entry old;
        const StoreStatus found = take(transaction, context, component, old);
        if (found == StoreStatus::done) return StoreStatus::already_bound;
        if (found != StoreStatus::not_bound) return found;
        return put(transaction, insert_binding, context, component, entry);
    });
}

StoreStatus PostgresStore::rebind(ContextId context, const ior::NameComponent& component,
                                  const Entry& entry)
{
    return write([&](Transaction& transaction) {
        Entry old;
        const StoreStatus found = take(transaction, context, component, old);
        if (found == StoreStatus::not_bound) {
            const StoreStatus status = put(transaction, insert_binding, context, component, entry);
            return status == StoreStatus::already_bound ? transaction.collision() : status;
        }
        if (found != StoreStatus::done) return found;
        if (old.is_context() != entry.is_context()) return StoreStatus::wrong_type;
        return put(transaction, update_binding, context, component, entry);
    });
}

StoreStatus PostgresStore::unbind(ContextId context, const ior::NameComponent& component)
{
    return write([&](Transaction& transaction) {
        Entry old;
        const StoreStatus found = take(transaction, context, component, old);
        if (found != StoreStatus::done) return found;
        const PostgresRows gone = transaction.run(delete_binding, key_of(context, component));
        return gone.ok() ? StoreStatus::done : transaction.failed(gone);
    });
}

StoreStatus PostgresStore::new_context(ContextId& created)
{
    return write(
        [&](Transaction& transaction) { return insert_new_context(transaction, created); });
}

StoreStatus PostgresStore::bind_new_context(ContextId context, const ior::NameComponent& component,
                                            ContextId& created)
{
    return write([&](Transaction& transaction) {
        Entry entry;
        const StoreStatus found = take(transaction, context, component, entry);
        if (found == StoreStatus::done) return StoreStatus::already_bound;
        if (found != StoreStatus::not_bound) return found;
        const StoreStatus made = insert_new_context(transaction, created);
        if (made != StoreStatus::done) return made;
        entry = {.kind = Entry::Kind::context, .context = created, .reference = {}};
        return put(transaction, insert_binding, context, component, entry);
    });
}

StoreStatus PostgresStore::destroy_context(ContextId context)
{
    return write([&](Transaction& transaction) {
        const StoreStatus there = require_context(transaction, take_context_row, context);
        if (there != StoreStatus::done) return there;
        PostgresParameters number;
        number.integer(as_column(context));
        const PostgresRows bindings = transaction.run(any_binding, number);
        if (!bindings.ok()) return transaction.failed(bindings);
        if (bindings.count() != 0) return StoreStatus::not_empty;
        const PostgresRows gone = transaction.run(delete_context, number);
        return gone.ok() ? StoreStatus::done : transaction.failed(gone);
    });
}

StoreStatus PostgresStore::find_context(ContextId context)
{
    return read([&](Transaction& transaction) {
        return require_context(transaction, find_context_row, context);
    });
}

StoreStatus PostgresStore::list(ContextId context, const ior::NameComponent* after,
                                const PortionBounds& bounds, Portion& portion)
{
    return read([&](Transaction& transaction) {
        Portioning portioning(bounds, portion);
        std::optional<ior::NameComponent> last; // of the rows seen
        if (after != nullptr) last = *after;
        for (;;) { // until the portion is full: rows may be damaged
            PostgresParameters parameters;
            parameters.integer(as_column(context));
            if (last) parameters.octets(last->id).octets(last->kind);
            const std::size_t wanted = bounds.count + 1;
            parameters.integer(static_cast<std::int64_t>(wanted));
            parameters.integer(static_cast<std::int64_t>(std::max<std::size_t>(bounds.octets, 1)));
            const PostgresRows rows = transaction.run(last ? list_after : list_all, parameters);
            if (!rows.ok()) return transaction.failed(rows);
            if (rows.count() == 0) return StoreStatus::done;
            for (std::size_t row = 0; row < rows.count(); ++row) {
                const std::string_view id = rows.octets(row, 4);
                const std::string_view kind = rows.octets(row, 5);
                const auto entry = entry_of(rows, row, context, id, kind);
                if (!entry)
                    log_.say_damaged(context, id, kind);
                else if (!portioning.take(id, kind, rows.octets(row, 2).size(),
                                          entry->is_context()))
                    return StoreStatus::done;
            }
            const std::size_t end = rows.count() - 1;
            if (end + 1 < wanted && end + 1 == static_cast<std::size_t>(rows.integer(end, 6)))
                return StoreStatus::done; // there were no more
            last = {std::string(rows.octets(end, 4)), std::string(rows.octets(end, 5))};
        }
    });
}

StoreStatus PostgresStore::require_context(Transaction& transaction, Statement statement,
                                           ContextId context)
{
    PostgresParameters number;
    number.integer(as_column(context));
    const PostgresRows rows = transaction.run(statement, number);
    if (!rows.ok()) return transaction.failed(rows);
    return rows.count() == 1 ? StoreStatus::done : StoreStatus::no_context;
}

/// `done`, `not_bound`, or the last ones.
StoreStatus PostgresStore::only_row(Transaction& transaction, const PostgresRows& rows,
                                    ContextId context, const ior::NameComponent& component,
                                    Entry& entry)
{
    if (!rows.ok()) return transaction.failed(rows);
    if (rows.count() == 0) return StoreStatus::not_bound;
    auto found = entry_of(rows, 0, context, component.id, component.kind);
    if (!found) return damaged(context, component);
    entry = std::move(*found);
    return StoreStatus::done;
}

StoreStatus PostgresStore::find(Transaction& transaction, ContextId context,
                                const ior::NameComponent& component, Entry& entry)
{
    const PostgresRows rows = transaction.run(find_binding, key_of(context, component));
    const StoreStatus found = only_row(transaction, rows, context, component, entry);
    if (found != StoreStatus::not_bound) return found;
    const StoreStatus there = require_context(transaction, find_context_row, context);
    return there == StoreStatus::done ? StoreStatus::not_bound : there;
}

StoreStatus PostgresStore::take(Transaction& transaction, ContextId context,
                                const ior::NameComponent& component, Entry& entry)
{
    const StoreStatus there = require_context(transaction, share_context_row, context);
    if (there != StoreStatus::done) return there;
    const PostgresRows rows = transaction.run(take_binding, key_of(context, component));
    return only_row(transaction, rows, context, component, entry);
}

/// `already_bound`: somebody else inserted the row since it was looked for.
StoreStatus PostgresStore::put(Transaction& transaction, Statement statement, ContextId context,
                               const ior::NameComponent& component, const Entry& entry)
{
    if (entry.kind == Entry::Kind::context) {
        const StoreStatus there = require_context(transaction, share_context_row, entry.context);
        if (there != StoreStatus::done) return there;
    }
    const auto columns = columns_of(context, component, entry); // the parameters borrow from it
    PostgresParameters row = key_of(context, component);
    row.integer(columns.type).integer(columns.target).octets(columns.reference);
    row.integer(columns.checksum);
    const PostgresRows rows = transaction.run(statement, row);
    if (!rows.ok()) return transaction.failed(rows);
    return rows.changed() == 1 ? StoreStatus::done : StoreStatus::already_bound;
}

StoreStatus PostgresStore::insert_new_context(Transaction& transaction, ContextId& created)
{
    const PostgresRows rows = transaction.run(insert_context);
    if (!rows.ok()) return transaction.failed(rows);
    created = static_cast<ContextId>(rows.integer(0, 0));
    return StoreStatus::done;
}

StoreStatus PostgresStore::damaged(ContextId context, const ior::NameComponent& component)
{
    log_.say_damaged(context, component.id, component.kind);
    return StoreStatus::broken;
}

// --- opening -------------------------------------------------------------------------------------

Result<void> execute(PostgresConnection& connection, const char* sql)
{
    if (!connection.execute(sql).ok()) return Error{ErrorCode::system, connection.failure()};
    return {};
}

/// Servers that start at the same time make the tables one after the other, so one of them does.
Result<void> prepare_schema(PostgresConnection& connection)
{
    for (const char* sql : {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                            "SELECT pg_advisory_xact_lock(1265782355)"})
        if (auto done = execute(connection, sql); !done) return done;
    const PostgresRows tables = connection.execute(
        "SELECT count(*) FROM pg_class WHERE oid = to_regclass('kairos_naming')");
    if (!tables.ok()) return Error{ErrorCode::system, connection.failure()};
    if (tables.integer(0, 0) == 0)
        for (const char* sql : schema)
            if (auto made = execute(connection, sql); !made) return made;
    if (auto done = execute(connection, "COMMIT"); !done) return done;
    const auto known = read_identity(connection);
    if (!known) return known.error();
    const PostgresRows root =
        connection.execute("SELECT count(*) FROM kairos_context WHERE number = 1");
    if (!root.ok()) return Error{ErrorCode::system, connection.failure()};
    if (root.integer(0, 0) != 1)
        return Error{ErrorCode::malformed, "the store is damaged: it has no root context"};
    return {};
}

} // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options)
{
    std::vector<std::unique_ptr<PostgresConnection>> connections;
    const Deadline deadline = Deadline::after(options.opening_timeout);
    for (std::size_t i = 0; i < std::max<std::size_t>(options.connections, 1); ++i) {
        auto connection = PostgresConnection::open(options.url, statements, deadline);
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
    std::unique_ptr<Store> store =
        std::make_unique<PostgresStore>(name, *identity, options.timeout, std::move(connections));
    return store;
}

} // namespace kairos::nameserver
