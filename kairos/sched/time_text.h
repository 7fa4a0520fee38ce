// SPDX-License-Identifier: Apache-2.0
//
// Times as people write them: "50 ms", "1.5us", and for periods also "20 Hz". Exact both ways.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/rt_info.h"

#include <optional>
#include <string>
#include <string_view>

namespace kairos::sched {

/// How many nanoseconds the unit has: "ns", "us", "µs", "ms", "s", "min", "h".
[[nodiscard]] KAIROS_API std::optional<Time> unit_named(std::string_view unit) noexcept;

/// Reads a time: a number, perhaps with a fraction, and a unit. At least 0, at most time_max.
[[nodiscard]] KAIROS_API Result<Time> parse_time(std::string_view text);
/// Reads a period: a time as parse_time reads it, or a rate in Hz that has a period of whole
/// nanoseconds. Never 0.
[[nodiscard]] KAIROS_API Result<Time> parse_period(std::string_view text);
/// The period of `hertz` releases a second, where it is a whole number of nanoseconds.
[[nodiscard]] KAIROS_API std::optional<Time> period_of_rate(std::int64_t hertz) noexcept;

/// In the largest unit up to seconds in which the time is at least 1: "1.5 ms". Exact.
[[nodiscard]] KAIROS_API std::string to_text(Time time);

} // namespace kairos::sched
