// SPDX-License-Identifier: Apache-2.0
#include "kairos/scheduler/servant.h"

#include "kairos/base/assert_held.h"
#include "kairos/sched/bounds.h"
#include "kairos/sched/time_text.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

namespace kairos::scheduler {
namespace {

using RtecScheduler::handle_t;
using sched::OperationIndex;
using sched::OperationSet;
using sched::Time;

constexpr std::int64_t unit_ns = 100; ///< of the interface's times
/// Some ten milliseconds: anybody may ask, and change something between two questions. What is left
/// open then is said to be undecided; `kairos sched` looks longer.
constexpr std::uint64_t looks_of_one_request = 10'000'000;
/// Priorities beyond are no operating system's.
constexpr CORBA::Long priority_max = 1'000'000;

[[noreturn]] void refuse(const Error& error)
{
    if (error.code == ErrorCode::limit_exceeded)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, error.reason);
    throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, error.reason);
}

Time time_of(RtecScheduler::Time units)
{
    if (units > static_cast<RtecScheduler::Time>(sched::time_max.count() / unit_ns))
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a time of more than 366 days");
    return Time(static_cast<std::int64_t>(units) * unit_ns);
}

/// Upwards: a time that is not a whole number of units must not look shorter than it is.
RtecScheduler::Time units_of(Time time)
{
    return static_cast<RtecScheduler::Time>((time.count() + unit_ns - 1) / unit_ns);
}

RtecScheduler::Period_t period_units(Time period)
{
    // Downwards, as a longer period would be a lighter load.
    constexpr std::int64_t most = std::numeric_limits<RtecScheduler::Period_t>::max();
    return static_cast<RtecScheduler::Period_t>(std::min(period.count() / unit_ns, most));
}

handle_t handle_of(OperationIndex operation) { return static_cast<handle_t>(operation) + 1; }

RtecScheduler::Dispatching_Type_t dispatching_of(sched::Policy policy)
{
    switch (policy) {
    case sched::Policy::rms:
    case sched::Policy::dms:
        return RtecScheduler::STATIC_DISPATCHING;
    case sched::Policy::edf:
        return RtecScheduler::DEADLINE_DISPATCHING;
    case sched::Policy::muf:
    case sched::Policy::llf:
        return RtecScheduler::LAXITY_DISPATCHING;
    }
    return RtecScheduler::STATIC_DISPATCHING;
}

/// Priorities of systems where smaller numbers are more urgent, turned round.
struct CallersPriorities {
    sched::PriorityRange range;
    bool negated = false;

    [[nodiscard]] int operator()(int priority) const { return negated ? -priority : priority; }
};

CallersPriorities range_of(CORBA::Long minimum, CORBA::Long maximum)
{
    if (std::max(std::abs(std::int64_t{minimum}), std::abs(std::int64_t{maximum})) > priority_max)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no such priorities");
    if (minimum <= maximum) return {{minimum, maximum}, false};
    return {{-minimum, -maximum}, true};
}

Servant::Schedule schedule_of(sched::Analysis analysis, const CallersPriorities& numbers)
{
    Servant::Schedule schedule{.analysis = std::move(analysis), .operations = {}, .levels = {}};
    for (sched::Task& task : schedule.analysis.tasks) {
        task.priority.os_priority = numbers(task.priority.os_priority);
        if (task.priority.level < schedule.levels.size()) continue;
        schedule.levels.push_back({static_cast<CORBA::Long>(task.priority.level),
                                   task.priority.os_priority,
                                   dispatching_of(schedule.analysis.policy)});
    }
    schedule.operations = sched::operation_priorities(schedule.analysis);
    return schedule;
}

RtecScheduler::RT_Info info_of(const OperationSet& set, OperationIndex operation,
                               const Servant::Schedule* schedule)
{
    const sched::RtInfo& info = set[operation];
    RtecScheduler::RT_Info result;
    result.entry_point = CORBA::string_dup(info.name.c_str());
    result.handle = handle_of(operation);
    result.worst_case_execution_time = units_of(info.worst_case_time);
    result.typical_execution_time = units_of(info.typical_time);
    result.cached_execution_time = units_of(info.cached_time);
    result.period = period_units(info.period);
    result.criticality = static_cast<RtecScheduler::Criticality_t>(info.criticality);
    result.importance = static_cast<RtecScheduler::Importance_t>(info.importance);
    result.quantum = units_of(info.quantum);
    result.threads = static_cast<CORBA::Long>(info.threads);
    result.dependencies.length(static_cast<CORBA::ULong>(info.dependencies.size()));
    for (CORBA::ULong i = 0; i < result.dependencies.length(); ++i) {
        const sched::Dependency& dependency = info.dependencies[i];
        result.dependencies[i] = {
            dependency.kind == sched::CallKind::one_way ? RtecScheduler::ONE_WAY_CALL
                                                        : RtecScheduler::TWO_WAY_CALL,
            static_cast<CORBA::Long>(dependency.calls), handle_of(dependency.callee)};
    }
    const sched::Priority priority =
        schedule != nullptr ? schedule->operations[operation] : sched::Priority();
    result.priority = priority.os_priority;
    result.preemption_subpriority = static_cast<CORBA::Long>(priority.sub);
    result.preemption_priority = static_cast<CORBA::Long>(priority.level);
    result.info_type = RtecScheduler::OPERATION;
    result.volatile_token = 0;
    return result;
}

void add_anomaly(RtecScheduler::Scheduling_Anomaly_Set& anomalies, const std::string& description,
                 RtecScheduler::Anomaly_Severity severity)
{
    const CORBA::ULong last = anomalies.length();
    anomalies.length(last + 1);
    anomalies[last].description = CORBA::string_dup(description.c_str());
    anomalies[last].severity = severity;
}

std::string miss_of(const sched::Task& task, const sched::Response& response)
{
    const std::string name = "'" + task.name + "' ";
    if (response.verdict == sched::Verdict::undecided && !response.worst)
        return name + "is not guaranteed to meet its deadline";
    if (response.verdict == sched::Verdict::unbounded)
        return name + "misses its deadline, later and later";
    if (response.verdict == sched::Verdict::undecided)
        return name + "may miss its deadline: it ends within " + sched::to_text(*response.worst);
    return name + "misses its deadline by " + sched::to_text(*response.worst - task.deadline);
}

void describe(const sched::Analysis& analysis, RtecScheduler::Scheduling_Anomaly_Set& anomalies)
{
    for (const sched::Collapse& collapse : analysis.collapses) {
        std::string text = "too few priorities: these share one and do not preempt each other:";
        for (const std::size_t task : collapse.tasks)
            text += " '" + analysis.tasks[task].name + "'";
        add_anomaly(anomalies, text, RtecScheduler::ANOMALY_WARNING);
    }
    for (std::size_t i = 0; i < analysis.tasks.size(); ++i)
        if (analysis.responses[i].verdict != sched::Verdict::meets)
            add_anomaly(anomalies, miss_of(analysis.tasks[i], analysis.responses[i]),
                        RtecScheduler::ANOMALY_ERROR);
}

/// MUF is for sets that are too much: what is critical is served all the same.
void check_utilisation(const sched::Analysis& analysis)
{
    if (analysis.policy == sched::Policy::muf) return;
    std::vector<const sched::Task*> tasks;
    tasks.reserve(analysis.tasks.size());
    for (const sched::Task& task : analysis.tasks)
        tasks.push_back(&task);
    if (compare_with_processor(tasks) == sched::Load::above)
        throw RtecScheduler::UTILIZATION_BOUND_EXCEEDED();
}

} // namespace

OperationIndex Servant::index_of(handle_t handle) const
{
    assert_held(mutex_);
    if (handle < 1 || static_cast<std::size_t>(handle) > set_.size())
        throw RtecScheduler::UNKNOWN_TASK();
    return static_cast<OperationIndex>(handle) - 1;
}

const Servant::Schedule& Servant::schedule() const
{
    assert_held(mutex_);
    if (!schedule_) throw RtecScheduler::NOT_SCHEDULED();
    return *schedule_;
}

void Servant::replace(OperationIndex operation, const sched::RtInfo& info)
{
    assert_held(mutex_);
    if (const auto replaced = set_.replace(operation, info); !replaced) refuse(replaced.error());
    schedule_.reset();
    ++changes_;
}

handle_t Servant::create(const char* entry_point)
{
    const std::string_view name = entry_point;
    if (name.size() > sched::name_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "the name is too long");
    const std::lock_guard lock(mutex_);
    if (set_.find(name)) throw RtecScheduler::DUPLICATE_NAME();
    const auto operation = set_.add({.name = std::string(name)});
    if (!operation) refuse(operation.error());
    schedule_.reset();
    ++changes_;
    return handle_of(*operation);
}

handle_t Servant::lookup(const char* entry_point)
{
    const std::lock_guard lock(mutex_);
    const auto operation = set_.find(entry_point);
    return operation ? handle_of(*operation) : -1;
}

RtecScheduler::RT_Info* Servant::get(handle_t handle)
{
    const std::lock_guard lock(mutex_);
    const OperationIndex operation = index_of(handle);
    return new RtecScheduler::RT_Info(info_of(set_, operation, schedule_ ? &*schedule_ : nullptr));
}

void Servant::set(handle_t handle, RtecScheduler::Criticality_t criticality,
                  RtecScheduler::Time wc_time, RtecScheduler::Time typical_time,
                  RtecScheduler::Time cached_time, RtecScheduler::Period_t period,
                  RtecScheduler::Importance_t importance, RtecScheduler::Quantum_t quantum,
                  CORBA::Long threads, RtecScheduler::Info_Type_t info_type)
{
    const std::lock_guard lock(mutex_);
    const OperationIndex operation = index_of(handle);
    if (info_type != RtecScheduler::OPERATION)
        throw CORBA::NO_IMPLEMENT(0, CORBA::COMPLETED_NO, "only operations are scheduled");
    if (period < 0 || threads < 0)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a negative period or number of threads");
    const sched::RtInfo& old = set_[operation];
    replace(operation, {.name = old.name,
                        .worst_case_time = time_of(wc_time),
                        .typical_time = time_of(typical_time),
                        .cached_time = time_of(cached_time),
                        .period = time_of(static_cast<RtecScheduler::Time>(period)),
                        .deadline = old.deadline,
                        .blocking = old.blocking,
                        .quantum = time_of(quantum),
                        .criticality = static_cast<sched::Criticality>(criticality),
                        .importance = static_cast<sched::Importance>(importance),
                        .threads = static_cast<std::uint32_t>(threads)});
}

void Servant::set_deadline(handle_t handle, RtecScheduler::Time deadline,
                           RtecScheduler::Time blocking)
{
    const std::lock_guard lock(mutex_);
    const OperationIndex operation = index_of(handle);
    sched::RtInfo info = set_[operation];
    info.deadline = time_of(deadline);
    info.blocking = time_of(blocking);
    replace(operation, info);
}

void Servant::add_dependency(handle_t handle, handle_t dependency, CORBA::Long number_of_calls,
                             RtecScheduler::Dependency_Type_t dependency_type)
{
    const std::lock_guard lock(mutex_);
    const OperationIndex caller = index_of(handle);
    const OperationIndex callee = index_of(dependency);
    if (number_of_calls < 1)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a dependency without calls");
    const auto kind = dependency_type == RtecScheduler::ONE_WAY_CALL ? sched::CallKind::one_way
                                                                     : sched::CallKind::two_way;
    const auto added =
        set_.add_dependency(caller, {callee, kind, static_cast<std::uint32_t>(number_of_calls)});
    if (!added) refuse(added.error());
    schedule_.reset();
    ++changes_;
}

void Servant::priority(handle_t handle, RtecScheduler::OS_Priority& o_priority,
                       RtecScheduler::Preemption_Subpriority_t& p_subpriority,
                       RtecScheduler::Preemption_Priority_t& p_priority)
{
    const std::lock_guard lock(mutex_);
    const OperationIndex operation = index_of(handle);
    const sched::Priority& priority = schedule().operations[operation];
    o_priority = priority.os_priority;
    p_subpriority = static_cast<CORBA::Long>(priority.sub);
    p_priority = static_cast<CORBA::Long>(priority.level);
}

void Servant::entry_point_priority(const char* entry_point, RtecScheduler::OS_Priority& o_priority,
                                   RtecScheduler::Preemption_Subpriority_t& p_subpriority,
                                   RtecScheduler::Preemption_Priority_t& p_priority)
{
    priority(lookup(entry_point), o_priority, p_subpriority, p_priority);
}

Servant::Answer Servant::compute(const OperationSet& set, CORBA::Long minimum_priority,
                                 CORBA::Long maximum_priority) const
{
    const CallersPriorities numbers = range_of(minimum_priority, maximum_priority);
    Answer answer{.changes = 0,
                  .minimum_priority = minimum_priority,
                  .maximum_priority = maximum_priority,
                  .infos = {},
                  .configs = {},
                  .anomalies = {},
                  .schedule = {}};
    auto analysis = sched::analyse(
        set, {.policy = policy_, .range = numbers.range, .looks_max = looks_of_one_request});
    if (analysis) {
        check_utilisation(*analysis);
        describe(*analysis, answer.anomalies);
        answer.schedule = schedule_of(std::move(analysis).value(), numbers);
        answer.configs.length(static_cast<CORBA::ULong>(answer.schedule->levels.size()));
        std::ranges::copy(answer.schedule->levels, answer.configs.begin());
    } else {
        add_anomaly(answer.anomalies, analysis.error().reason, RtecScheduler::ANOMALY_FATAL);
    }
    answer.infos.length(static_cast<CORBA::ULong>(set.size()));
    for (CORBA::ULong i = 0; i < answer.infos.length(); ++i)
        answer.infos[i] = info_of(set, i, answer.schedule ? &*answer.schedule : nullptr);
    return answer;
}

void Servant::compute_scheduling(CORBA::Long minimum_priority, CORBA::Long maximum_priority,
                                 RtecScheduler::RT_Info_Set_out infos,
                                 RtecScheduler::Config_Info_Set_out configs,
                                 RtecScheduler::Scheduling_Anomaly_Set_out anomalies)
{
    (void)range_of(minimum_priority, maximum_priority); // refused whatever the set is
    std::unique_lock lock(mutex_);
    std::shared_ptr<const Answer> answer = answer_;
    if (!answer || answer->changes != changes_ || answer->minimum_priority != minimum_priority ||
        answer->maximum_priority != maximum_priority) {
        const OperationSet set = set_;
        const std::uint64_t changes = changes_;
        lock.unlock();
        if (set.size() == 0) throw RtecScheduler::TASK_COUNT_MISMATCH();
        Answer computed = compute(set, minimum_priority, maximum_priority);
        computed.changes = changes;
        answer = std::make_shared<const Answer>(std::move(computed));
        lock.lock();
        ++computed_;
        answer_ = answer;
    }
    // What has been changed meanwhile was not looked at.
    if (answer->changes == changes_) schedule_ = answer->schedule;
    lock.unlock();
    infos = new RtecScheduler::RT_Info_Set(answer->infos);
    configs = new RtecScheduler::Config_Info_Set(answer->configs);
    anomalies = new RtecScheduler::Scheduling_Anomaly_Set(answer->anomalies);
}

std::uint64_t Servant::computed()
{
    const std::lock_guard lock(mutex_);
    return computed_;
}

void Servant::dispatch_configuration(RtecScheduler::Preemption_Priority_t p_priority,
                                     RtecScheduler::OS_Priority& o_priority,
                                     RtecScheduler::Dispatching_Type_t& d_type)
{
    const std::lock_guard lock(mutex_);
    const auto& levels = schedule().levels;
    if (p_priority < 0 || static_cast<std::size_t>(p_priority) >= levels.size())
        throw RtecScheduler::UNKNOWN_PRIORITY_LEVEL();
    const RtecScheduler::Config_Info& level = levels[static_cast<std::size_t>(p_priority)];
    o_priority = level.thread_priority;
    d_type = level.dispatching_type;
}

RtecScheduler::Preemption_Priority_t Servant::last_scheduled_priority()
{
    const std::lock_guard lock(mutex_);
    return schedule().levels.back().preemption_priority;
}

KairosScheduler::ResponseList* Servant::responses()
{
    const std::lock_guard lock(mutex_);
    const sched::Analysis& analysis = schedule().analysis;
    KairosScheduler::ResponseList_var result = new KairosScheduler::ResponseList;
    result->length(static_cast<CORBA::ULong>(analysis.tasks.size()));
    for (CORBA::ULong i = 0; i < result->length(); ++i) {
        const sched::Task& task = analysis.tasks[i];
        const sched::Response& response = analysis.responses[i];
        result[i] = {handle_of(task.operation),
                     static_cast<CORBA::ULongLong>(task.period.count()),
                     static_cast<CORBA::ULongLong>(task.execution.count()),
                     static_cast<CORBA::ULongLong>(task.deadline.count()),
                     response.worst ? response.worst->count() : -1,
                     static_cast<KairosScheduler::Verdict>(response.verdict)};
    }
    return result._retn();
}

} // namespace kairos::scheduler
