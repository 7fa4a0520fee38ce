// SPDX-License-Identifier: Apache-2.0
//
// The scheduler's servant. One lock guards what it was told and what was computed of it; the
// computation itself, which may take a while, runs on a copy without the lock, with an effort that
// no request exceeds, and once for a set that does not change. Any thread.
#pragma once

#include "kairos/sched/analysis.h"
#include "kairos/sched/operation_set.h"
#include "kairos/scheduler/KairosScheduler_skel.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::scheduler {

class Servant final : public POA_KairosScheduler::Scheduler {
  public:
    Servant(sched::Policy policy, sched::OperationSet set) : policy_(policy), set_(std::move(set))
    {
    }

    RtecScheduler::handle_t create(const char* entry_point) override;
    RtecScheduler::handle_t lookup(const char* entry_point) override;
    RtecScheduler::RT_Info* get(RtecScheduler::handle_t handle) override;
    void set(RtecScheduler::handle_t handle, RtecScheduler::Criticality_t criticality,
             RtecScheduler::Time wc_time, RtecScheduler::Time typical_time,
             RtecScheduler::Time cached_time, RtecScheduler::Period_t period,
             RtecScheduler::Importance_t importance, RtecScheduler::Quantum_t quantum,
             CORBA::Long threads, RtecScheduler::Info_Type_t info_type) override;
    void add_dependency(RtecScheduler::handle_t handle, RtecScheduler::handle_t dependency,
                        CORBA::Long number_of_calls,
                        RtecScheduler::Dependency_Type_t dependency_type) override;
    void priority(RtecScheduler::handle_t handle, RtecScheduler::OS_Priority& o_priority,
                  RtecScheduler::Preemption_Subpriority_t& p_subpriority,
                  RtecScheduler::Preemption_Priority_t& p_priority) override;
    void entry_point_priority(const char* entry_point, RtecScheduler::OS_Priority& o_priority,
                              RtecScheduler::Preemption_Subpriority_t& p_subpriority,
                              RtecScheduler::Preemption_Priority_t& p_priority) override;
    void compute_scheduling(CORBA::Long minimum_priority, CORBA::Long maximum_priority,
                            RtecScheduler::RT_Info_Set_out infos,
                            RtecScheduler::Config_Info_Set_out configs,
                            RtecScheduler::Scheduling_Anomaly_Set_out anomalies) override;
    void dispatch_configuration(RtecScheduler::Preemption_Priority_t p_priority,
                                RtecScheduler::OS_Priority& o_priority,
                                RtecScheduler::Dispatching_Type_t& d_type) override;
    RtecScheduler::Preemption_Priority_t last_scheduled_priority() override;
    void set_deadline(RtecScheduler::handle_t handle, RtecScheduler::Time deadline,
                      RtecScheduler::Time blocking) override;
    KairosScheduler::ResponseList* responses() override;

    /// How often a schedule has been computed.
    [[nodiscard]] std::uint64_t computed();

    /// What was computed of a set, with the priorities that the caller counts in.
    struct Schedule {
        sched::Analysis analysis;
        std::vector<sched::Priority> operations; ///< of each of the set
        std::vector<RtecScheduler::Config_Info> levels;
    };

  private:
    /// What compute_scheduling answers, and to which question.
    struct Answer {
        std::uint64_t changes;
        CORBA::Long minimum_priority;
        CORBA::Long maximum_priority;
        RtecScheduler::RT_Info_Set infos;
        RtecScheduler::Config_Info_Set configs;
        RtecScheduler::Scheduling_Anomaly_Set anomalies;
        std::optional<Schedule> schedule;
    };
    [[nodiscard]] Answer compute(const sched::OperationSet& set, CORBA::Long minimum_priority,
                                 CORBA::Long maximum_priority) const;
    // These three must hold mutex_.
    [[nodiscard]] sched::OperationIndex index_of(RtecScheduler::handle_t handle) const;
    [[nodiscard]] const Schedule& schedule() const;
    void replace(sched::OperationIndex operation, const sched::RtInfo& info);

    const sched::Policy policy_;
    std::mutex mutex_; // guards what follows; not held while it computes
    sched::OperationSet set_;
    std::uint64_t changes_ = 0; ///< of the set
    std::uint64_t computed_ = 0;
    std::optional<Schedule> schedule_;
    std::shared_ptr<const Answer> answer_; ///< the last one
};

} // namespace kairos::scheduler
