// SPDX-License-Identifier: Apache-2.0
#include "kairos/client/client_connections.h"

namespace kairos::orb {

void ClientConnections::add(ClientConnection& connection)
{
    const std::lock_guard lock(mutex_);
    connections_.insert(&connection);
    if (interrupted_) connection.interrupt();
}

void ClientConnections::remove(ClientConnection& connection) noexcept
{
    const std::lock_guard lock(mutex_);
    connections_.erase(&connection);
}

void ClientConnections::interrupt_all() noexcept
{
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (ClientConnection* connection : connections_)
        connection->interrupt();
}

void ClientConnections::close_idle(std::chrono::nanoseconds before) noexcept
{
    const std::lock_guard lock(mutex_);
    for (ClientConnection* connection : connections_)
        (void)connection->close_if_idle(before);
}

bool ClientConnections::close_least_recently_used() noexcept
{
    const std::lock_guard lock(mutex_);
    for (;;) {
        ClientConnection* oldest = nullptr;
        std::chrono::nanoseconds oldest_since{};
        for (ClientConnection* connection : connections_) {
            const auto since = connection->idle_since();
            if (!since || (oldest != nullptr && *since >= oldest_since)) continue;
            oldest = connection;
            oldest_since = *since;
        }
        if (oldest == nullptr) return false;
        if (oldest->close_if_idle(coarse_now())) return true;
        // Somebody was faster, and uses it.
    }
}

void ClientConnections::start_over() noexcept
{
    const std::lock_guard lock(mutex_);
    for (ClientConnection* connection : connections_)
        connection->leave_to_parent();
}

bool ClientConnections::close_left(std::chrono::nanoseconds before) noexcept
{
    const std::lock_guard lock(mutex_);
    bool others = false;
    for (ClientConnection* connection : connections_) {
        const Endpoint& endpoint = connection->endpoint();
        if (endpoint.is_used()) continue;
        const bool due = endpoint.is_left() && endpoint.unused_since(before);
        if (!due || !connection->close_left()) others = true;
    }
    return others;
}

std::size_t ClientConnections::count() const noexcept
{
    const std::lock_guard lock(mutex_);
    return connections_.size();
}

} // namespace kairos::orb
