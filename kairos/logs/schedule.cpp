// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/schedule.h"

#include "kairos/logs/service.h"

#include <algorithm>

namespace kairos::logs {
namespace {

constexpr std::uint64_t ticks_a_second = 10'000'000;
constexpr std::uint64_t ticks_a_minute = 60 * ticks_a_second;
constexpr std::uint64_t minutes_a_day = 24 * 60;
/// Between the beginnings of that time and of the system's.
constexpr std::uint64_t epoch_ticks = 0x01B2'1DD2'1381'4000;
/// The first day was a Friday.
constexpr std::uint64_t first_day = 5;
constexpr DsLogAdmin::DaysOfWeek all_days = 127;

unsigned minute_of(const DsLogAdmin::Time24& time) { return time.hour * 60U + time.minute; }

} // namespace

std::uint64_t Clock::now() const noexcept
{
    using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, ticks_a_second>>;
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    return epoch_ticks + static_cast<std::uint64_t>(std::max<std::int64_t>(
                             std::chrono::duration_cast<Ticks>(time).count(), 0));
}

void check_interval(const DsLogAdmin::TimeInterval& interval)
{
    constexpr std::uint64_t last = ~std::uint64_t{0} >> 1;
    if (interval.start > last || interval.stop > last) throw DsLogAdmin::InvalidTime();
    if (interval.stop != 0 && interval.stop <= interval.start)
        throw DsLogAdmin::InvalidTimeInterval();
}

void check_week_mask(const DsLogAdmin::WeekMask& mask, const ServiceLimits& limits)
{
    const auto refuse = [] {
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "a week mask has too many parts");
    };
    if (mask.length() > limits.week_mask_max) refuse();
    for (CORBA::ULong i = 0; i < mask.length(); ++i) {
        if (mask[i].days == 0 || (mask[i].days & ~all_days) != 0) throw DsLogAdmin::InvalidMask();
        const DsLogAdmin::IntervalsOfDay& intervals = mask[i].intervals;
        if (intervals.length() > limits.intervals_max) refuse();
        for (CORBA::ULong k = 0; k < intervals.length(); ++k) {
            for (const DsLogAdmin::Time24& time : {intervals[k].start, intervals[k].stop})
                if (time.hour > 23 || time.minute > 59) throw DsLogAdmin::InvalidTime();
            if (minute_of(intervals[k].start) > minute_of(intervals[k].stop))
                throw DsLogAdmin::InvalidTimeInterval();
        }
    }
}

void check_thresholds(const DsLogAdmin::CapacityAlarmThresholdList& thresholds)
{
    for (CORBA::ULong i = 0; i < thresholds.length(); ++i)
        if (thresholds[i] > 100 || (i != 0 && thresholds[i] <= thresholds[i - 1]))
            throw DsLogAdmin::InvalidThreshold();
}

void check_full_action(DsLogAdmin::LogFullActionType action)
{
    if (action != DsLogAdmin::wrap && action != DsLogAdmin::halt)
        throw DsLogAdmin::InvalidLogFullAction();
}

bool is_on_duty(const KairosLogs::Settings& settings, std::uint64_t now) noexcept
{
    if (now < settings.interval.start) return false;
    if (settings.interval.stop != 0 && now >= settings.interval.stop) return false;
    const DsLogAdmin::WeekMask& mask = settings.week_mask;
    if (mask.length() == 0) return true;
    const std::uint64_t minutes = now / ticks_a_minute;
    const unsigned day = 1U << (minutes / minutes_a_day + first_day) % 7;
    const auto minute = static_cast<unsigned>(minutes % minutes_a_day);
    for (CORBA::ULong i = 0; i < mask.length(); ++i) {
        if ((mask[i].days & day) == 0) continue;
        const DsLogAdmin::IntervalsOfDay& intervals = mask[i].intervals;
        if (intervals.length() == 0) return true; // all of the day
        for (CORBA::ULong k = 0; k < intervals.length(); ++k)
            if (minute >= minute_of(intervals[k].start) && minute <= minute_of(intervals[k].stop))
                return true;
    }
    return false;
}

} // namespace kairos::logs
