// SPDX-License-Identifier: Apache-2.0
//
// The servers that there are, one small file each (docs/architectures.md). What differs only in who
// serves a request that was read is a `Dispatcher` (dispatcher.h) behind one of them.
#pragma once

#include "kairos/net/thread.h"
#include "kairos/orb/server.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace kairos::orb {

/// Threads of a server that are alike.
struct ServingThreads {
    std::size_t count = 1; ///< that serve at the same time
    net::ThreadOptions options{};
    std::optional<Priority> priority{}; ///< that they are known to have
};

/// Over listeners that block. As many threads as there are connections, and one a listener.
[[nodiscard]] std::unique_ptr<Server>
make_thread_per_connection(Orb& orb, std::vector<Listener> listeners, ServingThreads threads);

/// One that serves these listeners of shared memory beside those of `sockets`.
[[nodiscard]] std::unique_ptr<Server> make_memory_server(Orb& orb, std::unique_ptr<Server> sockets,
                                                         std::vector<Listener> listeners);

[[nodiscard]] Result<std::unique_ptr<Server>> make_reactor(Orb& orb,
                                                           std::vector<Listener> listeners);

[[nodiscard]] Result<std::unique_ptr<Server>>
make_leader_followers(Orb& orb, std::vector<Listener> listeners, ServingThreads threads);

/// At least one lane; the lowest priority first. With `hands_over` each lane's thread reads only,
/// and a pool of that priority serves.
[[nodiscard]] Result<std::unique_ptr<Server>>
make_reactor_per_priority(Orb& orb, std::vector<PriorityLane> lanes, bool hands_over = false);

} // namespace kairos::orb
