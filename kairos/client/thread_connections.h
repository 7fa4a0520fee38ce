// SPDX-License-Identifier: Apache-2.0
//
// The idle connections of one thread, by where they lead: the next call takes one without a lock.
// Part of the thread's lane; only that thread uses it.
#pragma once

#include "kairos/client/client_connection.h"
#include "kairos/orb/lane.h"

#include <memory>
#include <unordered_map>

namespace kairos::orb {

/// Connections that nobody uses, the last one given back first. A chain through themselves: to give
/// one back allocates nothing.
class IdleConnections {
  public:
    IdleConnections() = default;
    ~IdleConnections() { clear(); }
    IdleConnections(const IdleConnections&) = delete;
    IdleConnections& operator=(const IdleConnections&) = delete;

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    /// Not if there are none.
    [[nodiscard]] std::unique_ptr<ClientConnection> take() noexcept
    {
        ClientConnection* const taken = first_;
        first_ = taken->next_idle;
        return std::unique_ptr<ClientConnection>(taken);
    }
    void put(std::unique_ptr<ClientConnection> connection) noexcept
    {
        ClientConnection* const given = connection.release();
        given->next_idle = first_;
        first_ = given;
    }
    void clear() noexcept
    {
        while (!empty())
            (void)take();
    }
    /// Closes those of which `unwanted` is true; false if there were none.
    template <typename Predicate>
    bool close_if(const Predicate& unwanted)
    {
        bool any = false;
        for (ClientConnection** place = &first_; *place != nullptr;) {
            ClientConnection* const each = *place;
            if (!unwanted(*each)) {
                place = &each->next_idle;
                continue;
            }
            *place = each->next_idle;
            delete each;
            any = true;
        }
        return any;
    }

  private:
    ClientConnection* first_ = nullptr; // owns the chain
};

class ThreadConnections final : public LanePart {
  public:
    [[nodiscard]] static ThreadConnections& of(Lane& lane)
    {
        if (!lane.connections) [[unlikely]]
            make(lane);
        return static_cast<ThreadConnections&>(*lane.connections);
    }

    /// Null for a thread that has not called.
    [[nodiscard]] static ThreadConnections* find(Lane& lane) noexcept
    {
        return static_cast<ThreadConnections*>(lane.connections.get());
    }

    /// An idle connection to this endpoint that can be used, or null.
    [[nodiscard]] std::unique_ptr<ClientConnection> take(const Endpoint& endpoint)
    {
        IdleConnections& idle = idle_for(endpoint);
        while (!idle.empty()) {
            auto connection = idle.take();
            if (connection->is_usable()) [[likely]]
                return connection;
        }
        return nullptr;
    }
    /// The same where idle connections may have been closed.
    [[nodiscard]] std::unique_ptr<ClientConnection> take_open(const Endpoint& endpoint);
    void give_back(std::unique_ptr<ClientConnection> connection)
    {
        IdleConnections& idle = idle_for(connection->endpoint());
        idle.put(std::move(connection));
    }
    /// Closes those to an endpoint: one of them turned out to be dead.
    void close(const Endpoint& endpoint) { idle_for(endpoint).clear(); }
    /// Closes those of an ORB; false if there are none.
    bool close(const Orb& orb);
    /// Closes those of ORBs that were shut down, and forgets those that were closed because no
    /// reference leads to their servers any more.
    void close_dead();

  private:
    [[gnu::cold]] static void make(Lane& lane);
    [[nodiscard]] IdleConnections& idle_for(const Endpoint& endpoint)
    {
        if (endpoint.id() != last_id_) [[unlikely]]
            remember(endpoint);
        return *last_idle_;
    }
    [[gnu::cold]] void remember(const Endpoint& endpoint);

    std::unordered_map<std::uint64_t, IdleConnections> idle_; // by endpoint id; entries stay there
    std::uint64_t last_id_ = 0;                               // the endpoint of the last call…
    IdleConnections* last_idle_ = nullptr; // …which most often is that of the next
};

} // namespace kairos::orb
