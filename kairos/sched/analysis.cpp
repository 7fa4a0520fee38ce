// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/analysis.h"

#include "kairos/sched/bounds.h"
#include "kairos/sched/demand.h"
#include "kairos/sched/time_text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kairos::sched {
namespace {

using Borrowed = std::vector<const Task*>;

Time longest_blocking(const Borrowed& tasks)
{
    Time longest{0};
    for (const Task* task : tasks)
        longest = std::max(longest, task->blocking);
    return longest;
}

/// Of tasks that run by deadline or laxity with nothing above them.
Verdict judge_by_demand(const Borrowed& tasks, Effort& effort, std::vector<std::string>& notes)
{
    const DemandResult result = check_demand(tasks, longest_blocking(tasks), effort);
    if (result.verdict == Verdict::misses)
        notes.push_back("in the first " + to_text(result.interval) + ", " + to_text(result.excess) +
                        " more work is due than there is time");
    // Some task of the set misses; which, the demand does not say.
    return result.verdict == Verdict::meets ? Verdict::meets : Verdict::undecided;
}

void judge_as_one(Analysis& analysis, Effort& effort)
{
    Borrowed all;
    for (const Task& task : analysis.tasks)
        all.push_back(&task);
    const Verdict verdict = judge_by_demand(all, effort, analysis.notes);
    analysis.responses.assign(analysis.tasks.size(), {verdict, std::nullopt});
}

/// The most critical level has the processor for itself. Of every other one each job ends, in
/// whatever order, before its level and all above fall idle.
void judge_by_criticality(Analysis& analysis, Effort& effort)
{
    Borrowed so_far;
    const auto& tasks = analysis.tasks;
    for (std::size_t begin = 0; begin < tasks.size();) {
        std::size_t end = begin;
        while (end < tasks.size() && tasks[end].priority.level == tasks[begin].priority.level)
            so_far.push_back(&tasks[end++]);
        const bool one_criticality = tasks[begin].criticality == tasks[end - 1].criticality;
        if (begin == 0 && one_criticality) {
            const Verdict verdict = judge_by_demand(so_far, effort, analysis.notes);
            analysis.responses.insert(analysis.responses.end(), end, {verdict, std::nullopt});
        } else {
            const auto busy = busy_period(so_far, longest_blocking(so_far), effort);
            for (std::size_t i = begin; i < end; ++i) {
                const bool meets = busy && *busy <= tasks[i].deadline;
                analysis.responses.push_back({meets ? Verdict::meets : Verdict::undecided, busy});
            }
        }
        begin = end;
    }
}

void judge(Analysis& analysis, Effort effort)
{
    if (is_static(analysis.policy))
        analysis.responses = response_times(analysis.tasks, effort);
    else if (analysis.policy == Policy::muf)
        judge_by_criticality(analysis, effort);
    else
        judge_as_one(analysis, effort);
    analysis.schedulable = std::ranges::all_of(
        analysis.responses, [](const Response& one) { return one.verdict == Verdict::meets; });
}

/// Puts the tasks into the order of their priorities, and renumbers what refers to them.
void sort_by_priority(Analysis& analysis)
{
    std::vector<std::size_t> order(analysis.tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
        const Priority& priority = analysis.tasks[i].priority;
        return std::pair(priority.level, priority.sub);
    });
    std::vector<std::size_t> place(order.size());
    std::vector<Task> sorted;
    for (const std::size_t i : order) {
        place[i] = sorted.size();
        sorted.push_back(std::move(analysis.tasks[i]));
    }
    analysis.tasks = std::move(sorted);
    for (Collapse& collapse : analysis.collapses)
        for (std::size_t& task : collapse.tasks)
            task = place[task];
}

} // namespace

Result<Analysis> analyse(const OperationSet& set, const AnalysisOptions& options,
                         OperationIndex* culprit)
{
    auto operations = propagate(set, options.time, culprit);
    if (!operations) return operations.error();
    auto tasks = make_tasks(set, *operations, culprit);
    if (!tasks) return tasks.error();
    auto collapses = assign_priorities(*tasks, options.policy, options.range);
    if (!collapses) return collapses.error();

    Analysis analysis{.policy = options.policy,
                      .operations = std::move(operations).value(),
                      .tasks = std::move(tasks).value(),
                      .collapses = std::move(collapses).value()};
    sort_by_priority(analysis);
    analysis.utilisation = utilisation(analysis.tasks);
    analysis.liu_layland = liu_layland_bound(analysis.tasks.size());
    analysis.hyperbolic = hyperbolic_product(analysis.tasks);
    analysis.bounds_apply =
        options.policy == Policy::rms && analysis.collapses.empty() && bounds_apply(analysis.tasks);
    analysis.hyperperiod = hyperperiod(analysis.tasks);
    judge(analysis, Effort(options.looks_max));
    return analysis;
}

std::vector<Priority> operation_priorities(const Analysis& analysis)
{
    std::vector<std::optional<Priority>> found(analysis.operations.size());
    const auto urgent_first = [](const Priority& a, const Priority& b) {
        return std::pair(a.level, a.sub) < std::pair(b.level, b.sub);
    };
    for (const Task& task : analysis.tasks) {
        auto& priority = found[task.operation];
        if (!priority || urgent_first(task.priority, *priority)) priority = task.priority;
    }
    std::vector<OperationIndex> callers_first(found.size());
    for (OperationIndex i = 0; i < found.size(); ++i)
        callers_first[analysis.operations[i].order] = i;
    std::vector<Priority> result(found.size());
    for (const OperationIndex i : callers_first) {
        if (!found[i])
            for (const OperationIndex caller : analysis.operations[i].callers)
                if (!found[i] || urgent_first(result[caller], *found[i])) found[i] = result[caller];
        result[i] = found[i].value_or(Priority());
    }
    return result;
}

} // namespace kairos::sched
