// SPDX-License-Identifier: Apache-2.0
//
// The little of libpq that the store needs: a connection with its prepared statements, what one of
// them gave, in binary. Each connection is used by one thread at a time.
#pragma once

#include "kairos/base/result.h"

#include <array>
#include <cstdint>
#include <libpq-fe.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kairos::nameserver {

/// What a statement gave: rows, or why it failed.
class PostgresRows {
  public:
    explicit PostgresRows(PGresult* result) : result_(result) {}

    [[nodiscard]] bool ok() const noexcept;
    /// SQLSTATE of a failure; empty when it was not the server's.
    [[nodiscard]] std::string_view state() const noexcept;
    /// "COMMIT", "INSERT 0 1": what was done.
    [[nodiscard]] std::string_view done() const noexcept;
    [[nodiscard]] std::size_t count() const noexcept;
    /// Of a statement that changes rows.
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

/// Of one use of a statement, in order.
class PostgresParameters {
  public:
    PostgresParameters& integer(std::int64_t value);
    /// Must live as long as the parameters.
    PostgresParameters& octets(std::string_view value);

  private:
    friend class PostgresConnection;
    static constexpr std::size_t count_max = 8;
    std::array<std::array<char, sizeof(std::int64_t)>, count_max> integers_;
    std::array<const char*, count_max> values_{};
    std::array<int, count_max> sizes_{};
    std::size_t count_ = 0;
};

/// A statement and the types of its parameters: 'i' for integers, 'o' for octets.
struct PostgresStatement {
    const char* sql;
    std::string_view parameters;
};

class PostgresConnection {
  public:
    /// `url` as libpq takes it. Each of the statements gets the number of its place; they must
    /// outlive the connection.
    [[nodiscard]] static Result<std::unique_ptr<PostgresConnection>>
    open(const std::string& url, std::span<const PostgresStatement> statements);

    /// Without parameters or, for the first of several statements, rows.
    [[nodiscard]] PostgresRows execute(const char* sql);
    [[nodiscard]] PostgresRows run(std::size_t statement,
                                   const PostgresParameters& parameters = {});

    /// Whether the server is still there, as far as the last statement could tell.
    [[nodiscard]] bool is_open() const noexcept;
    /// Connects again.
    [[nodiscard]] Result<void> reopen();
    /// Prepares the statements; once the tables are there, after `open` or `reopen`.
    [[nodiscard]] Result<void> prepare();

    /// For people: where the database is.
    [[nodiscard]] std::string name() const;
    /// What the last statement that failed says, on one line.
    [[nodiscard]] std::string failure() const;

  private:
    struct Finish {
        void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
    };
    PostgresConnection(PGconn* connection, std::span<const PostgresStatement> statements)
        : connection_(connection), statements_(statements)
    {
    }
    [[nodiscard]] Result<void> begin();
    [[nodiscard]] Error error() const;

    const std::unique_ptr<PGconn, Finish> connection_;
    const std::span<const PostgresStatement> statements_;
};

} // namespace kairos::nameserver
