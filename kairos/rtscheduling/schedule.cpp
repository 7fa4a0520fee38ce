// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtscheduling/schedule.h"

#include "kairos/corba/CORBA.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kairos::rtscheduling {
namespace {

/// What CORBA's priority of a native one is.
class Mapping {
  public:
    explicit Mapping(CORBA::ORB_ptr orb)
    {
        if (CORBA::is_nil(orb)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil ORB");
        const CORBA::Object_var object = orb->resolve_initial_references("PriorityMappingManager");
        manager_ = RTCORBA::PriorityMappingManager::_narrow(object.in());
    }
    [[nodiscard]] RTCORBA::Priority operator()(CORBA::Long native) const
    {
        using Limits = std::numeric_limits<RTCORBA::NativePriority>;
        RTCORBA::Priority priority = 0;
        if (native < Limits::min() || native > Limits::max() ||
            !manager_->mapping()->to_CORBA(static_cast<RTCORBA::NativePriority>(native), priority))
            throw CORBA::DATA_CONVERSION(mapping::omg_minor(2), CORBA::COMPLETED_NO,
                                         "the mapping has no priority for a native one");
        return priority;
    }

  private:
    RTCORBA::PriorityMappingManager_var manager_;
};

} // namespace

Schedule Schedule::of(CORBA::ORB_ptr orb, const sched::OperationSet& set,
                      const sched::Analysis& analysis)
{
    const Mapping priority_of(orb);
    Schedule schedule;
    const std::vector<sched::Priority> priorities = sched::operation_priorities(analysis);
    for (sched::OperationIndex i = 0; i < set.size(); ++i)
        schedule.set(set[i].name, priority_of(priorities[i].os_priority));
    return schedule;
}

Schedule Schedule::of(CORBA::ORB_ptr orb, RtecScheduler::Scheduler_ptr scheduler)
{
    const Mapping priority_of(orb);
    if (CORBA::is_nil(scheduler)) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "nil scheduler");
    constexpr sched::PriorityRange range{};
    RtecScheduler::RT_Info_Set_var infos;
    RtecScheduler::Config_Info_Set_var configs;
    RtecScheduler::Scheduling_Anomaly_Set_var anomalies;
    scheduler->compute_scheduling(range.lowest, range.highest, infos.out(), configs.out(),
                                  anomalies.out());
    for (const RtecScheduler::Scheduling_Anomaly& anomaly : anomalies.in())
        if (anomaly.severity == RtecScheduler::ANOMALY_FATAL)
            throw CORBA::NO_RESOURCES(0, CORBA::COMPLETED_NO, anomaly.description.in());
    Schedule schedule;
    for (const RtecScheduler::RT_Info& info : infos.in())
        schedule.set(info.entry_point.in(), priority_of(info.priority));
    return schedule;
}

void Schedule::set(std::string name, RTCORBA::Priority priority)
{
    if (priority < RTCORBA::minPriority)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "no priority of CORBA's");
    names_.insert_or_assign(std::move(name), priority);
}

std::optional<RTCORBA::Priority> Schedule::activity(std::string_view name) const
{
    const auto known = names_.find(name);
    return known != names_.end() ? std::optional(known->second) : std::nullopt;
}

std::optional<RTCORBA::Priority> Schedule::object(std::string_view name) const
{
    if (const auto own = activity(name)) return own;
    const std::string prefix = std::string(name) + "::";
    std::optional<RTCORBA::Priority> ceiling;
    for (auto known = names_.lower_bound(prefix);
         known != names_.end() && known->first.starts_with(prefix); ++known)
        ceiling = std::max(ceiling.value_or(RTCORBA::minPriority), known->second);
    return ceiling;
}

std::vector<RTCORBA::Priority> Schedule::priorities() const
{
    std::vector<RTCORBA::Priority> found;
    found.reserve(names_.size());
    for (const auto& [name, priority] : names_)
        found.push_back(priority);
    std::ranges::sort(found);
    const auto again = std::ranges::unique(found);
    found.erase(again.begin(), again.end());
    return found;
}

} // namespace kairos::rtscheduling
