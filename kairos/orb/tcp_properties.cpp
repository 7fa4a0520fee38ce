// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/tcp_properties.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace kairos::orb {

namespace {

void set_option(const net::Socket& socket, int level, int option, int value) noexcept
{
    (void)::setsockopt(socket.descriptor(), level, option, &value, sizeof value);
}

} // namespace

net::SocketOptions with(const TcpProperties& properties, net::SocketOptions others,
                        Priority priority) noexcept
{
    others.send_queue_bytes = properties.send_queue_bytes;
    others.receive_queue_bytes = properties.receive_queue_bytes;
    others.keep_alive = properties.keep_alive;
    others.no_delay = properties.no_delay;
    if (!properties.network_priority) return others;
    const NetworkPriority network = network_priority_of(priority);
    others.dscp = network.dscp;
    others.priority = network.queue;
    return others;
}

void apply(const TcpProperties& properties, const net::Socket& socket, Priority priority) noexcept
{
    const auto& [send, receive, keep_alive, dont_route, no_delay, network_priority] = properties;
    if (send != 0) set_option(socket, SOL_SOCKET, SO_SNDBUF, send);
    if (receive != 0) set_option(socket, SOL_SOCKET, SO_RCVBUF, receive);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, keep_alive ? 1 : 0);
    set_option(socket, SOL_SOCKET, SO_DONTROUTE, dont_route ? 1 : 0);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, no_delay ? 1 : 0);
    if (!network_priority) return;
    // The lower two bits are for congestion (RFC 3168). A socket has one of these two options, and
    // refuses the other. Last the queue: the system derives one from the others.
    const NetworkPriority network = network_priority_of(priority);
    set_option(socket, IPPROTO_IP, IP_TOS, network.dscp << 2);
    set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, network.dscp << 2);
    set_option(socket, SOL_SOCKET, SO_PRIORITY, network.queue);
}

} // namespace kairos::orb
