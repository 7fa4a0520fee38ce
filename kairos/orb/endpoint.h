// SPDX-License-Identifier: Apache-2.0
//
// The ways to one server, shared by all references that name them and agree on the same code sets
// there: those belong to a connection. Immutable, but for the count of the references that lead
// here: when there are none any more, its connections are closed after a while
// (connection_cache.h).
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/result.h"
#include "kairos/net/socket.h"
#include "kairos/orb/tcp_properties.h"
#include "kairos/orb/way.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kairos::orb {

class ClientSide;

class KAIROS_API Endpoint : public RefCounted {
  public:
    /// Makes an endpoint of these ways, which are tried in their order. `contexts` are the service
    /// contexts of the first request on each connection. `tcp` is for connections that differ from
    /// the options. `client` is told when no reference leads here any more but connections are
    /// left.
    Endpoint(ClientSide& client, WayList ways, std::vector<std::byte> contexts,
             std::optional<TcpProperties> tcp = {})
        : client_(client), ways_(std::move(ways)), contexts_(std::move(contexts)), tcp_(tcp)
    {
    }

    /// Distinguishes endpoints for the life of the process; never reused.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] const WayList& ways() const noexcept { return ways_; }
    /// Returns the port of the last way that leads further than this host; 0 if none does.
    [[nodiscard]] std::uint16_t port() const noexcept;
    /// Returns the service contexts for the first request on each connection, encoded as
    /// giop::RequestTemplate wants them; empty if there are none.
    [[nodiscard]] Bytes contexts() const noexcept { return contexts_; }
    /// Returns whether both endpoints lead to the same address: that of the last way that leads
    /// further than this host, or all of them if none does.
    [[nodiscard]] bool same_address(const Endpoint& other) const noexcept;
    /// Returns the address of the last way that leads further than this host, or else of the first,
    /// for messages.
    [[nodiscard]] std::string text() const;
    /// Appends text() to a line of the log without allocating.
    friend log::Line& operator<<(log::Line& line, const Endpoint& endpoint) noexcept;

    /// Which ways are tried first.
    enum class First : std::uint8_t {
        highest_rank,
        sockets, ///< for who waits for more than the next bytes of one connection
    };
    /// Connects by the deadline: tries the ways in their order, and each address that the name of a
    /// host stands for. Asks for these anew each time, for names move; numeric hosts ask nobody.
    /// With First::sockets, ways that prefer threads, as shared memory, come behind all others.
    [[nodiscard]] Result<net::Socket> connect(const net::SocketOptions& ordinary, Deadline deadline,
                                              First first = First::highest_rank) const;

    // --- who uses it ---
    /// Counts a reference that leads here; called by EndpointUse. For an endpoint that the ORB may
    /// give to other references, under the lock of Orb::endpoint.
    void begin_use() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
    void end_use() noexcept;
    /// Counts a connection to this endpoint; called by ConnectionCache::Place.
    void note_connection() noexcept { connections_.fetch_add(1, std::memory_order_relaxed); }
    void note_end_of_connection() noexcept { connections_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_used() const noexcept
    {
        return users_.load(std::memory_order_acquire) != 0;
    }
    /// Returns whether no reference leads here, and none has since `before` (by coarse_now()).
    [[nodiscard]] bool unused_since(std::chrono::nanoseconds before) const noexcept
    {
        return !is_used() && unused_since_.load(std::memory_order_relaxed) <= before.count();
    }
    /// Notes that the endpoint will not be given to references any more.
    void retire() noexcept { retired_.store(true, std::memory_order_release); }
    /// Returns whether no reference leads here or ever will: what connections there are belongs to
    /// nobody.
    [[nodiscard]] bool is_left() const noexcept
    {
        return retired_.load(std::memory_order_acquire) && !is_used();
    }

  private:
    /// Returns the last way that leads further than this host; null if none does.
    [[nodiscard]] const Way* beyond() const noexcept;
    [[nodiscard]] static std::uint64_t next_id() noexcept
    {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
    }

    ClientSide& client_;
    const std::uint64_t id_ = next_id();
    const WayList ways_;
    const std::vector<std::byte> contexts_;
    const std::optional<TcpProperties> tcp_; // other than the options'
    std::atomic<std::size_t> users_{0};
    std::atomic<std::size_t> connections_{0};
    std::atomic<std::int64_t> unused_since_{0}; // by coarse_now()
    std::atomic<bool> retired_{false};
};

/// A reference's share in an endpoint.
class EndpointUse {
  public:
    EndpointUse() = default;
    explicit EndpointUse(IntrusivePtr<Endpoint> endpoint) noexcept : endpoint_(std::move(endpoint))
    {
        if (endpoint_) endpoint_->begin_use();
    }
    EndpointUse(const EndpointUse& other) noexcept : EndpointUse(other.endpoint_) {}
    EndpointUse(EndpointUse&& other) noexcept = default;
    EndpointUse& operator=(EndpointUse other) noexcept
    {
        std::swap(endpoint_, other.endpoint_);
        return *this;
    }
    ~EndpointUse()
    {
        if (endpoint_) endpoint_->end_use();
    }

    [[nodiscard]] Endpoint& operator*() const noexcept { return *endpoint_; }
    [[nodiscard]] Endpoint* operator->() const noexcept { return endpoint_.get(); }

  private:
    IntrusivePtr<Endpoint> endpoint_;
};

} // namespace kairos::orb
