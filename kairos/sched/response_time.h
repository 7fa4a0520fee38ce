// SPDX-License-Identifier: Apache-2.0
//
// Response-time analysis of fixed priorities on one processor: how long the worst job of each task
// takes from its release to its end. Joseph and Pandya (1986) and Audsley et al. (1993) within a
// period; Lehoczky (1990) where deadlines or responses are longer than that: every job of the busy
// period is looked at. Tasks that share a level do not preempt each other, which is the analysis of
// preemption thresholds (Wang and Saksena 1999).
#pragma once

#include "kairos/sched/tasks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kairos::sched {

enum class Verdict : std::uint8_t {
    meets,     ///< its deadline, always
    misses,    ///< its deadline, in the worst case
    unbounded, ///< what is more urgent leaves it too little: it falls behind further and further
    undecided, ///< the analysis cannot tell, or gave up
};

/// "meets", "misses", "unbounded", "undecided".
[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

struct Response {
    Verdict verdict = Verdict::undecided;
    /// The worst response; of an unbounded task that of its first job, where it ever ends.
    std::optional<Time> worst{};
};

/// One for each task, whose priorities are assigned.
[[nodiscard]] std::vector<Response> response_times(std::span<const Task> tasks);

/// A time after which all that was released together, and since, has been done, if `blocking` comes
/// on top; in any order. None where that is never.
[[nodiscard]] std::optional<Time> busy_period(std::span<const Task* const> tasks, Time blocking);

} // namespace kairos::sched
