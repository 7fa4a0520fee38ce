// SPDX-License-Identifier: Apache-2.0
//
// From operations that call each other to tasks that a processor runs. An operation that is called
// and waited for runs in its caller's thread: its time is part of the caller's, and it takes over
// the caller's rate. One with a period of its own, or called without waiting, is released by
// itself: it becomes a task, or several where it is released at several rates.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/operation_set.h"
#include "kairos/sched/rt_info.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::sched {

/// More tasks than this are refused: the analysis looks at all pairs of them, many times.
constexpr std::size_t tasks_max = 2000;

/// Which of the descriptors' execution times is meant. What is not known is the next worse one.
enum class ExecutionTime : std::uint8_t { worst_case, typical, cached };

/// `calls` calls every `period`.
struct KAIROS_API Rate {
    Time period{0};
    std::uint64_t calls = 0;
    friend bool operator==(const Rate&, const Rate&) = default;
};

/// What the dependencies make of one operation.
struct KAIROS_API Propagated {
    Time execution{0};            ///< with all that it calls and waits for
    std::vector<Rate> rates{};    ///< at which it runs, by period, each period once
    std::vector<Rate> releases{}; ///< those at which it is released by itself
    Time period{0};               ///< the shortest of `rates`
    std::size_t order = 0;        ///< callers have lower numbers than whom they call
    std::vector<OperationIndex> callers{};
};

/// What the dependencies make of each operation of the set. Fails for a cycle, whose operations it
/// names, for an operation that never runs, for one whose time or rate gets out of bounds, and
/// where calls hand on too many rates; then `culprit`, if given, becomes an operation that the
/// error is about.
[[nodiscard]] KAIROS_API Result<std::vector<Propagated>>
propagate(const OperationSet& set, ExecutionTime which = ExecutionTime::worst_case,
          OperationIndex* culprit = nullptr);

/// Where a task stands. Tasks of one level do not preempt each other: who has the lowest `sub` of
/// those that wait goes first.
struct KAIROS_API Priority {
    std::uint32_t level = 0; ///< preemption priority: 0 is the most urgent
    std::uint32_t sub = 0;   ///< within the level, 0 first
    int os_priority = 0;     ///< of SCHED_FIFO: the highest number is the most urgent
};

struct KAIROS_API Task {
    OperationIndex operation = 0;
    std::string name{}; ///< of the operation; with the period where it has several tasks
    Time period{0};
    Time execution{0}; ///< of all that is released at once: threads and calls multiply it
    Time deadline{0};  ///< after its release; may be longer than the period
    Time blocking{0};
    Time quantum{0};
    Criticality criticality = Criticality::medium;
    Importance importance = Importance::medium;
    std::size_t order = 0; ///< Propagated::order
    /// The shortest period and deadline of the operation's tasks: it has one priority.
    Time urgency_period{0};
    Time urgency_deadline{0};
    Priority priority{};
};

/// Makes the tasks of a set, in the order of its operations. Fails for a task that takes no time,
/// and for too many tasks.
[[nodiscard]] KAIROS_API Result<std::vector<Task>>
make_tasks(const OperationSet& set, const std::vector<Propagated>& propagated,
           OperationIndex* culprit = nullptr);

} // namespace kairos::sched
