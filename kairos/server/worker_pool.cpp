// SPDX-License-Identifier: Apache-2.0
//
// The worker-pool architecture: one thread reads, a pool of threads serves.
#include "kairos/orb/orb.h"
#include "kairos/server/handover.h"
#include "kairos/server/thread_pool.h"

namespace kairos::orb {

std::unique_ptr<Dispatcher> make_worker_pool(Orb& orb, RequestSource&)
{
    return std::make_unique<ThreadPool>(orb,
                                        Workers{.threads = orb.options().threads,
                                                .queued_max = orb.options().requests_queued_max,
                                                .each_has_place = each_has_place(orb.options()),
                                                .dispatching = orb.options().dispatching,
                                                .thread = orb.thread_options("kairos-work")});
}

constinit const Opening opening::worker_pool{architecture::worker_pool,
                                             open_handover<make_worker_pool>};

} // namespace kairos::orb
