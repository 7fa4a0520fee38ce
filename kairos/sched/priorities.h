// SPDX-License-Identifier: Apache-2.0
//
// Which task is more urgent, decided before anything runs: levels by period, deadline or
// criticality, an order within each level, and priorities of the operating system, of which there
// may be too few.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/tasks.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kairos::sched {

/// How tasks are ordered while they run. RMS and DMS: by levels of fixed priorities. EDF and LLF:
/// all in one level, by deadline or laxity. MUF: levels by criticality, laxity within each.
enum class Policy : std::uint8_t { rms, dms, edf, muf, llf };

/// "rms", "dms", "edf", "muf", "llf".
[[nodiscard]] KAIROS_API std::string_view name_of(Policy policy) noexcept;
[[nodiscard]] KAIROS_API std::optional<Policy> policy_named(std::string_view name) noexcept;
/// Whether all that decides is known beforehand.
[[nodiscard]] constexpr bool is_static(Policy policy) noexcept
{
    return policy == Policy::rms || policy == Policy::dms;
}

/// Priorities of the operating system, both included. The default is SCHED_FIFO's on Linux.
struct KAIROS_API PriorityRange {
    int lowest = 1;
    int highest = 99;
};

/// A level that had to take in several: its tasks no longer preempt each other.
struct KAIROS_API Collapse {
    std::uint32_t level = 0;
    int os_priority = 0;
    std::vector<std::size_t>
        tasks{}; ///< indices into the span that was assigned, most urgent first
};

/// Gives every task its Priority. Within a level: importance, then callers before whom they call,
/// then the order of the set. Where levels outnumber the range's priorities, neighbours share one:
/// of RMS and DMS those whose periods or deadlines differ by the smallest factor, of MUF the least
/// critical. Fails for an empty range.
[[nodiscard]] KAIROS_API Result<std::vector<Collapse>>
assign_priorities(std::span<Task> tasks, Policy policy, PriorityRange range = {});

} // namespace kairos::sched
