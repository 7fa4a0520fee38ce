// SPDX-License-Identifier: Apache-2.0
//
// One connection writes: changes that come while others are made are made together, in one
// transaction that travels in one go but for what changes have to look up. A few connections read.
#include "kairos/logs/postgres_store.h"

#include "kairos/base/pool.h"
#include "kairos/logs/change_queue.h"
#include "kairos/postgres/owned_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kairos::logs {
namespace {

using postgres::Outcome;
using postgres::Parameters;

constexpr const char* postgres_schema[] = {
    "CREATE TABLE kairos_log(key bigint PRIMARY KEY, settings bytea NOT NULL, next bigint NOT NULL,"
    " records bigint NOT NULL, octets bigint NOT NULL, newest bigint NOT NULL)",
    "CREATE TABLE kairos_log_last_key(key bigint PRIMARY KEY)",
    "CREATE TABLE kairos_log_record(log bigint NOT NULL, number bigint NOT NULL,"
    " time bigint NOT NULL, attributes bytea NOT NULL, info bytea NOT NULL,"
    " PRIMARY KEY (log, number))",
};

enum PostgresStatement : std::size_t {
    insert_record = postgres::owned_statements_end,
    erase_record,
    set_record,
    first_record,
    set_log_counts,
    put_log_row,
    erase_log_row,
    erase_records,
    erase_last_keys,
    insert_last_key,
    read_forwards,
    read_backwards,
    numbers_forwards,
    numbers_backwards,
    all_logs,
    all_last_keys,
};
/// The first of so many records, and those behind it as far as all are within so many octets: all
/// of them come at once.
#define KAIROS_READ(from, order)                                                                   \
    "SELECT number, time, attributes, info FROM (SELECT *,"                                        \
    " sum(octet_length(attributes) + octet_length(info) + 16) OVER (ORDER BY number " order        \
    " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto, row_number() OVER"                \
    " (ORDER BY number " order ") AS place FROM (SELECT * FROM kairos_log_record"                  \
    " WHERE log = $1 AND number " from " $2 ORDER BY number " order " LIMIT $3) AS portion)"       \
    " AS summed WHERE upto <= $4 OR place = 1 ORDER BY number " order
#define KAIROS_NUMBERS(from, order)                                                                \
    "SELECT number FROM kairos_log_record WHERE log = $1 AND number " from                         \
    " $2 ORDER BY number " order " LIMIT $3"
constexpr postgres::Statement postgres_statements[] = {
    KAIROS_OWNED_STATEMENTS("kairos_logs"),
    {"INSERT INTO kairos_log_record VALUES ($1, $2, $3, $4, $5)", "iiioo"},
    {"DELETE FROM kairos_log_record WHERE log = $1 AND number = $2", "ii"},
    {"UPDATE kairos_log_record SET attributes = $3 WHERE log = $1 AND number = $2", "iio"},
    {"SELECT number, time, (octet_length(attributes) + octet_length(info))::bigint,"
     " octet_length(attributes)::bigint FROM kairos_log_record"
     " WHERE log = $1 AND number >= $2 ORDER BY number LIMIT 1",
     "ii"},
    {"UPDATE kairos_log SET next = $2, records = $3, octets = $4, newest = $5 WHERE key = $1",
     "iiiii"},
    {"INSERT INTO kairos_log VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key) DO UPDATE SET"
     " settings = EXCLUDED.settings, next = EXCLUDED.next, records = EXCLUDED.records,"
     " octets = EXCLUDED.octets, newest = EXCLUDED.newest",
     "ioiiii"},
    {"DELETE FROM kairos_log WHERE key = $1", "i"},
    {"DELETE FROM kairos_log_record WHERE log = $1", "i"},
    {"DELETE FROM kairos_log_last_key WHERE key >> 32 = $1", "i"},
    {"INSERT INTO kairos_log_last_key VALUES ($1)", "i"},
    {KAIROS_READ(">=", "ASC"), "iiii"},
    {KAIROS_READ("<=", "DESC"), "iiii"},
    {KAIROS_NUMBERS(">=", "ASC"), "iii"},
    {KAIROS_NUMBERS("<=", "DESC"), "iii"},
    {"SELECT key, settings, next, records, octets, newest FROM kairos_log", ""},
    {"SELECT key FROM kairos_log_last_key", ""},
};
static_assert(std::size(postgres_statements) == all_last_keys + 1);

/// That one statement reads.
constexpr std::size_t records_at_once_max = 1000;
constexpr std::size_t numbers_at_once_max = 65'536;

std::int64_t column_of(std::uint64_t number)
{
    return static_cast<std::int64_t>(std::min(number, std::uint64_t{1} << 62));
}
std::uint64_t number_in(const postgres::Rows& rows, std::size_t row, int column)
{
    return static_cast<std::uint64_t>(rows.integer(row, column));
}

StoreStatus status_of(Outcome outcome)
{
    switch (outcome) {
    case Outcome::done:
        return StoreStatus::done;
    case Outcome::full:
        return StoreStatus::full;
    case Outcome::busy:
        return StoreStatus::busy;
    default:
        return StoreStatus::broken;
    }
}
Outcome outcome_of(StoreStatus status)
{
    switch (status) {
    case StoreStatus::done:
        return Outcome::done;
    case StoreStatus::full:
        return Outcome::full;
    case StoreStatus::busy:
        return Outcome::busy;
    default:
        return Outcome::broken;
    }
}

Parameters first_parameters(LogKey log, std::uint64_t from)
{
    return Parameters().integer(column_of(log)).integer(column_of(from));
}
/// Of what first_record gave.
StoreStatus first_in(const postgres::Rows& rows, Brief& brief)
{
    if (rows.count() == 0) return StoreStatus::not_found;
    brief = {.number = number_in(rows, 0, 0),
             .time = number_in(rows, 0, 1),
             .octets = Row::counted(static_cast<std::size_t>(rows.integer(0, 2))),
             .attributes = static_cast<std::size_t>(rows.integer(0, 3))};
    return StoreStatus::done;
}

/// What is changed is added to a batch; that it fails is heard of at its end. What is changed is
/// there: nobody else writes.
class PostgresTables final : public Tables {
  public:
    PostgresTables(postgres::Connection& batch, std::chrono::milliseconds timeout)
        : batch_(batch), progress_(batch, timeout)
    {
    }

    StoreStatus insert(LogKey log, const RowPtr& row) override
    {
        progress_.note_added(row->octets());
        return add(insert_record, Parameters()
                                      .integer(column_of(log))
                                      .integer(column_of(row->number))
                                      .integer(column_of(row->time))
                                      .octets(row->attributes)
                                      .octets(row->info));
    }
    StoreStatus erase(LogKey log, std::uint64_t number) override
    {
        return add(erase_record, first_parameters(log, number));
    }
    StoreStatus set_attributes(LogKey log, std::uint64_t number,
                               const std::string& attributes) override
    {
        progress_.note_added(attributes.size());
        return add(set_record, first_parameters(log, number).octets(attributes));
    }
    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        const postgres::Rows rows = batch_.ask(first_record, first_parameters(log, from));
        if (!rows.ok()) return StoreStatus::broken;
        progress_.note_answer();
        return first_in(rows, brief);
    }
    StoreStatus set_counts(LogKey log, const Counts& counts) override
    {
        return add(set_log_counts, with(Parameters().integer(column_of(log)), counts));
    }
    StoreStatus put_log(const KeptLog& log) override
    {
        return add(put_log_row,
                   with(Parameters().integer(column_of(log.key)).octets(log.settings), log.counts));
    }
    StoreStatus erase_log(LogKey log) override
    {
        add(erase_records, Parameters().integer(column_of(log)));
        return add(erase_log_row, Parameters().integer(column_of(log)));
    }
    /// Each transaction writes.
    StoreStatus touch() override { return StoreStatus::done; }
    StoreStatus set_last_key(LogKey key) override
    {
        add(erase_last_keys, Parameters().integer(column_of(key >> 32)));
        return add(insert_last_key, Parameters().integer(column_of(key)));
    }

  private:
    static Parameters with(Parameters parameters, const Counts& counts)
    {
        return parameters.integer(column_of(counts.next))
            .integer(column_of(counts.records))
            .integer(column_of(counts.octets))
            .integer(column_of(counts.newest));
    }
    StoreStatus add(PostgresStatement statement, const Parameters& parameters)
    {
        batch_.add(statement, parameters);
        return StoreStatus::done;
    }

    postgres::Connection& batch_;
    postgres::Progress progress_;
};

class PostgresStore final : public Store {
  public:
    PostgresStore(std::unique_ptr<postgres::OwnedStore> owned,
                  std::vector<std::unique_ptr<postgres::Connection>> readers)
        : owned_(std::move(owned)), readers_(std::move(readers))
    {
    }

    bool is_durable() const noexcept override { return true; }

    StoreStatus load(std::vector<KeptLog>& logs, std::vector<LogKey>& last_keys) override
    {
        Outcome outcome = owned_->read([&logs](postgres::Connection& connection) {
            postgres::Rows rows = connection.run(all_logs);
            for (std::size_t i = 0; rows.ok() && i < rows.count(); ++i) {
                KeptLog& log = logs.emplace_back();
                log.key = number_in(rows, i, 0);
                log.settings = rows.octets(i, 1);
                log.counts = {.next = number_in(rows, i, 2),
                              .records = number_in(rows, i, 3),
                              .octets = number_in(rows, i, 4),
                              .newest = number_in(rows, i, 5)};
            }
            return rows;
        });
        if (outcome == Outcome::done)
            outcome = owned_->read([&last_keys](postgres::Connection& connection) {
                postgres::Rows rows = connection.run(all_last_keys);
                for (std::size_t i = 0; rows.ok() && i < rows.count(); ++i)
                    last_keys.push_back(number_in(rows, i, 0));
                return rows;
            });
        return status_of(outcome);
    }

    StoreStatus change(Change& change, bool safe) override
    {
        return queue_.change(change, safe, [this](WaitingChanges together) { work(together); });
    }

    StoreStatus read(LogKey log, const Span& span, std::vector<RowPtr>& rows) override
    {
        Span rest = span;
        return ask([&](postgres::Connection& connection) {
            return read_portion(connection, log, rest, rows);
        });
    }

    StoreStatus read_numbers(LogKey log, const Span& span,
                             std::vector<std::uint64_t>& numbers) override
    {
        Span rest = span;
        return ask([&](postgres::Connection& connection) {
            return read_numbers_portion(connection, log, rest, numbers);
        });
    }

    StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) override
    {
        StoreStatus found = StoreStatus::not_found;
        const StoreStatus status = ask([&](postgres::Connection& connection) {
            postgres::Rows rows = connection.run(first_record, first_parameters(log, from));
            if (rows.ok()) found = first_in(rows, brief);
            return Portion{.rows = std::move(rows), .is_last = true};
        });
        return status == StoreStatus::done ? found : status;
    }

  private:
    struct Portion {
        postgres::Rows rows;
        bool is_last;
    };

    /// Has a reader run statements until it says that it was the last.
    template <typename Read>
    StoreStatus ask(Read&& read)
    {
        for (;;) {
            const Deadline deadline = Deadline::after(owned_->timeout());
            const Pool<postgres::Connection>::Use reader(readers_, deadline);
            if (!reader || !owned_->reach(*reader, deadline)) return StoreStatus::busy;
            const Portion portion = read(*reader);
            if (!portion.rows.ok()) return status_of(owned_->failed(*reader, portion.rows));
            if (portion.is_last) return StoreStatus::done;
        }
    }
    /// `rest` is what is still to be read.
    static Portion read_portion(postgres::Connection& connection, LogKey log, Span& rest,
                                std::vector<RowPtr>& rows);
    static Portion read_numbers_portion(postgres::Connection& connection, LogKey log, Span& rest,
                                        std::vector<std::uint64_t>& numbers);
    /// What of a span comes after this record.
    static void go_on(Span& rest, std::uint64_t last, std::size_t count);

    void work(WaitingChanges together);
    [[nodiscard]] StoreStatus attempt(WaitingChanges together);

    const std::unique_ptr<postgres::OwnedStore> owned_;
    Pool<postgres::Connection> readers_;
    ChangeQueue queue_;
};

void PostgresStore::go_on(Span& rest, std::uint64_t last, std::size_t count)
{
    rest.count_max -= count;
    if (rest.is_backwards && last == 0) rest.count_max = 0;
    rest.from = rest.is_backwards ? last - 1 : last + 1;
}

PostgresStore::Portion PostgresStore::read_portion(postgres::Connection& connection, LogKey log,
                                                   Span& rest, std::vector<RowPtr>& rows)
{
    const std::size_t wanted = std::min(rest.count_max, records_at_once_max);
    postgres::Rows found = connection.run(rest.is_backwards ? read_backwards : read_forwards,
                                          first_parameters(log, rest.from)
                                              .integer(column_of(wanted))
                                              .integer(column_of(rest.octets_max)));
    if (!found.ok()) return {.rows = std::move(found), .is_last = true};
    const std::size_t count = found.count();
    std::size_t octets = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& row = rows.emplace_back(
            std::make_shared<const Row>(Row{.number = number_in(found, i, 0),
                                            .time = number_in(found, i, 1),
                                            .attributes = std::string(found.octets(i, 2)),
                                            .info = std::string(found.octets(i, 3))}));
        octets += row->octets();
    }
    if (count != 0) go_on(rest, number_in(found, count - 1, 0), count);
    const bool is_last = count < wanted || rest.count_max == 0 || octets >= rest.octets_max;
    if (!is_last) rest.octets_max -= octets;
    return {.rows = std::move(found), .is_last = is_last};
}

PostgresStore::Portion PostgresStore::read_numbers_portion(postgres::Connection& connection,
                                                           LogKey log, Span& rest,
                                                           std::vector<std::uint64_t>& numbers)
{
    const std::size_t wanted = std::min(rest.count_max, numbers_at_once_max);
    postgres::Rows found =
        connection.run(rest.is_backwards ? numbers_backwards : numbers_forwards,
                       first_parameters(log, rest.from).integer(column_of(wanted)));
    const std::size_t count = found.ok() ? found.count() : 0;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(number_in(found, i, 0));
    if (count != 0) go_on(rest, numbers.back(), count);
    return {.rows = std::move(found), .is_last = count < wanted || rest.count_max == 0};
}

void PostgresStore::work(WaitingChanges together)
{
    const StoreStatus status = attempt(together);
    if (together.size() == 1 || status == StoreStatus::done || status == StoreStatus::busy) {
        for (WaitingChange* const one : together)
            one->status = status;
        return;
    }
    // One of them is at fault: each gets its own answer. Where nobody knows whether all of it was
    // made, they do not either while the database is away.
    for (WaitingChange* const one : together) {
        WaitingChange* const alone[] = {one};
        one->status = attempt(alone);
        if (one->status == StoreStatus::busy) one->status = status;
    }
}

StoreStatus PostgresStore::attempt(WaitingChanges together)
{
    const bool safe = std::ranges::any_of(together, &WaitingChange::safe);
    std::size_t made = 0;
    const Outcome outcome = owned_->write(safe, [&](postgres::Connection& batch) {
        PostgresTables tables(batch, owned_->timeout());
        StoreStatus status = StoreStatus::done;
        while (made < together.size() && status == StoreStatus::done)
            status = together[made++]->change->make(tables);
        return outcome_of(status);
    });
    if (outcome != Outcome::done)
        while (made != 0)
            together[--made]->change->undo();
    return status_of(outcome);
}

} // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options)
{
    auto owned = postgres::OwnedStore::open({
        .url = options.url,
        .program = "kairos-log",
        .owner = "log service",
        .table = "kairos_logs",
        .schema = postgres_schema,
        .statements = postgres_statements,
        .timeout = options.timeout,
        .opening_timeout = options.opening_timeout,
        .watch_interval = options.watch_interval,
        .may_turn_out_done = false, // the service counts what it has
        .stand_by = options.stand_by,
        .lost = options.lost,
    });
    if (!owned) return owned.error();
    std::vector<std::unique_ptr<postgres::Connection>> readers;
    for (std::size_t i = 0; i < std::max<std::size_t>(options.readers, 1); ++i) {
        auto reader = (*owned)->open_reader();
        if (!reader) return reader.error();
        readers.push_back(std::move(reader).value());
    }
    std::unique_ptr<Store> store =
        std::make_unique<PostgresStore>(std::move(owned).value(), std::move(readers));
    return store;
}

} // namespace kairos::logs
