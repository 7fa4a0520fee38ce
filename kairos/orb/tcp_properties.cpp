// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/tcp_properties.h"

#include <iterator>
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

int code_point_of(Priority priority) noexcept
{
    static constexpr int code_points[] = {16, 24, 32, 40, 46};
    if (priority <= 0) return 0;
    return code_points[(priority - 1) * std::ssize(code_points) / priority_max];
}

void TcpProperties::set(const net::Socket& socket, Priority priority) const noexcept
{
    if (send_queue_bytes != 0) set_option(socket, SOL_SOCKET, SO_SNDBUF, send_queue_bytes);
    if (receive_queue_bytes != 0) set_option(socket, SOL_SOCKET, SO_RCVBUF, receive_queue_bytes);
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, keep_alive ? 1 : 0);
    set_option(socket, SOL_SOCKET, SO_DONTROUTE, dont_route ? 1 : 0);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, no_delay ? 1 : 0);
    if (!network_priority) return;
    // The lower two bits are for congestion (RFC 3168). The system derives its own priority of
    // packets from the others. A socket has one of these options, and refuses the other.
    const int octet = code_point_of(priority) << 2;
    set_option(socket, IPPROTO_IP, IP_TOS, octet);
    set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, octet);
}

} // namespace kairos::orb
