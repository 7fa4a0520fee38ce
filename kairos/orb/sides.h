// SPDX-License-Identifier: Apache-2.0
//
// The two halves of an ORB as what they share knows them: kairos/client has the one, kairos/server
// the other, and neither knows of its opposite. Owned by the Orb. Any thread.
#pragma once

#include "kairos/base/intrusive_ptr.h"
#include "kairos/base/result.h"
#include "kairos/ior/profile.h"
#include "kairos/net/socket.h"
#include "kairos/orb/way.h"

#include <vector>

namespace kairos::orb {

class Bidirectional;
class BidirectionalLink;

/// The calling half: client/client.h. Every ORB has it from the beginning.
class ClientSide {
  public:
    ClientSide() = default;
    ClientSide(const ClientSide&) = delete;
    ClientSide& operator=(const ClientSide&) = delete;
    virtual ~ClientSide() = default;

    /// Notes that there are connections to an endpoint that no reference leads to any more.
    virtual void note_unused() noexcept = 0;
    /// Ends all calls and closes all connections, now and for ever.
    virtual void end() noexcept = 0;
    /// Ends the threads that look after connections. The ORB is about to go, and has no connections
    /// any more.
    virtual void stop() noexcept = 0;

    // --- fork() ---
    virtual void lock_for_fork() noexcept = 0;
    virtual void unlock_after_fork() noexcept = 0;
    /// Leaves the parent's connections to the parent, in a child of the process that has called.
    virtual void start_over() noexcept = 0;
};

/// The serving half: server/serving.h. There from the moment on when a program makes something that
/// serves: an object adapter, a thread pool, a filter.
class ServerSide {
  public:
    ServerSide() = default;
    ServerSide(const ServerSide&) = delete;
    ServerSide& operator=(const ServerSide&) = delete;
    virtual ~ServerSide() = default;

    /// Returns whether the listening sockets are open.
    [[nodiscard]] virtual bool listens() const noexcept = 0;
    /// Returns whether references to objects of this ORB say one of these ways.
    [[nodiscard]] virtual bool has_own_way(const WayList& ways) const = 0;

    /// Serves on the calling thread until `stop`; false if that is not for this thread to do.
    virtual bool run() = 0;
    virtual bool work_pending() = 0;
    virtual void perform_work() = 0;
    /// Returns a descriptor to poll, which is readable when perform_work has something to do.
    [[nodiscard]] virtual Result<int> descriptor() = 0;
    /// Has requests that the adapter held offered again, and the main thread look for work.
    virtual void resume() noexcept = 0;
    /// Begins to end: no new connections, no new requests. Does not wait.
    virtual void stop() noexcept = 0;
    /// Waits, after `stop`, until nothing is served any more. Not in an upcall.
    virtual void join() noexcept = 0;

    /// Writes to the log what was kept for peers (-ORBCounters).
    virtual void announce_figures() const = 0;

    // --- requests in both directions ---
    /// Returns what is known of connections that carry requests in both directions.
    [[nodiscard]] virtual Bidirectional& bidirectional() noexcept = 0;
    /// Returns the addresses at which references say that this ORB's objects are; none before
    /// `listens`.
    [[nodiscard]] virtual std::vector<ior::Address> listen_points() const = 0;
    /// Reads from now on a connection that the calling half has made and on which it offers these
    /// requests, as one that was accepted. Returns how to call over it; an error if the ORB does
    /// not serve.
    [[nodiscard]] virtual Result<IntrusivePtr<BidirectionalLink>> take_over(net::Socket socket) = 0;

    // --- fork() ---
    virtual void lock_for_fork() noexcept = 0;
    virtual void unlock_after_fork() noexcept = 0;
    /// Leaves serving to the parent, in a child of the process that serves: closes here what it
    /// listens on, and nothing else may be asked of it then. Returns false if it did not serve, and
    /// is as good as new.
    [[nodiscard]] virtual bool leave_to_parent() noexcept = 0;
};

} // namespace kairos::orb
