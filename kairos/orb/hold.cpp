// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/hold.h"

#include <new>
#include <utility>

namespace kairos::orb {

bool Hold::tell(net::Bell& bell) noexcept
{
    untell();
    try {
        gate_->tell(bell);
    } catch (const std::bad_alloc&) {
        return false;
    }
    told_ = &bell;
    bell.silence(); // of earlier holds; and what came before the gate was told counts as well
    if (may_go_on()) bell.ring();
    return true;
}

void Hold::untell() noexcept
{
    if (net::Bell* told = std::exchange(told_, nullptr)) gate_->forget(*told);
}

} // namespace kairos::orb
