// SPDX-License-Identifier: Apache-2.0
//
// What one thread keeps from call to call so that the next one needs neither a lock nor the heap:
// message buffers and idle client connections. Each thread has its own and only that thread uses
// it.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/export.h"
#include "kairos/cdr/buffer.h"
#include "kairos/orb/call_policies.h"
#include "kairos/orb/client_connection.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/serving_thread.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kairos::orb {

/// Memory to serve one request with.
struct UpcallMemory {
    cdr::Buffer reply;
    /// More of that is given back behind the request, or asked about (ServerConnection).
    std::size_t reply_kept_max = limits::receive_buffer_kept;
    Arena arena;
};

/// Objects that are used one inside the other: a stack of those not in use.
template <typename T>
class Spares {
  public:
    [[nodiscard]] std::unique_ptr<T> take()
    {
        if (spares_.empty()) return std::make_unique<T>();
        auto spare = std::move(spares_.back());
        spares_.pop_back();
        return spare;
    }
    /// The same; null where there is no memory for another.
    [[nodiscard]] std::unique_ptr<T> try_take() noexcept
    {
        try {
            return take();
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }
    void give_back(std::unique_ptr<T> spare) noexcept
    {
        try {
            spares_.push_back(std::move(spare));
        } catch (const std::bad_alloc&) { // then it is not kept
        }
    }

  private:
    std::vector<std::unique_ptr<T>> spares_;
};

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

class KAIROS_API Lane {
  public:
    /// The calling thread's.
    [[nodiscard]] static Lane& current();
    /// The same for a thread that begins to serve: waits until there is memory for it.
    [[nodiscard]] static Lane& await_current() noexcept;

    Lane() = default;
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    /// Set while the thread serves requests: waits for replies go through it. Null elsewhere.
    ServingThread* serving_thread = nullptr;

    /// The thread's, once it was set or asked for: see thread_priority.
    std::optional<Priority> priority;

    Spares<cdr::Buffer> buffers;
    Spares<UpcallMemory> upcall_memory;

    /// An idle connection to this endpoint that can be used, or null.
    [[nodiscard]] std::unique_ptr<ClientConnection> take_connection(const Endpoint& endpoint)
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
    [[nodiscard]] std::unique_ptr<ClientConnection> take_open_connection(const Endpoint& endpoint);
    void give_back(std::unique_ptr<ClientConnection> connection)
    {
        IdleConnections& idle = idle_for(connection->endpoint());
        idle.put(std::move(connection));
    }
    /// Closes the idle connections to an endpoint: one of them turned out to be dead.
    void drop_connections(const Endpoint& endpoint);
    /// Policies of this thread for calls on the references of one ORB; null for none.
    [[nodiscard]] const CallPolicies* call_policies(const Orb& orb) const noexcept;
    void set_call_policies(const Orb& orb, const CallPolicies& policies);
    /// Closes all idle connections of an ORB; false if there are none.
    bool drop_connections(const Orb& orb);
    /// Closes the idle connections of ORBs that were shut down, and forgets those that were closed
    /// because no reference leads to their servers any more.
    void drop_connections_of_the_dead();

  private:
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
    std::vector<std::pair<std::uint64_t, CallPolicies>> call_policies_; // by the ORBs' incarnations
};

} // namespace kairos::orb
