// SPDX-License-Identifier: Apache-2.0
//
// Whether tasks that run by deadline, or by laxity, meet their deadlines: they do exactly where no
// interval is asked for more work than it is long (Baruah, Rosier and Howell 1990). Only the
// intervals are looked at that quick processor-demand analysis needs (Zhang and Burns 2009).
#pragma once

#include "kairos/base/export.h"
#include "kairos/sched/response_time.h"
#include "kairos/sched/tasks.h"

#include <span>

namespace kairos::sched {

struct KAIROS_API DemandResult {
    Verdict verdict = Verdict::undecided;
    /// Where they miss: from when all are released together until then more work is due than there
    /// is time, by so much.
    Time interval{0};
    Time excess{0};
};

/// `blocking` is for how long a job without a deadline in the interval may hold it up.
[[nodiscard]] KAIROS_API DemandResult check_demand(std::span<const Task* const> tasks,
                                                   Time blocking, Effort& effort);

} // namespace kairos::sched
