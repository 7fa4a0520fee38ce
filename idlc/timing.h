// SPDX-License-Identifier: Apache-2.0
//
// What the IDL says about the timing of operations (docs/scheduling.md): `@period(ms=50)` and the
// like in front of them, or `#pragma kairos period(ms=50, Interface::operation)`. A pragma
// overrides an annotation. An annotation that the IDL declares itself is the user's, not ours.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kairos::idlc {

/// Longer times are refused: 366 days, as in kairos/sched.
constexpr std::int64_t timing_ns_max = std::int64_t{366} * 24 * 3600 * 1'000'000'000;

/// `@calls(Other::operation, count=2, kind=oneway)`
struct TimedCall {
    const Operation* callee = nullptr;
    std::uint32_t count = 1;
    bool waits = true; ///< for the reply
    Location location{};
};

/// Times are above 0.
struct Timing {
    const Operation* operation = nullptr;
    std::optional<std::int64_t> period_ns{};
    std::optional<std::int64_t> worst_case_ns{};
    std::optional<std::int64_t> typical_ns{};
    std::optional<std::int64_t> cached_ns{};
    std::optional<std::int64_t> deadline_ns{};
    std::optional<std::int64_t> blocking_ns{};
    std::optional<std::int64_t> quantum_ns{};
    std::optional<std::uint8_t> criticality{}; ///< 0 very_low … 4 very_high
    std::optional<std::uint8_t> importance{};  ///< likewise
    std::optional<std::uint32_t> threads{};
    std::vector<TimedCall> calls{};

    /// The deadline, or the period that stands for one; 0 where there is neither.
    [[nodiscard]] std::int64_t enforced_ns() const noexcept
    {
        return deadline_ns.value_or(period_ns.value_or(0));
    }
};

/// Whether annotations and pragmas of this name are about timing.
[[nodiscard]] bool is_timing_name(std::string_view name) noexcept;

/// The timing of every operation of which the unit says something, in source order. What it says
/// wrongly is reported and left out.
[[nodiscard]] std::vector<Timing> read_timings(const Unit& unit, Diagnostics& diagnostics);

} // namespace kairos::idlc
