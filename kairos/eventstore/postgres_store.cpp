// SPDX-License-Identifier: Apache-2.0
//
// All that is changed together is one transaction, and travels in one go.
#include "kairos/eventstore/postgres_store.h"

#include "kairos/base/log.h"
#include "kairos/postgres/owned_store.h"
#include "kairos/postgres/shares.h"

#include <iterator>
#include <span>
#include <utility>

namespace kairos::eventstore {
namespace {

using notification::Store;
using notification::StoreChange;
using notification::Stored;
using notification::StoreStatus;
using postgres::Outcome;
using postgres::Parameters;
using Action = StoreChange::Action;

constexpr const char* postgres_schema[] = {
    "CREATE TABLE kairos_channel_object("
    "key bigint PRIMARY KEY, channel bigint NOT NULL, state bytea NOT NULL)",
    "CREATE TABLE kairos_channel_event(number bigint PRIMARY KEY, state bytea NOT NULL)",
    "CREATE TABLE kairos_channel_waiting("
    "object bigint NOT NULL, event bigint NOT NULL, PRIMARY KEY (object, event))",
    // Whoever has another share looks for them.
    "CREATE INDEX kairos_channel_index ON kairos_channel_object (key) WHERE key = channel",
};

enum PostgresStatement : std::size_t {
    put_object = postgres::owned_statements_end,
    erase_object,
    erase_object_waits,
    erase_channel,
    erase_channel_waits,
    add_event,
    add_waiting,
    erase_waiting,
    erase_event,
    objects_after,
    events_after,
    waits_after,
};
/// In portions, or reading would take longer than a statement may. The first ones as far as those
/// before each are within so many octets: clients choose how large events are.
#define KAIROS_PORTION(columns, table, key)                                                        \
    "SELECT " columns " FROM (SELECT *, COALESCE(sum(octet_length(state)) OVER (ORDER BY " key     \
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM"                        \
    " (SELECT * FROM " table " WHERE " key " > $1 ORDER BY " key " LIMIT 4096) AS portion)"        \
    " AS summed WHERE before < 4194304 ORDER BY " key
constexpr postgres::Statement postgres_statements[] = {
    KAIROS_OWNED_STATEMENTS("kairos_channels"),
    {"INSERT INTO kairos_channel_object VALUES ($1, $2, $3)"
     " ON CONFLICT (key) DO UPDATE SET channel = EXCLUDED.channel, state = EXCLUDED.state",
     "iio"},
    {"DELETE FROM kairos_channel_object WHERE key = $1", "i"},
    {"DELETE FROM kairos_channel_waiting WHERE object = $1", "i"},
    {"DELETE FROM kairos_channel_object WHERE channel = $1", "i"},
    {"DELETE FROM kairos_channel_waiting WHERE object IN"
     " (SELECT key FROM kairos_channel_object WHERE channel = $1)",
     "i"},
    {"INSERT INTO kairos_channel_event VALUES ($1, $2)"
     " ON CONFLICT (number) DO UPDATE SET state = EXCLUDED.state",
     "io"},
    {"INSERT INTO kairos_channel_waiting VALUES ($1, $2) ON CONFLICT DO NOTHING", "ii"},
    {"DELETE FROM kairos_channel_waiting WHERE object = $1 AND event = $2", "ii"},
    {"DELETE FROM kairos_channel_event WHERE number = $1", "i"},
    {KAIROS_PORTION("key, channel, state", "kairos_channel_object", "key"), "i"},
    {KAIROS_PORTION("number, state", "kairos_channel_event", "number"), "i"},
    {"SELECT object, event FROM kairos_channel_waiting WHERE (object, event) > ($1, $2)"
     " ORDER BY object, event LIMIT 65536",
     "ii"},
};
static_assert(std::size(postgres_statements) == waits_after + 1);

/// No key or number is lower.
constexpr std::int64_t before_all = -1;

std::int64_t column_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
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

void add_change(postgres::Connection& batch, const StoreChange& change)
{
    Parameters key;
    key.integer(column_of(change.key));
    Parameters both = key;
    both.integer(column_of(change.other));
    switch (change.action) {
    case Action::put_object:
        return batch.add(put_object, both.octets(change.state));
    case Action::erase_object:
        batch.add(erase_object_waits, key);
        return batch.add(erase_object, key);
    case Action::erase_channel:
        batch.add(erase_channel_waits, key);
        return batch.add(erase_channel, key);
    case Action::add_event:
        return batch.add(add_event, key.octets(change.state));
    case Action::add_waiting:
        return batch.add(add_waiting, both);
    case Action::erase_waiting:
        return batch.add(erase_waiting, both);
    case Action::erase_event:
        return batch.add(erase_event, key);
    }
}

class PostgresStore final : public Store {
  public:
    explicit PostgresStore(std::unique_ptr<postgres::OwnedStore> owned) : owned_(std::move(owned))
    {
    }

    StoreStatus load(Stored& all) override
    {
        StoreStatus status =
            load_all(objects_after, [&](const postgres::Rows& rows, std::size_t i) {
                all.objects.push_back({.key = number_in(rows, i, 0),
                                       .channel = number_in(rows, i, 1),
                                       .state = std::string(rows.octets(i, 2))});
                return rows.integer(i, 0);
            });
        if (status == StoreStatus::done)
            status = load_all(events_after, [&](const postgres::Rows& rows, std::size_t i) {
                all.events.push_back(
                    {.number = number_in(rows, i, 0), .state = std::string(rows.octets(i, 1))});
                return rows.integer(i, 0);
            });
        return status == StoreStatus::done ? load_waits(all) : status;
    }

    StoreStatus write(std::span<const StoreChange> changes, bool safe) override
    {
        return status_of(owned_->write(safe, [&](postgres::Connection& batch) {
            postgres::Progress progress(batch, owned_->timeout());
            for (const StoreChange& change : changes) {
                progress.note_added(change.state.size());
                add_change(batch, change);
            }
            return Outcome::done;
        }));
    }

  private:
    /// `enter` is given each row, and returns its key.
    template <typename Enter>
    StoreStatus load_all(PostgresStatement statement, Enter&& enter)
    {
        std::int64_t last = before_all;
        for (;;) {
            std::size_t count = 0;
            const Outcome outcome = owned_->read([&](postgres::Connection& connection) {
                postgres::Rows rows = connection.run(statement, Parameters().integer(last));
                count = rows.ok() ? rows.count() : 0;
                for (std::size_t i = 0; i < count; ++i)
                    last = enter(rows, i);
                return rows;
            });
            if (outcome != Outcome::done || count == 0) return status_of(outcome);
        }
    }
    StoreStatus load_waits(Stored& all)
    {
        std::int64_t object = before_all;
        std::int64_t event = before_all;
        for (;;) {
            std::size_t count = 0;
            const Outcome outcome = owned_->read([&](postgres::Connection& connection) {
                postgres::Rows rows =
                    connection.run(waits_after, Parameters().integer(object).integer(event));
                count = rows.ok() ? rows.count() : 0;
                for (std::size_t i = 0; i < count; ++i) {
                    object = rows.integer(i, 0);
                    event = rows.integer(i, 1);
                    all.waits.push_back(
                        {.object = number_in(rows, i, 0), .event = number_in(rows, i, 1)});
                }
                return rows;
            });
            if (outcome != Outcome::done || count == 0) return status_of(outcome);
        }
    }

    const std::unique_ptr<postgres::OwnedStore> owned_;
};

constexpr const char* program_name = "kairos-notify";
constexpr const char* owner_name = "notification service";
constexpr const char* table_name = "kairos_channels";

postgres::OwnedOptions owned_options(const PostgresOptions& options)
{
    return {
        .url = options.url,
        .program = program_name,
        .owner = owner_name,
        .table = table_name,
        .schema = postgres_schema,
        .statements = postgres_statements,
        .timeout = options.timeout,
        .opening_timeout = options.opening_timeout,
        .watch_interval = options.watch_interval,
        .may_turn_out_done = true, // what was not known to be there is given after the next start
        .may_lose_unsafe = true,   // what is not safe are erasures: what they were of is given then
        .stand_by = options.stand_by,
        .lost = options.lost,
    };
}

class PostgresShares final : public notification::Shares {
  public:
    PostgresShares(PostgresOptions options, std::unique_ptr<postgres::Shares> shares)
        : options_(std::move(options)), shares_(std::move(shares))
    {
    }

    unsigned count() const noexcept override { return shares_->count(); }
    void begin(notification::ShareHolder& holder, const std::string& address) override
    {
        shares_->begin({.take = [this, &holder](unsigned share) { return take(holder, share); },
                        .give_back = [&holder](unsigned share) { return holder.give_back(share); },
                        .drop = [&holder](unsigned share) { holder.drop(share); }},
                       address);
    }
    void end() noexcept override { shares_->end(); }
    std::string address_of(unsigned share) const override { return shares_->address_of(share); }
    StoreStatus channels(unsigned share, std::vector<notification::StoredObject>& channels) override
    {
        if (!shares_->has_tables(share)) return StoreStatus::done;
        const std::string query = postgres::named_for(
            share, "SELECT key, state FROM kairos_channel_object WHERE key = channel");
        const bool is_read = shares_->read([&](postgres::Connection& connection) {
            postgres::Rows rows = connection.execute(query.c_str());
            for (std::size_t i = 0; rows.ok() && i < rows.count(); ++i)
                channels.push_back({.key = number_in(rows, i, 0),
                                    .channel = number_in(rows, i, 0),
                                    .state = std::string(rows.octets(i, 1))});
            return rows;
        });
        return is_read ? StoreStatus::done : StoreStatus::busy;
    }

  private:
    [[nodiscard]] bool take(notification::ShareHolder& holder, unsigned share)
    {
        postgres::OwnedOptions options = owned_options(options_);
        options.share = share;
        options.announcement = shares_->announcement(share);
        options.stand_by = [] { return false; }; // another is faster
        // The store may outlive this, where a call that uses it lasts.
        options.lost = [shares = std::weak_ptr(shares_), share] {
            if (const auto there = shares.lock()) there->note_lost(share);
        };
        auto owned = postgres::OwnedStore::open(std::move(options));
        if (!owned && owned.error().code != ErrorCode::closed)
            log::error("a share of the channels: " + owned.error().reason);
        return owned &&
               holder.take(share, std::make_unique<PostgresStore>(std::move(owned).value()));
    }

    const PostgresOptions options_;
    const std::shared_ptr<postgres::Shares> shares_;
};

} // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const PostgresOptions& options)
{
    auto owned = postgres::OwnedStore::open(owned_options(options));
    if (!owned) return owned.error();
    std::unique_ptr<Store> store = std::make_unique<PostgresStore>(std::move(owned).value());
    return store;
}

Result<std::unique_ptr<notification::Shares>> open_postgres_shares(const PostgresOptions& options,
                                                                   unsigned count)
{
    auto shares = postgres::Shares::open({.url = options.url,
                                          .program = program_name,
                                          .owner = owner_name,
                                          .table = table_name,
                                          .count = count,
                                          .timeout = options.timeout,
                                          .opening_timeout = options.opening_timeout,
                                          .look_interval = options.watch_interval});
    if (!shares) return shares.error();
    std::unique_ptr<notification::Shares> made;
    if (*shares) made = std::make_unique<PostgresShares>(options, std::move(shares).value());
    return made;
}

} // namespace kairos::eventstore
