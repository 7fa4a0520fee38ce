// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a set at a glance: its load, the bounds below which rate-monotonic priorities
// always suffice, and the time after which everything repeats.
#pragma once

#include "kairos/base/export.h"
#include "kairos/sched/tasks.h"

#include <cstdint>
#include <optional>
#include <span>

namespace kairos::sched {

/// The share of the processor that the tasks want; above 1 is too much. Rounded.
[[nodiscard]] KAIROS_API double utilisation(std::span<const Task> tasks);

/// Exact, except that sums within 10^-15 of 1 whose periods have no common multiple in range count
/// as `equal`.
enum class Load : std::uint8_t { below, equal, above };
[[nodiscard]] KAIROS_API Load compare_with_processor(std::span<const Task* const> tasks);

/// The utilisation up to which n tasks meet their deadlines: n (2^(1/n) - 1), by Liu and Layland
/// (1973).
[[nodiscard]] KAIROS_API double liu_layland_bound(std::size_t tasks);
/// The product of utilisation + 1 over all tasks; up to 2 all deadlines are met, by Bini, Buttazzo
/// and Buttazzo (2003).
[[nodiscard]] KAIROS_API double hyperbolic_product(std::span<const Task> tasks);
/// Whether liu_layland_bound and hyperbolic_product say anything of the set: deadlines are not
/// before the periods' ends, nothing blocks.
[[nodiscard]] KAIROS_API bool bounds_apply(std::span<const Task> tasks);

/// The least common multiple of the periods; none where it is more than time_max.
[[nodiscard]] KAIROS_API std::optional<Time> hyperperiod(std::span<const Task> tasks);

} // namespace kairos::sched
