// SPDX-License-Identifier: Apache-2.0
#include "kairos/sqlite/connection.h"

namespace kairos::sqlite {
namespace {

/// How long a lock of somebody who looks into the file, or copies it, is waited for.
constexpr int patience_ms = 2000;

} // namespace

// --- Connection ----------------------------------------------------------------------------------

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path)
{
    sqlite3* handle = nullptr;
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    if (handle == nullptr) return Error{ErrorCode::system, "no memory for SQLite"};
    std::unique_ptr<Connection> connection(new Connection(handle)); // also closes what failed
    if (code != SQLITE_OK) return connection->failure();
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, patience_ms);
    return connection;
}

Connection::~Connection()
{
    for (sqlite3_stmt* statement : statements_)
        sqlite3_finalize(statement);
    sqlite3_close(handle_);
}

Result<void> Connection::execute(const char* sql)
{
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
    return {};
}

Result<std::string> Connection::value_of(const char* sql)
{
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr) != SQLITE_OK) return failure();
    Result<std::string> value(std::string{});
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const unsigned char* text = sqlite3_column_text(statement, 0);
        if (text != nullptr) value = std::string(reinterpret_cast<const char*>(text));
    } else if (code != SQLITE_DONE) {
        value = failure();
    }
    sqlite3_finalize(statement);
    return value;
}

Result<void> Connection::prepare(std::span<const char* const> statements)
{
    for (const char* sql : statements) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
            SQLITE_OK)
            return failure();
        statements_.push_back(statement);
    }
    return {};
}

Error Connection::failure() const { return {ErrorCode::system, sqlite3_errmsg(handle_)}; }

// --- Query ---------------------------------------------------------------------------------------

Query::Query(Connection& connection, std::size_t statement, Values values)
    : statement_(connection.statement(statement))
{
    int parameter = 0;
    for (const Value& value : values) {
        ++parameter;
        if (const auto* octets = std::get_if<std::string_view>(&value)) {
            // A null pointer would be NULL, not the empty blob.
            const char* data = octets->empty() ? "" : octets->data();
            sqlite3_bind_blob64(statement_, parameter, data, octets->size(), SQLITE_STATIC);
        } else {
            sqlite3_bind_int64(statement_, parameter, std::get<std::int64_t>(value));
        }
    }
}

Query::~Query()
{
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

bool Query::next()
{
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) failure_ = code;
    return false;
}

bool Query::run()
{
    (void)next();
    return failure_ == SQLITE_OK;
}

int Query::changed() const noexcept { return sqlite3_changes(sqlite3_db_handle(statement_)); }

std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::octets(int column) const
{
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return data == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

int Query::type(int column) const { return sqlite3_column_type(statement_, column); }

// --- Transaction ---------------------------------------------------------------------------------

Transaction::Transaction(Connection& connection, TransactionStatements statements)
    : connection_(connection), statements_(statements)
{
    Query query(connection_, statements_.begin);
    open_ = query.run();
    begun_ = query.failure();
}

Transaction::~Transaction()
{
    // A commit that failed, or an error that SQLite rolled back by itself, may have ended it.
    if (!open_ || sqlite3_get_autocommit(connection_.handle()) != 0) return;
    (void)Query(connection_, statements_.rollback).run();
}

int Transaction::commit()
{
    Query query(connection_, statements_.commit);
    if (query.run()) open_ = false;
    return query.failure();
}

} // namespace kairos::sqlite
