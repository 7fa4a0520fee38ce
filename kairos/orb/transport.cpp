// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/transport.h"

#include "kairos/net/connector.h"
#include "kairos/net/host_identity.h"
#include "kairos/net/resolver.h"
#include "kairos/net/socket_file.h"
#include "kairos/orb/publish.h"
#include "kairos/orb/ways.h"

#include <utility>

namespace kairos::orb {

std::string Transport::usage() const { return std::string(scheme_).append("://").append(usage_); }

std::optional<ior::TaggedComponent>
Transport::component(std::span<const ior::PriorityAddress>) const
{
    return std::nullopt;
}

Result<std::shared_ptr<const Transport>> Transport::of_orb(const Options&) const
{
    return std::shared_ptr<const Transport>();
}

std::vector<ior::TaggedComponent>
Transport::components(const std::string&, bool,
                      std::span<const ior::PriorityAddress> addresses) const
{
    std::vector<ior::TaggedComponent> all;
    if (auto one = component(addresses)) all.push_back(std::move(*one));
    return all;
}

void Transport::read(const ior::TaggedComponent&, const ior::Target&, Ways&) const {}

std::string Transport::describe(const ior::Address& address) const
{
    return ior::to_string(address);
}

Result<void> Transport::prepare(net::Socket&, Side, const net::SpinRule&) const { return {}; }

Result<net::Socket> Transport::connect(const ior::Address& address,
                                       const net::SocketOptions& options, Deadline deadline) const
{
    const auto addresses = net::resolve(address.host, address.port, deadline);
    if (!addresses) return addresses.error();
    return agree(net::connect_any(*addresses, options, deadline.left()), describe(address), options,
                 deadline);
}

Result<net::Socket> Transport::agree(Result<net::Socket> made, const std::string& where,
                                     const net::SocketOptions& options, Deadline deadline) const
{
    if (!made) return made;
    if (const auto prepared = prepare(*made, Side::client, options.spin); !prepared)
        return prepared.error();
    if (const auto agreed = made->agree(deadline); !agreed)
        return Error{ErrorCode::unreachable,
                     "no agreement with " + where + ": " + agreed.error().reason,
                     agreed.error().system_errno};
    return made;
}

Result<void> parse_internet_endpoint(std::string_view text, ListenEndpoint& endpoint)
{
    auto parsed = parse_host_and_port(text);
    if (!parsed) return parsed.error();
    endpoint.host = std::move(parsed->host);
    endpoint.port = parsed->port.value_or(0);
    return {};
}

Result<net::Address> internet_address(const ListenEndpoint& endpoint)
{
    if (endpoint.host.empty()) return net::Address::any_ipv4(endpoint.port);
    const auto addresses = net::resolve(endpoint.host, endpoint.port);
    if (!addresses) return addresses.error();
    return addresses->front();
}

// --- Within the host -----------------------------------------------------------------------------

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

void LocalTransport::read(const ior::TaggedComponent& component, const ior::Target&,
                          Ways& ways) const
{
    if (!ways.takes_local()) return;
    const auto local = ior::decode_local_addresses(component);
    if (!local || local->host != net::this_host()) return;
    for (const ior::LocalAddress& each : local->addresses) {
        const LocalTransport* const transport = find_transport(each.transport);
        if (transport == nullptr || !net::Address::unix_path(each.path)) continue;
        Way way{transport, {.host = each.path, .port = 0}};
        ways.add(std::move(way), each.priority);
    }
}

std::string LocalTransport::describe(const ior::Address& address) const
{
    return "unix:" + address.host;
}

Result<net::Socket> LocalTransport::connect(const ior::Address& address,
                                            const net::SocketOptions& options,
                                            Deadline deadline) const
{
    const auto path = net::Address::unix_path(address.host);
    if (!path) return path.error();
    return agree(net::connect(*path, options, deadline.left()), describe(address), options,
                 deadline);
}

} // namespace kairos::orb
