// SPDX-License-Identifier: Apache-2.0
//
// What the names of Real-Time CORBA's Scheduling Service stand for: priorities of CORBA's.
// Activities are operations of the analysis; an object is named as one of them, or by what stands
// before the "::" of several, of which it then has the highest priority (its ceiling). A value.
#pragma once

#include "kairos/base/export.h"
#include "kairos/rtcorba/RTCORBA.h"
#include "kairos/sched/analysis.h"
#include "kairos/scheduler/rt_scheduler.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::rtscheduling {

class KAIROS_API Schedule {
  public:
    /// Nothing has a name.
    Schedule() = default;
    /// The operations of a set by their analysis, whose priorities of the operating system are the
    /// native ones of the ORB's mapping. Throws DATA_CONVERSION where that has none of CORBA's.
    [[nodiscard]] static Schedule of(CORBA::ORB_ptr orb, const sched::OperationSet& set,
                                     const sched::Analysis& analysis);
    /// What a Scheduling Service computes, when it is asked to, for native priorities of 1 to 99.
    /// Throws what that throws, BAD_PARAM for nil, and NO_RESOURCES with its reason where it can
    /// compute nothing.
    [[nodiscard]] static Schedule of(CORBA::ORB_ptr orb, RtecScheduler::Scheduler_ptr scheduler);

    /// One name more, or another priority. Throws BAD_PARAM for a priority below 0.
    void set(std::string name, RTCORBA::Priority priority);

    [[nodiscard]] std::optional<RTCORBA::Priority> activity(std::string_view name) const;
    [[nodiscard]] std::optional<RTCORBA::Priority> object(std::string_view name) const;
    /// Each once, ascending.
    [[nodiscard]] std::vector<RTCORBA::Priority> priorities() const;

  private:
    std::map<std::string, RTCORBA::Priority, std::less<>> names_;
};

} // namespace kairos::rtscheduling
