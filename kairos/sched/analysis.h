// SPDX-License-Identifier: Apache-2.0
//
// The whole way from descriptors to a verdict: dependencies, priorities, response times, bounds.
// What `kairos sched` prints and the Scheduling Service answers.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/sched/operation_set.h"
#include "kairos/sched/priorities.h"
#include "kairos/sched/response_time.h"
#include "kairos/sched/tasks.h"

#include <optional>
#include <string>
#include <vector>

namespace kairos::sched {

struct KAIROS_API AnalysisOptions {
    Policy policy = Policy::rms;
    PriorityRange range{};
    ExecutionTime time = ExecutionTime::worst_case;
    std::uint64_t looks_max = Effort::looks_max; ///< see there
};

struct KAIROS_API Analysis {
    Policy policy = Policy::rms;
    std::vector<Propagated> operations{}; ///< one for each of the set
    std::vector<Task> tasks{};            ///< most urgent first
    std::vector<Response> responses{};    ///< one for each task
    std::vector<Collapse> collapses{};    ///< their `tasks` are indices of `tasks`
    double utilisation = 0;
    double liu_layland = 0;    ///< the bound for so many tasks
    double hyperbolic = 0;     ///< the product, to be compared with 2
    bool bounds_apply = false; ///< to this set and policy; else the two say nothing
    std::optional<Time> hyperperiod{};
    bool schedulable = false;         ///< every task meets its deadline, always
    std::vector<std::string> notes{}; ///< for people: what is behind a verdict
};

/// Says whether the set is schedulable. Fails where the set itself is wrong: see propagate(), also
/// of `culprit`, and assign_priorities(). Under EDF, LLF and MUF there are no response times of
/// single tasks; for MUF's lower levels there is a bound.
[[nodiscard]] KAIROS_API Result<Analysis>
analyse(const OperationSet& set, const AnalysisOptions& options, OperationIndex* culprit = nullptr);

/// The priority of each operation of the set: for one that is released by itself that of its most
/// urgent task, for another that of its most urgent caller.
[[nodiscard]] KAIROS_API std::vector<Priority> operation_priorities(const Analysis& analysis);

} // namespace kairos::sched
