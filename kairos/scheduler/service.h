// SPDX-License-Identifier: Apache-2.0
//
// The Scheduling Service as an object of an ORB: embedded in any process by making one of these, or
// alone as `kairos scheduler`. It keeps what it is told in memory. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/portable_server.h"
#include "kairos/sched/operation_set.h"
#include "kairos/sched/priorities.h"
#include "kairos/scheduler/KairosScheduler.h"

#include <memory>

namespace kairos::scheduler {

class KAIROS_API SchedulingService {
  public:
    /// Can be called from now on, also by "corbaloc::host:port/ScheduleService", unless that is
    /// bound in the ORB's IORTable. It begins with the operations of `set`. The ORB must outlive
    /// it. Throws what create_POA throws: AdapterAlreadyExists for a second one in the same ORB.
    SchedulingService(CORBA::ORB_ptr orb, sched::Policy policy, sched::OperationSet set = {});
    SchedulingService(const SchedulingService&) = delete;
    SchedulingService& operator=(const SchedulingService&) = delete;
    /// Waits for the calls in progress. Not within a call on it.
    ~SchedulingService();

    /// Owned by the caller.
    [[nodiscard]] KairosScheduler::Scheduler_ptr reference() const;

  private:
    CORBA::ORB_var orb_;
    PortableServer::POA_var poa_;
    KairosScheduler::Scheduler_var reference_;
    bool in_table_ = false;
};

} // namespace kairos::scheduler
