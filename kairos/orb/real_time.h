// SPDX-License-Identifier: Apache-2.0
//
// The priority of the calling thread while it serves a request, as far as the process may have it.
// Where the system refuses real-time priorities, CORBA's are kept all the same and the log says so,
// once; with -ORBRealTime required that is an error. A scope belongs to its thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/net/thread.h"
#include "kairos/orb/priority.h"

#include <optional>

namespace kairos::orb {

class Orb;

/// Changes priorities on their way (Real-Time CORBA 1.2, 5.6). Called by any thread.
class PriorityTransform {
  public:
    /// Of a request that is about to be served, in the object of this id; false raises
    /// DATA_CONVERSION.
    [[nodiscard]] virtual bool inbound(Priority& priority, Bytes object_id) noexcept = 0;
    /// Of a request that the calling thread is about to send; likewise.
    [[nodiscard]] virtual bool outbound(Priority& priority) noexcept = 0;

  protected:
    ~PriorityTransform() = default;
};

/// Schedules the calling thread as `native` says, or goes on without. Throws NO_PERMISSION where
/// that is not allowed to be.
void schedule_if_allowed(const Orb& orb, net::Scheduling scheduling);
/// What a new thread of this native priority is to be scheduled as: nothing where the system
/// refuses. An error where that is not allowed to be.
[[nodiscard]] Result<std::optional<net::Scheduling>> scheduling_if_allowed(const Orb& orb,
                                                                           int native);
/// The same of the threads of a server's lane.
[[nodiscard]] Result<std::optional<net::Scheduling>> lane_scheduling(const Orb& orb,
                                                                     Priority priority);

/// Gives the calling thread a priority for good. Throws BAD_PARAM for one that is none of CORBA's,
/// DATA_CONVERSION where the mapping knows no native one, NO_PERMISSION as above.
KAIROS_API void set_priority(const Orb& orb, Priority priority);

/// Gives the calling thread a priority until it ends. Costs nothing but two comparisons if the
/// thread has it, and a system call at either end if not. Throws as `set_priority`.
class PriorityScope {
  public:
    PriorityScope(const Orb& orb, Priority priority);
    ~PriorityScope();
    PriorityScope(const PriorityScope&) = delete;
    PriorityScope& operator=(const PriorityScope&) = delete;

  private:
    [[nodiscard]] net::Scheduling scheduling_of_lane() const noexcept;

    const Orb& orb_;
    Lane& lane_;
    const std::optional<Priority> before_;
    net::Scheduling scheduled_before_; // read only if there was no priority
};

} // namespace kairos::orb
