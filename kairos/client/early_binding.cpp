// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/early_binding.h"

#include "kairos/base/log.h"
#include "kairos/client/client.h"
#include "kairos/client/invocation.h"
#include "kairos/client/shared_connections.h"
#include "kairos/client/thread_connections.h"
#include "kairos/orb/orb.h"

namespace kairos::orb {
namespace {

/// Makes a connection to this endpoint, unless there is one; the error says why it cannot be made.
Result<void> connect(Orb& orb, Lane& lane, Endpoint& endpoint, const CallLimits& limits)
{
    const Deadline deadline = limits.connection();
    if (shares_connections(limits, lane)) {
        const auto taken =
            Client::of(orb).shared_connections().take(endpoint, limits.architecture, deadline);
        return taken ? Result<void>() : Result<void>(taken.error());
    }
    auto connection = ThreadConnections::of(lane).take_open(endpoint);
    if (!connection) {
        auto opened = ClientConnection::open(orb, endpoint, deadline);
        if (!opened) return opened.error();
        connection = std::move(opened).value();
    }
    if (orb.options().closes_idle_connections) connection->end_use();
    ThreadConnections::of(lane).give_back(std::move(connection));
    return {};
}

} // namespace

void bind_early(Reference& reference)
{
    Orb& orb = reference.orb();
    if (reference.is_local() || orb.is_shut_down()) return;
    Lane& lane = Lane::current();
    const CallLimits limits = limits_of_call(reference);
    const auto& targets = reference.has_priorities()
                              ? reference.targets_at(thread_priority(lane, orb.priority_mapping()))
                              : reference.targets();
    for (const Target& target : targets) {
        const auto connected = connect(orb, lane, *target.endpoint, limits);
        if (connected) return;
        log::warning("no connection made early: " + connected.error().reason);
    }
}

} // namespace kairos::orb
