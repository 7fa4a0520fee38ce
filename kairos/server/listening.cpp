// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/listening.h"

#include "kairos/base/log.h"
#include "kairos/net/address.h"
#include "kairos/net/host_identity.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/transports/transports.h"
#include "kairos/server/architectures.h"

#include <limits>
#include <utility>

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

Result<Listener> open_listener(Orb& orb, const ListenEndpoint& endpoint, const ListensFor& what,
                               const Machine& machine)
{
    const Options& options = orb.options();
    const std::string option = "-ORBListenEndpoints " + endpoint.text;
    const Transport& transport = orb.transports().of(*endpoint.transport);
    const auto address = transport.address(endpoint);
    if (!address) return named(option, address.error());
    const bool blocks =
        what.connections_have_threads || (transport.prefers_threads() && !what.hands_over);
    auto acceptor = net::Acceptor::open(
        *address, {.socket = orb.socket_options(what.priority), .non_blocking = !blocks});
    if (!acceptor) return named(option, acceptor.error());
    Listener listener{.acceptor = std::move(acceptor).value(), .transport = &transport};
    if (transport.local() != nullptr) {
        if (net::this_host()) return listener;
        return Error{ErrorCode::system, option + ": the system does not tell which host this is"};
    }
    auto published = published_of(endpoint, listener.acceptor.address(), options, machine);
    if (!published) return published.error();
    listener.published = std::move(published).value();
    return listener;
}

/// Ports and paths that the options name become those of a lane.
Result<std::vector<ListenEndpoint>> endpoints_of_lane(const Options& options, std::size_t lane)
{
    std::vector<ListenEndpoint> endpoints = options.listen_endpoints;
    for (ListenEndpoint& endpoint : endpoints) {
        if (!endpoint.path.empty() && lane != 0) endpoint.path += '.' + std::to_string(lane);
        if (endpoint.port == 0) continue;
        if (endpoint.port + lane > std::numeric_limits<std::uint16_t>::max())
            return Error{ErrorCode::invalid_argument,
                         "-ORBListenEndpoints " + endpoint.text +
                             ": no port is left for each of -ORBLanes"};
        endpoint.port = static_cast<std::uint16_t>(endpoint.port + lane);
    }
    return endpoints;
}

/// Why no reference could say where the server is, if that is so.
Result<void> check_reachable(const std::vector<Listener>& listeners, const Options& options)
{
    bool has_others = false; // said by components
    for (const Listener& listener : listeners) {
        const bool by_profile = listener.transport->tag() == Transport::no_tag;
        if (by_profile && !listener.published.empty()) return {};
        has_others = has_others || !by_profile;
    }
    if (has_others && options.giop_version.minor != 0) return {};
    return Error{ErrorCode::invalid_argument,
                 has_others
                     ? "-ORBListenEndpoints without iiop:// contradicts -ORBGIOPVersion 1.0, "
                       "whose references have no place for other addresses"
                     : "-ORBPublish: the server has no address of those that are to be "
                       "published"};
}

/// Warns of those by which clients get in that show nothing.
void warn_of_unprotected(const std::vector<Listener>& listeners, const Options& options)
{
    if (options.tls.check_client != ClientCheck::required) return;
    for (const Listener& listener : listeners)
        if (!listener.transport->protects() && listener.transport->local() == nullptr)
            log::warning("-ORBTlsVerifyClient required asks nothing of those who connect to " +
                         listener.acceptor.address().to_text() + ", which is without TLS");
}

} // namespace

Result<std::vector<Listener>> open_listeners(Orb& orb, const ListensFor& what)
{
    const Options& options = orb.options();
    if (!options.listens && options.concurrency->has_lanes)
        return Error{ErrorCode::invalid_argument,
                     "-ORBListenEndpoints none contradicts -ORBConcurrency " +
                         std::string(options.concurrency->name) + ", whose lanes are addresses"};
    if (!options.listens) return std::vector<Listener>();
    auto lanes_endpoints = endpoints_of_lane(options, what.lane);
    if (!lanes_endpoints) return lanes_endpoints.error();
    std::vector<ListenEndpoint> endpoints = std::move(lanes_endpoints).value();
    if (endpoints.empty())
        endpoints.push_back(
            {.transport = &transport::tcp, .text = "iiop://", .host = {}, .published_host = {}});
    const Machine machine = Machine::current();
    std::vector<Listener> listeners;
    for (const ListenEndpoint& endpoint : endpoints) {
        if (!endpoint.transport->has_connections()) continue;
        auto listener = open_listener(orb, endpoint, what, machine);
        if (!listener) return listener.error();
        log::info("listening on " + listener->acceptor.address().to_text());
        listeners.push_back(std::move(listener).value());
    }
    if (const auto check = check_reachable(listeners, options); !check) return check.error();
    warn_of_unprotected(listeners, options);
    return listeners;
}

std::vector<Listener> take_preferring_threads(std::vector<Listener>& listeners)
{
    std::vector<Listener> others;
    std::vector<Listener> taken;
    for (Listener& listener : listeners)
        (listener.transport->prefers_threads() ? taken : others).push_back(std::move(listener));
    listeners.swap(others);
    return taken;
}

Result<std::unique_ptr<Server>> open_server(Orb& orb, MakeServer make, const ListensFor& what)
{
    auto opened = open_listeners(orb, what);
    if (!opened) return opened.error();
    std::vector<Listener> listeners = std::move(opened).value();
    std::vector<Listener> beside = take_preferring_threads(listeners);
    auto server = make(orb, std::move(listeners));
    if (!server || beside.empty()) return server;
    return make_threads_beside(orb, std::move(server).value(), std::move(beside),
                               {.options = orb.thread_options("kairos-serve")});
}

Result<std::unique_ptr<Server>> open_handing_over(Orb& orb, MakeServer make)
{
    auto listeners = open_listeners(orb, {.hands_over = true});
    if (!listeners) return listeners.error();
    return make(orb, std::move(listeners).value());
}

} // namespace kairos::orb
