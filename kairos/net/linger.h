// SPDX-License-Identifier: Apache-2.0
//
// How long a TCP connection lasts that its owner has closed.
#pragma once

#include "kairos/net/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace kairos::net {

/// Has the system forget the connection a second after it was closed and the peer has acknowledged
/// that, in place of a minute (TCP_LINGER2). What was sent before arrives all the same. Until it is
/// forgotten a peer that waits for room to send may wait: after shutdown_read() the system does not
/// say that there is some. Does nothing to sockets that are not TCP's.
inline void linger_briefly(const Socket& socket) noexcept
{
    constexpr int seconds = 1;
    (void)::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_LINGER2, &seconds, sizeof seconds);
}

} // namespace kairos::net
