// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/early_binding.h"

#include "kairos/base/log.h"
#include "kairos/client/own_carrier.h"
#include "kairos/client/shared_carrier.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

namespace kairos::orb {

void bind_early(Reference& reference)
{
    if (reference.is_local() || reference.orb().is_shut_down()) return;
    ThreadStorage& storage = ThreadStorage::current();
    const CallLimits limits = limits_of_call(reference);
    OwnCarrier own(storage);
    SharedCarrier shared(storage);
    const bool shares = SharedCarrier::carries(limits, storage);
    Carrier& carrier = shares ? static_cast<Carrier&>(shared) : own;
    Route route(reference, nullptr, limits, storage, Route::Purpose::binding);
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
