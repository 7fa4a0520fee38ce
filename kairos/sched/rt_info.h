// SPDX-License-Identifier: Apache-2.0
//
// What a scheduler is told of an operation: how long it runs, how often, how much it matters and
// whom it calls (the RT_Info of an RT_Operation). Plain data, no CORBA, no clock. All times are
// exact: whole nanoseconds.
#pragma once

#include "kairos/base/export.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::sched {

using Time = std::chrono::nanoseconds;

/// What a descriptor may say at most. So sums over a whole set stay far from the end of the type.
constexpr Time time_max = std::chrono::hours(24 * 366);
constexpr std::size_t operations_max = 10'000;
constexpr std::size_t name_octets_max = 1024;
constexpr std::uint32_t calls_max = 1'000'000;
constexpr std::uint32_t threads_max = 10'000;

/// How bad it is when the operation is late: the levels of MUF.
enum class Criticality : std::uint8_t { very_low, low, medium, high, very_high };
/// Who goes first where all else is equal.
enum class Importance : std::uint8_t { very_low, low, medium, high, very_high };
/// Whether a caller waits until what it calls is done.
enum class CallKind : std::uint8_t { one_way, two_way };

[[nodiscard]] KAIROS_API std::string_view name_of(Criticality criticality) noexcept;
[[nodiscard]] KAIROS_API std::string_view name_of(Importance importance) noexcept;
/// "very_low", "low", "medium", "high" or "very_high".
[[nodiscard]] KAIROS_API std::optional<Criticality>
criticality_named(std::string_view name) noexcept;
[[nodiscard]] KAIROS_API std::optional<Importance> importance_named(std::string_view name) noexcept;

/// The number of an operation in its OperationSet: 0, 1, 2, … in the order of adding.
using OperationIndex = std::size_t;

struct KAIROS_API Dependency {
    OperationIndex callee = 0;
    CallKind kind = CallKind::two_way;
    std::uint32_t calls = 1; ///< each time the caller runs
};

struct KAIROS_API RtInfo {
    std::string name; ///< the entry point; unique in a set
    /// How long the operation alone, without what it calls, executes at worst.
    Time worst_case_time{0};
    /// How long the operation alone, without what it calls, typically executes; zero: not known.
    Time typical_time{0};
    Time cached_time{0}; ///< as typical_time, when its answer is at hand; zero: not known
    Time period{0};      ///< zero: it runs only when it is called
    Time deadline{0};    ///< after its release; zero: its period
    Time blocking{0};    ///< for how long what is less urgent can hold it up, by locks
    Time quantum{0};     ///< for how long it keeps the processor among equals; zero: no matter
    Criticality criticality = Criticality::medium;
    Importance importance = Importance::medium;
    std::uint32_t threads = 0; ///< of its own, each of which runs it once a period; 0 counts as 1
    std::vector<Dependency> dependencies{};
};

} // namespace kairos::sched
