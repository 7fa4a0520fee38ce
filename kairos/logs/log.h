// SPDX-License-Identifier: Apache-2.0
//
// One log without its object (Telecom Log Service 1.1.2, 2.1): its settings, what is counted, and
// the way of records into the store, out of it and through it. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/logs/KairosLogs.h"
#include "kairos/logs/service.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kairos::logs {

/// What makes a log and lists it: each kind has ids of its own.
enum class Kind : std::uint8_t { basic = 0, event = 1, notify = 2 };
inline constexpr std::size_t kind_count = 3;

[[nodiscard]] constexpr LogKey key_of(Kind kind, DsLogAdmin::LogId id) noexcept
{
    return static_cast<LogKey>(kind) << 32 | id;
}
[[nodiscard]] constexpr Kind kind_of(LogKey key) noexcept { return static_cast<Kind>(key >> 32); }
[[nodiscard]] constexpr DsLogAdmin::LogId id_of(LogKey key) noexcept
{
    return static_cast<DsLogAdmin::LogId>(key);
}

/// What all logs of a service share. Immutable, but for the store.
struct Surroundings {
    CORBA::ORB_var orb;
    ServiceLimits limits;
    std::shared_ptr<const Clock> clock; // never null
    std::unique_ptr<Store> store;
};

/// A record to come: its octets.
struct Draft {
    std::string attributes;
    std::string info;
};
/// Throw what encoding throws.
[[nodiscard]] std::string encapsulated(const CORBA::Any& value, CORBA::ORB_ptr orb);
[[nodiscard]] std::string encapsulated(const DsLogAdmin::NVList& list, CORBA::ORB_ptr orb);
[[nodiscard]] std::string encapsulated(const KairosLogs::Settings& settings);

/// What of a log's capacity was passed: in which case who watches is told.
struct Alarm {
    DsLogAdmin::Threshold crossed = 0;
    DsLogAdmin::Threshold observed = 0;
};

/// What a log is at one time.
struct LogState {
    std::shared_ptr<const KairosLogs::Settings> settings; // never null
    Counts counts{};
    std::uint64_t gauge = 0; // octets written since the last alarm of 100 %, where the log wraps
    DsLogAdmin::Threshold passed = 0; // percent, that alarms were given for
    bool was_refused = false;         // a record, for want of room, and no room was made since
    bool is_gone = false;
};

class Log {
  public:
    using Settings = KairosLogs::Settings;
    /// What a change does: it may run several times. Tells by its result that the store failed.
    using Action = std::function<StoreStatus(Tables& tables, LogState& state)>;

    Log(std::shared_ptr<Surroundings> surroundings, const KeptLog& kept, Settings settings);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    [[nodiscard]] LogKey key() const noexcept { return key_; }
    [[nodiscard]] const std::shared_ptr<Surroundings>& surroundings() const noexcept
    {
        return around_;
    }
    /// What there is now, without records that have become too old. Throws OBJECT_NOT_EXIST after
    /// the log's end.
    [[nodiscard]] LogState state();
    [[nodiscard]] std::shared_ptr<const Settings> settings() const;
    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }

    /// Notes what its channel is. Of one that is not served yet.
    void note_channel(KairosLogs::ChannelSettings channel);
    /// Puts a new log into the store; if `is_chosen`, its id is never chosen again.
    void enter(bool is_chosen);
    /// Changes settings as a function says, which may throw. Returns what they were.
    std::shared_ptr<const Settings>
    change(const std::function<void(Settings& settings, const LogState& state)>& how);
    /// What was changed before outlasts a loss of power.
    void flush();

    /// Throws LogFull, LogOffDuty, LogLocked, LogDisabled; IMP_LIMIT for one that is too large;
    /// NO_RESOURCES where the store has no room. Fills in the alarms that there are, also for
    /// LogFull.
    void write(const std::vector<Draft>& drafts, std::vector<Alarm>& alarms);

    /// Throws InvalidRecordId.
    void set_attributes(std::uint64_t number, const std::string& attributes);
    /// Returns how many there were. Throws IMP_LIMIT and NO_RESOURCES where one becomes larger than
    /// it may be, or than its log has room for, and leaves that one and those after it as they
    /// were.
    std::size_t set_attributes(const std::vector<std::uint64_t>& numbers,
                               const std::string& attributes);
    std::size_t erase(const std::vector<std::uint64_t>& numbers);
    /// Ends the log, after its records, which go in portions. False: it had ended.
    bool end();

    /// Those that can be read; none where there is no such record.
    [[nodiscard]] std::vector<RowPtr> read(const Span& span);
    void read_numbers(const Span& span, std::vector<std::uint64_t>& numbers);
    /// The number of the first record of this time or later; none if there is none.
    [[nodiscard]] std::optional<std::uint64_t> first_at(std::uint64_t time);

  private:
    class Making;

    /// Makes a change durable, and throws what the action threw, or what the store's failure is.
    void run(const Action& action, bool safe, bool makes_room = false);
    [[nodiscard]] bool is_safe() const;
    /// Forgets records that are too old, some thousand at most.
    [[nodiscard]] StoreStatus expire(Tables& tables, LogState& state) const;
    [[nodiscard]] StoreStatus take_out(Tables& tables, LogState& state, const Brief& brief) const;
    [[nodiscard]] bool has_expired(const LogState& state);
    /// After so many octets were written, or one that did not fit was refused.
    static void note_alarms(LogState& state, std::size_t octets, bool is_full,
                            std::vector<Alarm>& alarms);

    const std::shared_ptr<Surroundings> around_;
    const LogKey key_;
    std::atomic<bool> is_enabled_{true};
    mutable std::mutex mutex_; // guards what follows; changed by who makes a change of the store
    LogState state_;
};
using LogPtr = std::shared_ptr<Log>;

} // namespace kairos::logs
