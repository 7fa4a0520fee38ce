// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/tasks.h"

#include "kairos/sched/time_text.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace kairos::sched {
namespace {

__extension__ using Wide = __int128;

/// Each call hands on each of its caller's rates. Calls of calls multiply them: more than any set
/// has that people wrote are refused before they fill the memory.
constexpr std::size_t rates_handed_on_max = 2'000'000;

/// An error, and the operation it is about for who wants to know.
Error about(ErrorCode code, std::string reason, OperationIndex operation, OperationIndex* culprit)
{
    if (culprit != nullptr) *culprit = operation;
    return {.code = code, .reason = std::move(reason)};
}

Error invalid(std::string reason, OperationIndex operation, OperationIndex* culprit)
{
    return about(ErrorCode::invalid_argument, std::move(reason), operation, culprit);
}

Time time_of(const RtInfo& info, ExecutionTime which)
{
    Time time = info.worst_case_time;
    if (which != ExecutionTime::worst_case && info.typical_time > Time(0)) time = info.typical_time;
    if (which == ExecutionTime::cached && info.cached_time > Time(0)) time = info.cached_time;
    return time;
}

using Callers = std::vector<std::vector<OperationIndex>>;

Callers callers_of(const OperationSet& set)
{
    Callers callers(set.size());
    for (OperationIndex caller = 0; caller < set.size(); ++caller)
        for (const Dependency& dependency : set[caller].dependencies)
            callers[dependency.callee].push_back(caller);
    return callers;
}

/// Each of `waiting` that is true has a caller of which it is true, too.
Error cycle(const OperationSet& set, const Callers& callers, const std::vector<bool>& waiting,
            OperationIndex* culprit)
{
    std::vector<OperationIndex> path;
    auto at = static_cast<OperationIndex>(std::ranges::find(waiting, true) - waiting.begin());
    while (std::ranges::find(path, at) == path.end()) {
        path.push_back(at);
        at = *std::ranges::find_if(callers[at], [&](OperationIndex i) { return waiting[i]; });
    }
    std::string text = "operations call each other in a cycle: " + set[at].name;
    for (auto it = path.rbegin(); *it != at; ++it)
        text += " -> " + set[*it].name;
    return invalid(text + " -> " + set[at].name, at, culprit);
}

/// The operations, callers before whom they call, otherwise in the order of the set.
Result<std::vector<OperationIndex>> callers_first(const OperationSet& set, const Callers& callers,
                                                  OperationIndex* culprit)
{
    std::vector<std::size_t> callers_left(set.size());
    std::vector<bool> waiting(set.size(), true);
    std::priority_queue<OperationIndex, std::vector<OperationIndex>, std::greater<>> ready;
    for (OperationIndex i = 0; i < set.size(); ++i) {
        callers_left[i] = callers[i].size();
        if (callers_left[i] == 0) ready.push(i);
    }
    std::vector<OperationIndex> sorted;
    while (!ready.empty()) {
        const OperationIndex caller = ready.top();
        ready.pop();
        waiting[caller] = false;
        sorted.push_back(caller);
        for (const Dependency& dependency : set[caller].dependencies)
            if (--callers_left[dependency.callee] == 0) ready.push(dependency.callee);
    }
    if (sorted.size() < set.size()) return cycle(set, callers, waiting, culprit);
    return sorted;
}

/// False where the number of calls no longer fits.
bool add_rate(std::vector<Rate>& rates, Time period, Wide calls)
{
    auto place = std::ranges::lower_bound(rates, period, {}, &Rate::period);
    if (place == rates.end() || place->period != period)
        place = rates.insert(place, {.period = period, .calls = 0});
    calls += place->calls;
    if (calls > std::numeric_limits<std::uint32_t>::max()) return false;
    place->calls = static_cast<std::uint64_t>(calls);
    return true;
}

Result<void> aggregate_execution(const OperationSet& set, OperationIndex operation,
                                 ExecutionTime which, std::vector<Propagated>& all,
                                 OperationIndex* culprit)
{
    Wide sum = time_of(set[operation], which).count();
    for (const Dependency& dependency : set[operation].dependencies)
        if (dependency.kind == CallKind::two_way)
            sum += Wide{all[dependency.callee].execution.count()} * dependency.calls;
    if (sum > time_max.count())
        return invalid("'" + set[operation].name + "' takes more than 366 days with what it calls",
                       operation, culprit);
    all[operation].execution = Time(static_cast<std::int64_t>(sum));
    return {};
}

Result<void> hand_on_rates(const OperationSet& set, OperationIndex caller,
                           std::vector<Propagated>& all, std::size_t& handed_on,
                           OperationIndex* culprit)
{
    for (const Dependency& dependency : set[caller].dependencies) {
        Propagated& callee = all[dependency.callee];
        handed_on += all[caller].rates.size();
        if (handed_on > rates_handed_on_max)
            return about(ErrorCode::limit_exceeded,
                         "'" + set[caller].name + "' makes too many calls at different rates",
                         caller, culprit);
        for (const Rate& rate : all[caller].rates) {
            const Wide calls = Wide{rate.calls} * dependency.calls;
            bool fits = add_rate(callee.rates, rate.period, calls);
            if (dependency.kind == CallKind::one_way)
                fits = fits && add_rate(callee.releases, rate.period, calls);
            if (!fits)
                return invalid("'" + set[dependency.callee].name +
                                   "' is called too many times in a period",
                               dependency.callee, culprit);
        }
    }
    return {};
}

} // namespace

Result<std::vector<Propagated>> propagate(const OperationSet& set, ExecutionTime which,
                                          OperationIndex* culprit)
{
    const Callers callers = callers_of(set);
    const auto sorted = callers_first(set, callers, culprit);
    if (!sorted) return sorted.error();
    std::vector<Propagated> all(set.size());
    for (auto it = sorted->rbegin(); it != sorted->rend(); ++it)
        if (const auto done = aggregate_execution(set, *it, which, all, culprit); !done)
            return done.error();
    std::size_t order = 0;
    std::size_t handed_on = 0;
    for (const OperationIndex operation : *sorted) {
        Propagated& one = all[operation];
        one.order = order++;
        one.callers = callers[operation];
        const auto again = std::ranges::unique(one.callers); // they ascend
        one.callers.erase(again.begin(), again.end());
        if (const Time period = set[operation].period; period > Time(0)) {
            add_rate(one.rates, period, 1);
            add_rate(one.releases, period, 1);
        }
        if (one.rates.empty())
            return invalid("'" + set[operation].name +
                               "' never runs: it has no period and no caller",
                           operation, culprit);
        one.period = one.rates.front().period;
        if (const auto done = hand_on_rates(set, operation, all, handed_on, culprit); !done)
            return done.error();
    }
    return all;
}

Result<std::vector<Task>> make_tasks(const OperationSet& set,
                                     const std::vector<Propagated>& propagated,
                                     OperationIndex* culprit)
{
    std::vector<Task> tasks;
    for (OperationIndex operation = 0; operation < set.size(); ++operation) {
        const RtInfo& info = set[operation];
        const Propagated& one = propagated[operation];
        for (const Rate& release : one.releases) {
            const Wide execution = Wide{one.execution.count()} * release.calls *
                                   std::max<std::uint32_t>(1, info.threads);
            if (execution == 0)
                return invalid("'" + info.name + "' has no execution time", operation, culprit);
            if (execution > time_max.count())
                return invalid("'" + info.name + "' takes more than 366 days", operation, culprit);
            if (tasks.size() == tasks_max)
                return about(ErrorCode::limit_exceeded,
                             "there are more than " + std::to_string(tasks_max) + " tasks",
                             operation, culprit);
            Task task{.operation = operation, .name = info.name, .period = release.period};
            if (one.releases.size() > 1) task.name += " (" + to_text(release.period) + ")";
            task.execution = Time(static_cast<std::int64_t>(execution));
            task.deadline = info.deadline > Time(0) ? info.deadline : release.period;
            task.blocking = info.blocking;
            task.quantum = info.quantum;
            task.criticality = info.criticality;
            task.importance = info.importance;
            task.order = one.order;
            task.urgency_period = one.releases.front().period;
            task.urgency_deadline = info.deadline > Time(0) ? info.deadline : task.urgency_period;
            tasks.push_back(std::move(task));
        }
    }
    return tasks;
}

} // namespace kairos::sched
