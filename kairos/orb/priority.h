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

class Lane;

using Priority = std::int16_t;
inline constexpr Priority priority_max = 32767;
inline constexpr int native_priority_max = 99;

/// Immutable; any thread.
class KAIROS_API PriorityMapping {
  public:
    PriorityMapping() = default;
    PriorityMapping(const PriorityMapping&) = delete;
    PriorityMapping& operator=(const PriorityMapping&) = delete;
    virtual ~PriorityMapping() = default;

    /// False where there is no such native priority.
    [[nodiscard]] virtual bool to_native(Priority priority, int& native) const noexcept = 0;
    /// False where no CORBA priority leads to it.
    [[nodiscard]] virtual bool to_corba(int native, Priority& priority) const noexcept = 0;
};

/// 0 is 0; the others are spread evenly over the native ones.
class KAIROS_API LinearPriorityMapping final : public PriorityMapping {
  public:
    [[nodiscard]] bool to_native(Priority priority, int& native) const noexcept override;
    [[nodiscard]] bool to_corba(int native, Priority& priority) const noexcept override;
};

/// CORBA's 0 to 99 are the native ones; there are no others.
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
/// 0 is best effort; the others are spread over the class selectors 2 to 5 (RFC 2474, 4.2.2) and
/// expedited forwarding (RFC 3246), and over the queues 2 to 6, which take no permission.
[[nodiscard]] KAIROS_API NetworkPriority network_priority_of(Priority priority) noexcept;

/// Of the thread that has this lane, which is the calling one: as it was set here, or else as the
/// system schedules it when it is first asked for.
[[nodiscard]] KAIROS_API Priority thread_priority(Lane& lane,
                                                  const PriorityMapping& mapping) noexcept;

} // namespace kairos::orb
