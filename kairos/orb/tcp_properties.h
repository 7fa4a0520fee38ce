// SPDX-License-Identifier: Apache-2.0
//
// What a program wants of TCP connections (Real-Time CORBA 1.2, 5.15), applied to sockets.
#pragma once

#include "kairos/ior/policies.h"
#include "kairos/net/socket.h"
#include "kairos/orb/priority.h"

namespace kairos::orb {

using ior::TcpProperties;

/// Returns the options to make sockets for requests of this priority with: `others` with these
/// properties. So queues have their size, and packets their priority, from the start.
[[nodiscard]] net::SocketOptions with(const TcpProperties& properties, net::SocketOptions others,
                                      Priority priority) noexcept;

/// Applies all of these properties to a socket of IP: a connection of this priority, or a listener
/// for such connections, which inherit all but SO_PRIORITY; that is among the options they are made
/// with. The system refuses none of it to anybody.
void apply(const TcpProperties& properties, const net::Socket& socket, Priority priority) noexcept;

} // namespace kairos::orb
