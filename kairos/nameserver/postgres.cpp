// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/postgres.h"

#include "kairos/base/bytes.h"
#include "kairos/base/check.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace kairos::nameserver {
namespace {

constexpr Oid type_of_integers = 20; // int8
constexpr Oid type_of_octets = 17;   // bytea

std::string name_of(std::size_t statement) { return "kairos" + std::to_string(statement); }

/// Integers travel from their highest octet.
std::uint64_t byte_ordered(std::uint64_t value)
{
    return native_little_endian ? byteswap(value) : value;
}

} // namespace

// --- rows ----------------------------------------------------------------------------------------

bool PostgresRows::ok() const noexcept
{
    const ExecStatusType status = PQresultStatus(result_.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string_view PostgresRows::state() const noexcept
{
    const char* state = PQresultErrorField(result_.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? std::string_view() : state;
}

std::string_view PostgresRows::done() const noexcept
{
    const char* done = PQcmdStatus(result_.get());
    return done == nullptr ? std::string_view() : done;
}

std::size_t PostgresRows::count() const noexcept
{
    return static_cast<std::size_t>(PQntuples(result_.get()));
}

std::size_t PostgresRows::changed() const noexcept
{
    const std::string_view text = PQcmdTuples(result_.get());
    std::size_t count = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::int64_t PostgresRows::integer(std::size_t row, int column) const noexcept
{
    const std::string_view value = octets(row, column);
    std::uint64_t number = 0;
    if (value.size() != sizeof number) return 0;
    std::memcpy(&number, value.data(), sizeof number);
    return static_cast<std::int64_t>(byte_ordered(number));
}

std::string_view PostgresRows::octets(std::size_t row, int column) const noexcept
{
    const int at = static_cast<int>(row);
    const char* value = PQgetvalue(result_.get(), at, column);
    if (value == nullptr) return {};
    return {value, static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

// --- parameters ----------------------------------------------------------------------------------

PostgresParameters& PostgresParameters::integer(std::int64_t value)
{
    KAIROS_CHECK(count_ < count_max);
    const std::uint64_t ordered = byte_ordered(static_cast<std::uint64_t>(value));
    std::memcpy(integers_[count_].data(), &ordered, sizeof ordered);
    sizes_[count_] = sizeof ordered;
    values_[count_++] = nullptr; // in integers_, which may be copied to another place
    return *this;
}

PostgresParameters& PostgresParameters::octets(std::string_view value)
{
    KAIROS_CHECK(count_ < count_max);
    sizes_[count_] = static_cast<int>(value.size());
    values_[count_++] = value.empty() ? "" : value.data(); // a null pointer would be NULL
    return *this;
}

// --- connections ---------------------------------------------------------------------------------

Result<std::unique_ptr<PostgresConnection>>
PostgresConnection::open(const std::string& url, std::span<const PostgresStatement> statements)
{
    // What the URL does not say. A server that is gone without a word is noticed within seconds.
    constexpr const char* names[] = {"connect_timeout",  "tcp_user_timeout", "keepalives_idle",
                                     "application_name", "dbname",           nullptr};
    const char* values[] = {"5", "10000", "10", "kairos-naming", url.c_str(), nullptr};
    PGconn* opened = PQconnectdbParams(names, values, 1);
    if (opened == nullptr) return Error{ErrorCode::system, "no memory for a connection"};
    std::unique_ptr<PostgresConnection> connection(new PostgresConnection(opened, statements));
    if (!connection->is_open()) return connection->error();
    if (const auto begun = connection->begin(); !begun) return begun.error();
    return connection;
}

Result<void> PostgresConnection::reopen()
{
    PQreset(connection_.get());
    if (!is_open()) return error();
    return begin();
}

/// Whatever the server's configuration says, a commit returns when it is on the disk, and nobody
/// who looks into the tables keeps the name server waiting for ever.
Result<void> PostgresConnection::begin()
{
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    for (const char* sql : {"SELECT set_config('synchronous_commit', 'on', false)"
                            " WHERE current_setting('synchronous_commit') = 'off'",
                            "SET lock_timeout = '5s'"})
        if (!execute(sql).ok()) return error();
    return {};
}

Result<void> PostgresConnection::prepare()
{
    for (std::size_t i = 0; i < statements_.size(); ++i) {
        std::vector<Oid> types;
        for (const char type : statements_[i].parameters)
            types.push_back(type == 'i' ? type_of_integers : type_of_octets);
        const PostgresRows prepared(PQprepare(connection_.get(), name_of(i).c_str(),
                                              statements_[i].sql, static_cast<int>(types.size()),
                                              types.data()));
        if (!prepared.ok()) return error();
    }
    return {};
}

PostgresRows PostgresConnection::execute(const char* sql)
{
    // Binary results, as everywhere.
    return PostgresRows(
        PQexecParams(connection_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 1));
}

PostgresRows PostgresConnection::run(std::size_t statement, const PostgresParameters& parameters)
{
    std::array<const char*, PostgresParameters::count_max> values{};
    std::array<int, PostgresParameters::count_max> formats{};
    for (std::size_t i = 0; i < parameters.count_; ++i) {
        values[i] = parameters.values_[i] != nullptr ? parameters.values_[i]
                                                     : parameters.integers_[i].data();
        formats[i] = 1;
    }
    return PostgresRows(PQexecPrepared(connection_.get(), name_of(statement).c_str(),
                                       static_cast<int>(parameters.count_), values.data(),
                                       parameters.sizes_.data(), formats.data(), 1));
}

bool PostgresConnection::is_open() const noexcept
{
    return PQstatus(connection_.get()) == CONNECTION_OK;
}

std::string PostgresConnection::name() const
{
    const PGconn* connection = connection_.get();
    return "postgresql://" + std::string(PQhost(connection)) + ":" + PQport(connection) + "/" +
           PQdb(connection);
}

std::string PostgresConnection::failure() const
{
    std::string text = PQerrorMessage(connection_.get());
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text;
}

Error PostgresConnection::error() const
{
    return {is_open() ? ErrorCode::system : ErrorCode::unreachable, failure()};
}

} // namespace kairos::nameserver
