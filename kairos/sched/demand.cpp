// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/demand.h"

#include "kairos/sched/bounds.h"

#include <algorithm>
#include <limits>

namespace kairos::sched {
namespace {

__extension__ using Wide = __int128;
using Tasks = std::span<const Task* const>;

/// The work of all jobs that are released at or after 0 and due by `time`.
Wide work_due(Tasks tasks, Wide time)
{
    Wide sum = 0;
    for (const Task* task : tasks) {
        const Wide deadline = task->deadline.count();
        if (deadline <= time)
            sum += ((time - deadline) / task->period.count() + 1) * task->execution.count();
    }
    return sum;
}

/// The last deadline before `time`; -1 where there is none.
Wide deadline_before(Tasks tasks, Wide time)
{
    Wide latest = -1;
    for (const Task* task : tasks) {
        const Wide deadline = task->deadline.count();
        if (deadline >= time) continue;
        const Wide jobs = (time - deadline - 1) / task->period.count();
        latest = std::max(latest, deadline + jobs * task->period.count());
    }
    return latest;
}

Time time_of(Wide value)
{
    constexpr Wide most = std::numeric_limits<std::int64_t>::max();
    return Time(static_cast<std::int64_t>(std::min(value, most)));
}

} // namespace

DemandResult check_demand(Tasks tasks, Time blocking, Effort& effort)
{
    if (tasks.empty()) return {.verdict = Verdict::meets};
    if (compare_with_processor(tasks) == Load::above) return {.verdict = Verdict::unbounded};
    const auto busy = busy_period(tasks, blocking, effort);
    if (!busy) return {};
    Wide first_deadline = std::numeric_limits<std::int64_t>::max();
    for (const Task* task : tasks)
        first_deadline = std::min<Wide>(first_deadline, task->deadline.count());

    // Downwards from the end of the busy period: an interval that has time to spare speaks for all
    // from its work to its length.
    Wide time = deadline_before(tasks, Wide{busy->count()} + 1);
    for (std::uint64_t rounds = effort.rounds(tasks.size()); rounds > 0; --rounds) {
        effort.spend(1, tasks.size());
        if (time < first_deadline) return {.verdict = Verdict::meets};
        const Wide work = work_due(tasks, time) + blocking.count();
        if (work > time) return {Verdict::misses, time_of(time), time_of(work - time)};
        time = work < time ? work : deadline_before(tasks, time);
    }
    return {};
}

} // namespace kairos::sched
