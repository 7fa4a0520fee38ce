// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spin.h"

#include <sched.h>

namespace kairos::net {

bool may_spin() noexcept
{
    cpu_set_t usable;
    return ::sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) > 1;
}

} // namespace kairos::net
