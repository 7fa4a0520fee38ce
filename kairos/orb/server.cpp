// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/server.h"

#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/net/address.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/server_connection.h"

#include <algorithm>
#include <cstring>

namespace kairos::orb {
namespace {

Error named(const std::string& option, const Error& error)
{
    return Error{error.code, option + ": " + error.reason, error.system_errno};
}

Result<std::vector<ior::Address>> published_of(const ListenEndpoint& endpoint,
                                               const net::Address& bound, const Options& options,
                                               const Machine& machine)
{
    if (!endpoint.published_host.empty())
        return std::vector<ior::Address>{{endpoint.published_host, bound.port()}};
    auto published = published_addresses(options.publish, bound, machine);
    if (!published) return named("-ORBPublish", published.error());
    return published;
}

Result<Listener> open_listener(const ListenEndpoint& endpoint, const Options& options,
                               const Machine& machine)
{
    const std::string option = "-ORBListenEndpoints " + endpoint.text;
    net::Address address = net::Address::any_ipv4(endpoint.port);
    if (!endpoint.host.empty()) {
        const auto addresses = net::resolve(endpoint.host, endpoint.port);
        if (!addresses) return named(option, addresses.error());
        address = addresses->front();
    }
    auto acceptor =
        net::Acceptor::open(address, {.socket = options.socket,
                                      .non_blocking = options.concurrency == Concurrency::reactor});
    if (!acceptor) return named(option, acceptor.error());
    auto published = published_of(endpoint, acceptor->address(), options, machine);
    if (!published) return published.error();
    return Listener{std::move(acceptor).value(), std::move(published).value()};
}

Result<std::vector<Listener>> open_listeners(const Options& options)
{
    std::vector<ListenEndpoint> endpoints = options.listen_endpoints;
    if (endpoints.empty())
        endpoints.push_back({.text = "iiop://", .host = {}, .published_host = {}});
    const Machine machine = Machine::current();
    std::vector<Listener> listeners;
    bool reachable = false;
    for (const ListenEndpoint& endpoint : endpoints) {
        auto listener = open_listener(endpoint, options, machine);
        if (!listener) return listener.error();
        log::info("listening on " + listener->acceptor.address().to_text());
        reachable = reachable || !listener->published.empty();
        listeners.push_back(std::move(listener).value());
    }
    if (!reachable)
        return Error{ErrorCode::invalid_argument,
                     "-ORBPublish: the server has no address of those that are to be published"};
    return listeners;
}

} // namespace

Server::Server(Orb& orb, std::vector<Listener> listeners)
    : orb_(orb), listeners_(std::move(listeners))
{
    for (const Listener& listener : listeners_)
        for (const ior::Address& address : listener.published)
            if (std::ranges::find(published_, address) == published_.end())
                published_.push_back(address);
}

Result<std::unique_ptr<Server>> Server::open(Orb& orb)
{
    const Options& options = orb.options();
    auto listeners = open_listeners(options);
    if (!listeners) return listeners.error();
    Result<std::unique_ptr<Server>> server =
        options.concurrency == Concurrency::reactor
            ? make_reactor(orb, std::move(listeners).value())
            : make_thread_per_connection(orb, std::move(listeners).value());
    if (server && options.announces_addresses) {
        std::string text;
        for (const ior::Address& address : (*server)->published())
            text += (text.empty() ? "" : ", ") + ior::to_string(address);
        log::announce("published in references: " + text);
    }
    return server;
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
