// SPDX-License-Identifier: Apache-2.0
//
// The little of libpq that stores need: a connection with its prepared statements, what one of them
// gave, in binary. Each connection is used by one thread at a time.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/result.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <libpq-fe.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kairos::postgres {

/// What a statement gave: rows, or why it failed.
class Rows {
  public:
    explicit Rows(PGresult* result) : result_(result) {}

    [[nodiscard]] bool ok() const noexcept;
    /// SQLSTATE of a failure; empty when it was not the server's.
    [[nodiscard]] std::string_view state() const noexcept;
    /// What the server says of a failure, on one line; empty when it was not the server's.
    [[nodiscard]] std::string failure() const;
    /// "COMMIT", "INSERT 0 1": what was done.
    [[nodiscard]] std::string_view done() const noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    /// How many rows a statement changed.
    [[nodiscard]] std::size_t changed() const noexcept;
    /// The columns of a row are what the store's own schema says.
    [[nodiscard]] std::int64_t integer(std::size_t row, int column) const noexcept;
    [[nodiscard]] std::string_view octets(std::size_t row, int column) const noexcept;

  private:
    struct Clear {
        void operator()(PGresult* result) const noexcept { PQclear(result); }
    };
    std::unique_ptr<PGresult, Clear> result_;
};

/// The parameters of one use of a statement, in order.
class Parameters {
  public:
    Parameters& integer(std::int64_t value);
    /// Adds octets, which must live as long as the parameters.
    Parameters& octets(std::string_view value);

  private:
    friend class Connection;
    static constexpr std::size_t count_max = 8;
    std::array<std::array<char, sizeof(std::int64_t)>, count_max> integers_;
    std::array<const char*, count_max> values_{};
    std::array<int, count_max> sizes_{};
    std::size_t count_ = 0;
};

/// Any number of integers as the octets of one parameter. One-dimensional, as PostgreSQL sends
/// them.
[[nodiscard]] std::string list_of(std::span<const std::int64_t> integers);

/// A statement and the types of its parameters: 'i' for integers, 'o' for octets, 'l' for lists.
struct Statement {
    const char* sql;
    std::string_view parameters;
};

class Connection {
  public:
    /// `url` as libpq takes it; `program` is what the database's owner sees of who is there, unless
    /// the URL says otherwise; of several hosts in it, who can be written is chosen. Each of the
    /// statements gets the number of its place; they must outlive the connection. Looking up a
    /// host's name is not part of the time.
    [[nodiscard]] static Result<std::unique_ptr<Connection>>
    open(const std::string& url, const char* program, std::span<const Statement> statements,
         Deadline deadline = {});

    /// Sets the deadline of all that follows, until there is another. What has not ended by then
    /// fails, and the connection is closed, for its server is still busy with it.
    void set_deadline(Deadline deadline) noexcept { deadline_ = deadline; }
    /// How long the server may work at a statement, and may have it wait for others' locks; as
    /// long as it likes unless this is called. Stays when it is opened again.
    [[nodiscard]] Result<void> limit_statements(std::chrono::milliseconds time);

    /// Runs one statement without parameters.
    [[nodiscard]] Rows execute(const char* sql);
    [[nodiscard]] Rows run(std::size_t statement, const Parameters& parameters = {});

    // Statements that are sent without waiting for what each gives: begin_batch(), any number of
    // the two that follow, end_batch(), and nothing else in between. When one has failed the server
    // passes over those behind it, which it would not do with what is sent one by one.
    void begin_batch();
    void add(std::size_t statement, const Parameters& parameters = {});
    /// Adds one and waits for what it gives, which is no rows where one has failed.
    [[nodiscard]] Rows ask(std::size_t statement, const Parameters& parameters = {});
    /// Waits for all. Returns what the last one gave, or the first that failed.
    [[nodiscard]] Rows end_batch();

    /// Waits until somebody has notified a channel that this connection listens to, which is true;
    /// or until this descriptor can be read, the deadline is over, or the connection is lost.
    [[nodiscard]] bool await_notice(int descriptor, Deadline deadline);

    /// As is_open(), and whether the server has closed the connection meanwhile, as far as that has
    /// come here.
    [[nodiscard]] bool is_still_open() noexcept;
    /// Whether the server is still there, as far as the last statement could tell.
    [[nodiscard]] bool is_open() const noexcept;
    /// Whether the connection was closed here because the server was late.
    [[nodiscard]] bool gave_up() const noexcept { return gave_up_; }
    /// What becomes readable when the server says something by itself; it changes when the
    /// connection is opened again.
    [[nodiscard]] int descriptor() const noexcept { return PQsocket(connection_.get()); }
    /// Passes over what others have said by NOTIFY so far.
    void take_notifications() noexcept;
    /// Connects to the server again.
    [[nodiscard]] Result<void> reopen();
    /// Prepares the statements; once the tables are there, after `open` or `reopen`. Where it
    /// fails the connection is to be opened again before the next attempt.
    [[nodiscard]] Result<void> prepare();
    /// Whether that has been done since the connection was opened.
    [[nodiscard]] bool is_prepared() const noexcept { return is_prepared_; }

    /// For people: where the database is.
    [[nodiscard]] std::string name() const;
    /// What the last statement that failed says, on one line.
    [[nodiscard]] std::string failure() const;

  private:
    struct Finish {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };
    Connection(PGconn* connection, std::span<const Statement> statements)
        : connection_(connection), statements_(statements)
    {
    }
    /// One of the two that libpq has for connecting.
    using Step = PostgresPollingStatusType (*)(PGconn*);
    [[nodiscard]] Result<void> connect(Step step);
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] bool send(std::size_t statement, const Parameters& parameters);
    /// The last result of what was sent, or why it was not.
    [[nodiscard]] Rows result_of(bool sent);
    /// The next result of what was sent, or null: that was all of a statement.
    [[nodiscard]] PGresult* next_result();
    /// The last result of a statement that was sent.
    [[nodiscard]] Rows last_result();
    [[nodiscard]] Rows read_batch();
    void note_failed(Rows rows);
    [[nodiscard]] bool flush();
    /// Until the socket is ready for one of these; false when the time is over.
    [[nodiscard]] bool wait(short events);
    [[nodiscard]] Error error() const;

    const std::unique_ptr<PGconn, Finish> connection_;
    const std::span<const Statement> statements_;
    Deadline deadline_;
    std::chrono::milliseconds statements_max_{0};
    bool gave_up_ = false; // at the deadline: not to be used any more
    bool is_prepared_ = false;
    // Of a batch: what was sent and not read, about, and what failed first.
    std::size_t unread_ = 0;
    std::size_t unflushed_octets_ = 0;
    std::optional<Rows> failed_;
};

} // namespace kairos::postgres
