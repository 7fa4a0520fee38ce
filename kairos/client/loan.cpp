// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/loan.h"

#include "kairos/client/own_carrier.h"
#include "kairos/client/shared_carrier.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"

namespace kairos::orb {

std::shared_ptr<std::byte> loan(Reference& reference, std::size_t size)
{
    if (reference.is_local() || reference.orb().is_shut_down()) return nullptr;
    ThreadStorage& storage = ThreadStorage::current();
    const CallLimits limits = limits_of_call(reference);
    // Of a connection that threads share each call may take another.
    if (SharedCarrier::carries(limits, storage)) return nullptr;
    OwnCarrier carrier(storage);
    Route route(reference, nullptr, limits, storage, Route::Purpose::binding);
    while (route.next_here()) {
        if (!carrier.reach(route)) continue; // the first call says why
        auto memory = carrier.connection()->socket().loan(size);
        (void)carrier.conclude(giop::Outcome::ok, false, route);
        carrier.release();
        return memory;
    }
    return nullptr;
}

} // namespace kairos::orb
