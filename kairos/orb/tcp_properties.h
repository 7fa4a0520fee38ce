// SPDX-License-Identifier: Apache-2.0
//
// What a program wants of TCP connections (Real-Time CORBA 1.2, 5.15). A value.
#pragma once

#include "kairos/net/socket.h"
#include "kairos/orb/priority.h"

namespace kairos::orb {

struct TcpProperties {
    int send_queue_bytes = 0; ///< 0 is the system's choice
    int receive_queue_bytes = 0;
    bool keep_alive = false;
    bool dont_route = false; ///< only to hosts of the same network
    bool no_delay = true;
    bool network_priority = false; ///< packets say the priority of the connection

    /// What sockets for requests of this priority are made with: `others` with these. So queues
    /// have their size, and packets their priority, from the start.
    [[nodiscard]] net::SocketOptions applied_to(net::SocketOptions others,
                                                Priority priority) const noexcept
    {
        others.send_queue_bytes = send_queue_bytes;
        others.receive_queue_bytes = receive_queue_bytes;
        others.keep_alive = keep_alive;
        others.no_delay = no_delay;
        if (!network_priority) return others;
        const NetworkPriority network = network_priority_of(priority);
        others.dscp = network.dscp;
        others.priority = network.queue;
        return others;
    }
    /// All of it, for a socket of IP: a connection of this priority, or a listener for such, whose
    /// connections inherit it but for SO_PRIORITY, which is among what they are made with. The
    /// system refuses none of it to anybody.
    void set(const net::Socket& socket, Priority priority) const noexcept;

    friend bool operator==(const TcpProperties&, const TcpProperties&) = default;
};

} // namespace kairos::orb
