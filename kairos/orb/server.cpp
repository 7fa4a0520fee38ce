// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/server.h"

#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/net/address.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/server_connection.h"

#include <cstring>

namespace kairos::orb {
namespace {

/// The address that others can reach a wildcard listener at: no name is asked, none is published.
std::string reachable_host(const net::Address& listening)
{
    if (!listening.is_any()) return listening.host_text();
    if (const auto addresses = net::local_addresses())
        for (const net::Address& address : *addresses)
            if (address.family() == listening.family()) return address.host_text();
    return net::Address::loopback_ipv4().host_text();
}

Result<Listener> open_listener(const ListenEndpoint& endpoint, const Options& options)
{
    const auto named = [&](const Error& error) {
        return Error{error.code, "-ORBListenEndpoints " + endpoint.text + ": " + error.reason,
                     error.system_errno};
    };
    net::Address address = net::Address::any_ipv4(endpoint.port);
    if (!endpoint.host.empty()) {
        const auto addresses = net::resolve(endpoint.host, endpoint.port);
        if (!addresses) return named(addresses.error());
        address = addresses->front();
    }
    auto acceptor =
        net::Acceptor::open(address, {.socket = options.socket,
                                      .non_blocking = options.concurrency == Concurrency::reactor});
    if (!acceptor) return named(acceptor.error());
    const net::Address bound = acceptor->address();
    return Listener{std::move(acceptor).value(),
                    endpoint.published_host.empty() ? reachable_host(bound)
                                                    : endpoint.published_host,
                    bound.port()};
}

} // namespace

Result<std::unique_ptr<Server>> Server::open(Orb& orb)
{
    std::vector<ListenEndpoint> endpoints = orb.options().listen_endpoints;
    if (endpoints.empty())
        endpoints.push_back({.text = "iiop://", .host = {}, .published_host = {}});
    std::vector<Listener> listeners;
    for (const ListenEndpoint& endpoint : endpoints) {
        auto listener = open_listener(endpoint, orb.options());
        if (!listener) return listener.error();
        log::info("listening on " + listener->acceptor.address().to_text() + ", published as " +
                  listener->published_host + ":" + std::to_string(listener->published_port));
        listeners.push_back(std::move(listener).value());
    }
    if (orb.options().concurrency == Concurrency::reactor)
        return make_reactor(orb, std::move(listeners));
    return make_thread_per_connection(orb, std::move(listeners));
}

void Server::log_refusal(const net::Acceptor::Accepted& accepted)
{
    if (!accepted.first_of_episode) return;
    log::error(std::string("cannot accept connections: ") + std::strerror(accepted.error) +
               "; serving those there are");
}

void Server::turn_away(net::Socket socket) noexcept
{
    // 1.0: which version the client speaks is not known, and this header is the same in all.
    const auto message = giop::close_connection(giop::version_1_0);
    (void)socket.write_all(Bytes(message));
    drain(socket);
}

} // namespace kairos::orb
