// SPDX-License-Identifier: Apache-2.0
//
// A server's end of one connection, whatever thread serves it: bytes received become requests,
// replies go out on the same socket. Stations 7 and 8 of the request walk (docs/TOUR.md). Owned by
// the thread that serves it at the time.
#pragma once

#include "kairos/giop/client_session.h"
#include "kairos/giop/connection.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/output_queue.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/upcall.h"
#include "kairos/server/account.h"
#include "kairos/server/receive_limit.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace kairos::orb {

class Orb;

/// How long a server that ends waits for a peer that takes nothing of what it is sent.
inline constexpr std::chrono::milliseconds stall_max{500};
/// How long a server that ends waits for its peers in all, however they go on.
inline constexpr std::chrono::seconds end_max{3};

/// Ends a connection so that what was sent last arrives. What the peer had still sent must be read
/// before closing, or the kernel resets the connection.
void drain(net::Socket& socket) noexcept;

class ServerConnection : public ReplyChannel {
  public:
    ServerConnection(Orb& orb, net::Socket socket, const net::Address& peer);
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;

    [[nodiscard]] const net::Address* peer_address() const noexcept final { return &peer_; }
    [[nodiscard]] const net::Channel* peer_channel() const noexcept final
    {
        return socket_.channel();
    }

    /// Sends, when the server ends and nobody else uses these connections any more, what their
    /// peers have not taken yet, to all at once, until none of them takes anything for stall_max,
    /// or end_max is over.
    template <typename Connections>
    static void send_rest(const Connections& connections) noexcept;

  protected:
    ~ServerConnection() { hold.end(); } // before the waker that it may have told

    /// What is to be done after everything received was looked at.
    enum class Next : std::uint8_t {
        read,  ///< all served: read more
        more,  ///< there is more, but others come first: call again
        hold,  ///< a request is held by the adapter: call again when it may go on
        close, ///< the peer closed, or was told why we do
    };
    /// Serves every whole message received; stops early while the connection is `congested_`. May
    /// be called nested, while a call of the thread's own waits in a request of this connection,
    /// after keep_requests_in_progress().
    [[nodiscard]] Next serve_received(UpcallMemory& memory);
    /// Serves whole messages received, but at most `most` of them, for others wait for the thread
    /// that serves. Returns `more` if messages are left; stops early while the connection is
    /// `congested_`.
    [[nodiscard]] Next serve_some_received(UpcallMemory& memory, unsigned most);
    /// How many messages are served in one turn where nobody else is connected: somebody may want
    /// to be.
    static constexpr unsigned served_alone_max = 64;
    /// Serves whole messages received, but at most `most` of them, and asks `stops` between two
    /// whether to serve no more. Returns `more` if messages are left; stops early while the
    /// connection is `congested_`.
    template <typename Stops>
    [[nodiscard]] Next serve_turn(UpcallMemory& memory, unsigned most, Stops&& stops)
    {
        for (;;) {
            const Next next = serve_some_received(memory, most == unlimited ? unlimited : 1);
            if (next != Next::more || --most == 0 || stops()) return next;
        }
    }
    static constexpr unsigned unlimited = ~0U;
    /// Keeps the memory that the requests being served were read from until they are done; to be
    /// called before bytes are received meanwhile. Throws std::bad_alloc.
    [[gnu::cold]] void keep_requests_in_progress();
    // While a request of this connection waits for a call of its own, what comes on the connection
    // is served: who answers us may share it with who called us.
    /// Serves requests that arrived in the same read as the one now waiting; no further readiness
    /// event will announce them. Returns false when the caller should stop polling this socket: the
    /// connection ended (its owner will notice) or a request is held.
    [[nodiscard]] bool serve_rest_nested() noexcept { return serve_nested(From::received); }
    /// Returns what to wait for at the socket while a request waits, if the connection `listens`:
    /// more requests, or that the peer takes the replies to them.
    [[nodiscard]] net::Interest interest_nested(bool listens) const noexcept;
    /// Returns a descriptor that can be read when the request that the connection holds may go on;
    /// -1 if it holds none, or nothing will tell.
    [[nodiscard]] int descriptor_held_nested() noexcept;
    /// Goes on, while a request waits, when interest_nested() or descriptor_held_nested() is ready:
    /// sends what was queued, offers the held request again, or reads and serves. Returns false
    /// when the caller should stop polling this socket.
    [[nodiscard]] bool go_on_nested() noexcept;
    /// Notes that no request of this connection is being served any more: gives back what
    /// keep_requests_in_progress() has kept. Returns true if requests were served within requests
    /// since the last time.
    bool no_request_in_progress() noexcept
    {
        if (kept_.empty()) [[likely]]
            return false;
        kept_.clear();
        return true;
    }

    /// Returns whether the peer has begun something that it is to go on with: a message, or shaking
    /// hands.
    [[nodiscard]] bool is_awaited() const noexcept
    {
        return !protocol_.between_messages() || socket_.is_agreeing();
    }
    /// Returns the size in octets of a message of which not all has come; 0 between messages.
    [[nodiscard]] std::size_t message_in_part() const noexcept
    {
        const auto unfinished = protocol_.unfinished();
        return unfinished ? unfinished->octets + protocol_.bytes_needed() : 0;
    }

    /// Notes that the peer has closed. Returns true if that was within a message, which is refused
    /// like any malformed one, before both had agreed how bytes travel, or because the connection
    /// was cut off for its memory; the log says so.
    bool end_received();
    /// Returns when the rest of a message that the peer has begun will be late, if it sends no more
    /// of it than was received; never between messages, and where nobody limits it
    /// (ReceiveLimit::due).
    [[nodiscard, gnu::cold]] ReceiveLimit::Clock::time_point
    rest_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Returns, asked before each read within a message, whether the rest was late before the last
    /// read already, which has not brought it.
    [[nodiscard, gnu::cold]] bool rest_was_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_late_rest() const;
    /// Sends CloseConnection: requests that the peer has sent and we have not served are safe to
    /// repeat. Nothing is sent before both have agreed how bytes travel.
    void send_close_connection() noexcept;

    /// Sends a control message; the socket is the implementation's to handle.
    virtual void send_control(Bytes message) noexcept = 0;

    /// Gives back the memory of a reply that took more than is kept anyway, or keeps it; called
    /// after the request.
    [[gnu::cold]] virtual void keep_reply_memory(UpcallMemory& memory) noexcept;

    /// Sends as much of what is queued as the peer takes now.
    virtual void flush() noexcept
    {
        output_.flush(socket_);
        note_unsent();
    }

    /// Notes whether the peer takes what it is sent; to be called after each use of `output_`, by
    /// who may use that.
    void note_unsent() noexcept
    {
        if (output_.broken()) broken_ = true;
        if (congested_ || !output_.empty()) [[unlikely]]
            note_congestion();
    }
    /// Returns when the peer will be late in taking what is kept for it; never where nothing is
    /// kept, and where nobody limits it. Called by the thread that calls rest_due().
    [[nodiscard, gnu::cold]] ReceiveLimit::Clock::time_point
    taking_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_late_taking() const noexcept;
    /// Tells the log why a message could not be received, for want of memory; and the peer to try
    /// again, if that is because too much is held for others.
    [[gnu::cold]] void end_out_of_memory() noexcept;

    /// Gives every whole message received to `take`, which says how to go on; stops early while the
    /// connection is congested, or holds a request.
    [[nodiscard]] Next take_messages(const std::function<Next(const giop::Message&)>& take);
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_out_of_memory() const noexcept;
    /// Answers MessageError, and tells the log why.
    [[nodiscard]] Next refuse(std::string_view why);
    /// Notes that the arguments of a request could not be understood, for the log. Any thread.
    void note_malformed_arguments();

    /// Returns how text travels in this request and its reply: as the client said at its first
    /// request.
    [[nodiscard]] const cdr::TextForm* text_form(const giop::Request& request)
    {
        if (!request.contexts.empty() || request.version.minor != text_minor_) [[unlikely]]
            find_text_form(request);
        return text_;
    }
    /// Returns the same; calls `look` for a request that may have service contexts.
    template <typename Look>
    [[nodiscard]] const cdr::TextForm* text_form(const giop::Request& request, Look&& look)
    {
        if (!request.contexts.empty() || request.version.minor != text_minor_) [[unlikely]] {
            find_text_form(request);
            look();
        }
        return text_;
    }

    /// Returns whether answers are owed (orb/owed_answer.h) that nobody else can send.
    [[nodiscard]] virtual bool owes() const noexcept { return false; }
    /// Has the connection's descriptor watched no more by whoever shares the watching with others,
    /// for somebody else is to read it.
    virtual void stop_watching() noexcept {}
    /// Goes on where another server has begun (Adopted).
    void go_on_from(std::optional<CodeSetContext> code_sets) noexcept { code_sets_ = code_sets; }
    /// Returns what calls over the connection end with that wait for answers when it ends.
    [[nodiscard]] giop::Outcome outcome_of_end() const noexcept;
    [[nodiscard]] bool was_ended_by_peer() const noexcept
    {
        return peer_ended_ || protocol_.ended();
    }

    /// Tells the log that the two ends have not agreed how bytes travel.
    [[gnu::cold]] void log_no_agreement(std::string_view why) const noexcept;

  private:
    [[nodiscard]] std::optional<giop::Unfinished> unfinished() const noexcept;
    enum class From : std::uint8_t { received, socket, hold };
    [[nodiscard]] bool serve_nested(From from) noexcept;
    [[nodiscard]] bool may_serve_nested() const noexcept
    {
        return !congested_ && !broken_ && has_stack_to_serve();
    }
    [[gnu::cold]] void note_congestion() noexcept;
    static void send_rest_of(std::vector<ServerConnection*> congested);
    template <typename Take>
    [[nodiscard]] Next take_each(const Take& take);
    [[gnu::cold]] void hold_back(const giop::Message& message);
    [[nodiscard]] Next serve_held(UpcallMemory& memory);
    [[nodiscard, gnu::cold]] bool becomes_bidirectional(const giop::Message& message,
                                                        const giop::Request& request);
    [[nodiscard]] Next end_with(giop::Connection::Event event);
    [[nodiscard]] Next serve(const giop::Message& message, UpcallMemory& memory);
    /// Says that a message ends in front of a block that lies elsewhere.
    struct WithGap {};
    [[nodiscard, gnu::cold, gnu::noinline]] Next serve(const giop::Message& message,
                                                       UpcallMemory& memory, WithGap);
    [[nodiscard]] Next next_after(Served served);
    [[nodiscard]] Served serve_request(const giop::Message& message, const giop::Request& request,
                                       UpcallMemory& memory);
    void find_text_form(const giop::Request& request);

  protected:
    // What every request looks at comes first: few lines of the processor's cache hold it.
    Orb& orb_;
    net::Socket socket_;
    Account::Share share_;
    // Set by whoever sends replies, which may be another thread than the one that reads.
    std::atomic<bool> broken_{false}; ///< a reply could not be sent: nothing more can be
    /// Whether the peer does not take its replies and some are queued: no more of them are to be
    /// made.
    std::atomic<bool> congested_{false};
    /// Whether it carries requests in both directions. Then it is read also while it is congested,
    /// or two peers that send each other large messages would wait for ever.
    bool is_bidirectional_ = false;
    /// Whether it is left to another server, with what was received: nothing more is to be done
    /// with its socket.
    bool is_left_ = false;

  private:
    bool holding_ = false;
    bool peer_ended_ = false;
    std::uint8_t text_minor_ = 0xFF;
    const cdr::TextForm* text_ = nullptr;      // the form for GIOP 1.text_minor_
    std::vector<giop::Connection::Kept> kept_; // of requests that wait for calls of their own

  protected:
    const std::optional<std::size_t> queue_max_; ///< net::Socket::receive_queue_max
    giop::Connection protocol_;
    OutputQueue output_; ///< replies, while it is congested_
    ReceiveLimit receive_limit_;
    ReceiveLimit taking_limit_;                ///< the same of what the peer takes
    std::atomic<std::uint64_t> congestion_{0}; ///< which episode of that this is
    std::atomic<std::uint64_t> taken_{0};      ///< octets, late
    const net::Address peer_;

  private:
    std::optional<CodeSetContext> code_sets_; // what the client announced
    giop::Message held_;                      // that the adapter did not take, if `holding_`
    std::vector<giop::Message> held_behind_;  // while that waited for a call; served after it
    std::optional<net::Waker> held_waker_;    // woken when that may go on; made at need
    std::atomic<bool> had_malformed_arguments_{false};
    giop::Connection::Event ended_by_ = giop::Connection::Event::need_bytes;
};

template <typename Connections>
void ServerConnection::send_rest(const Connections& connections) noexcept
{
    try {
        std::vector<ServerConnection*> congested;
        for (const auto& connection : connections)
            if (connection->congested_ && !connection->broken_) congested.push_back(&*connection);
        send_rest_of(std::move(congested));
    } catch (const std::bad_alloc&) { // as if none of them took it
    }
}

} // namespace kairos::orb
