// SPDX-License-Identifier: Apache-2.0
//
// A store in a database that one process at a time owns, while others stand by. The owner holds a
// lock that ends with its session. It may lose that without knowing, so the tables have the number
// of the owner and how often it has written: each transaction counts on from where its process
// knows that to be, and fails where another has become the owner.
#pragma once

#include "kairos/base/pool.h"
#include "kairos/postgres/connection.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kairos::postgres {

/// The first statements of each such store, whose own row is in the table of this name.
#define KAIROS_OWNED_STATEMENTS(table)                                                             \
    {"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ""}, {"COMMIT", ""}, {"ROLLBACK", ""},     \
        {"WITH held AS (UPDATE " table " SET writes = writes + 1"                                  \
         " WHERE identity = $1 AND owner = $2 AND writes = $3 RETURNING 1)"                        \
         " SELECT 1 / count(*) FROM held",                                                         \
         "iii"},                                                                                   \
    {                                                                                              \
        "SELECT set_config('synchronous_commit', 'off', true)", ""                                 \
    }
enum OwnedStatement : std::size_t {
    owned_begin,
    owned_commit,
    owned_rollback,
    owned_count_write, ///< divides by zero where this process is the owner no more
    owned_relax,
    owned_statements_end,
};

/// What became of what a store was to do.
enum class Outcome : std::uint8_t {
    done,
    full,   ///< no room for it: nothing happened
    busy,   ///< the database is out of reach, or others are in the way: nothing happened
    broken, ///< the database refuses it, or nobody knows whether it has happened
};

/// Gives a batch its time anew as it gets on, ten times at most: what is large, or looks up much,
/// takes longer than what is neither.
class Progress {
  public:
    Progress(Connection& batch, std::chrono::milliseconds timeout)
        : batch_(batch), timeout_(timeout), end_(Deadline::after(timeout * 10))
    {
    }
    /// The database has answered.
    void note_answer() { batch_.set_deadline(earlier(Deadline::after(timeout_), end_)); }
    /// So many octets were added, which are sent one MiB after the other.
    void note_added(std::size_t octets)
    {
        added_ += octets;
        if (added_ < std::size_t{1} << 20) return;
        added_ = 0;
        note_answer();
    }

  private:
    Connection& batch_;
    const std::chrono::milliseconds timeout_;
    const Deadline end_;
    std::size_t added_ = 0;
};

struct OwnedOptions {
    std::string url;
    const char* program;                   ///< as for Connection::open
    const char* owner;                     ///< what messages call it: "log service"
    const char* table;                     ///< of the store's own row
    std::span<const char* const> schema;   ///< makes the other tables
    std::span<const Statement> statements; ///< those above, then the store's own
    /// Which of several stores of the kind in the schema it is, from 1 on (shares.h): what the
    /// names of its tables begin with, "kairos_", is then "kairos3_". 0: the only one.
    unsigned share = 0;
    /// Executed in the transaction that makes this process the owner.
    std::vector<std::string> announcement{};
    std::chrono::milliseconds timeout; ///< of each transaction, with all that it waits for
    std::chrono::milliseconds opening_timeout;
    std::chrono::milliseconds watch_interval; ///< between looks whether it is the owner still
    /// Whether what was answered `broken`, because nobody knew, may have happened: if not, its
    /// owner loses the store when it turns out that it has.
    bool may_turn_out_done = false;
    /// Whether what was not written safe may be gone after the database was killed: if not, its
    /// owner loses the store when it is.
    bool may_lose_unsafe = false;
    /// Called, while another process owns the store, before it is tried again; false: no more.
    /// Where there is none the store is refused then.
    std::function<bool()> stand_by;
    /// Called once, by any thread, when another has become the owner. Must not call the store.
    std::function<void()> lost;
    /// The texts above with the names of a share: open() makes them.
    struct Named {
        std::string table;
        std::vector<std::string> texts;
        std::vector<const char*> schema;
        std::vector<Statement> statements;
    };
    std::shared_ptr<const Named> named{};
};

/// A text of SQL, or the name of a table, as the share has it.
[[nodiscard]] std::string named_for(unsigned share, std::string_view text);
/// The number of our locks. Within it that of the table: stores in several schemas are several.
inline constexpr const char* lock_class = "1265782369";
/// A server finds out within half a minute when we are gone without a word, and the lock is
/// another's. Of Unix sockets there is nothing to find out.
inline constexpr const char* set_keepalives =
    "SELECT set_config('tcp_keepalives_idle', '10', false),"
    " set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false),"
    " set_config('tcp_user_timeout', '10000', false)";

/// Any thread.
class OwnedStore {
  public:
    /// Makes the tables if they are not there, and becomes the owner. Fails for a database that
    /// cannot be reached and for tables of another version; with ErrorCode::closed where another
    /// process is the owner.
    [[nodiscard]] static Result<std::unique_ptr<OwnedStore>> open(OwnedOptions options);
    OwnedStore(const OwnedStore&) = delete;
    OwnedStore& operator=(const OwnedStore&) = delete;
    ~OwnedStore();

    /// Runs one transaction, which `add` adds statements to, of a batch: it answers `done` where
    /// the transaction is to be committed. If it is to be `safe`, this returns when the
    /// database has it on its disk, with all that was before; else when it outlasts this process.
    [[nodiscard]] Outcome write(bool safe, const std::function<Outcome(Connection&)>& add);
    /// Runs statements that read, by the connection that writes, each within its own time.
    [[nodiscard]] Outcome read(const std::function<Rows(Connection&)>& ask);

    // For connections that read, which the store has beside.
    /// Opens one. Fails where it cannot be reached.
    [[nodiscard]] Result<std::unique_ptr<Connection>> open_reader() const;
    /// Has the connection ready for statements until the deadline, on a new one if it was lost.
    [[nodiscard]] bool reach(Connection& reader, Deadline deadline);
    /// What a failure means, which the log says once.
    [[nodiscard]] Outcome failed(Connection& connection, const Rows& rows);
    [[nodiscard]] std::chrono::milliseconds timeout() const noexcept { return options_.timeout; }

  private:
    /// That which is the owner's.
    struct Session {
        std::unique_ptr<Connection> connection;
        std::string id; ///< a condition on pg_stat_activity; empty: not known
        std::int64_t writes = 0;
        std::int64_t safe_writes = 0; ///< those up to the last that was safe
        bool is_owner = false;        ///< as long as the connection lives
        bool is_uncertain = false;    ///< whether the last write has happened, and was counted
        bool is_answered = false;     ///< that nobody knows
    };
    /// The row of the store.
    struct Row {
        std::int64_t identity = 0;
        std::int64_t owner = 0;
        std::int64_t writes = 0;
    };

    OwnedStore(OwnedOptions options, std::unique_ptr<Session> session, const Row& row);

    [[nodiscard]] static Result<std::unique_ptr<Session>> begin(const OwnedOptions& options,
                                                                Row& row);
    [[nodiscard]] static Result<void> make_tables(Connection& connection,
                                                  const OwnedOptions& options);
    [[nodiscard]] static Result<bool> own(Session& session, const OwnedOptions& options, Row& row);
    static void give_back(Connection& connection, const OwnedOptions& options);
    [[nodiscard]] static Result<Row> row_of(Connection& connection, const OwnedOptions& options);
    [[nodiscard]] static Result<bool> lock(Session& session, const OwnedOptions& options,
                                           bool may_wait);
    [[nodiscard]] Outcome reach(Session& session, Deadline deadline);
    [[nodiscard]] Result<Row> same_row(Connection& connection);
    [[nodiscard]] Result<void> take_again(Session& session);
    [[nodiscard]] Outcome attempt(Session& session, bool safe,
                                  const std::function<Outcome(Connection&)>& add);
    [[nodiscard]] Outcome settle(Session& session);
    [[nodiscard]] bool may_ask() const noexcept;
    void put_off(const Connection& connection) noexcept;
    void note_lost(Connection& connection);
    void say(const std::string& reason) noexcept;
    void watch() noexcept;

    const OwnedOptions options_;
    const Row first_; // when it became ours; its writes are the session's
    const std::string name_;
    std::atomic<bool> is_lost_{false};
    std::atomic<bool> has_said_{false}; // what failed, since something was written
    std::atomic<Deadline::Clock::time_point> retry_at_{}; // until then nobody is asked
    std::atomic<std::chrono::milliseconds> pause_;        // before the next but one attempt
    Pool<Session> session_;
    std::mutex mutex_; // guards is_ending_; nothing is called while it is held
    std::condition_variable changed_;
    bool is_ending_ = false;
    std::thread watch_; // of who makes and ends this
};

} // namespace kairos::postgres
