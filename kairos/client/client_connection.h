// SPDX-License-Identifier: Apache-2.0
//
// A client's connection to one endpoint, used by one call at a time: it is written, then read until
// the reply is there (paper 003's non-multiplexed architecture). Stations 4 and 5 of the request
// walk (docs/TOUR.md). Owned by one thread's storage or by the call that uses it; only `interrupt`
// may come from elsewhere.
#pragma once

#include "kairos/base/coarse_clock.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/backlog.h"
#include "kairos/client/connection_cache.h"
#include "kairos/giop/client_session.h"
#include "kairos/net/socket.h"
#include "kairos/orb/endpoint.h"

#include <atomic>
#include <chrono>
#include <optional>

namespace kairos::orb {

class Orb;
class ServingThread;

class ClientConnection {
  public:
    using Outcome = giop::Outcome;

    /// Connects by the deadline; tries each address of the endpoint. The connection keeps `orb`
    /// alive, and is counted and known to it while it lives.
    [[nodiscard]] static Result<std::unique_ptr<ClientConnection>>
    open(Orb& orb, Endpoint& endpoint, Deadline deadline = {});
    KAIROS_API ~ClientConnection();
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

    [[nodiscard]] Orb& orb() const noexcept { return *orb_; }
    [[nodiscard]] Endpoint& endpoint() const noexcept { return *endpoint_; }
    [[nodiscard]] std::uint32_t next_request_id() noexcept { return session_.next_request_id(); }
    /// Returns the service contexts that the next request is to have: the endpoint's in the first
    /// request (a LocateRequest is none), none later.
    [[nodiscard]] Bytes contexts() const noexcept
    {
        return session_.contexts(endpoint_->contexts());
    }
    /// Notes that a request is being sent: later requests have no service contexts of the
    /// endpoint's.
    void note_contexts_sent() noexcept { session_.note_contexts_sent(); }

    // --- plain calls: no deadlines, nothing that was posted ---
    /// Sends one request: `header`, then what `body` holds. Cuts large messages into fragments if
    /// the options say so. While the peer does not take the message the thread waits; within an
    /// upcall it serves meanwhile (serving_thread.h).
    [[nodiscard]] Outcome send(Bytes header, const cdr::Writer& body) noexcept;
    /// Sends one request, as send() does, and blocks until the reply to it is there, which is valid
    /// until something else is received. With a `waiter`, waits through that, so that requests are
    /// served meanwhile.
    [[nodiscard]] Outcome exchange(Bytes header, const cdr::Writer& body, std::uint32_t request_id,
                                   giop::Reply& reply, ServingThread* waiter) noexcept;

    // --- others ---
    /// Sends one message by the deadline, behind what post() has kept: `header`, then what `body`
    /// holds. Waits, or serves, while the peer does not take it; returns not_sent at the deadline.
    [[nodiscard]] Outcome send(Bytes header, const cdr::Writer& body, Deadline deadline) noexcept;
    /// Sends a whole message by the deadline, in one piece and behind what post() has kept. Waits,
    /// or serves, while the peer does not take it; returns not_sent at the deadline.
    [[nodiscard]] Outcome send(Bytes message, Deadline deadline) noexcept;
    /// Sends one message without ever waiting: `header`, then what `body` holds. What the peer does
    /// not take now is kept (backlog.h) and sent before anything that follows; by a thread of the
    /// ORB, if nothing does. Waits all the same where that cannot be, as with shared memory.
    [[nodiscard]] Outcome post(Bytes header, const cdr::Writer& body) noexcept;
    /// Returns whether messages of post() are still kept. Then nothing of what follows them was
    /// sent.
    [[nodiscard]] bool has_backlog() const noexcept { return backlog_ && !backlog_->empty(); }

    /// Blocks until the answer to this request, a Reply or LocateReply, is there, or the deadline:
    /// `late`. `answer` is valid until the next `receive`. With a `waiter`, waits through that, so
    /// that requests are served meanwhile.
    template <typename Answer>
    [[nodiscard]] Outcome receive(std::uint32_t request_id, Answer& answer, Deadline deadline,
                                  ServingThread* waiter);
    /// Receives the reply to this request without waiting; returns `late` if it is not there yet.
    /// `reply` is valid until the next `receive` or `poll`.
    [[nodiscard]] Outcome poll(std::uint32_t request_id, giop::Reply& reply);
    /// Returns the socket that becomes readable when `poll` may have something new.
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Notes that nobody waits for the reply to the last request, of this version, any more. Tells
    /// the peer (CORBA 3.3 part 2, 9.4.4) if that takes no waiting; the reply will be dropped. If
    /// it has not come when the connection is to be used again, the peer is still busy with it, and
    /// the connection is not usable.
    void give_up_reply(giop::Version version) noexcept;

    /// Returns whether the connection can be used for another call, which is taken to begin now.
    /// Asks the system if the last call began more than 20 ms ago: the peer may have closed the
    /// connection, and then nothing should be sent.
    [[nodiscard]] bool is_usable() noexcept
    {
        constexpr std::chrono::milliseconds trusted_for{20};
        const Clock last = std::exchange(last_use_, coarse_now());
        return last_use_ - last < trusted_for || is_open();
    }

    // --- where idle connections are closed (Options::closes_idle_connections) ---
    using Clock = std::chrono::nanoseconds;
    /// Begins another use, called by who is to use the connection; returns false if it was closed
    /// while it was idle.
    [[nodiscard]] bool begin_use() noexcept;
    /// Ends a use, called by who has the connection when nothing more will be sent or received: it
    /// may be closed from here on. What was received stays.
    void end_use() noexcept { idle_since_.store(coarse_now().count(), std::memory_order_release); }
    /// Returns since when nobody uses the connection, by coarse_now(); nothing if somebody does or
    /// it was closed. For ClientConnections.
    [[nodiscard]] std::optional<Clock> idle_since() const noexcept;
    /// Closes the connection, in order, if nobody has used it since `before`; returns whether it
    /// did. For ClientConnections.
    bool close_if_idle(Clock before) noexcept;
    /// Closes the connection in order, once its endpoint is left, so that nobody can use it.
    /// Returns false if oneways are still to be sent. For ClientConnections.
    bool close_left() noexcept;
    /// Leaves the connection to the parent in a child process, without a word to the peer. For
    /// ClientConnections.
    void leave_to_parent() noexcept;

    /// The next idle connection to the same endpoint, while this one is idle (IdleConnections).
    ClientConnection* next_idle = nullptr;

    /// Ends a wait in progress as if the peer had closed. Any thread.
    void interrupt() noexcept { socket_.shutdown_both(); }

  private:
    ClientConnection(Orb& orb, Endpoint& endpoint, net::Socket socket,
                     ConnectionCache::Place place);

    void close_in_order() noexcept;
    [[nodiscard]] Outcome send_backlog(Deadline deadline) noexcept;
    [[nodiscard, gnu::noinline]] net::IoResult read_serving(ServingThread& waiter,
                                                            Deadline deadline);
    /// Has a thread of the ORB send what is left of a message, or waits until the peer has taken
    /// it.
    void leave(OutputQueue& output) noexcept;
    /// Returns what the session has ended with. Answers MessageError to a peer whose message cannot
    /// be understood, and tells the log why.
    [[nodiscard, gnu::cold]] Outcome outcome() noexcept;
    template <typename Next, typename Read>
    [[nodiscard]] Outcome await(const Next& next, const Read& read);
    [[nodiscard]] net::IoResult read_now()
    {
        return socket_.read(session_.space(), net::ReadFlags::do_not_wait);
    }
    /// Asks the system whether the peer has closed or sent anything but replies given up.
    [[nodiscard, gnu::cold]] bool is_open() noexcept;

    const IntrusivePtr<Orb> orb_;
    const IntrusivePtr<Endpoint> endpoint_;
    net::Socket socket_;
    giop::ClientSession session_;
    Clock last_use_;
    static constexpr std::int64_t in_use = 0;
    static constexpr std::int64_t was_closed = -1;
    std::atomic<std::int64_t> idle_since_{in_use}; // or one of these two
    ConnectionCache::Place place_;
    std::shared_ptr<Backlog> backlog_; // almost always none
};

/// Tells the log that the peer's message makes no sense.
void log_malformed(const Endpoint& endpoint, std::string_view why) noexcept;

} // namespace kairos::orb
