// SPDX-License-Identifier: Apache-2.0
#include "kairos/postgres/shares.h"

#include "kairos/base/log.h"
#include "kairos/postgres/owned_store.h"

#include <algorithm>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace kairos::postgres {
namespace {

/// Who is there has a lock of this class in common with the others.
constexpr const char* presence_class = "1265782370";
/// Who was away from the database does not take what others, who were away as well, are about to
/// have again.
constexpr std::chrono::seconds grace{5};
/// So long others have the time to take what is their part.
constexpr std::chrono::seconds others_time{5};
/// Between attempts at one that could not be taken: twice as long each time.
constexpr std::chrono::seconds first_taking_pause{3};
constexpr std::chrono::seconds longest_taking_pause{60};
/// From when one was given back that no other has taken to when the next is given: likewise.
constexpr std::chrono::seconds first_giving_pause{30};
constexpr std::chrono::seconds longest_giving_pause{1800};
/// Longer than the session of one that was here before lasts.
constexpr std::chrono::seconds twin_time{60};
/// For a word to the others at the end.
constexpr std::chrono::milliseconds leaving_time{500};

/// The next of them.
std::chrono::seconds longer(std::chrono::seconds pause, std::chrono::seconds first,
                            std::chrono::seconds longest)
{
    return std::clamp(pause * 2, first, longest);
}

std::string shares_of(const char* table) { return std::string(table) + "_shares"; }

Error error_in(const Connection& connection)
{
    return {connection.is_open() ? ErrorCode::system : ErrorCode::unreachable,
            connection.name() + ": " + connection.failure()};
}

} // namespace

// --- Beginning -----------------------------------------------------------------------------------

/// Returns how many there are; 0 where a store has everything. One process after the other.
Result<unsigned> Shares::make_table(Connection& connection, const SharesOptions& options)
{
    const std::string table = shares_of(options.table);
    const auto is_there = [&connection](const std::string& name) -> Result<bool> {
        const Rows rows = connection.execute(
            ("SELECT count(*) FROM pg_class WHERE oid = to_regclass('" + name + "')").c_str());
        if (!rows.ok()) return error_in(connection);
        return rows.integer(0, 0) != 0;
    };
    const auto execute = [&connection](const std::string& sql) -> Result<void> {
        if (!connection.execute(sql.c_str()).ok()) return error_in(connection);
        return {};
    };
    for (const std::string& sql : {std::string("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
                                   std::string("SELECT pg_advisory_xact_lock(") + lock_class + ")"})
        if (auto done = execute(sql); !done) return done.error();
    const auto has_shares = is_there(table);
    if (!has_shares) return has_shares.error();
    const auto has_one = is_there(options.table);
    if (!has_one) return has_one.error();
    if (!*has_shares && !*has_one)
        for (const std::string& sql :
             {"CREATE TABLE " + table + "(share bigint PRIMARY KEY, address text NOT NULL)",
              "INSERT INTO " + table + " SELECT share, '' FROM generate_series(1, " +
                  std::to_string(options.count) + ") AS share"})
            if (auto made = execute(sql); !made) return made.error();
    if (auto done = execute("COMMIT"); !done) return done.error();
    if (!*has_shares) {
        if (*has_one) return 0U;
    } else if (*has_one) {
        return Error{ErrorCode::invalid_argument,
                     connection.name() + ": there are both shares and the store of one " +
                         options.owner + ": one of them is another version's"};
    }
    const Rows may_write = connection.execute(
        ("SELECT has_table_privilege('" + table + "', 'UPDATE')::int::bigint").c_str());
    if (!may_write.ok()) return error_in(connection);
    if (may_write.integer(0, 0) != 1)
        return Error{ErrorCode::invalid_argument, connection.name() + ": may not be written"};
    const Rows rows = connection.execute(("SELECT count(*) FROM " + table).c_str());
    if (!rows.ok()) return error_in(connection);
    constexpr std::int64_t most = 63;
    return static_cast<unsigned>(std::clamp<std::int64_t>(rows.integer(0, 0), 1, most));
}

Result<std::unique_ptr<Shares>> Shares::open(const SharesOptions& options)
{
    auto opened = Connection::open(options.url, options.program, {},
                                   Deadline::after(options.opening_timeout));
    if (!opened) return opened.error();
    Connection& connection = **opened;
    if (const auto limited = connection.limit_statements(options.timeout * 3 / 4); !limited)
        return limited.error();
    const auto count = make_table(connection, options);
    if (!count) return count.error();
    if (*count == 0) return std::unique_ptr<Shares>();
    auto reader = Connection::open(options.url, options.program, {},
                                   Deadline::after(options.opening_timeout));
    if (!reader) return reader.error();
    if (const auto limited = (*reader)->limit_statements(options.timeout * 3 / 4); !limited)
        return limited.error();
    const int waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (waker < 0) return Error{ErrorCode::system, "no descriptor to be woken by"};
    return std::unique_ptr<Shares>(
        new Shares(options, std::move(opened).value(), std::move(reader).value(), *count, waker));
}

Shares::Shares(const SharesOptions& options, std::unique_ptr<Connection> connection,
               std::unique_ptr<Connection> reader, unsigned count, int waker)
    : options_(options), table_(shares_of(options.table)), count_(count), waker_(waker),
      connection_(std::move(connection)), reader_([&reader] {
          std::vector<std::unique_ptr<Connection>> one;
          one.push_back(std::move(reader));
          return one;
      }())
{
    for (unsigned share = 1; share <= count_; ++share)
        shares_[share].unowned_since = Clock::now();
}

Shares::~Shares()
{
    end();
    close(waker_);
}

void Shares::begin(SharesUse use, std::string address)
{
    use_ = std::move(use);
    address_ = std::move(address);
    thread_ = std::thread([this] { run(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_settled_; });
}

void Shares::end() noexcept
{
    is_ending_ = true;
    tell();
    if (thread_.joinable()) thread_.join();
}

// --- What others ask -----------------------------------------------------------------------------

std::vector<std::string> Shares::announcement(unsigned share) const
{
    return {"UPDATE " + table_ + " SET address = '" + address_ +
                "' WHERE share = " + std::to_string(share),
            std::string("NOTIFY ") + options_.table};
}

std::string Shares::address_of(unsigned share) const
{
    const std::lock_guard lock(mutex_);
    const auto found = shares_.find(share);
    if (found == shares_.end() || !found->second.is_owned || found->second.is_ours ||
        found->second.address == address_)
        return {};
    return found->second.address;
}

bool Shares::has_tables(unsigned share) const
{
    const std::lock_guard lock(mutex_);
    const auto found = shares_.find(share);
    return found != shares_.end() && !found->second.address.empty();
}

void Shares::note_lost(unsigned share) noexcept
{
    try {
        const std::lock_guard lock(mutex_);
        lost_.insert(share);
    } catch (const std::bad_alloc&) { // its owner writes nothing, whether it knows or not
    }
    tell();
}

bool Shares::read(const std::function<Rows(Connection&)>& ask)
{
    const Deadline deadline = Deadline::after(options_.timeout);
    const Pool<Connection>::Use reader(reader_, deadline);
    if (!reader) return false;
    Connection& connection = *reader;
    connection.set_deadline(deadline);
    if (!connection.is_still_open() && !connection.reopen()) return false;
    return ask(connection).ok();
}

// --- The thread ----------------------------------------------------------------------------------

void Shares::tell() noexcept
{
    const std::uint64_t one = 1;
    (void)!write(waker_, &one, sizeof one); // full: it is readable
}

void Shares::run() noexcept
{
    while (!is_ending_) {
        try {
            bool has_acted = true;
            while (has_acted && !is_ending_) {
                drop_lost();
                has_acted = look() && act();
            }
        } catch (const std::exception& failure) { // no memory: next time
            log::error(std::string(options_.owner) + "'s shares: " + failure.what());
        }
        {
            const std::lock_guard lock(mutex_);
            is_settled_ = true;
        }
        changed_.notify_all();
        if (!is_ending_) wait();
    }
    leave_others();
}

/// They do not count this process any more.
void Shares::leave_others() noexcept
{
    try {
        if (!attends_ || !connection_->is_still_open()) return;
        connection_->set_deadline(Deadline::after(leaving_time));
        (void)connection_->execute("SELECT pg_advisory_unlock_all()");
        (void)connection_->execute((std::string("NOTIFY ") + options_.table).c_str());
    } catch (const std::bad_alloc&) { // until the connection ends
    }
}

/// Others may want now what nobody did.
void Shares::note_present(std::size_t count)
{
    if (std::exchange(present_, count) == count) return;
    giving_pause_ = {};
    give_not_before_ = {};
}

void Shares::wait() noexcept
{
    pollfd waits[] = {{.fd = waker_, .events = POLLIN, .revents = 0},
                      {.fd = connection_->descriptor(), .events = POLLIN, .revents = 0}};
    // A connection that is lost stays readable.
    const nfds_t count = attends_ && connection_->is_open() ? 2 : 1;
    (void)poll(waits, count, static_cast<int>(options_.look_interval.count()));
    std::uint64_t told = 0;
    (void)!::read(waker_, &told, sizeof told);
    connection_->take_notifications();
}

/// Has the others count this process, and hears what they say. Where the session was lost others
/// may have lost theirs at the same time.
bool Shares::attend()
{
    Connection& connection = *connection_;
    connection.set_deadline(Deadline::after(options_.timeout));
    if (attends_ && connection.is_still_open()) return true;
    const bool was_away = std::exchange(attends_, false) || not_before_ != Clock::time_point{};
    if (was_away) not_before_ = Clock::now() + grace;
    if (!connection.is_still_open() && !connection.reopen()) return false;
    for (const std::string& sql :
         {std::string(set_keepalives), std::string("LISTEN ") + options_.table,
          std::string("SELECT pg_advisory_lock_shared(") + presence_class + ", '" + table_ +
              "'::regclass::oid::int4)",
          std::string("NOTIFY ") + options_.table})
        if (!connection.execute(sql.c_str()).ok()) return false;
    if (was_away) not_before_ = Clock::now() + grace;
    return attends_ = true;
}

/// Reads who has what. An owner is there as long as the database has its lock.
bool Shares::look()
{
    bool is_done = attend();
    if (is_done) {
        const std::string locks = "FROM pg_locks WHERE locktype = 'advisory' AND granted AND"
                                  " objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE"
                                  " datname = current_database()) AND classid = ";
        const std::string name(std::string_view(options_.table).substr(sizeof "kairos_" - 1));
        const Rows rows = connection_->execute(
            ("WITH held AS MATERIALIZED (SELECT objid " + locks + lock_class +
             ") SELECT share, address, (COALESCE(to_regclass('kairos' || share || '_" + name +
             "')::oid IN (SELECT objid FROM held), false))::int::bigint, (SELECT count(*) " +
             locks + presence_class + " AND objid = '" + table_ + "'::regclass::oid) FROM " +
             table_)
                .c_str());
        is_done = rows.ok();
        const auto now = Clock::now();
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; is_done && i < rows.count(); ++i) {
            const auto found = shares_.find(static_cast<unsigned>(rows.integer(i, 0)));
            if (found == shares_.end()) continue;
            Share& share = found->second;
            share.address = rows.octets(i, 1);
            const bool is_owned = rows.integer(i, 2) != 0;
            if (!is_owned || share.is_ours || share.address != address_)
                share.elsewhere_since = now;
            if (now - share.elsewhere_since > twin_time && !std::exchange(has_twin_, true))
                log::error(std::string(options_.owner) +
                           "'s shares: another process says that it is at our address: whom we "
                           "send there come back");
            if (share.is_owned && !is_owned) share.unowned_since = now;
            share.is_owned = is_owned;
            note_present(static_cast<std::size_t>(std::max<std::int64_t>(rows.integer(i, 3), 1)));
            if (found->first == given_ && share.address != address_) { // be it gone again
                given_ = 0;
                giving_pause_ = {};
                share.not_before = {};
            }
        }
    }
    if (!is_done && !std::exchange(has_said_, true))
        log::error(std::string(options_.owner) + "'s shares: " + error_in(*connection_).reason);
    if (is_done && std::exchange(has_said_, false))
        log::warning(std::string(options_.owner) + "'s shares: the database is there again");
    return is_done;
}

void Shares::drop_lost()
{
    for (;;) {
        unsigned share = 0;
        {
            const std::lock_guard lock(mutex_);
            if (lost_.empty()) return;
            share = *lost_.begin();
            lost_.erase(lost_.begin());
            if (!shares_[share].is_ours) continue;
        }
        use_.drop(share);
        const std::lock_guard lock(mutex_);
        leave(shares_[share]); // whoever has it, it is not known until the next look
    }
}

void Shares::leave(Share& share)
{
    share.is_ours = share.is_owned = false;
    share.unowned_since = Clock::now();
}

/// Does at most one thing; false: there is nothing to do, or it is to be looked at later.
bool Shares::act()
{
    std::vector<unsigned> free;
    std::size_t ours = 0;
    std::size_t unowned = 0;
    std::map<std::string_view, std::size_t> others; // by address
    const auto now = Clock::now();
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, share] : shares_)
            ours += share.is_ours ? 1 : 0;
        const std::size_t part = (count_ + present_ - 1) / present_;
        for (const auto& [number, share] : shares_) {
            if (share.is_owned && !share.is_ours) ++others[share.address];
            if (share.is_ours || share.is_owned) continue;
            if (now < share.not_before) continue;
            ++unowned;
            // What was given back comes back before another who has his part takes it.
            const bool is_for_us =
                ours < part || number == given_ || now - share.unowned_since > 2 * others_time;
            if (is_for_us && now >= not_before_) free.push_back(number);
        }
        std::size_t fewest = others.size() + 1 < present_ ? 0 : ours;
        for (const auto& [address, count] : others)
            fewest = std::min(fewest, count);
        const bool gives =
            unowned == 0 && ours >= fewest + 2 && given_ == 0 && now >= give_not_before_;
        if (free.empty() && !gives) return false;
    }
    // Not all at the same one.
    return free.empty() ? give_one_back() : take(free[random_() % free.size()]);
}

bool Shares::take(unsigned share)
{
    {
        const std::lock_guard lock(mutex_);
        lost_.erase(share); // which was of a store before
        shares_[share].not_before = Clock::now() + first_taking_pause;
    }
    const bool is_taken = use_.take(share);
    const std::lock_guard lock(mutex_);
    Share& taken = shares_[share];
    taken.is_ours = is_taken;
    taken.pause = is_taken ? std::chrono::seconds(0)
                           : longer(taken.pause, first_taking_pause, longest_taking_pause);
    taken.not_before = Clock::now() + taken.pause;
    if (is_taken && share == given_) {
        given_ = 0;
        giving_pause_ = longer(giving_pause_, first_giving_pause, longest_giving_pause);
        give_not_before_ = Clock::now() + giving_pause_;
    }
    return true;
}

bool Shares::give_one_back()
{
    std::vector<unsigned> ours;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, share] : shares_)
            if (share.is_ours) ours.push_back(number);
    }
    const auto given = std::ranges::find_if(ours, use_.give_back);
    if (given == ours.end()) {
        give_not_before_ = Clock::now() + first_giving_pause;
        return false;
    }
    {
        const std::lock_guard lock(mutex_);
        leave(shares_[*given]);
        shares_[*given].not_before = Clock::now() + others_time;
        given_ = *given;
    }
    connection_->set_deadline(Deadline::after(options_.timeout));
    (void)connection_->execute((std::string("NOTIFY ") + options_.table).c_str());
    return false; // whoever has fewer takes it
}

} // namespace kairos::postgres
