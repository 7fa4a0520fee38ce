// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transport.h"

#include "kairos/net/connector.h"
#include "kairos/net/socket_file.h"

namespace kairos::orb {

std::string Transport::usage() const { return std::string(scheme_).append("://").append(usage_); }

Result<void> Transport::prepare(net::Socket&, Side, std::chrono::microseconds) const { return {}; }

Result<void> LocalTransport::parse(std::string_view text, ListenEndpoint& endpoint) const
{
    endpoint.path = text;
    if (text.empty()) return {};
    if (text.size() < 2 || (text.front() != '/' && text.front() != '@'))
        return Error{ErrorCode::invalid_argument, "expected an absolute path, or '@' and a name"};
    if (const auto address = net::Address::unix_path(endpoint.path); !address)
        return Error{ErrorCode::invalid_argument, address.error().reason};
    return {};
}

Result<net::Address> LocalTransport::address(const ListenEndpoint& endpoint) const
{
    return endpoint.path.empty() ? net::private_path() : net::Address::unix_path(endpoint.path);
}

Result<net::Socket> LocalTransport::connect(const net::Address& address,
                                            const net::SocketOptions& options,
                                            Deadline deadline) const
{
    auto socket = net::connect(address, options, deadline.left());
    if (!socket) return socket;
    if (const auto prepared = prepare(*socket, Side::client, options.spin); !prepared)
        return prepared.error();
    if (const auto agreed = socket->agree(deadline); !agreed)
        return Error{ErrorCode::unreachable,
                     "no agreement with " + address.to_text() + ": " + agreed.error().reason,
                     agreed.error().system_errno};
    return socket;
}

} // namespace kairos::orb
