// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/bidirectional_connections.h"

#include "kairos/base/assert_held.h"
#include "kairos/client/client.h"
#include "kairos/net/inherited.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/listen_points.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/transport.h"

#include <algorithm>
#include <utility>

namespace kairos::orb {

/// Where there is no such half, or a parent has it, nobody can be called back.
ServerSide* BidirectionalConnections::serving() const noexcept
{
    return orb_.is_served_by_parent() ? nullptr : orb_.server_side();
}

BidirectionalLinkPtr BidirectionalConnections::claimed(const Route& route) const noexcept
{
    ServerSide* const server = serving();
    if (server == nullptr || !server->bidirectional().has_claims()) return {};
    return server->bidirectional().find(route.endpoint().ways());
}

bool BidirectionalConnections::carries(const Route& route)
{
    if (claimed(route)) return true;
    ServerSide* const server = serving();
    if (route.limits().bidirectional != BidirectionalUse::both || server == nullptr ||
        !server->bidirectional().has_adapter() || route.header().version() < giop::version_1_2)
        return false;
    {
        const Lock lock(mutex_);
        const auto slot = slots_.find(route.endpoint().id());
        if (slot != slots_.end() && slot->second.link && !slot->second.link->has_ended())
            return true;
    }
    const bool has_sockets = std::ranges::any_of(route.endpoint().ways(), [](const Way& way) {
        return !way.transport->prefers_threads() && way.transport->has_connections();
    });
    return has_sockets && !server->listen_points().empty();
}

Result<BidirectionalWay> BidirectionalConnections::take(const Route& route)
{
    if (auto link = claimed(route)) {
        const Bytes contexts = route.endpoint().contexts();
        return BidirectionalWay{.link = std::move(link),
                                .contexts = {contexts.begin(), contexts.end()}};
    }
    return take_offered(route);
}

Result<BidirectionalWay> BidirectionalConnections::take_offered(const Route& route)
{
    const Deadline deadline = route.limits().connection();
    const std::uint64_t id = route.endpoint().id();
    Lock lock(mutex_);
    for (;;) {
        const Slot& slot = slots_[id];
        if (slot.link && !slot.link->has_ended()) {
            BidirectionalWay way{.link = slot.link, .contexts = {}};
            if (!slot.link->contexts_sent()) way.contexts = slot.contexts;
            return way;
        }
        if (!slot.is_being_made) break;
        if (deadline.is_never())
            made_.wait(lock);
        else if (made_.wait_until(lock, deadline.at()) == std::cv_status::timeout)
            return Error{ErrorCode::unreachable,
                         "no connection to " + route.endpoint().text() + " in time"};
    }
    if (!route.may_connect())
        return Error{ErrorCode::unreachable, "no connection to " + route.endpoint().text()};
    std::erase_if(slots_, [id](const auto& each) {
        const Slot& slot = each.second;
        return each.first != id && !slot.is_being_made && (!slot.link || slot.link->has_ended());
    });
    slots_[id].is_being_made = true;
    slots_[id].place.reset();
    lock.unlock();
    auto made = [&]() -> Result<Slot> {
        try {
            return make(route);
        } catch (const std::bad_alloc&) { // others wait for us
            return Error{ErrorCode::unreachable, "no memory for a connection"};
        } catch (...) { // a transport's, for this caller alone: the others try for themselves
            lock.lock();
            slots_.erase(id);
            made_.notify_all();
            throw;
        }
    }();
    lock.lock();
    made_.notify_all();
    if (!made) {
        slots_.erase(id);
        return made.error();
    }
    BidirectionalWay way{.link = made->link, .contexts = made->contexts};
    slots_.erase(id);
    slots_.emplace(id, std::move(made).value());
    return way;
}

Result<BidirectionalConnections::Slot> BidirectionalConnections::make(const Route& route) const
{
    Endpoint& endpoint = route.endpoint();
    auto place = Client::of(orb_).cache().take_place(endpoint);
    if (!place) return place.error();
    auto socket = endpoint.connect(
        orb_.socket_options(thread_priority(ThreadStorage::current(), orb_.priority_mapping())),
        route.limits().connection(), Endpoint::First::sockets);
    if (!socket) return socket.error();
    if (socket->bypasses_descriptor())
        return Error{ErrorCode::unreachable,
                     "requests in both directions do not go through memory, and nothing else "
                     "leads to " +
                         endpoint.text()};
    ServerSide* const server = serving();
    if (server == nullptr) return Error{ErrorCode::unreachable, "the ORB does not serve"};
    auto link = server->take_over(std::move(socket).value());
    if (!link) return link.error();
    std::vector<ior::Address> points = server->listen_points();
    if (points.size() > listen_points_max) points.resize(listen_points_max);
    ContextList contexts;
    contexts.append(endpoint.contexts());
    append_listen_points(contexts, points);
    const Bytes bytes = contexts.bytes();
    Slot slot;
    slot.link = std::move(link).value();
    slot.contexts.assign(bytes.begin(), bytes.end());
    slot.endpoint = IntrusivePtr<Endpoint>(&endpoint);
    slot.place.emplace(std::move(place).value());
    return slot;
}

void BidirectionalConnections::start_over() noexcept
{
    const Lock lock(mutex_);
    net::forget_waiters(made_);
    for (auto& [id, slot] : slots_) {
        (void)slot.link.detach(); // what there is of it is the parent's
        if (slot.place) slot.place->give_back();
    }
    slots_.clear();
}

} // namespace kairos::orb
