// SPDX-License-Identifier: Apache-2.0
//
// The little of SQLite that stores need: a connection with its prepared statements, one use of
// a statement, a transaction. Each connection is used by one thread at a time.
#pragma once

#include "kairos/base/result.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kairos::sqlite {

/// A parameter. Octets must live as long as the use of the statement.
using Value = std::variant<std::int64_t, std::string_view>;
using Values = std::initializer_list<Value>;
/// A number without a sign as SQLite has it.
[[nodiscard]] constexpr std::int64_t column_of(std::uint64_t number) noexcept
{
    return static_cast<std::int64_t>(number);
}

class Connection {
  public:
    /// Opens an existing file, or an empty one.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const std::string& path);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Runs statements without results.
    [[nodiscard]] Result<void> execute(const char* sql);
    /// The first column of the first row, as text; empty if there is none.
    [[nodiscard]] Result<std::string> value_of(const char* sql);
    /// Prepares the statements; each gets the number of its place in `statements`.
    [[nodiscard]] Result<void> prepare(std::span<const char* const> statements);

    /// What the last call that failed says.
    [[nodiscard]] Error failure() const;
    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
    [[nodiscard]] sqlite3_stmt* statement(std::size_t number) const { return statements_[number]; }

  private:
    explicit Connection(sqlite3* handle) : handle_(handle) {}

    sqlite3* const handle_;
    std::vector<sqlite3_stmt*> statements_;
};

/// One use of a prepared statement, with its parameters: its rows. What a column gives lasts until
/// the next row.
class Query {
  public:
    Query(Connection& connection, std::size_t statement, Values values = {});
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    ~Query();

    /// True for a row, false at the end and for a failure.
    [[nodiscard]] bool next();
    /// Runs a statement without rows.
    [[nodiscard]] bool run();
    [[nodiscard]] bool ok() const noexcept { return failure_ == SQLITE_OK; }
    /// SQLITE_OK, or the extended code of what failed.
    [[nodiscard]] int failure() const noexcept { return failure_; }
    /// How many rows a statement has changed that has ended.
    [[nodiscard]] int changed() const noexcept;

    [[nodiscard]] std::int64_t integer(int column) const;
    /// What column_of() made of it.
    [[nodiscard]] std::uint64_t number(int column) const
    {
        return static_cast<std::uint64_t>(integer(column));
    }
    [[nodiscard]] std::string_view octets(int column) const;
    /// What a column holds, as SQLITE_INTEGER or SQLITE_BLOB: it may be anything, whatever the
    /// schema says.
    [[nodiscard]] int type(int column) const;

  private:
    sqlite3_stmt* const statement_;
    int failure_ = SQLITE_OK;
};

/// Rolled back unless it is committed. With the statements of the three numbers.
struct TransactionStatements {
    std::size_t begin;
    std::size_t commit;
    std::size_t rollback;
};
class Transaction {
  public:
    Transaction(Connection& connection, TransactionStatements statements);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    /// SQLITE_OK, or why it could not begin.
    [[nodiscard]] int begun() const noexcept { return begun_; }
    /// SQLITE_OK, or why it could not be made durable.
    [[nodiscard]] int commit();

  private:
    Connection& connection_;
    const TransactionStatements statements_;
    int begun_ = SQLITE_OK;
    bool open_ = false;
};

} // namespace kairos::sqlite
