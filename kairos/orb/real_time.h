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
    /// Changes the priority of a request that is about to be served, in the object of this id.
    /// Returning false raises DATA_CONVERSION.
    [[nodiscard]] virtual bool inbound(Priority& priority, Bytes object_id) noexcept = 0;
    /// Changes the priority that a request of the calling thread, about to be sent, carries.
    /// Returning false raises DATA_CONVERSION.
    [[nodiscard]] virtual bool outbound(Priority& priority) noexcept = 0;

  protected:
    ~PriorityTransform() = default;
};

/// Schedules the calling thread as `scheduling` says, or lets it go on as it is where the system
/// refuses. Throws NO_PERMISSION where it refuses and -ORBRealTime required is given.
void schedule_if_allowed(const Orb& orb, net::Scheduling scheduling);
/// Returns how to schedule a new thread of this native priority; nothing where the system refuses,
/// and an error where it refuses and -ORBRealTime required is given.
[[nodiscard]] Result<std::optional<net::Scheduling>> scheduling_if_allowed(const Orb& orb,
                                                                           int native);
/// Returns how to schedule the threads of a server's lane with this CORBA priority; nothing where
/// the system refuses. Returns an error where the mapping knows no native priority for it, or where
/// the system refuses and -ORBRealTime required is given.
[[nodiscard]] Result<std::optional<net::Scheduling>> lane_scheduling(const Orb& orb,
                                                                     Priority priority);

/// Gives the calling thread a CORBA priority for good. Throws BAD_PARAM for a negative one,
/// DATA_CONVERSION where the mapping knows no native one, NO_PERMISSION where the system refuses to
/// schedule the thread so and -ORBRealTime required is given.
KAIROS_API void set_priority(const Orb& orb, Priority priority);

/// Gives the calling thread a priority until the scope ends. Costs two comparisons if the thread
/// has that priority already, and else a system call at either end. Throws as set_priority().
class PriorityScope {
  public:
    PriorityScope(const Orb& orb, Priority priority);
    ~PriorityScope();
    PriorityScope(const PriorityScope&) = delete;
    PriorityScope& operator=(const PriorityScope&) = delete;

  private:
    [[nodiscard]] net::Scheduling scheduling_of_thread() const noexcept;

    const Orb& orb_;
    ThreadStorage& storage_;
    const std::optional<Priority> before_;
    net::Scheduling scheduled_before_; // read only if there was no priority
};

} // namespace kairos::orb
