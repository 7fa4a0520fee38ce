// SPDX-License-Identifier: Apache-2.0
//
// From options to servers: what listens, which architecture serves it, and what references say.
#include "kairos/orb/server.h"

#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/net/address.h"
#include "kairos/net/host_identity.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/orb/server/architectures.h"
#include "kairos/orb/server/handover.h"
#include "kairos/orb/server/server_connection.h"

#include <algorithm>
#include <cstring>
#include <limits>

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

Result<net::Address> address_of(const ListenEndpoint& endpoint)
{
    if (endpoint.transport != Transport::tcp)
        return endpoint.path.empty() ? net::private_path() : net::Address::unix_path(endpoint.path);
    if (endpoint.host.empty()) return net::Address::any_ipv4(endpoint.port);
    const auto addresses = net::resolve(endpoint.host, endpoint.port);
    if (!addresses) return addresses.error();
    return addresses->front();
}

/// What a listener is opened for.
struct ListensFor {
    Priority priority = 0; ///< of the requests
    std::size_t lane = 0;
    bool connections_have_threads = false; ///< then it blocks
};

Result<Listener> open_listener(Orb& orb, const ListenEndpoint& endpoint, const ListensFor& what,
                               const Machine& machine)
{
    const Options& options = orb.options();
    const std::string option = "-ORBListenEndpoints " + endpoint.text;
    const auto address = address_of(endpoint);
    if (!address) return named(option, address.error());
    // Threads of their own serve shared memory, whatever serves sockets.
    const bool blocks = what.connections_have_threads ||
                        options.concurrency == Concurrency::thread_per_connection ||
                        endpoint.transport == Transport::shared_memory;
    auto acceptor = net::Acceptor::open(
        *address, {.socket = orb.socket_options(what.priority), .non_blocking = !blocks});
    if (!acceptor) return named(option, acceptor.error());
    if (endpoint.transport != Transport::tcp) {
        if (net::this_host())
            return Listener{.acceptor = std::move(acceptor).value(),
                            .transport = endpoint.transport};
        return Error{ErrorCode::system, option + ": the system does not tell which host this is"};
    }
    auto published = published_of(endpoint, acceptor->address(), options, machine);
    if (!published) return published.error();
    return Listener{.acceptor = std::move(acceptor).value(),
                    .published = std::move(published).value()};
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
    bool has_local = false;
    for (const Listener& listener : listeners) {
        if (!listener.published.empty()) return {};
        has_local = has_local || !listener.acceptor.address().is_ip();
    }
    if (has_local && options.giop_version.minor != 0) return {};
    return Error{ErrorCode::invalid_argument,
                 has_local ? "-ORBListenEndpoints without iiop:// contradicts -ORBGIOPVersion 1.0, "
                             "whose references have no place for other addresses"
                           : "-ORBPublish: the server has no address of those that are to be "
                             "published"};
}

Result<std::vector<Listener>> open_listeners(Orb& orb, const ListensFor& what = {})
{
    const Options& options = orb.options();
    auto lanes_endpoints = endpoints_of_lane(options, what.lane);
    if (!lanes_endpoints) return lanes_endpoints.error();
    std::vector<ListenEndpoint> endpoints = std::move(lanes_endpoints).value();
    if (endpoints.empty())
        endpoints.push_back({.text = "iiop://", .host = {}, .published_host = {}});
    const Machine machine = Machine::current();
    std::vector<Listener> listeners;
    for (const ListenEndpoint& endpoint : endpoints) {
        auto listener = open_listener(orb, endpoint, what, machine);
        if (!listener) return listener.error();
        log::info("listening on " + listener->acceptor.address().to_text());
        listeners.push_back(std::move(listener).value());
    }
    if (const auto check = check_reachable(listeners, options); !check) return check.error();
    return listeners;
}

Result<std::unique_ptr<Server>> make_handover(Orb& orb, std::vector<Listener> listeners,
                                              std::unique_ptr<Dispatcher> (*make)(Orb&,
                                                                                  RequestSource&))
{
    auto server = std::make_unique<HandoverServer>(
        orb, std::move(listeners), ServingThreads{.options = orb.thread_options("kairos-read")});
    if (const auto opened = server->open(make(orb, *server)); !opened) return opened.error();
    return std::unique_ptr<Server>(std::move(server));
}

/// The first that is scheduled in real time. Where the mapping knows none, the highest.
Priority least_real_time(const PriorityMapping& mapping)
{
    Priority priority = 0;
    for (int native = 1; native <= native_priority_max; ++native)
        if (mapping.to_corba(native, priority) && priority > 0) return priority;
    return priority_max;
}

/// Unless the options say it: one for ordinary threads and one for all that are scheduled in real
/// time, for a client's goes to the highest lane that is not above it.
std::vector<LaneOption> lanes_of(const Orb& orb)
{
    if (!orb.options().lanes.empty()) return orb.options().lanes;
    return {{.priority = 0}, {.priority = least_real_time(orb.priority_mapping())}};
}

Result<std::unique_ptr<Server>> open_lanes(Orb& orb)
{
    for (const ListenEndpoint& endpoint : orb.options().listen_endpoints)
        if (endpoint.transport == Transport::shared_memory)
            return Error{ErrorCode::invalid_argument,
                         "-ORBListenEndpoints " + endpoint.text +
                             " contradicts -ORBConcurrency reactor-per-priority: the threads of "
                             "shared memory have no lane"};
    std::vector<PriorityLane> lanes;
    for (const LaneOption& option : lanes_of(orb)) {
        auto listeners = open_listeners(orb, {.priority = option.priority,
                                              .lane = lanes.size(),
                                              .connections_have_threads = option.threads == 0});
        if (!listeners) return listeners.error();
        lanes.push_back(
            {option.priority, option.threads, option.cpu, std::move(listeners).value()});
    }
    return make_reactor_per_priority(orb, std::move(lanes));
}

/// Without what they listen on.
std::vector<PriorityLane> lanes_of_options(const Orb& orb)
{
    std::vector<PriorityLane> lanes;
    for (const LaneOption& option : lanes_of(orb))
        lanes.push_back({option.priority, option.threads, option.cpu, {}});
    return lanes;
}

/// Those of these priorities. What a former server listens on is left to its lanes, or the lowest.
/// The threads beside the pools' are as many as a worker pool has, in the lowest lane, where those
/// are who know of no priorities; one in each other.
Result<std::vector<PriorityLane>> open_lanes_beside(Orb& orb, const Server& former,
                                                    const std::vector<Priority>& priorities)
{
    if (priorities.size() > limits::lanes_max)
        return Error{ErrorCode::limit_exceeded,
                     "more than " + std::to_string(limits::lanes_max) + " priorities"};
    const std::span<const Priority> had = former.lanes();
    std::size_t count = std::max<std::size_t>(had.size(), 1);
    std::vector<PriorityLane> lanes;
    for (const Priority priority : priorities) {
        const auto scheduling = lane_scheduling(orb, priority);
        if (!scheduling) return scheduling.error();
        const bool is_first = lanes.empty();
        PriorityLane& lane = lanes.emplace_back(
            PriorityLane{priority, is_first ? orb.options().threads : 1, {}, {}});
        if (had.empty() ? is_first : std::ranges::find(had, priority) != had.end()) continue;
        auto listeners = open_listeners(orb, {.priority = priority, .lane = count++});
        if (!listeners) return listeners.error();
        lane.listeners = std::move(listeners).value();
    }
    return lanes;
}

/// Connections that are accepted from here on, and what is said to who makes them.
void give_priority(const Orb& orb, PriorityLane& lane)
{
    const net::SocketOptions options = orb.socket_options(lane.priority);
    for (Listener& listener : lane.listeners) {
        const net::Address& address = listener.acceptor.address();
        if (!address.is_ip()) continue;
        listener.acceptor.set_options(options);
        (void)net::apply_options(listener.acceptor.socket(), options, address.family());
    }
}

/// Without those for which the server cannot listen as well; no lanes if there is no way to have
/// any.
std::vector<PriorityLane> lanes_for_pools(Orb& orb, const Server& former,
                                          const std::vector<Priority>& wanted)
{
    if (wanted.empty()) return {};
    auto lanes = open_lanes_beside(orb, former, wanted);
    if (lanes) return std::move(lanes).value();
    log::warning("requests for some lanes of thread pools are not read by threads of their own: " +
                 lanes.error().reason);
    const std::span<const Priority> had = former.lanes();
    lanes = open_lanes_beside(orb, former, {had.begin(), had.end()});
    return lanes ? std::move(lanes).value() : std::vector<PriorityLane>();
}

/// Those of shared memory, which are taken out of `listeners`.
std::vector<Listener> take_memory(std::vector<Listener>& listeners)
{
    std::vector<Listener> sockets;
    std::vector<Listener> memory;
    for (Listener& listener : listeners)
        (listener.transport == Transport::shared_memory ? memory : sockets)
            .push_back(std::move(listener));
    listeners.swap(sockets);
    return memory;
}

Result<std::unique_ptr<Server>> open_socket_server(Orb& orb, std::vector<Listener> listeners)
{
    switch (orb.options().concurrency) {
    case Concurrency::thread_per_connection:
        return make_thread_per_connection(orb, std::move(listeners),
                                          {.options = orb.thread_options("kairos-serve")});
    case Concurrency::reactor:
        return make_reactor(orb, std::move(listeners));
    case Concurrency::leader_followers:
        return make_leader_followers(
            orb, std::move(listeners),
            {.count = orb.options().threads, .options = orb.thread_options("kairos-pool")});
    case Concurrency::reactor_per_priority:
        break; // has listeners for each
    case Concurrency::worker_pool:
        return make_handover(orb, std::move(listeners), make_worker_pool);
    case Concurrency::thread_per_request:
        return make_handover(orb, std::move(listeners), make_thread_per_request);
    case Concurrency::thread_per_object:
        return make_handover(orb, std::move(listeners), make_thread_per_object);
    case Concurrency::filter_chain:
        return make_handover(orb, std::move(listeners), make_filter_chain);
    case Concurrency::custom:
        return make_handover(orb, std::move(listeners), make_custom_dispatch);
    }
    return Error{ErrorCode::invalid_argument, "-ORBConcurrency: unknown architecture"};
}

Result<std::unique_ptr<Server>> open_server(Orb& orb)
{
    if (orb.options().concurrency == Concurrency::reactor_per_priority) return open_lanes(orb);
    auto opened = open_listeners(orb);
    if (!opened) return opened.error();
    std::vector<Listener> listeners = std::move(opened).value();
    std::vector<Listener> memory = take_memory(listeners);
    auto server = open_socket_server(orb, std::move(listeners));
    if (!server || memory.empty()) return server;
    return make_memory_server(orb, std::move(server).value(), std::move(memory));
}

} // namespace

Server::Server(Orb& orb, std::vector<Listener> listeners)
    : orb_(orb), listeners_(std::move(listeners))
{
    for (const Listener& listener : listeners_) {
        for (const ior::Address& address : listener.published)
            if (std::ranges::find(published_, address) == published_.end())
                published_.push_back(address);
        const net::Address& listening = listener.acceptor.address();
        if (listener.transport == Transport::tcp) continue;
        using To = ior::LocalAddress::Transport;
        const bool by_memory = listener.transport == Transport::shared_memory;
        local_addresses_.push_back({.transport = by_memory ? To::shared_memory : To::unix_socket,
                                    .path = listening.host_text()});
    }
}

Result<std::unique_ptr<Server>> Server::open(Orb& orb, const ForPools& pools)
{
    auto server = open_server(orb);
    if (server && pools.hands_over) {
        const std::unique_ptr<Server> former = std::move(server).value();
        server = open_handing_over(orb, *former, pools);
    }
    if (server && orb.options().announces_addresses) {
        std::string text;
        for (const ior::Address& address : (*server)->published())
            text += (text.empty() ? "" : ", ") + ior::to_string(address);
        for (const ior::LocalAddress& local : (*server)->local_addresses()) {
            using enum ior::LocalAddress::Transport;
            text += (text.empty() ? "" : ", ");
            text += (local.transport == shared_memory ? "memory:" : "unix:") + local.path;
        }
        log::announce("published in references: " + text);
    }
    return server;
}

Result<std::unique_ptr<Server>> Server::open_handing_over(Orb& orb, Server& former,
                                                          const ForPools& pools)
{
    std::vector<PriorityLane> lanes;
    if (orb.options().concurrency == Concurrency::reactor_per_priority)
        lanes = lanes_of_options(orb);
    else
        lanes = lanes_for_pools(orb, former, pools.lanes);
    std::vector<PriorityLane> taken = former.take_lanes();
    if (lanes.empty()) {
        for (Listener& listener : taken.front().listeners)
            if (auto set = listener.acceptor.become_non_blocking(); !set) return set.error();
        return make_handover(orb, std::move(taken.front().listeners), make_worker_pool);
    }
    auto next = taken.begin();
    for (PriorityLane& lane : lanes) // those that are new have what they listen on
        if (lane.listeners.empty()) {
            lane.listeners = std::move((next++)->listeners);
            if (orb.options().network_priority) give_priority(orb, lane);
        }
    for (PriorityLane& lane : lanes)
        for (Listener& listener : lane.listeners)
            if (auto set = listener.acceptor.become_non_blocking(); !set) return set.error();
    return make_reactor_per_priority(orb, std::move(lanes), true);
}

/// What it leaves behind can be closed, and is nobody's.
std::vector<PriorityLane> Server::take_lanes()
{
    std::vector<PriorityLane> taken(1);
    for (Listener& listener : listeners_)
        taken.front().listeners.push_back(std::move(listener));
    return taken;
}

Result<int> Server::descriptor() { return orb_.main_thread().descriptor(); }

void Server::set_connections(const TcpProperties& properties, Priority priority)
{
    for (Listener& listener : listeners_) {
        if (!listener.acceptor.address().is_ip()) continue;
        listener.acceptor.set_options(with(properties, orb_.socket_options(priority), priority));
        apply(properties, listener.acceptor.socket(), priority);
    }
}

std::vector<Listener*> Server::all_listeners()
{
    std::vector<Listener*> all;
    all.reserve(listeners_.size());
    for (Listener& listener : listeners_)
        all.push_back(&listener);
    return all;
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

namespace {

void turn_away_waiting(net::Acceptor& acceptor) noexcept
{
    using Status = net::Acceptor::Status;
    for (;;) {
        auto accepted = acceptor.accept();
        if (accepted.status == Status::accepted)
            Server::turn_away(std::move(accepted.socket));
        else if (accepted.status != Status::turned_away)
            return;
    }
}

} // namespace

void Server::close_listener(net::Acceptor& acceptor) noexcept
{
    // The kernel resets TCP connections that wait; their clients could not know then whether what
    // they sent was executed.
    turn_away_waiting(acceptor);
    acceptor.shut_down();
    // A Unix socket keeps those who came in between.
    turn_away_waiting(acceptor);
    const net::Acceptor closed = std::move(acceptor);
}

} // namespace kairos::orb
