// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spin.h"

#include <sched.h>

namespace kairos::net {

bool may_spin() noexcept
{
    cpu_set_t usable;
    return ::sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) > 1;
}

bool may_spin(const SpinRule& rule) noexcept
{
    if (rule.most.count() == 0 || !may_spin()) return false;
    if (!rule.learns) return true;
    // It would keep threads of lower priority from what they do for it.
    const int policy = ::sched_getscheduler(0);
    return policy != SCHED_FIFO && policy != SCHED_RR;
}

void leave_processor() noexcept { (void)::sched_yield(); }

} // namespace kairos::net
