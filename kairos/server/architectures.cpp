// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/architectures.h"

#include "kairos/orb/orb.h"

namespace kairos::orb {

Result<std::unique_ptr<Server>> open_by_architecture(Orb& orb)
{
    static constexpr const Opening* all[] = {
        &opening::thread_per_connection, &opening::reactor,      &opening::reactor_per_priority,
        &opening::leader_followers,      &opening::worker_pool,  &opening::thread_per_request,
        &opening::thread_per_object,     &opening::filter_chain, &opening::custom};
    const Architecture* const wanted = orb.options().concurrency;
    for (const Opening* each : all)
        if (&each->architecture == wanted) return each->open(orb);
    return Error{ErrorCode::invalid_argument,
                 "-ORBConcurrency " + std::string(wanted->name) + ": nobody opens it"};
}

} // namespace kairos::orb
