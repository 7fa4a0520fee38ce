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
    bool hands_over = false;               ///< then none of them has a thread
};

/// Opens a listener for each endpoint of the options; with none given, one on every interface and a
/// port of the system's choice.
[[nodiscard]] Result<std::vector<Listener>> open_listeners(Orb& orb, const ListensFor& what = {});

/// Takes the listeners whose transport prefers threads (transport.h) out of `listeners`, and
/// returns them.
[[nodiscard]] std::vector<Listener> take_preferring_threads(std::vector<Listener>& listeners);

/// Makes a server of these listeners.
using MakeServer = Result<std::unique_ptr<Server>> (*)(Orb& orb, std::vector<Listener> listeners);

/// Opens all listeners and has `make` make their server, which serves requests where it reads them;
/// listeners whose transport prefers threads are served beside it by a thread for each connection.
[[nodiscard]] Result<std::unique_ptr<Server>> open_server(Orb& orb, MakeServer make,
                                                          const ListensFor& what = {});
/// Opens all listeners and has `make` make their server, which hands requests over.
[[nodiscard]] Result<std::unique_ptr<Server>> open_handing_over(Orb& orb, MakeServer make);

} // namespace kairos::orb
