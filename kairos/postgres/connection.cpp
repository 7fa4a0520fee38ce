// SPDX-License-Identifier: Apache-2.0
#include "kairos/postgres/connection.h"

#include "kairos/base/bytes.h"
#include "kairos/base/check.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <poll.h>
#include <vector>

namespace kairos::postgres {
namespace {

constexpr Oid type_of_integers = 20; // int8
constexpr Oid type_of_octets = 17;   // bytea
constexpr Oid type_of_lists = 1016;  // int8[]

/// Of one poll: its milliseconds are an int.
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours(1);

/// Of a batch, what waits here to be sent.
constexpr std::size_t unflushed_max = std::size_t{1} << 20;

/// As libpq has it, on one line.
std::string on_one_line(const char* text)
{
    std::string line = text == nullptr ? "" : text;
    while (!line.empty() && line.back() == '\n')
        line.pop_back();
    std::ranges::replace(line, '\n', ' ');
    return line;
}

std::string name_of(std::size_t statement) { return "kairos" + std::to_string(statement); }

/// Integers travel from their highest octet.
template <typename Integer>
Integer byte_ordered(Integer value)
{
    return native_little_endian ? byteswap(value) : value;
}

Oid type_of(char parameter)
{
    switch (parameter) {
    case 'i':
        return type_of_integers;
    case 'l':
        return type_of_lists;
    default:
        return type_of_octets;
    }
}

} // namespace

// --- rows ----------------------------------------------------------------------------------------

bool Rows::ok() const noexcept
{
    const ExecStatusType status = PQresultStatus(result_.get());
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::string_view Rows::state() const noexcept
{
    const char* state = PQresultErrorField(result_.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? std::string_view() : state;
}

std::string Rows::failure() const { return on_one_line(PQresultErrorMessage(result_.get())); }

std::string_view Rows::done() const noexcept
{
    const char* done = PQcmdStatus(result_.get());
    return done == nullptr ? std::string_view() : done;
}

std::size_t Rows::count() const noexcept
{
    return static_cast<std::size_t>(PQntuples(result_.get()));
}

std::size_t Rows::changed() const noexcept
{
    const std::string_view text = PQcmdTuples(result_.get());
    std::size_t count = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::int64_t Rows::integer(std::size_t row, int column) const noexcept
{
    const std::string_view value = octets(row, column);
    std::uint64_t number = 0;
    if (value.size() != sizeof number) return 0;
    std::memcpy(&number, value.data(), sizeof number);
    return static_cast<std::int64_t>(byte_ordered(number));
}

std::string_view Rows::octets(std::size_t row, int column) const noexcept
{
    const int at = static_cast<int>(row);
    const char* value = PQgetvalue(result_.get(), at, column);
    if (value == nullptr) return {};
    return {value, static_cast<std::size_t>(PQgetlength(result_.get(), at, column))};
}

// --- parameters ----------------------------------------------------------------------------------

Parameters& Parameters::integer(std::int64_t value)
{
    KAIROS_CHECK(count_ < count_max);
    const std::uint64_t ordered = byte_ordered(static_cast<std::uint64_t>(value));
    std::memcpy(integers_[count_].data(), &ordered, sizeof ordered);
    sizes_[count_] = sizeof ordered;
    values_[count_++] = nullptr; // in integers_, which may be copied to another place
    return *this;
}

Parameters& Parameters::octets(std::string_view value)
{
    KAIROS_CHECK(count_ < count_max);
    sizes_[count_] = static_cast<int>(value.size());
    values_[count_++] = value.empty() ? "" : value.data(); // a null pointer would be NULL
    return *this;
}

std::string list_of(std::span<const std::int64_t> integers)
{
    std::string octets;
    const auto add = [&octets](auto value) {
        const auto ordered = byte_ordered(value);
        char bytes[sizeof ordered];
        std::memcpy(bytes, &ordered, sizeof ordered);
        octets.append(bytes, sizeof ordered);
    };
    const auto count = static_cast<std::uint32_t>(integers.size());
    constexpr std::uint32_t dimensions = 1;
    constexpr std::uint32_t nulls = 0;
    constexpr std::uint32_t first = 1; // the index of the first
    for (const std::uint32_t value :
         {dimensions, nulls, std::uint32_t{type_of_integers}, count, first})
        add(value);
    for (const std::int64_t integer : integers) {
        add(std::uint32_t{sizeof integer});
        add(static_cast<std::uint64_t>(integer));
    }
    return octets;
}

// --- connections ---------------------------------------------------------------------------------

Result<std::unique_ptr<Connection>> Connection::open(const std::string& url, const char* program,
                                                     std::span<const Statement> statements,
                                                     Deadline deadline)
{
    // What the URL does not say. A server that is gone without a word is noticed within seconds.
    // One that follows another cannot be written; the other may be the next in the URL.
    constexpr const char* names[] = {"tcp_user_timeout", "keepalives_idle", "target_session_attrs",
                                     "application_name", "dbname",          nullptr};
    const char* values[] = {"10000", "10", "primary", program, url.c_str(), nullptr};
    PGconn* opened = PQconnectStartParams(names, values, 1);
    if (opened == nullptr) return Error{ErrorCode::system, "no memory for a connection"};
    std::unique_ptr<Connection> connection(new Connection(opened, statements));
    connection->set_deadline(deadline);
    if (const auto connected = connection->connect(&PQconnectPoll); !connected)
        return connected.error();
    return connection;
}

void Connection::take_notifications() noexcept
{
    (void)PQconsumeInput(connection_.get());
    while (PGnotify* const said = PQnotifies(connection_.get()))
        PQfreemem(said);
}

Result<void> Connection::reopen()
{
    gave_up_ = false;
    is_prepared_ = false;
    if (PQresetStart(connection_.get()) == 0) return error();
    return connect(&PQresetPoll);
}

Result<void> Connection::connect(Step step)
{
    if (PQstatus(connection_.get()) == CONNECTION_BAD) return error();
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) {
        if (!wait(next == PGRES_POLLING_READING ? POLLIN : POLLOUT)) return error();
        next = step(connection_.get());
    }
    // Or a server that does not read would keep us within a call of libpq's.
    if (!is_open() || PQsetnonblocking(connection_.get(), 1) != 0) return error();
    return begin();
}

bool Connection::wait(short events)
{
    pollfd polled{.fd = PQsocket(connection_.get()), .events = events, .revents = 0};
    for (;;) {
        int timeout_ms = -1;
        if (const auto left = deadline_.left())
            timeout_ms = static_cast<int>(
                std::chrono::ceil<std::chrono::milliseconds>(std::min(*left, longest_wait))
                    .count());
        const int count = ::poll(&polled, 1, timeout_ms);
        if (count > 0) return true; // libpq says what is wrong, if anything
        if (count < 0 && errno != EINTR) return true;
        if (deadline_.has_passed()) break;
    }
    gave_up_ = true;
    return false;
}

bool Connection::flush()
{
    for (;;) {
        const int left = PQflush(connection_.get());
        if (left == 0) return true;
        if (left < 0) return true; // the result says why
        if (!wait(POLLIN | POLLOUT)) return false;
        // Or the server might wait for us to read before it does.
        if (PQconsumeInput(connection_.get()) == 0) return true;
    }
}

Rows Connection::result_of(bool sent)
{
    if (!sent) return Rows(nullptr);
    if (!flush()) return Rows(nullptr);
    return last_result();
}

PGresult* Connection::next_result()
{
    while (PQisBusy(connection_.get()) != 0) {
        if (!wait(POLLIN)) return nullptr;
        if (PQconsumeInput(connection_.get()) == 0) break;
    }
    return PQgetResult(connection_.get());
}

Rows Connection::last_result()
{
    Rows last(nullptr);
    for (;;) {
        PGresult* result = next_result();
        if (gave_up_) {
            PQclear(result);
            return Rows(nullptr);
        }
        if (result == nullptr) return last;
        last = Rows(result);
    }
}

/// Whatever the server's configuration says, a commit returns when it is on the disk, and nobody
/// who looks into the tables keeps us waiting for ever.
Result<void> Connection::begin()
{
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    if (!execute("SELECT set_config('synchronous_commit', 'on', false)"
                 " WHERE current_setting('synchronous_commit') = 'off'")
             .ok())
        return error();
    return statements_max_.count() == 0 ? Result<void>() : limit_statements(statements_max_);
}

Result<void> Connection::limit_statements(std::chrono::milliseconds time)
{
    statements_max_ = time;
    for (const std::string setting : {"lock_timeout", "statement_timeout"})
        if (!execute(("SET " + setting + " = " + std::to_string(time.count())).c_str()).ok())
            return error();
    return {};
}

Result<void> Connection::prepare()
{
    for (std::size_t i = 0; i < statements_.size(); ++i) {
        std::vector<Oid> types;
        for (const char type : statements_[i].parameters)
            types.push_back(type_of(type));
        const Rows prepared =
            result_of(PQsendPrepare(connection_.get(), name_of(i).c_str(), statements_[i].sql,
                                    static_cast<int>(types.size()), types.data()) != 0);
        if (!prepared.ok()) return error();
    }
    is_prepared_ = true;
    return {};
}

Rows Connection::execute(const char* sql)
{
    // Binary results, as everywhere.
    return result_of(
        PQsendQueryParams(connection_.get(), sql, 0, nullptr, nullptr, nullptr, nullptr, 1) != 0);
}

bool Connection::send(std::size_t statement, const Parameters& parameters)
{
    std::array<const char*, Parameters::count_max> values{};
    std::array<int, Parameters::count_max> formats{};
    for (std::size_t i = 0; i < parameters.count_; ++i) {
        values[i] = parameters.values_[i] != nullptr ? parameters.values_[i]
                                                     : parameters.integers_[i].data();
        formats[i] = 1;
        unflushed_octets_ += static_cast<std::size_t>(parameters.sizes_[i]);
    }
    return PQsendQueryPrepared(connection_.get(), name_of(statement).c_str(),
                               static_cast<int>(parameters.count_), values.data(),
                               parameters.sizes_.data(), formats.data(), 1) != 0;
}

Rows Connection::run(std::size_t statement, const Parameters& parameters)
{
    return result_of(send(statement, parameters));
}

// --- batches -------------------------------------------------------------------------------------

void Connection::begin_batch()
{
    unread_ = 0;
    unflushed_octets_ = 0;
    failed_.reset();
    if (gave_up_ || PQenterPipelineMode(connection_.get()) == 0) failed_.emplace(nullptr);
}

void Connection::add(std::size_t statement, const Parameters& parameters)
{
    if (failed_) return;
    if (!send(statement, parameters)) return note_failed(Rows(nullptr));
    ++unread_;
    if (unflushed_octets_ < unflushed_max) return;
    unflushed_octets_ = 0;
    if (!flush()) note_failed(Rows(nullptr));
}

Rows Connection::ask(std::size_t statement, const Parameters& parameters)
{
    add(statement, parameters);
    if (!failed_ && PQsendFlushRequest(connection_.get()) == 0) note_failed(Rows(nullptr));
    return read_batch();
}

Rows Connection::end_batch()
{
    const bool is_synced = !gave_up_ && PQpipelineSync(connection_.get()) != 0;
    Rows last = read_batch();
    if (is_synced && is_open()) PQclear(next_result()); // which says that this is the end
    if (!gave_up_) (void)PQexitPipelineMode(connection_.get());
    if (failed_) return std::move(*failed_);
    return last;
}

Rows Connection::read_batch()
{
    Rows last(nullptr);
    if (gave_up_ || !flush()) note_failed(Rows(nullptr));
    for (; unread_ != 0 && !gave_up_; --unread_) {
        Rows one = last_result();
        if (one.ok())
            last = std::move(one);
        else
            note_failed(std::move(one));
    }
    if (failed_) return Rows(nullptr);
    return last;
}

void Connection::note_failed(Rows rows)
{
    if (!failed_) failed_.emplace(std::move(rows));
}

bool Connection::await_notice(int descriptor, Deadline deadline)
{
    for (;;) {
        if (PQconsumeInput(connection_.get()) == 0) return false;
        bool has_come = false;
        while (PGnotify* const notice = PQnotifies(connection_.get())) {
            PQfreemem(notice);
            has_come = true;
        }
        if (has_come || !is_open() || deadline.has_passed()) return has_come;
        pollfd polled[] = {{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0},
                           {.fd = descriptor, .events = POLLIN, .revents = 0}};
        int timeout_ms = -1;
        if (const auto left = deadline.left())
            timeout_ms = static_cast<int>(
                std::chrono::ceil<std::chrono::milliseconds>(std::min(*left, longest_wait))
                    .count());
        const int count = ::poll(polled, std::size(polled), timeout_ms);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0 && polled[1].revents != 0) return false;
    }
}

bool Connection::is_still_open() noexcept
{
    // What it says before it ends, and that it has ended.
    for (int i = 0; i < 4 && is_open(); ++i) {
        pollfd polled{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
        if (::poll(&polled, 1, 0) <= 0) return true;
        if (PQconsumeInput(connection_.get()) == 0) return false;
    }
    return is_open();
}

bool Connection::is_open() const noexcept
{
    return !gave_up_ && PQstatus(connection_.get()) == CONNECTION_OK;
}

std::string Connection::name() const
{
    const auto text = [](const char* part) { return std::string(part == nullptr ? "" : part); };
    const PGconn* connection = connection_.get();
    return "postgresql://" + text(PQhost(connection)) + ":" + text(PQport(connection)) + "/" +
           text(PQdb(connection));
}

std::string Connection::failure() const
{
    if (gave_up_) return "the database does not answer in time";
    return on_one_line(PQerrorMessage(connection_.get()));
}

Error Connection::error() const
{
    return {is_open() ? ErrorCode::system : ErrorCode::unreachable, failure()};
}

} // namespace kairos::postgres
