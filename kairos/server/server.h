// SPDX-License-Identifier: Apache-2.0
//
// How connections become requests: one implementation a concurrency architecture (paper 003).
// Listening sockets are open from construction on; serving begins with `start`.
#pragma once

#include "kairos/base/result.h"
#include "kairos/ior/component.h"
#include "kairos/net/acceptor.h"
#include "kairos/orb/options.h"
#include "kairos/orb/priority.h"
#include "kairos/orb/tcp_properties.h"
#include "kairos/orb/transport.h"
#include "kairos/orb/way.h"
#include "kairos/server/thread_pools.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kairos::orb {

class HandoverServer;
class Orb;

/// One listening socket and what references say about it.
struct Listener {
    net::Acceptor acceptor;
    const Transport* transport = nullptr; ///< never null
    std::vector<ior::Address> published{};
};

/// Addresses beyond the host that references say by a component of their transport.
struct TaggedAddresses {
    const Transport* transport = nullptr; ///< never null
    std::vector<ior::PriorityAddress> addresses{};
};
/// Adds an address of this transport to `all`.
void add_tagged(std::vector<TaggedAddresses>& all, const Transport& transport,
                ior::PriorityAddress address);

/// A priority, and the listeners and threads it has.
struct PriorityLane {
    Priority priority = 0;
    std::size_t threads = 1; ///< 0: one for each connection
    std::optional<int> cpu{};
    std::vector<Listener> listeners;
};

class Server {
  public:
    virtual ~Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Opens a server of the options' architecture on the endpoints of the options; with none
    /// given, on every interface and a port of the system's choice.
    [[nodiscard]] static Result<std::unique_ptr<Server>> open(Orb& orb, const ForPools& pools);

    /// Returns the addresses that profiles say of all listeners, best first; no address twice.
    [[nodiscard]] const std::vector<ior::Address>& published() const noexcept { return published_; }

    /// Returns the addresses beyond the host that components of references say.
    [[nodiscard]] const std::vector<TaggedAddresses>& tagged() const noexcept { return tagged_; }
    /// Returns where clients on this host reach the server; with the priority for each, where
    /// requests of each priority go elsewhere.
    [[nodiscard]] const std::vector<ior::LocalAddress>& local_addresses() const noexcept
    {
        return local_addresses_;
    }

    /// Returns where requests of each priority go, if that differs; then published() is one of
    /// these, too.
    [[nodiscard]] const std::vector<ior::PriorityAddress>& priority_addresses() const noexcept
    {
        return priority_addresses_;
    }

    /// Returns the priorities for which the server has listeners and threads of their own,
    /// ascending; none where priorities make no difference.
    [[nodiscard]] virtual std::span<const Priority> lanes() const noexcept { return {}; }
    /// Gives up what the server listens on, for each of its lanes, or as one lane; it cannot start
    /// any more.
    [[nodiscard]] virtual std::vector<PriorityLane> take_lanes();
    /// Opens, in place of `former`, which has not started, a server that hands requests over to a
    /// worker pool, or to one for each lane, and listens where `former` did. Lanes for which it
    /// cannot listen as well are left out, and the log says why.
    [[nodiscard]] static Result<std::unique_ptr<Server>> open_handing_over(Orb& orb, Server& former,
                                                                           const ForPools& pools);

    /// Applies these properties to the listeners and the connections of clients, of this priority
    /// where the server has no lanes. To be called before `start`.
    virtual void set_connections(const TcpProperties& properties, Priority priority);

    /// Returns this server if it hands requests over; else null.
    [[nodiscard]] virtual HandoverServer* handover() noexcept { return nullptr; }

    /// Begins to serve; to be called once. After an error it serves nobody, or some, and must be
    /// stopped.
    [[nodiscard]] virtual Result<void> start() = 0;
    /// Serves on the calling thread until `stop`; false where the server has threads of its own.
    virtual bool run() = 0;
    virtual bool work_pending() = 0;
    virtual void perform_work() = 0;
    /// Returns a descriptor to poll, which is readable when perform_work has something to do.
    [[nodiscard]] virtual Result<int> descriptor();
    /// Notes that requests held by the adapter can be offered again, or the main thread has work to
    /// do.
    virtual void resume() noexcept = 0;
    /// Begins to end: no new connections, no new requests. Does not wait.
    virtual void stop() noexcept = 0;
    /// Waits, after `stop`, until every connection was closed in order. Not in an upcall.
    virtual void join() noexcept = 0;

    /// Closes what the server listens on in a child of the process that serves, which goes on
    /// serving. Nothing else may be asked of the server then.
    virtual void leave_to_parent() noexcept;

    /// Tells the log why a connection could not be accepted, once an episode.
    static void log_refusal(const net::Acceptor::Accepted& accepted) noexcept;
    /// Tells the log why a connection that was accepted is not served.
    static void log_refusal(const net::Address& peer, const Error& reason) noexcept;
    /// How many waiting clients are accepted before others have their turn.
    static constexpr int accepted_at_once_max = 64;
    /// Tells the log that a connection is not served because there was no memory for it.
    static void log_out_of_memory(const net::Address& peer) noexcept;
    /// Tells the log that a connection is not served because of this option.
    static void log_too_many(const net::Address& peer,
                             std::string_view option = "-ORBMaxConnections") noexcept;
    /// Accepts one connection, prepared by its transport. What cannot be prepared is turned away,
    /// and whose peer has too many, and the log says why.
    [[nodiscard]] static net::Acceptor::Accepted accept(Listener& listener, Orb& orb) noexcept;
    /// Tells a client that came too late that nothing it has sent was executed, if that can be said
    /// without shaking hands; else the end of the connection says so.
    static void turn_away(net::Socket socket) noexcept;
    /// Ends a listener that does not block, and turns away everybody who waits there. Whoever
    /// cannot be told so finds the connection ended: nobody waits for ever for a server that ends.
    static void close_listener(Listener& listener, Orb& orb) noexcept;

  protected:
    Server(Orb& orb, std::vector<Listener> listeners);

    [[nodiscard]] std::vector<Listener*> all_listeners();

    /// Makes a server of several servers, one for each priority, or for each kind of connection:
    /// what profiles say of it is what they say of `first`.
    Server(const Server& first, std::vector<TaggedAddresses> tagged,
           std::vector<ior::PriorityAddress> priority_addresses,
           std::vector<ior::LocalAddress> local_addresses)
        : orb_(first.orb_), published_(first.published_), tagged_(std::move(tagged)),
          priority_addresses_(std::move(priority_addresses)),
          local_addresses_(std::move(local_addresses))
    {
    }

    Orb& orb_;
    std::vector<Listener> listeners_;

  private:
    std::vector<ior::Address> published_;
    std::vector<TaggedAddresses> tagged_;
    std::vector<ior::PriorityAddress> priority_addresses_;
    std::vector<ior::LocalAddress> local_addresses_;
};

} // namespace kairos::orb
