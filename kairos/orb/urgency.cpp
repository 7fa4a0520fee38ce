// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/urgency.h"

namespace kairos::orb {

Urgency urgency_of(Dispatching dispatching, const OperationTiming* timing,
                   std::chrono::nanoseconds released) noexcept
{
    if (timing == nullptr) return {};
    const std::int64_t due =
        timing->deadline == 0 ? Urgency::none : released.count() + timing->deadline;
    // The laxity at the beginning of the clock: later ones differ from it by the same for all.
    const std::int64_t laxity = due == Urgency::none ? due : due - timing->worst_case;
    Urgency urgency;
    switch (dispatching) {
    case Dispatching::fifo:
        return {};
    case Dispatching::rms:
        urgency.first = timing->period == 0 ? Urgency::none : timing->period;
        break;
    case Dispatching::edf:
        urgency.first = due;
        break;
    case Dispatching::llf:
        urgency.first = laxity;
        break;
    case Dispatching::muf:
        urgency.first = -std::int64_t{timing->criticality};
        urgency.second = laxity;
        break;
    }
    if (urgency.first == Urgency::none) return {};
    urgency.unimportance = -std::int64_t{timing->importance};
    return urgency;
}

} // namespace kairos::orb
