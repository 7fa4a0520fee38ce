// SPDX-License-Identifier: Apache-2.0
//
// What servers have in common: what references say of them, and how they turn clients away.
#include "kairos/server/server.h"

#include "kairos/base/log.h"
#include "kairos/giop/control.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/orb.h"
#include "kairos/server/architectures.h"
#include "kairos/server/server_connection.h"
#include "kairos/server/serving.h"

#include <algorithm>
#include <cstring>

namespace kairos::orb {

Server::Server(Orb& orb, std::vector<Listener> listeners)
    : orb_(orb), listeners_(std::move(listeners))
{
    if (!orb.options().listens) published_.push_back(unreachable_listen_point(orb.incarnation()));
    for (const Listener& listener : listeners_) {
        const bool by_profile = listener.transport->tag() == Transport::no_tag;
        for (const ior::Address& address : listener.published) {
            if (!by_profile)
                add_tagged(tagged_, *listener.transport, {Transport::any_priority, address});
            else if (std::ranges::find(published_, address) == published_.end())
                published_.push_back(address);
        }
        if (const LocalTransport* const local = listener.transport->local(); local != nullptr)
            local_addresses_.push_back(
                {.transport = local->number(), .path = listener.acceptor.address().host_text()});
    }
}

void add_tagged(std::vector<TaggedAddresses>& all, const Transport& transport,
                ior::PriorityAddress address)
{
    auto of_this = std::ranges::find(all, &transport, &TaggedAddresses::transport);
    if (of_this == all.end()) of_this = all.insert(all.end(), {.transport = &transport});
    of_this->addresses.push_back(std::move(address));
}

Result<std::unique_ptr<Server>> Server::open(Orb& orb, const ForPools& pools)
{
    auto server = open_by_architecture(orb);
    if (server && pools.hands_over) {
        const std::unique_ptr<Server> former = std::move(server).value();
        server = open_handing_over(orb, *former, pools);
    }
    if (server && orb.options().announces_addresses) {
        std::string text;
        for (const ior::Address& address : (*server)->published())
            text += (text.empty() ? "" : ", ") + ior::to_string(address);
        for (const TaggedAddresses& tagged : (*server)->tagged())
            for (const ior::PriorityAddress& each : tagged.addresses)
                text += (text.empty() ? "" : ", ") + tagged.transport->describe(each.address);
        for (const ior::LocalAddress& local : (*server)->local_addresses())
            text += (text.empty() ? "" : ", ") + ior::to_string(local);
        log::announce("published in references: " + text);
    }
    return server;
}

/// What it leaves behind can be closed, and is nobody's.
std::vector<PriorityLane> Server::take_lanes()
{
    std::vector<PriorityLane> taken(1);
    for (Listener& listener : listeners_)
        taken.front().listeners.push_back(std::move(listener));
    return taken;
}

void Server::leave_to_parent() noexcept
{
    for (Listener& listener : listeners_)
        listener.acceptor.leave_to_parent();
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

void Server::log_refusal(const net::Acceptor::Accepted& accepted) noexcept
{
    if (!accepted.first_of_episode) return;
    log::error(log::Line() << "cannot accept connections: " << std::strerror(accepted.error)
                           << "; serving those there are");
}

void Server::log_refusal(const net::Address& peer, const Error& reason) noexcept
{
    log::write_limited(log::Level::error, peer.host_number(),
                       log::Line() << "connection from " << peer << " refused: " << reason.reason);
}

void Server::log_out_of_memory(const net::Address& peer) noexcept
{
    log::write_limited(log::Level::error, peer.host_number(),
                       log::Line() << "connection from " << peer << " refused: out of memory");
}

void Server::log_too_many(const net::Address& peer, std::string_view option) noexcept
{
    log::write_limited(log::Level::warning, peer.host_number(),
                       log::Line()
                           << "connection from " << peer << " refused: " << option << " reached");
}

net::Acceptor::Accepted Server::accept(Listener& listener, Orb& orb) noexcept
{
    auto accepted = listener.acceptor.accept();
    if (accepted.status != net::Acceptor::Status::accepted) return accepted;
    try {
        const auto prepared = listener.transport->prepare(accepted.socket, Transport::Side::server,
                                                          orb.options().socket.spin);
        if (!prepared) {
            log_refusal(accepted.peer, prepared.error());
        } else if (Serving::of(orb).account().has_place_for(accepted.peer,
                                                            orb.options().peer_connections())) {
            return accepted;
        } else {
            log_too_many(accepted.peer, "-ORBMaxPeerConnections");
            turn_away(std::move(accepted.socket));
        }
    } catch (const std::bad_alloc&) {
        log_out_of_memory(accepted.peer);
    }
    return {.status = net::Acceptor::Status::turned_away, .first_of_episode = false};
}

void Server::turn_away(net::Socket socket) noexcept
{
    if (socket.is_agreeing()) return; // it is closed: nothing can be said yet
    // 1.0: which version the client speaks is not known, and this header is the same in all.
    const auto message = giop::close_connection(giop::version_1_0);
    (void)socket.write_all(Bytes(message));
    drain(socket);
}

namespace {

void turn_away_waiting(Listener& listener, Orb& orb) noexcept
{
    using Status = net::Acceptor::Status;
    for (;;) {
        auto accepted = Server::accept(listener, orb);
        if (accepted.status == Status::accepted)
            Server::turn_away(std::move(accepted.socket));
        else if (accepted.status != Status::turned_away)
            return;
    }
}

} // namespace

void Server::close_listener(Listener& listener, Orb& orb) noexcept
{
    // The kernel resets TCP connections that wait; their clients could not know then whether what
    // they sent was executed.
    turn_away_waiting(listener, orb);
    listener.acceptor.shut_down();
    // A Unix socket keeps those who came in between.
    turn_away_waiting(listener, orb);
    const net::Acceptor closed = std::move(listener.acceptor);
}

} // namespace kairos::orb
