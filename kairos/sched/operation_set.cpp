// SPDX-License-Identifier: Apache-2.0
#include "kairos/sched/operation_set.h"

#include "kairos/sched/time_text.h"

#include <array>
#include <utility>

namespace kairos::sched {
namespace {

Error invalid(const std::string& name, std::string_view what)
{
    return {.code = ErrorCode::invalid_argument, .reason = "'" + name + "' " + std::string(what)};
}

Error limit(const std::string& name, std::string_view what)
{
    return {.code = ErrorCode::limit_exceeded, .reason = "'" + name + "' " + std::string(what)};
}

} // namespace

Result<void> check(const RtInfo& info)
{
    if (info.name.empty())
        return Error{.code = ErrorCode::invalid_argument, .reason = "an operation needs a name"};
    if (info.name.size() > name_octets_max)
        return Error{.code = ErrorCode::limit_exceeded,
                     .reason =
                         "a name of more than " + std::to_string(name_octets_max) + " octets"};
    const std::array<std::pair<std::string_view, Time>, 7> times{{
        {"worst-case time", info.worst_case_time},
        {"typical time", info.typical_time},
        {"cached time", info.cached_time},
        {"period", info.period},
        {"deadline", info.deadline},
        {"blocking time", info.blocking},
        {"quantum", info.quantum},
    }};
    for (const auto& [what, time] : times) {
        if (time < Time(0)) return invalid(info.name, "has a negative " + std::string(what));
        if (time > time_max)
            return limit(info.name,
                         "has a " + std::string(what) + " of more than " + to_text(time_max));
    }
    if (info.typical_time > info.worst_case_time)
        return invalid(info.name, "typically takes longer than in the worst case");
    const Time uncached = info.typical_time > Time(0) ? info.typical_time : info.worst_case_time;
    if (info.cached_time > uncached)
        return invalid(info.name, "takes longer with its answer cached than without");
    if (info.threads > threads_max) return limit(info.name, "has too many threads");
    return {};
}

Result<OperationIndex> OperationSet::add(RtInfo info)
{
    if (const auto checked = check(info); !checked) return checked.error();
    if (operations_.size() == operations_max) return limit(info.name, "is one operation too many");
    if (names_.contains(info.name)) return invalid(info.name, "is there already");
    if (!info.dependencies.empty())
        return invalid(info.name, "depends on others before they are known");
    names_.emplace(info.name, operations_.size());
    operations_.push_back(std::move(info));
    return operations_.size() - 1;
}

Result<void> OperationSet::replace(OperationIndex operation, RtInfo info)
{
    RtInfo& old = operations_[operation];
    info.name = old.name;
    if (const auto checked = check(info); !checked) return checked.error();
    info.dependencies = std::move(old.dependencies);
    old = std::move(info);
    return {};
}

Result<void> OperationSet::add_dependency(OperationIndex caller, const Dependency& dependency)
{
    RtInfo& info = operations_[caller];
    if (dependency.callee >= operations_.size())
        return invalid(info.name, "depends on an operation that is not in the set");
    if (dependency.calls == 0 || dependency.calls > calls_max)
        return limit(info.name, "calls '" + operations_[dependency.callee].name + "' " +
                                    std::to_string(dependency.calls) +
                                    " times; 1 to 1000000 are possible");
    if (info.dependencies.size() == operations_max)
        return limit(info.name, "has too many dependencies");
    info.dependencies.push_back(dependency);
    return {};
}

std::optional<OperationIndex> OperationSet::find(std::string_view name) const
{
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    return found->second;
}

} // namespace kairos::sched
