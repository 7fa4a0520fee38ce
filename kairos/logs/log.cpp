// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/log.h"

#include "kairos/codec/octets.h"
#include "kairos/logs/schedule.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace kairos::logs {
namespace {

constexpr std::uint64_t second_ticks = 10'000'000;
/// Records that one change forgets, beside what it is for.
constexpr std::size_t expired_at_once_max = 2000;
/// Records that one change is about.
constexpr std::size_t changed_at_once_max = 1000;
/// Octets after which a change leaves the rest to the next: others wait for it.
constexpr std::size_t written_at_once_max = std::size_t{4} << 20;

template <typename T>
std::string octets_of(const T& value, CORBA::ORB_ptr orb)
{
    codec::OctetWriter out(orb);
    out.put(static_cast<CORBA::Boolean>(native_little_endian)).put(value);
    const Bytes octets = out.octets();
    return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

[[noreturn]] void raise_failure(StoreStatus status)
{
    switch (status) {
    case StoreStatus::full:
        throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, "the store of logs has no room");
    case StoreStatus::busy:
        throw CORBA::TRANSIENT(0, CORBA::COMPLETED_NO, "the store of logs has much to do");
    default:
        throw CORBA::PERSIST_STORE(0, CORBA::COMPLETED_MAYBE,
                                   "the store of logs cannot be read or written");
    }
}

[[noreturn]] void raise_gone()
{
    throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
}

} // namespace

std::string encapsulated(const CORBA::Any& value, CORBA::ORB_ptr orb)
{
    return octets_of(value, orb);
}

std::string encapsulated(const DsLogAdmin::NVList& list, CORBA::ORB_ptr orb)
{
    return list.length() == 0 ? std::string() : octets_of(list, orb);
}

std::string encapsulated(const KairosLogs::Settings& settings)
{
    return octets_of(settings, nullptr);
}

/// An action on the way to the store.
class Log::Making final : public Change {
  public:
    Making(Log& log, const Action& action, bool makes_room)
        : log_(log), action_(action), makes_room_(makes_room)
    {
    }

    StoreStatus make(Tables& tables) override
    {
        outcome_ = nullptr;
        {
            const std::lock_guard lock(log_.mutex_);
            before_ = log_.state_;
        }
        LogState after = before_;
        try {
            if (after.is_gone) raise_gone();
            const StoreStatus status = action_(tables, after);
            if (status != StoreStatus::done) return status;
        } catch (const CORBA::Exception&) { // raised before anything is changed
            outcome_ = std::current_exception();
            return StoreStatus::done;
        } catch (...) { // no memory: taken back, all of it
            return StoreStatus::full;
        }
        const std::lock_guard lock(log_.mutex_);
        log_.state_ = std::move(after);
        return StoreStatus::done;
    }
    void undo() noexcept override
    {
        const std::lock_guard lock(log_.mutex_);
        log_.state_ = before_;
    }
    bool makes_room() const noexcept override { return makes_room_; }
    [[nodiscard]] const std::exception_ptr& outcome() const noexcept { return outcome_; }

  private:
    Log& log_;
    const Action& action_;
    const bool makes_room_;
    LogState before_;
    std::exception_ptr outcome_;
};

Log::Log(std::shared_ptr<Surroundings> surroundings, const KeptLog& kept, Settings settings)
    : around_(std::move(surroundings)), key_(kept.key)
{
    state_.settings = std::make_shared<const Settings>(std::move(settings));
    state_.counts = kept.counts;
    const std::uint64_t max = state_.settings->max_size;
    // What has been passed is not told again.
    if (max != 0 && state_.settings->full_action == DsLogAdmin::halt)
        state_.passed =
            static_cast<DsLogAdmin::Threshold>(std::min(kept.counts.octets, max) * 100 / max);
}

void Log::run(const Action& action, bool safe, bool makes_room)
{
    Making making(*this, action, makes_room);
    const StoreStatus status = around_->store->change(making, safe);
    if (status == StoreStatus::broken) is_enabled_ = false;
    if (status != StoreStatus::done) raise_failure(status);
    is_enabled_ = true;
    if (making.outcome()) std::rethrow_exception(making.outcome());
}

std::shared_ptr<const Log::Settings> Log::settings() const
{
    const std::lock_guard lock(mutex_);
    if (state_.is_gone) raise_gone();
    return state_.settings;
}

LogState Log::state()
{
    for (;;) {
        LogState now;
        {
            const std::lock_guard lock(mutex_);
            now = state_;
        }
        if (now.is_gone) raise_gone();
        if (!has_expired(now)) return now;
        run([this](Tables& tables, LogState& state) { return expire(tables, state); }, false, true);
    }
}

bool Log::has_expired(const LogState& state)
{
    const std::uint64_t life = state.settings->max_record_life * second_ticks;
    if (life == 0 || state.counts.records == 0) return false;
    Brief oldest;
    // Not read by who has no time for that: then it is there, and is seen to be too old later.
    return around_->store->first(key_, 0, oldest) == StoreStatus::done &&
           oldest.time + life <= around_->clock->now();
}

bool Log::is_safe() const
{
    const std::shared_ptr<const Settings> now = settings();
    for (CORBA::ULong i = 0; i < now->qos.length(); ++i)
        if (now->qos[i] == DsLogAdmin::QoSReliability) return true;
    return false;
}

void Log::note_channel(KairosLogs::ChannelSettings channel)
{
    auto now = std::make_shared<Settings>(*settings());
    now->channel = std::move(channel);
    const std::lock_guard lock(mutex_);
    state_.settings = std::move(now);
}

void Log::enter(bool is_chosen)
{
    const auto put = [&](Tables& tables, LogState& state) {
        const StoreStatus status = tables.put_log(
            {.key = key_, .settings = encapsulated(*state.settings), .counts = state.counts});
        return status == StoreStatus::done && is_chosen ? tables.set_last_key(key_) : status;
    };
    run(put, true);
}

std::shared_ptr<const Log::Settings>
Log::change(const std::function<void(Settings& settings, const LogState& state)>& how)
{
    std::shared_ptr<const Settings> before;
    const auto change_settings = [&](Tables& tables, LogState& state) {
        before = state.settings;
        auto after = std::make_shared<Settings>(*before);
        how(*after, state);
        if (after->max_size != before->max_size || after->full_action != before->full_action) {
            state.was_refused = false;
            state.gauge = 0;
            state.passed = 0;
        }
        state.settings = after;
        return tables.put_log(
            {.key = key_, .settings = encapsulated(*after), .counts = state.counts});
    };
    run(change_settings, true);
    return before;
}

void Log::flush()
{
    run([](Tables& tables, LogState& /*state*/) { return tables.touch(); }, true);
}

StoreStatus Log::take_out(Tables& tables, LogState& state, const Brief& brief) const
{
    const StoreStatus status = tables.erase(key_, brief.number);
    if (status != StoreStatus::done) return status;
    // A file may say anything.
    state.counts.records -= std::min<std::uint64_t>(state.counts.records, 1);
    state.counts.octets -= std::min<std::uint64_t>(state.counts.octets, brief.octets);
    state.was_refused = false;
    const std::uint64_t max = state.settings->max_size;
    if (max != 0 && state.settings->full_action == DsLogAdmin::halt) // alarms come again
        state.passed = static_cast<DsLogAdmin::Threshold>(
            std::min<std::uint64_t>(state.passed, state.counts.octets * 100 / max));
    return status;
}

StoreStatus Log::expire(Tables& tables, LogState& state) const
{
    const std::uint64_t life = state.settings->max_record_life * second_ticks;
    if (life == 0) return StoreStatus::done;
    const std::uint64_t now = around_->clock->now();
    for (std::size_t i = 0; i < expired_at_once_max; ++i) {
        Brief oldest;
        StoreStatus status = tables.first(key_, 0, oldest);
        if (status == StoreStatus::not_found ||
            (status == StoreStatus::done && oldest.time + life > now))
            break;
        if (status == StoreStatus::done) status = take_out(tables, state, oldest);
        if (status != StoreStatus::done) return status;
    }
    return tables.set_counts(key_, state.counts);
}

void Log::note_alarms(LogState& state, std::size_t octets, bool is_full, std::vector<Alarm>& alarms)
{
    const Settings& now = *state.settings;
    if (now.max_size == 0) return;
    const bool wraps = now.full_action == DsLogAdmin::wrap;
    state.gauge += octets;
    const std::uint64_t level = wraps ? state.gauge : state.counts.octets;
    const auto observed = static_cast<DsLogAdmin::Threshold>(
        is_full ? 100 : std::min<std::uint64_t>(level * 100 / now.max_size, 100));
    for (CORBA::ULong i = 0; i < now.thresholds.length(); ++i)
        if (now.thresholds[i] > state.passed && now.thresholds[i] <= observed)
            alarms.push_back({.crossed = now.thresholds[i], .observed = observed});
    state.passed = std::max(state.passed, observed);
    if (wraps && observed == 100) {
        state.gauge = 0;
        state.passed = 0;
    }
}

void Log::write(const std::vector<Draft>& drafts, std::vector<Alarm>& alarms)
{
    for (const Draft& draft : drafts)
        if (Row::counted(draft.info.size() + draft.attributes.size()) >
            around_->limits.record_octets_max)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                                   "the record is larger than records may be");
    std::size_t written = 0;
    bool is_full = false;
    const auto write_all = [&](Tables& tables, LogState& state) {
        alarms.clear();
        written = 0;
        is_full = false;
        const Settings& now = *state.settings;
        const std::uint64_t time = around_->clock->now();
        if (now.administrative_state == DsLogAdmin::locked) throw DsLogAdmin::LogLocked();
        if (!is_on_duty(now, time)) throw DsLogAdmin::LogOffDuty();
        StoreStatus status = expire(tables, state);
        if (status != StoreStatus::done) return status;
        state.counts.newest = std::max(state.counts.newest, time);
        for (const Draft& draft : drafts) {
            auto row = std::make_shared<const Row>(Row{.number = state.counts.next,
                                                       .time = state.counts.newest,
                                                       .attributes = draft.attributes,
                                                       .info = draft.info});
            const std::size_t octets = row->octets();
            const auto fits = [&] {
                return now.max_size == 0 || state.counts.octets + octets <= now.max_size;
            };
            if (now.full_action == DsLogAdmin::wrap && octets <= now.max_size)
                while (!fits()) {
                    Brief oldest;
                    status = tables.first(key_, 0, oldest);
                    if (status == StoreStatus::done) status = take_out(tables, state, oldest);
                    if (status != StoreStatus::done) return status;
                }
            if (!fits()) {
                is_full = true;
                state.was_refused = now.full_action == DsLogAdmin::halt;
                if (state.was_refused) note_alarms(state, 0, true, alarms);
                break;
            }
            status = tables.insert(key_, row);
            if (status != StoreStatus::done) return status;
            ++state.counts.next;
            ++state.counts.records;
            state.counts.octets += octets;
            ++written;
            note_alarms(state, octets, false, alarms);
        }
        return tables.set_counts(key_, state.counts);
    };
    try {
        run(write_all, is_safe());
    } catch (const CORBA::PERSIST_STORE&) {
        alarms.clear(); // nothing was written
        throw DsLogAdmin::LogDisabled();
    } catch (...) {
        alarms.clear();
        throw;
    }
    if (is_full)
        throw DsLogAdmin::LogFull(static_cast<CORBA::Short>(std::min<std::size_t>(written, 32767)));
}

void Log::set_attributes(std::uint64_t number, const std::string& attributes)
{
    if (set_attributes(std::vector<std::uint64_t>{number}, attributes) == 0)
        throw DsLogAdmin::InvalidRecordId();
}

std::size_t Log::set_attributes(const std::vector<std::uint64_t>& numbers,
                                const std::string& attributes)
{
    if (attributes.size() > around_->limits.record_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "attributes are larger than they may be");
    const std::size_t octets_max = around_->limits.record_octets_max;
    std::size_t changed = 0;
    for (std::size_t at = 0; at < numbers.size();) {
        std::size_t count = 0;
        std::size_t next = at;
        bool is_too_large = false;
        bool is_full = false;
        const auto set_some = [&](Tables& tables, LogState& state) {
            count = 0;
            is_too_large = is_full = false;
            std::size_t written = 0;
            const std::size_t end = std::min(numbers.size(), at + changed_at_once_max);
            // A record is written anew, with what it has.
            for (next = at; next < end && written < written_at_once_max; ++next) {
                Brief before;
                StoreStatus status = tables.first(key_, numbers[next], before);
                if (status == StoreStatus::not_found ||
                    (status == StoreStatus::done && before.number != numbers[next]))
                    continue;
                if (status != StoreStatus::done) return status;
                const std::size_t after = before.octets - before.attributes + attributes.size();
                is_too_large = after > octets_max;
                const std::uint64_t max = state.settings->max_size;
                const std::uint64_t rest =
                    state.counts.octets -
                    std::min<std::uint64_t>(state.counts.octets, before.octets);
                is_full = max != 0 && after > before.octets && rest + after > max;
                if (is_too_large || is_full) break; // what was changed before it stays so
                status = tables.set_attributes(key_, numbers[next], attributes);
                if (status != StoreStatus::done) return status;
                state.counts.octets = rest + after;
                written += after;
                ++count;
            }
            return tables.set_counts(key_, state.counts);
        };
        run(set_some, is_safe());
        if (is_too_large)
            throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_MAYBE,
                                   "the record would be larger than records may be");
        if (is_full)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_MAYBE, "the log has no room for that");
        at = next;
        changed += count;
    }
    return changed;
}

std::size_t Log::erase(const std::vector<std::uint64_t>& numbers)
{
    std::size_t erased = 0;
    for (std::size_t at = 0; at < numbers.size(); at += changed_at_once_max) {
        std::size_t count = 0;
        const auto erase_some = [&](Tables& tables, LogState& state) {
            count = 0;
            const std::size_t end = std::min(numbers.size(), at + changed_at_once_max);
            for (std::size_t i = at; i < end; ++i) {
                Brief brief;
                StoreStatus status = tables.first(key_, numbers[i], brief);
                if (status == StoreStatus::not_found ||
                    (status == StoreStatus::done && brief.number != numbers[i]))
                    continue;
                if (status == StoreStatus::done) status = take_out(tables, state, brief);
                if (status != StoreStatus::done) return status;
                ++count;
            }
            return tables.set_counts(key_, state.counts);
        };
        run(erase_some, true, true);
        erased += count;
    }
    return erased;
}

bool Log::end()
{
    // In portions: others wait for each, and on a full disk there is room for one. What comes
    // meanwhile goes at last.
    std::uint64_t end = 0;
    bool is_empty = false;
    const auto erase_some = [&](Tables& tables, LogState& state) {
        if (end == 0) end = state.counts.next;
        is_empty = false;
        for (std::size_t i = 0; i < changed_at_once_max && !is_empty; ++i) {
            Brief brief;
            StoreStatus status = tables.first(key_, 0, brief);
            is_empty = status == StoreStatus::not_found ||
                       (status == StoreStatus::done && brief.number >= end);
            if (is_empty) break;
            if (status == StoreStatus::done) status = take_out(tables, state, brief);
            if (status != StoreStatus::done) return status;
        }
        return tables.set_counts(key_, state.counts);
    };
    const auto end_all = [&](Tables& tables, LogState& state) {
        state.is_gone = true;
        return tables.erase_log(key_);
    };
    try {
        while (!is_empty)
            run(erase_some, false, true);
        run(end_all, true, true);
    } catch (const CORBA::OBJECT_NOT_EXIST&) {
        return false;
    }
    return true;
}

std::vector<RowPtr> Log::read(const Span& span)
{
    std::vector<RowPtr> rows;
    const StoreStatus status = around_->store->read(key_, span, rows);
    if (status == StoreStatus::broken) is_enabled_ = false;
    if (status != StoreStatus::done) raise_failure(status);
    return rows;
}

void Log::read_numbers(const Span& span, std::vector<std::uint64_t>& numbers)
{
    const StoreStatus status = around_->store->read_numbers(key_, span, numbers);
    if (status == StoreStatus::broken) is_enabled_ = false;
    if (status != StoreStatus::done) raise_failure(status);
}

std::optional<std::uint64_t> Log::first_at(std::uint64_t time)
{
    // Times do not run backwards: numbers are halved, whichever of them are there.
    std::uint64_t from = 0;
    std::uint64_t to = state().counts.next; // nothing of that number or beyond it
    std::optional<std::uint64_t> found;
    while (from < to) {
        const std::uint64_t middle = from + (to - from) / 2;
        Brief brief;
        const StoreStatus status = around_->store->first(key_, middle, brief);
        if (status != StoreStatus::done && status != StoreStatus::not_found) raise_failure(status);
        if (status == StoreStatus::done && brief.time < time) {
            from = brief.number + 1;
        } else {
            if (status == StoreStatus::done) found = brief.number;
            to = middle;
        }
    }
    return found;
}

} // namespace kairos::logs
