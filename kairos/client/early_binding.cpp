// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/early_binding.h"

#include "kairos/base/log.h"
#include "kairos/client/own_carrier.h"
#include "kairos/client/shared_carrier.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {

void bind_early(Reference& reference)
{
    if (reference.is_local() || reference.orb().is_shut_down()) return;
    Lane& lane = Lane::current();
    const CallLimits limits = limits_of_call(reference);
    OwnCarrier own(lane);
    SharedCarrier shared(lane);
    const bool shares = SharedCarrier::carries(limits, lane);
    Carrier& carrier = shares ? static_cast<Carrier&>(shared) : own;
    Route route(reference, nullptr, limits, lane, Route::Purpose::binding);
    while (route.next_here()) {
        if (const auto reached = carrier.reach(route); !reached) {
            log::warning("no connection made early: " + reached.error().reason);
            continue;
        }
        if (!shares) own.conclude(giop::Outcome::ok, false, route);
        return carrier.release();
    }
}

} // namespace kairos::orb
