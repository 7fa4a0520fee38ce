// SPDX-License-Identifier: Apache-2.0
#include "kairos/postgres/owned_store.h"

#include "kairos/base/log.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kairos::postgres {
namespace {

constexpr std::int64_t schema_version = 1;

/// Between attempts to reach a database that is not there.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{1000};

// SQLSTATEs are in appendix A of PostgreSQL's manual.
constexpr std::string_view division_by_zero = "22012";
constexpr std::string_view lock_not_available = "55P03";
constexpr std::string_view query_canceled = "57014";
constexpr std::string_view insufficient_privilege = "42501";

std::string lock_of(const char* table)
{
    return std::string("(") + lock_class + ", '" + table + "'::regclass::oid::int4)";
}

Error error_of(const Connection& connection)
{
    return {connection.is_open() ? ErrorCode::system : ErrorCode::unreachable,
            connection.name() + ": " + connection.failure()};
}

/// Who is not allowed to does not wait for better times.
Error error_of(const Connection& connection, const Rows& failed)
{
    Error error = error_of(connection);
    if (failed.state() == insufficient_privilege) error.code = ErrorCode::invalid_argument;
    return error;
}

Outcome outcome_of(std::string_view state)
{
    // A lock or a statement that took too long; others that were in the way; the connection; a
    // server that ends, or has not begun yet.
    if (state == lock_not_available || state == query_canceled || state.starts_with("40") ||
        state.empty() || state.starts_with("08") || state.starts_with("57P"))
        return Outcome::busy;
    return state.starts_with("53") || state.starts_with("54") ? Outcome::full : Outcome::broken;
}

/// Has the options say the names of its share.
void name_tables(OwnedOptions& options)
{
    auto named = std::make_shared<OwnedOptions::Named>();
    named->table = named_for(options.share, options.table);
    named->texts.reserve(options.schema.size() + options.statements.size()); // they stay in place
    for (const char* const text : options.schema)
        named->schema.push_back(named->texts.emplace_back(named_for(options.share, text)).c_str());
    for (const Statement& one : options.statements)
        named->statements.push_back(
            {named->texts.emplace_back(named_for(options.share, one.sql)).c_str(), one.parameters});
    options.table = named->table.c_str();
    options.schema = named->schema;
    options.statements = named->statements;
    options.named = std::move(named);
}

} // namespace

std::string named_for(unsigned share, std::string_view text)
{
    constexpr std::string_view beginning = "kairos_";
    std::string named(text);
    if (share == 0) return named;
    const std::string instead = "kairos" + std::to_string(share) + "_";
    for (std::size_t at = named.find(beginning); at != std::string::npos;
         at = named.find(beginning, at + instead.size()))
        named.replace(at, beginning.size(), instead);
    return named;
}

// --- Becoming the owner --------------------------------------------------------------------------

Result<OwnedStore::Row> OwnedStore::row_of(Connection& connection, const OwnedOptions& options)
{
    const Rows rows = connection.execute(
        (std::string("SELECT version, identity, owner, writes FROM ") + options.table).c_str());
    if (!rows.ok()) return error_of(connection, rows);
    if (rows.count() != 1)
        return Error{ErrorCode::malformed, connection.name() + ": the store of the " +
                                               options.owner + " has no identity: it is damaged"};
    if (rows.integer(0, 0) != schema_version)
        return Error{ErrorCode::invalid_argument,
                     connection.name() + ": the store was made by another version of the " +
                         options.owner};
    return Row{
        .identity = rows.integer(0, 1), .owner = rows.integer(0, 2), .writes = rows.integer(0, 3)};
}

/// Processes that begin at the same time make the tables one after the other, so one of them does.
Result<void> OwnedStore::make_tables(Connection& connection, const OwnedOptions& options)
{
    const std::string table = options.table;
    const auto execute = [&](const std::string& sql) -> Result<void> {
        if (!connection.execute(sql.c_str()).ok()) return error_of(connection);
        return {};
    };
    for (const std::string& sql : {std::string("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
                                   std::string("SELECT pg_advisory_xact_lock(") + lock_class + ")"})
        if (auto done = execute(sql); !done) return done;
    const Rows there = connection.execute(
        ("SELECT count(*) FROM pg_class WHERE oid = to_regclass('" + table + "')").c_str());
    if (!there.ok()) return error_of(connection);
    if (options.share == 0) { // who has all would not see what the shares have
        const Rows shares = connection.execute(
            ("SELECT count(*) FROM pg_class WHERE oid = to_regclass('" + table + "_shares')")
                .c_str());
        if (!shares.ok()) return error_of(connection);
        if (shares.integer(0, 0) != 0)
            return Error{ErrorCode::invalid_argument,
                         connection.name() +
                             ": several services share what is there: it cannot "
                             "be opened as that of one " +
                             options.owner};
    }
    if (there.integer(0, 0) == 0) {
        std::vector<std::string> all{
            "CREATE TABLE " + table +
                "(version bigint NOT NULL, identity bigint NOT NULL, owner bigint NOT NULL,"
                " writes bigint NOT NULL)",
            "INSERT INTO " + table +
                " VALUES (1, ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint,"
                " 0, 0)"};
        all.insert(all.end(), options.schema.begin(), options.schema.end());
        for (const std::string& sql : all)
            if (auto made = execute(sql); !made) return made;
    }
    return execute("COMMIT");
}

/// Takes the lock, or says that another has it. If it `may_wait`, it does as long as a statement
/// may: for one whose end the server has not noticed yet.
Result<bool> OwnedStore::lock(Session& session, const OwnedOptions& options, bool may_wait)
{
    Connection& connection = *session.connection;
    const std::string call =
        may_wait ? "SELECT pg_advisory_lock" + lock_of(options.table)
                 : "SELECT pg_try_advisory_lock" + lock_of(options.table) + "::int::bigint";
    const Rows locked = connection.execute(call.c_str());
    if (locked.ok()) return may_wait || locked.integer(0, 0) == 1;
    if (locked.state() == lock_not_available || locked.state() == query_canceled) return false;
    return error_of(connection);
}

/// Becomes the owner on a connection that is open; false: another is. Where it fails the lock may
/// be ours.
Result<bool> OwnedStore::own(Session& session, const OwnedOptions& options, Row& row)
{
    Connection& connection = *session.connection;
    connection.set_deadline(Deadline::after(options.opening_timeout));
    if (!connection.execute(set_keepalives).ok()) return error_of(connection);
    if (auto locked = lock(session, options, !options.stand_by); !locked || !*locked) return locked;
    // Waits for a transaction of the owner before us.
    const std::string count = std::string("UPDATE ") + options.table + " SET owner = owner + 1";
    std::vector<std::string> all{"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", count};
    all.insert(all.end(), options.announcement.begin(), options.announcement.end());
    all.emplace_back("COMMIT");
    for (const std::string& sql : all)
        if (const Rows made = connection.execute(sql.c_str()); !made.ok())
            return error_of(connection, made);
    const auto found = row_of(connection, options);
    if (!found) return found.error();
    row = *found;
    session.writes = session.safe_writes = row.writes;
    if (const auto prepared = connection.prepare(); !prepared) return prepared.error();
    constexpr const char* began = "(extract(epoch FROM backend_start) * 1000000)::bigint";
    const Rows self = connection.execute((std::string("SELECT pid::bigint, ") + began +
                                          " FROM pg_stat_activity WHERE pid = pg_backend_pid()")
                                             .c_str());
    session.id.clear();
    if (self.ok() && self.count() == 1)
        session.id = "pid = " + std::to_string(self.integer(0, 0)) + " AND " + began + " = " +
                     std::to_string(self.integer(0, 1));
    session.is_owner = true;
    return true;
}

/// Who could not become the owner lets others try.
void OwnedStore::give_back(Connection& connection, const OwnedOptions& options)
{
    if (!connection.is_open()) return;
    connection.set_deadline(Deadline::after(options.opening_timeout));
    (void)connection.execute("ROLLBACK");
    (void)connection.execute("SELECT pg_advisory_unlock_all()");
}

Result<std::unique_ptr<OwnedStore::Session>> OwnedStore::begin(const OwnedOptions& options,
                                                               Row& row)
{
    auto opened = Connection::open(options.url, options.program, options.statements,
                                   Deadline::after(options.opening_timeout));
    if (!opened) return opened.error();
    auto session = std::make_unique<Session>();
    session->connection = std::move(opened).value();
    Connection& connection = *session->connection;
    // Before us: then the connection stays.
    if (const auto limited = connection.limit_statements(options.timeout * 3 / 4); !limited)
        return limited.error();
    if (const auto made = make_tables(connection, options); !made) return made.error();
    if (const auto found = row_of(connection, options); !found) return found.error();
    bool has_said = false;
    for (;;) {
        const Result<bool> owned = own(*session, options, row);
        if (owned && *owned) return session;
        if (!options.stand_by) {
            if (!owned) return owned.error();
            return Error{ErrorCode::closed, std::string("another ") + options.owner +
                                                " has the store in " + connection.name()};
        }
        if (!owned) give_back(connection, options);
        if (!owned && owned.error().code == ErrorCode::invalid_argument) return owned.error();
        if (!owned && !has_said) // a database that is away may come back
            log::warning(std::string(options.owner) + ", standing by: " + owned.error().reason);
        has_said = !owned;
        if (!options.stand_by())
            return Error{ErrorCode::closed, "another has the store, and nobody stands by any more"};
        connection.set_deadline(Deadline::after(options.opening_timeout));
        if (!owned || !connection.is_still_open()) (void)connection.reopen();
    }
}

Result<std::unique_ptr<OwnedStore>> OwnedStore::open(OwnedOptions options)
{
    if (options.share != 0) name_tables(options);
    Row row;
    auto session = begin(options, row);
    if (!session) return session.error();
    return std::unique_ptr<OwnedStore>(
        new OwnedStore(std::move(options), std::move(session).value(), row));
}

OwnedStore::OwnedStore(OwnedOptions options, std::unique_ptr<Session> session, const Row& row)
    : options_(std::move(options)), first_(row), name_(session->connection->name()),
      pause_(first_pause), session_([&session] {
          std::vector<std::unique_ptr<Session>> one;
          one.push_back(std::move(session));
          return one;
      }())
{
    watch_ = std::thread([this] { watch(); });
}

OwnedStore::~OwnedStore()
{
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    watch_.join();
}

// --- Being the owner -----------------------------------------------------------------------------

bool OwnedStore::may_ask() const noexcept { return Deadline::Clock::now() >= retry_at_.load(); }

/// Who comes after has to wait no longer for what is not there.
void OwnedStore::put_off(const Connection& connection) noexcept
{
    const std::chrono::milliseconds pause = pause_;
    retry_at_ = Deadline::Clock::now() + (connection.gave_up() ? options_.timeout : pause);
    pause_ = std::min(pause * 2, longest_pause);
}

void OwnedStore::say(const std::string& reason) noexcept
{
    if (has_said_.exchange(true)) return;
    try {
        log::error(std::string(options_.owner) + "'s store " + name_ + ": " + reason);
    } catch (const std::exception&) { // no memory to say it
    }
}

/// Whoever has become the owner may need the lock again.
void OwnedStore::note_lost(Connection& connection)
{
    (void)connection.execute("SELECT pg_advisory_unlock_all()");
    if (is_lost_.exchange(true)) return;
    log::error(std::string(options_.owner) + "'s store " + name_ +
               ": another process has taken it over, or it has changed behind our back: nothing "
               "is written any more");
    if (options_.lost) options_.lost();
}

Outcome OwnedStore::failed(Connection& connection, const Rows& rows)
{
    const std::string reason = rows.failure();
    say(reason.empty() ? connection.failure() : reason);
    if (connection.is_open()) return outcome_of(rows.state());
    put_off(connection);
    return Outcome::busy;
}

/// The row, if it is that of before; else the store is lost.
Result<OwnedStore::Row> OwnedStore::same_row(Connection& connection)
{
    auto row = row_of(connection, options_);
    if (!row && row.error().code != ErrorCode::malformed) return row;
    if (row && row->identity == first_.identity && row->owner == first_.owner) return row;
    note_lost(connection);
    return Error{ErrorCode::closed, "another has the store"};
}

/// On a new connection: we are the owner if nobody has become that since, and our last session has
/// ended with whatever it was at.
Result<void> OwnedStore::take_again(Session& session)
{
    Connection& connection = *session.connection;
    if (!connection.execute(set_keepalives).ok()) return error_of(connection);
    auto locked = lock(session, options_, false);
    if (!locked) return locked.error();
    auto row = same_row(connection);
    if (row && !*locked && !session.id.empty()) { // which nobody has ended yet, perhaps
        (void)connection.execute(
            ("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE " + session.id)
                .c_str());
        locked = lock(session, options_, true);
        if (!locked) return locked.error();
        row = same_row(connection);
    }
    if (!row) return row.error();
    if (!*locked)
        return Error{ErrorCode::unreachable, "the database has not ended our last session yet"};
    const bool is_cut = options_.may_lose_unsafe && row->writes < session.writes &&
                        row->writes >= session.safe_writes;
    if (is_cut) {
        session.writes = row->writes;
    } else if (row->writes != session.writes) {
        const bool is_ours = session.is_uncertain && row->writes == session.writes + 1;
        if (!is_ours || (session.is_answered && !options_.may_turn_out_done)) {
            note_lost(connection);
            return Error{ErrorCode::closed, "the store has changed behind our back"};
        }
        session.writes = row->writes;
    }
    session.is_uncertain = false;
    session.is_answered = false;
    return connection.prepare();
}

Outcome OwnedStore::reach(Session& session, Deadline deadline)
{
    Connection& connection = *session.connection;
    if (is_lost_) return Outcome::busy;
    connection.set_deadline(deadline);
    if (session.is_owner && connection.is_still_open()) return Outcome::done;
    session.is_owner = false;
    if (!may_ask()) return Outcome::busy;
    Result<void> taken = connection.reopen();
    if (taken) taken = take_again(session);
    if (!taken) {
        say(taken.error().reason);
        put_off(connection);
        return Outcome::busy;
    }
    session.is_owner = true;
    pause_ = first_pause;
    return Outcome::done;
}

Outcome OwnedStore::write(bool safe, const std::function<Outcome(Connection&)>& add)
{
    const Deadline deadline = Deadline::after(options_.timeout);
    const Pool<Session>::Use session(session_, deadline);
    if (!session) return Outcome::busy;
    if (const Outcome reached = reach(*session, deadline); reached != Outcome::done) return reached;
    // A commit that is begun with hardly any time left ends as one of which nobody knows.
    const auto left = deadline.left();
    if (left && *left * 2 < options_.timeout) return Outcome::busy;
    const Outcome made = attempt(*session, safe, add);
    if (made == Outcome::done && has_said_.exchange(false))
        log::warning(std::string(options_.owner) + "'s store " + name_ + " can be written again");
    return made;
}

Outcome OwnedStore::attempt(Session& session, bool safe,
                            const std::function<Outcome(Connection&)>& add)
{
    Connection& connection = *session.connection;
    connection.begin_batch();
    connection.add(owned_begin);
    connection.add(
        owned_count_write,
        Parameters().integer(first_.identity).integer(first_.owner).integer(session.writes));
    if (!safe) connection.add(owned_relax);
    Outcome added = Outcome::full;
    try {
        added = add(connection);
    } catch (const std::exception&) { // no memory
    }
    if (added == Outcome::done) connection.add(owned_commit);
    const Rows last = connection.end_batch();
    if (added == Outcome::done && last.ok() && last.done() == "COMMIT") {
        ++session.writes;
        if (safe) session.safe_writes = session.writes;
        return Outcome::done;
    }
    if (connection.is_open()) {
        const bool is_anothers = !last.ok() && last.state() == division_by_zero;
        const Outcome why = last.ok()     ? added
                            : is_anothers ? Outcome::busy
                                          : failed(connection, last);
        (void)connection.run(owned_rollback);
        if (is_anothers) note_lost(connection);
        return why == Outcome::done ? Outcome::broken : why;
    }
    say(connection.failure());
    if (added != Outcome::done) return Outcome::busy; // nobody has said that it is to last
    return settle(session);
}

/// Finds out whether the last transaction has happened, whose end was not heard of.
Outcome OwnedStore::settle(Session& session)
{
    const std::int64_t before = session.writes;
    session.is_uncertain = true;
    if (session.connection->gave_up())
        put_off(*session.connection); // it would be as late
    else if (reach(session, Deadline::after(options_.timeout)) == Outcome::done)
        return session.writes > before ? Outcome::done : Outcome::busy;
    session.is_answered = true;
    return Outcome::broken;
}

Outcome OwnedStore::read(const std::function<Rows(Connection&)>& ask)
{
    const Deadline deadline = Deadline::after(options_.timeout);
    const Pool<Session>::Use session(session_, deadline);
    if (!session) return Outcome::busy;
    if (const Outcome reached = reach(*session, deadline); reached != Outcome::done) return reached;
    const Rows rows = ask(*(*session).connection);
    return rows.ok() ? Outcome::done : failed(*(*session).connection, rows);
}

/// Looks from time to time whether the store is ours still, and reaches it again where it was lost:
/// an owner that nobody asks to write would not know.
void OwnedStore::watch() noexcept
{
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, options_.watch_interval, [this] { return is_ending_; })) {
        lock.unlock();
        try {
            const Pool<Session>::Use session(session_, Deadline::after({})); // else it is used
            if (session && !is_lost_ &&
                reach(*session, Deadline::after(options_.timeout)) == Outcome::done) {
                Connection& connection = *(*session).connection;
                if (const auto row = same_row(connection); !row && !connection.is_open())
                    put_off(connection);
            }
        } catch (const std::exception&) { // no memory: next time
        }
        lock.lock();
    }
}

// --- Reading beside it ---------------------------------------------------------------------------

Result<std::unique_ptr<Connection>> OwnedStore::open_reader() const
{
    auto opened = Connection::open(options_.url, options_.program, options_.statements,
                                   Deadline::after(options_.opening_timeout));
    if (!opened) return opened;
    if (const auto limited = (*opened)->limit_statements(options_.timeout * 3 / 4); !limited)
        return limited.error();
    if (!(*opened)->execute(set_keepalives).ok()) return error_of(**opened);
    if (const auto prepared = (*opened)->prepare(); !prepared) return prepared.error();
    return opened;
}

bool OwnedStore::reach(Connection& reader, Deadline deadline)
{
    if (is_lost_) return false;
    reader.set_deadline(deadline);
    if (reader.is_prepared() && reader.is_still_open()) return true;
    if (!may_ask()) return false;
    Result<void> ready = reader.reopen();
    if (ready && !reader.execute(set_keepalives).ok()) ready = error_of(reader);
    if (ready) {
        const auto row = row_of(reader, options_);
        if (row && row->identity == first_.identity)
            ready = reader.prepare();
        else
            ready = row ? Error{ErrorCode::malformed, "another store is at the address now"}
                        : row.error();
    }
    if (ready) return true;
    say(ready.error().reason);
    put_off(reader);
    return false;
}

} // namespace kairos::postgres
