// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/endpoint.h"

#include "kairos/base/log.h"
#include "kairos/net/connector.h"
#include "kairos/net/resolver.h"

namespace kairos::orb {

Result<net::Socket> Endpoint::connect(const net::SocketOptions& options, Deadline deadline) const
{
    if (local_.family() != net::Address::Family::none) {
        auto socket = net::connect(local_, options, deadline.left());
        if (socket || port_ == 0) return socket;
        // The server that made the reference is gone, or belongs to somebody else.
        log::info(socket.error().reason + "; trying " + text());
    }
    const auto addresses = net::resolve(host_, port_, deadline);
    if (!addresses) return addresses.error();
    return net::connect_any(*addresses, options, deadline.left());
}

} // namespace kairos::orb
