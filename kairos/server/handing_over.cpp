// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a server when the program makes thread pools and its options name no
// architecture, or one with lanes: who reads hands over, and lanes of pools get listeners.
#include "kairos/base/log.h"
#include "kairos/orb/orb.h"
#include "kairos/orb/real_time.h"
#include "kairos/server/architectures.h"
#include "kairos/server/handover.h"
#include "kairos/server/listening.h"

#include <algorithm>

namespace kairos::orb {
namespace {

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

/// Those taken from a former server go to the lanes that have none: new ones have what they listen
/// on.
void give_listeners(const Orb& orb, std::vector<PriorityLane>& lanes,
                    std::vector<PriorityLane> taken)
{
    auto next = taken.begin();
    for (PriorityLane& lane : lanes)
        if (lane.listeners.empty()) {
            lane.listeners = std::move((next++)->listeners);
            if (orb.options().network_priority) give_priority(orb, lane);
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

} // namespace

Result<std::unique_ptr<Server>> Server::open_handing_over(Orb& orb, Server& former,
                                                          const ForPools& pools)
{
    std::vector<PriorityLane> lanes;
    if (orb.options().concurrency->has_lanes) {
        lanes = former.take_lanes();
    } else {
        lanes = lanes_for_pools(orb, former, pools.lanes);
        std::vector<PriorityLane> taken = former.take_lanes();
        if (lanes.empty()) {
            for (Listener& listener : taken.front().listeners)
                if (auto set = listener.acceptor.become_non_blocking(); !set) return set.error();
            return make_handover(orb, std::move(taken.front().listeners), make_worker_pool);
        }
        give_listeners(orb, lanes, std::move(taken));
    }
    for (PriorityLane& lane : lanes)
        for (Listener& listener : lane.listeners)
            if (auto set = listener.acceptor.become_non_blocking(); !set) return set.error();
    return make_reactor_per_priority(orb, std::move(lanes), true);
}

} // namespace kairos::orb
