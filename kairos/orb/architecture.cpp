// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/architecture.h"

namespace kairos::orb {

constinit const Architecture architecture::thread_per_connection{.name = "thread-per-connection",
                                                                 .pauses_in_streams = true};
constinit const Architecture architecture::reactor{
    .name = "reactor", .pauses_in_streams = true, .is_served_by_run = true};
constinit const Architecture architecture::reactor_per_priority{
    .name = "reactor-per-priority", .has_order = true, .has_lanes = true};
constinit const Architecture architecture::leader_followers{.name = "leader-followers",
                                                            .has_threads = true};
constinit const Architecture architecture::worker_pool{.name = "worker-pool",
                                                       .has_threads = true,
                                                       .has_queue = true,
                                                       .is_bounded = true,
                                                       .has_order = true,
                                                       .hands_over = true};
constinit const Architecture architecture::thread_per_request{
    .name = "thread-per-request", .has_threads = true, .is_bounded = true, .hands_over = true};
constinit const Architecture architecture::thread_per_object{.name = "thread-per-object",
                                                             .has_threads = true,
                                                             .has_queue = true,
                                                             .is_bounded = true,
                                                             .hands_over = true};
constinit const Architecture architecture::filter_chain{.name = "filter-chain",
                                                        .has_threads = true,
                                                        .has_queue = true,
                                                        .is_bounded = true,
                                                        .has_order = true,
                                                        .has_pools = true,
                                                        .hands_over = true,
                                                        .has_filters = true};
constinit const Architecture architecture::custom{.name = "custom",
                                                  .has_queue = true,
                                                  .is_bounded = true,
                                                  .hands_over = true,
                                                  .has_dispatcher = true};

std::span<const Architecture* const> architectures() noexcept
{
    static constexpr const Architecture* all[] = {&architecture::thread_per_connection,
                                                  &architecture::reactor,
                                                  &architecture::reactor_per_priority,
                                                  &architecture::leader_followers,
                                                  &architecture::worker_pool,
                                                  &architecture::thread_per_request,
                                                  &architecture::thread_per_object,
                                                  &architecture::filter_chain,
                                                  &architecture::custom};
    return all;
}

} // namespace kairos::orb
