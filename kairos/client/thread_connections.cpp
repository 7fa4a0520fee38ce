// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/thread_connections.h"

#include "kairos/orb/orb.h"

#include <iterator>

namespace kairos::orb {

void ThreadConnections::make(ThreadStorage& storage)
{
    storage.connections = std::make_unique<ThreadConnections>();
}

void ThreadConnections::remember(const Endpoint& endpoint)
{
    last_idle_ = &idle_[endpoint.id()];
    last_id_ = endpoint.id();
}

std::unique_ptr<ClientConnection> ThreadConnections::take_open(const Endpoint& endpoint)
{
    IdleConnections& idle = idle_for(endpoint);
    while (!idle.empty()) {
        auto connection = idle.take();
        if (connection->begin_use() && connection->is_usable()) return connection;
    }
    return nullptr;
}

bool ThreadConnections::close(const Orb& orb)
{
    bool any = false;
    for (auto& [id, idle] : idle_)
        any |= idle.close_if([&](const ClientConnection& each) { return &each.orb() == &orb; });
    return any;
}

void ThreadConnections::close_dead()
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
