// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/hold.h"

#include <new>
#include <utility>

namespace kairos::orb {

bool Hold::tell(net::Waker& waker) noexcept
{
    untell();
    try {
        gate_->tell(waker);
    } catch (const std::bad_alloc&) {
        return false;
    }
    told_ = &waker;
    waker.clear(); // of earlier holds; and what came before the gate was told counts as well
    if (may_go_on()) waker.wake();
    return true;
}

void Hold::untell() noexcept
{
    if (net::Waker* told = std::exchange(told_, nullptr)) gate_->forget(*told);
}

} // namespace kairos::orb
