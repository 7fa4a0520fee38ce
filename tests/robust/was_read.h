// SPDX-License-Identifier: Apache-2.0
//
// Whether a server has read what it was sent: the kernel knows, and nobody need wait for a time.
#pragma once

#include "tests/malformed/fixture.h"

#include <fstream>
#include <sstream>

namespace kairos::orb_testing {

/// Whether who listens at a port of this process has read all that this peer has sent it.
[[nodiscard]] inline bool was_read(std::uint16_t server_port, RawPeer& peer)
{
    const std::uint16_t port = peer.socket().local_address()->port();
    const auto hex = [](std::uint16_t number) {
        char text[8];
        std::snprintf(text, sizeof text, ":%04X", number);
        return std::string(text);
    };
    std::ifstream sockets("/proc/net/tcp");
    std::string line;
    while (std::getline(sockets, line)) {
        std::istringstream fields(line);
        std::string number, local, remote, state, queues;
        fields >> number >> local >> remote >> state >> queues;
        if (local.ends_with(hex(server_port)) && remote.ends_with(hex(port)))
            return queues.ends_with(":00000000");
    }
    ADD_FAILURE() << "no such connection";
    return true;
}

[[nodiscard]] inline bool was_read(const RunningServer& server, RawPeer& peer)
{
    return was_read(server.port(), peer);
}

} // namespace kairos::orb_testing
