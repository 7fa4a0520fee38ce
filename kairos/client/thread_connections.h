// SPDX-License-Identifier: Apache-2.0
//
// The idle connections of one thread, by where they lead: the next call takes one without a lock.
// Part of the thread's storage; only that thread uses it.
#pragma once

#include "kairos/client/client_connection.h"
#include "kairos/orb/thread_storage.h"

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
    /// Returns the connection that was given back last. Must not be called while empty().
    [[nodiscard]] std::unique_ptr<ClientConnection> take() noexcept
    {
        ClientConnection* const taken = first_;
        first_ = taken->next_idle;
        return std::unique_ptr<ClientConnection>(taken);
    }
    /// Takes an idle connection over, to be the next that take() returns.
    void put(std::unique_ptr<ClientConnection> connection) noexcept
    {
        ClientConnection* const given = connection.release();
        given->next_idle = first_;
        first_ = given;
    }
    /// Closes all connections.
    void clear() noexcept
    {
        while (!empty())
            (void)take();
    }
    /// Closes the connections of which `unwanted` is true; returns false if there were none.
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

class ThreadConnections final : public ThreadStoragePart {
  public:
    /// Returns the connections of the thread with this storage; makes them if the thread has not
    /// called yet.
    [[nodiscard]] static ThreadConnections& of(ThreadStorage& storage)
    {
        if (!storage.connections) [[unlikely]]
            make(storage);
        return static_cast<ThreadConnections&>(*storage.connections);
    }

    /// Returns the connections of the thread with this storage; null if the thread has not called
    /// yet.
    [[nodiscard]] static ThreadConnections* find(ThreadStorage& storage) noexcept
    {
        return static_cast<ThreadConnections*>(storage.connections.get());
    }

    /// Returns an idle connection to this endpoint that can be used, or null; closes those it finds
    /// that cannot be used any more.
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
    /// Returns an idle connection to this endpoint that can be used, or null, where other threads
    /// may close idle connections (Options::closes_idle_connections); passes over those that they
    /// have closed.
    [[nodiscard]] std::unique_ptr<ClientConnection> take_open(const Endpoint& endpoint);
    /// Keeps a connection that its call needs no more, for the next call to the same endpoint.
    void give_back(std::unique_ptr<ClientConnection> connection)
    {
        IdleConnections& idle = idle_for(connection->endpoint());
        idle.put(std::move(connection));
    }
    /// Closes all idle connections to this endpoint: one of them turned out to be dead.
    void close(const Endpoint& endpoint) { idle_for(endpoint).clear(); }
    /// Closes the thread's idle connections of this ORB; returns false if there are none.
    bool close(const Orb& orb);
    /// Closes the thread's idle connections of ORBs that were shut down, and those to endpoints
    /// that no reference leads to any more.
    void close_dead();

  private:
    [[gnu::cold]] static void make(ThreadStorage& storage);
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
