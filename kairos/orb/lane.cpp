// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/lane.h"

#include "kairos/base/thread_owned.h"
#include "kairos/orb/orb.h"

#include <iterator>

namespace kairos::orb {

Lane& Lane::current() { return ThreadOwned<Lane>::get(); }

Lane& Lane::await_current() noexcept
{
    for (;;) {
        try {
            return current();
        } catch (const std::bad_alloc&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

void Lane::remember(const Endpoint& endpoint)
{
    last_idle_ = &idle_[endpoint.id()];
    last_id_ = endpoint.id();
}

const CallPolicies* Lane::call_policies(const Orb& orb) const noexcept
{
    for (const auto& [incarnation, policies] : call_policies_)
        if (incarnation == orb.incarnation()) return &policies;
    return nullptr;
}

void Lane::set_call_policies(const Orb& orb, const CallPolicies& policies)
{
    std::erase_if(call_policies_,
                  [&](const auto& entry) { return entry.first == orb.incarnation(); });
    if (!policies.is_empty()) call_policies_.emplace_back(orb.incarnation(), policies);
}

void Lane::drop_connections(const Endpoint& endpoint) { idle_for(endpoint).clear(); }

std::unique_ptr<ClientConnection> Lane::take_open_connection(const Endpoint& endpoint)
{
    IdleConnections& idle = idle_for(endpoint);
    while (!idle.empty()) {
        auto connection = idle.take();
        if (connection->begin_use() && connection->is_usable()) return connection;
    }
    return nullptr;
}

bool Lane::drop_connections(const Orb& orb)
{
    bool any = false;
    for (auto& [id, idle] : idle_)
        any |= idle.close_if([&](const ClientConnection& each) { return &each.orb() == &orb; });
    return any;
}

void Lane::drop_connections_of_the_dead()
{
    for (auto entry = idle_.begin(); entry != idle_.end();) {
        (void)entry->second.close_if([](const ClientConnection& each) {
            return each.orb().is_shut_down() || each.endpoint().is_left();
        });
        entry = entry->second.empty() ? idle_.erase(entry) : std::next(entry);
    }
    last_id_ = 0; // its entry may be gone
    last_idle_ = nullptr;
}

} // namespace kairos::orb
