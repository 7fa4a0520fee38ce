// SPDX-License-Identifier: Apache-2.0
//
// A processor that exists on paper: all tasks are released together at 0 and then every period,
// each job runs for its full time, and the queues of dispatch_queue.h decide who runs. What the
// analysis says can be seen here, and is checked against it. Blocking is not played.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/dispatch_queue.h"
#include "kairos/sched/tasks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kairos::sched {

/// A job ran without a break.
struct KAIROS_API Slice {
    std::size_t task = 0; ///< index into the tasks played
    std::uint64_t job = 0;
    Time begin{0};
    Time end{0};
    bool completes = false; ///< the job ended with it
    friend bool operator==(const Slice&, const Slice&) = default;
};

/// What became of the jobs of one task that were due by the end.
struct KAIROS_API TaskRecord {
    std::uint64_t jobs = 0; ///< released
    std::uint64_t completed = 0;
    std::uint64_t misses = 0;
    Time worst_response{0}; ///< of the completed
    Time worst_lateness{0}; ///< behind the deadline; also of those that never ended
    std::uint64_t preemptions = 0;
};

struct KAIROS_API TimeLine {
    std::vector<Slice> slices; ///< in order; what lies between them is idle
    std::vector<TaskRecord> tasks;
    Time end{0};
    Time idle{0};
};

struct KAIROS_API TimeLineLimits {
    std::size_t jobs_max = 1'000'000;
    std::size_t slices_max = 2'000'000;
};

/// Plays until `end`. LLF and MUF look at laxities again when a job comes or ends and when
/// `quantum` has passed since somebody got the processor; 0: the greatest common divisor of all
/// times, with which nothing is lost by it. Fails where a limit is not enough.
[[nodiscard]] KAIROS_API Result<TimeLine> play(std::span<const Task> tasks, Policy policy, Time end,
                                               Time quantum = Time(0),
                                               const TimeLineLimits& limits = {});

} // namespace kairos::sched
