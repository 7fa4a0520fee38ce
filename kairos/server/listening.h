// SPDX-License-Identifier: Apache-2.0
//
// What -ORBListenEndpoints and -ORBPublish come to: sockets that listen, and what references say of
// them. When a server starts.
#pragma once

#include "kairos/server/server.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace kairos::orb {

/// What listeners are opened for.
struct ListensFor {
    Priority priority = 0; ///< of the requests
    std::size_t lane = 0;
    bool connections_have_threads = false; ///< then they block
};

/// One for each endpoint of the options; none given: every interface, a port of the system's
/// choice.
[[nodiscard]] Result<std::vector<Listener>> open_listeners(Orb& orb, const ListensFor& what = {});

/// Takes out those whose transport needs threads (transport.h).
[[nodiscard]] std::vector<Listener> take_needing_threads(std::vector<Listener>& listeners);

/// A server of listeners.
using MakeServer = Result<std::unique_ptr<Server>> (*)(Orb& orb, std::vector<Listener> listeners);

/// That of all listeners; those whose transport needs threads have them beside it.
[[nodiscard]] Result<std::unique_ptr<Server>> open_server(Orb& orb, MakeServer make,
                                                          const ListensFor& what = {});

} // namespace kairos::orb
