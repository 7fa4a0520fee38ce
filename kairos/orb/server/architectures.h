// SPDX-License-Identifier: Apache-2.0
//
// The servers that there are, one small file each (docs/architectures.md), and the parts of which
// others are made. What differs only in who serves a request that was read is a `Dispatcher`
// (dispatcher.h) behind one of them.
#pragma once

#include "kairos/net/thread.h"
#include "kairos/orb/architecture.h"
#include "kairos/orb/server.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace kairos::orb {

namespace architecture {
extern const Architecture thread_per_connection; ///< a thread reads, serves, answers a connection
extern const Architecture reactor;               ///< whoever is in ORB::run serves all
extern const Architecture reactor_per_priority;  ///< a reactor, a thread, an address for each
extern const Architecture leader_followers;      ///< who of a pool finds a request serves it
extern const Architecture worker_pool;           ///< one thread reads, a pool serves from a queue
extern const Architecture thread_per_request;    ///< one thread reads, each request has a thread
extern const Architecture thread_per_object;     ///< one thread reads, each object has a thread
extern const Architecture filter_chain;          ///< one thread reads, filters choose among pools
extern const Architecture custom;                ///< one thread reads, the program says who serves
} // namespace architecture

/// Threads of a server that are alike.
struct ServingThreads {
    std::size_t count = 1; ///< that serve at the same time
    net::ThreadOptions options{};
    std::optional<Priority> priority{}; ///< that they are known to have
};

/// Over listeners that block. As many threads as there are connections, and one a listener.
[[nodiscard]] std::unique_ptr<Server>
make_thread_per_connection(Orb& orb, std::vector<Listener> listeners, ServingThreads threads);

/// One that serves these listeners, which block, by such a thread for each connection, beside
/// `other`.
[[nodiscard]] std::unique_ptr<Server> make_threads_beside(Orb& orb, std::unique_ptr<Server> other,
                                                          std::vector<Listener> listeners,
                                                          ServingThreads threads);

[[nodiscard]] Result<std::unique_ptr<Server>>
make_leader_followers(Orb& orb, std::vector<Listener> listeners, ServingThreads threads);

/// At least one lane; the lowest priority first. With `hands_over` each lane's thread reads only,
/// and a pool of that priority serves.
[[nodiscard]] Result<std::unique_ptr<Server>>
make_reactor_per_priority(Orb& orb, std::vector<PriorityLane> lanes, bool hands_over = false);

} // namespace kairos::orb
