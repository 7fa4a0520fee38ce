// SPDX-License-Identifier: Apache-2.0
//
// The servers that there are, one small file each (docs/architectures.md), and the parts of which
// others are made. What differs only in who serves a request that was read is a `Dispatcher`
// (dispatcher.h) behind one of them.
#pragma once

#include "kairos/net/thread.h"
#include "kairos/orb/architecture.h"
#include "kairos/server/server.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace kairos::orb {

/// How a server of one architecture begins.
struct Opening {
    const Architecture& architecture;
    /// Listens where the options say; serves nobody yet.
    Result<std::unique_ptr<Server>> (*open)(Orb& orb);
};

namespace opening {
extern const Opening thread_per_connection;
extern const Opening reactor;
extern const Opening reactor_per_priority;
extern const Opening leader_followers;
extern const Opening worker_pool;
extern const Opening thread_per_request;
extern const Opening thread_per_object;
extern const Opening filter_chain;
extern const Opening custom;
} // namespace opening

/// Opens a server of the architecture that the options name.
[[nodiscard]] Result<std::unique_ptr<Server>> open_by_architecture(Orb& orb);

/// Threads of a server that are alike.
struct ThreadSettings {
    std::size_t count = 1; ///< that serve at the same time
    net::ThreadOptions options{};
    std::optional<Priority> priority{}; ///< that they are known to have
};

/// Makes a server with a thread for each connection and one for each listener; the listeners block.
[[nodiscard]] std::unique_ptr<Server>
make_thread_per_connection(Orb& orb, std::vector<Listener> listeners, ThreadSettings threads);

/// Makes a server that serves these listeners, which block, by a thread for each connection, beside
/// `other`.
[[nodiscard]] std::unique_ptr<Server> make_threads_beside(Orb& orb, std::unique_ptr<Server> other,
                                                          std::vector<Listener> listeners,
                                                          ThreadSettings threads);

[[nodiscard]] Result<std::unique_ptr<Server>>
make_leader_followers(Orb& orb, std::vector<Listener> listeners, ThreadSettings threads);

/// Makes a server with a reactor for each lane, of which there is at least one, the lowest priority
/// first. With `hands_over` each lane's thread reads only, and a pool of that priority serves.
[[nodiscard]] Result<std::unique_ptr<Server>>
make_reactor_per_priority(Orb& orb, std::vector<PriorityLane> lanes, bool hands_over = false);

} // namespace kairos::orb
