// SPDX-License-Identifier: Apache-2.0
//
// A client's connection to one endpoint, used by one call at a time: it is written, then read until
// the reply is there (paper 003's non-multiplexed architecture). Stations 4 and 5 of the request
// walk (docs/TOUR.md). Owned by one lane or by the call that uses it; only `interrupt` may come
// from elsewhere.
#pragma once

#include "kairos/base/coarse_clock.h"
#include "kairos/base/export.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/backlog.h"
#include "kairos/client/connection_cache.h"
#include "kairos/giop/connection.h"
#include "kairos/giop/message.h"
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
    /// What became of a message sent, or of the wait for its reply.
    enum class Outcome : std::uint8_t {
        ok,
        not_executed,  ///< not wholly sent, or the peer closed in order: safe to send again
        lost,          ///< closed after sending: it may have been executed
        message_error, ///< the peer did not understand what we sent
        malformed,     ///< we did not understand what the peer sent
        not_sent,      ///< not wholly sent by the deadline: the connection is of no more use
        late,          ///< sent, but the deadline passed before the reply was there
        no_memory,     ///< for the reply
        no_room,       ///< for a oneway beside those that were not sent yet
    };

    /// Connects by the deadline; tries each address of the endpoint. Counted and known to `orb`
    /// while it lives.
    [[nodiscard]] static Result<std::unique_ptr<ClientConnection>>
    open(Orb& orb, Endpoint& endpoint, Deadline deadline = {});
    KAIROS_API ~ClientConnection();
    ClientConnection(const ClientConnection&) = delete;
    ClientConnection& operator=(const ClientConnection&) = delete;

    [[nodiscard]] Orb& orb() const noexcept { return *orb_; }
    [[nodiscard]] Endpoint& endpoint() const noexcept { return *endpoint_; }
    [[nodiscard]] std::uint32_t next_request_id() noexcept { return ++last_request_id_; }
    /// The service contexts that the next request is to have: those of the endpoint in the first
    /// one, which a LocateRequest is not, and none later.
    [[nodiscard]] Bytes contexts() const noexcept
    {
        return contexts_sent_ ? Bytes() : endpoint_->contexts();
    }
    /// To be called when a request is sent.
    void note_contexts_sent() noexcept { contexts_sent_ = true; }

    /// Sends one message: `header`, then what `body` holds. Large messages go out in fragments if
    /// the options say so. While the peer does not take it the thread waits; within an upcall it
    /// serves meanwhile (serving_thread.h).
    [[nodiscard]] Outcome send(Bytes header, const cdr::Writer& body) noexcept;
    [[nodiscard]] Outcome send(Bytes header, const cdr::Writer& body, Deadline deadline) noexcept;
    [[nodiscard]] Outcome send(Bytes message, Deadline deadline) noexcept;
    /// The same without ever waiting: what the peer does not take now is kept (backlog.h), and sent
    /// before anything that follows; by a thread of the ORB, if nothing does. Where that cannot be,
    /// as with shared memory, it waits all the same.
    [[nodiscard]] Outcome post(Bytes header, const cdr::Writer& body) noexcept;
    /// Whether something is kept. Then nothing of what follows was sent.
    [[nodiscard]] bool has_backlog() const noexcept { return backlog_ && !backlog_->empty(); }

    /// Blocks until the next Reply or LocateReply is there, which may answer a call given up
    /// before. Valid until the next `receive`. `waiter`, if there is one, waits instead.
    [[nodiscard]] Outcome receive(giop::Message& reply, ServingThread* waiter);
    [[nodiscard]] Outcome receive(giop::Message& reply, Deadline deadline, ServingThread* waiter);
    /// The same without waiting: nothing if it is not there yet.
    [[nodiscard]] std::optional<Outcome> poll(giop::Message& reply);
    /// What becomes readable when `poll` may have something new.
    [[nodiscard]] const net::Socket& socket() const noexcept { return socket_; }
    /// Nobody waits for the reply to the last request, of this version, any more: the peer is told
    /// (CORBA 3.3 part 2, 9.4.4) if that takes no waiting, and the reply will be dropped. If it has
    /// not come when the connection is to be used again, the peer is still busy with it, and the
    /// connection is not usable.
    void give_up_reply(giop::Version version) noexcept;
    /// Tells the peer that what it sent cannot be understood, and the log why.
    void refuse(std::string_view why) noexcept;

    /// Whether it can be used for another call, which is taken to begin now. One whose last call
    /// began a while ago is asked: the peer may have closed it, and then nothing should be sent.
    [[nodiscard]] bool is_usable() noexcept
    {
        constexpr std::chrono::milliseconds trusted_for{20};
        const Clock last = std::exchange(last_use_, coarse_now());
        return last_use_ - last < trusted_for || is_open();
    }

    // --- where idle connections are closed (Options::closes_idle_connections) ---
    using Clock = std::chrono::nanoseconds;
    /// By its user, before it is used again: false if it was closed meanwhile.
    [[nodiscard]] bool begin_use() noexcept;
    /// By its user, when nothing more will be sent or received: it may be closed from here on. What
    /// was received stays.
    void end_use() noexcept { idle_since_.store(coarse_now().count(), std::memory_order_release); }
    /// By ClientConnections: since when nobody uses it; nothing if somebody does.
    [[nodiscard]] std::optional<Clock> idle_since() const noexcept;
    /// By ClientConnections: closes it, in order, if nobody has used it since `before`.
    bool close_if_idle(Clock before) noexcept;
    /// By ClientConnections, once its endpoint is left, so that nobody can use it: closes it in
    /// order. False if oneways are still to be sent.
    bool close_left() noexcept;
    /// By ClientConnections, in a child of the process whose connection it is.
    void leave_to_parent() noexcept;

    /// While it is idle, of its lane.
    ClientConnection* next_idle = nullptr;

    /// Any thread: ends a wait in progress as if the peer had closed.
    void interrupt() noexcept { socket_.shutdown_both(); }

  private:
    ClientConnection(Orb& orb, Endpoint& endpoint, net::Socket socket,
                     ConnectionCache::Place place);

    void close_in_order() noexcept;
    [[nodiscard]] Outcome send_backlog(Deadline deadline) noexcept;
    [[nodiscard, gnu::noinline]] net::IoResult read_serving(ServingThread& waiter,
                                                            Deadline deadline);
    /// Has somebody look after what is left of a message, or waits until the peer has taken it.
    void leave(Unsent& unsent) noexcept;
    /// What an event other than `need_bytes` means for the wait for a reply.
    [[nodiscard]] Outcome outcome_of(giop::Connection::Event event) noexcept;
    /// Asks the system whether the peer has closed or sent anything but replies given up.
    [[nodiscard, gnu::cold]] bool is_open() noexcept;
    [[nodiscard]] bool drop_late_replies() noexcept;

    const IntrusivePtr<Orb> orb_;
    const IntrusivePtr<Endpoint> endpoint_;
    net::Socket socket_;
    giop::Connection protocol_;
    std::uint32_t last_request_id_ = 0;
    std::uint32_t replies_given_up_ = 0; // that have not come
    bool contexts_sent_ = false;
    Clock last_use_;
    static constexpr std::int64_t in_use = 0;
    static constexpr std::int64_t was_closed = -1;
    std::atomic<std::int64_t> idle_since_{in_use}; // or one of these two
    ConnectionCache::Place place_;
    std::shared_ptr<Backlog> backlog_; // almost always none
};

} // namespace kairos::orb
