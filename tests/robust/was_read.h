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
    // As "00000000:00000000", of what was sent and not taken, and of what was taken and not read.
    const auto queues_of = [&](std::uint16_t from, std::uint16_t to) {
        std::ifstream sockets("/proc/net/tcp");
        std::string line;
        while (std::getline(sockets, line)) {
            std::istringstream fields(line);
            std::string number, local, remote, state, queues;
            fields >> number >> local >> remote >> state >> queues;
            if (local.ends_with(hex(from)) && remote.ends_with(hex(to))) return queues;
        }
        ADD_FAILURE() << "no such connection";
        return std::string("00000000:00000000");
    };
    // One after the other: what has left the first queue is in the second, or was read.
    return queues_of(port, server_port).starts_with("00000000:") &&
           queues_of(server_port, port).ends_with(":00000000");
}

[[nodiscard]] inline bool was_read(const RunningServer& server, RawPeer& peer)
{
    return was_read(server.port(), peer);
}

} // namespace kairos::orb_testing
