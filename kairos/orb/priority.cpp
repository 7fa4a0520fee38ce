// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority.h"

#include "kairos/orb/thread_storage.h"

#include <iterator>
#include <pthread.h>
#include <sched.h>

namespace kairos::orb {

bool LinearPriorityMapping::to_native(Priority priority, int& native) const noexcept
{
    if (priority < 0) return false;
    // 1 is the least that is above 0, priority_max the most.
    native =
        priority == 0 ? 0 : 1 + (priority - 1) * (native_priority_max - 1) / (priority_max - 1);
    return true;
}

/// The least priority that leads there.
bool LinearPriorityMapping::to_corba(int native, Priority& priority) const noexcept
{
    if (native < 0 || native > native_priority_max) return false;
    constexpr int steps = native_priority_max - 1;
    priority =
        native == 0
            ? Priority{0}
            : static_cast<Priority>(1 + ((native - 1) * (priority_max - 1) + steps - 1) / steps);
    return true;
}

bool DirectPriorityMapping::to_native(Priority priority, int& native) const noexcept
{
    if (priority < 0 || priority > native_priority_max) return false;
    native = priority;
    return true;
}

bool DirectPriorityMapping::to_corba(int native, Priority& priority) const noexcept
{
    if (native < 0 || native > native_priority_max) return false;
    priority = static_cast<Priority>(native);
    return true;
}

NetworkPriority network_priority_of(Priority priority) noexcept
{
    static constexpr NetworkPriority classes[] = {{.dscp = 16, .queue = 2},
                                                  {.dscp = 24, .queue = 3},
                                                  {.dscp = 32, .queue = 4},
                                                  {.dscp = 40, .queue = 5},
                                                  {.dscp = 46, .queue = 6}};
    if (priority <= 0) return {};
    return classes[(priority - 1) * std::ssize(classes) / priority_max];
}

Priority thread_priority(ThreadStorage& storage, const PriorityMapping& mapping) noexcept
{
    if (!storage.priority) {
        int policy = SCHED_OTHER;
        sched_param parameters{};
        Priority priority = 0;
        if (::pthread_getschedparam(::pthread_self(), &policy, &parameters) == 0)
            (void)mapping.to_corba(policy == SCHED_OTHER ? 0 : parameters.sched_priority, priority);
        storage.priority = priority;
    }
    return *storage.priority;
}

} // namespace kairos::orb
