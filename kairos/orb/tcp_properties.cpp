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

void TcpProperties::set(const net::Socket& socket, Priority priority) const noexcept
{
    if (send_queue_bytes != 0) set_option(socket, SOL_SOCKET, SO_SNDBUF, send_queue_bytes);
    if (receive_queue_bytes != 0) set_option(socket, SOL_SOCKET, SO_RCVBUF, receive_queue_bytes);
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
