// SPDX-License-Identifier: Apache-2.0
//
// CORBA priorities, 0 to 32767, and what they are on this machine (Real-Time CORBA 1.2, 5.4). A
// native priority of 0 is the system's ordinary scheduling, 1 to 99 are those of real time:
// SCHED_FIFO, or SCHED_RR where -ORBSchedulingPolicy says so. A thread's priority belongs to the
// thread.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>
#include <memory>

namespace kairos::orb {

class ThreadStorage;

using Priority = std::int16_t;
inline constexpr Priority priority_max = 32767;
inline constexpr int native_priority_max = 99;

/// How CORBA priorities and native ones correspond. Immutable; any thread.
class KAIROS_API PriorityMapping {
  public:
    PriorityMapping() = default;
    PriorityMapping(const PriorityMapping&) = delete;
    PriorityMapping& operator=(const PriorityMapping&) = delete;
    virtual ~PriorityMapping() = default;

    /// Sets `native` to the native priority for this CORBA priority; returns false where there is
    /// none.
    [[nodiscard]] virtual bool to_native(Priority priority, int& native) const noexcept = 0;
    /// Sets `priority` to a CORBA priority that leads to this native one; returns false where none
    /// does.
    [[nodiscard]] virtual bool to_corba(int native, Priority& priority) const noexcept = 0;
};

/// The mapping in which CORBA's 0 is native 0, and the others are spread evenly over the native
/// priorities of real time, 1 to 99.
class KAIROS_API LinearPriorityMapping final : public PriorityMapping {
  public:
    [[nodiscard]] bool to_native(Priority priority, int& native) const noexcept override;
    [[nodiscard]] bool to_corba(int native, Priority& priority) const noexcept override;
};

/// The mapping in which CORBA's 0 to 99 are the native priorities; there are no others.
class KAIROS_API DirectPriorityMapping final : public PriorityMapping {
  public:
    [[nodiscard]] bool to_native(Priority priority, int& native) const noexcept override;
    [[nodiscard]] bool to_corba(int native, Priority& priority) const noexcept override;
};

/// What a priority is on the network.
struct KAIROS_API NetworkPriority {
    int dscp = 0;  ///< the six bits of RFC 2474
    int queue = 0; ///< SO_PRIORITY
};
/// Returns what a CORBA priority is on the network: 0 is best effort; the others are spread over
/// the class selectors 2 to 5 (RFC 2474, 4.2.2) and expedited forwarding (RFC 3246), and over the
/// queues 2 to 6, which take no permission.
[[nodiscard]] KAIROS_API NetworkPriority network_priority_of(Priority priority) noexcept;

/// Returns the CORBA priority of the calling thread, whose storage this is: as it was set here, or
/// else as the system scheduled the thread when this was first asked.
[[nodiscard]] KAIROS_API Priority thread_priority(ThreadStorage& storage,
                                                  const PriorityMapping& mapping) noexcept;

} // namespace kairos::orb
