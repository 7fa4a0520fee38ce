// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/server/architectures.h"

namespace kairos::orb {

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
