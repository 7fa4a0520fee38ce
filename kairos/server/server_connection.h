// SPDX-License-Identifier: Apache-2.0
//
// A server's end of one connection, whatever thread serves it: bytes received become requests,
// replies go out on the same socket. Stations 7 and 8 of the request walk (docs/TOUR.md). Owned by
// the thread that serves it at the time.
#pragma once

#include "kairos/giop/connection.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"
#include "kairos/orb/code_sets.h"
#include "kairos/orb/dispatch.h"
#include "kairos/orb/nested_wait.h"
#include "kairos/orb/reply_channel.h"
#include "kairos/orb/unsent.h"
#include "kairos/orb/upcall.h"
#include "kairos/server/account.h"
#include "kairos/server/receive_limit.h"

#include <atomic>
#include <chrono>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace kairos::orb {

class Orb;

/// How long a server that ends waits for a peer that takes nothing of what it is sent.
inline constexpr std::chrono::milliseconds stall_max{500};
/// How long it waits for its peers in all, however they go on.
inline constexpr std::chrono::seconds end_max{3};

/// Ends a connection so that what was sent last arrives. What the peer had still sent must be read
/// before closing, or the kernel resets the connection.
void drain(net::Socket& socket) noexcept;

class ServerConnection : public ReplyChannel {
  public:
    ServerConnection(Orb& orb, net::Socket socket, const net::Address& peer);
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;

    /// When the server ends and nobody else uses these any more: sends what their peers have not
    /// taken yet, to all at once, until none of them takes anything for stall_max, or end_max is
    /// over.
    template <typename Connections>
    static void send_rest(const Connections& connections) noexcept;

  protected:
    ~ServerConnection() { hold.end(); } // before the bell that it may have told

    /// What is to be done after everything received was looked at.
    enum class Next : std::uint8_t {
        read,  ///< all served: read more
        more,  ///< there is more, but others come first: call again
        hold,  ///< a request is held by the adapter: call again when it may go on
        close, ///< the peer closed, or was told why we do
    };
    /// Serves every whole message received; stops early while the connection is `congested_`. Also
    /// nested, while the thread's own call waits in a request of this connection: after
    /// keep_requests_in_progress.
    [[nodiscard]] Next serve_received(UpcallMemory& memory);
    /// The same, but at most so many: where others wait for the thread that serves.
    [[nodiscard]] Next serve_some_received(UpcallMemory& memory, unsigned most);
    /// How many that is where nobody else is connected: somebody may want to be.
    static constexpr unsigned served_alone_max = 64;
    /// The same, unless `stops` says that no more are to be: asked between two.
    template <typename Stops>
    [[nodiscard]] Next serve_turn(UpcallMemory& memory, unsigned most, Stops&& stops)
    {
        for (;;) {
            const Next next = serve_some_received(memory, most == unlimited ? unlimited : 1);
            if (next != Next::more || --most == 0 || stops()) return next;
        }
    }
    static constexpr unsigned unlimited = ~0U;
    /// Before bytes are received while a request of this connection is being served: what it was
    /// read from stays until it is done. Throws std::bad_alloc.
    [[gnu::cold]] void keep_requests_in_progress();
    // While a request of this connection waits for a call of its own, what comes on the connection
    // is served: who answers us may share it with who called us.
    /// What came together with the request that waits, of which nothing else will tell. This and
    /// the last of these return whether to listen for more: false where the connection has ended,
    /// which is left to be found by who serves it, or holds a request.
    [[nodiscard]] bool serve_rest_nested() noexcept { return serve_nested(From::received); }
    /// What to wait for at the socket then, if it listens: more requests, or that the peer takes
    /// the replies to them.
    [[nodiscard]] net::Interest interest_nested(bool listens) const noexcept;
    /// What to wait for instead where it holds a request: can be read when that may go on. -1: it
    /// does not, or nothing will tell.
    [[nodiscard]] int descriptor_held_nested() noexcept;
    /// When that has happened.
    [[nodiscard]] bool go_on_nested() noexcept;
    /// No request of this connection is being served any more: gives back what was kept. True if
    /// requests were served within requests since the last time.
    bool no_request_in_progress() noexcept
    {
        if (kept_.empty()) [[likely]]
            return false;
        kept_.clear();
        return true;
    }

    /// The size of a message of which not all has come; 0 between messages.
    [[nodiscard]] std::size_t message_in_part() const noexcept
    {
        const auto unfinished = protocol_.unfinished();
        return unfinished ? unfinished->octets + protocol_.bytes_needed() : 0;
    }

    /// The peer has closed. True if that was within a message: it was refused like any malformed
    /// one.
    bool end_received();
    /// When the rest of a message is late that the peer has begun, if it sends no more of it than
    /// was received; never between messages, and where nobody limits it (ReceiveLimit::due).
    [[nodiscard, gnu::cold]] ReceiveLimit::Clock::time_point
    rest_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Before each read within a message: whether that was late before the last one already.
    [[nodiscard, gnu::cold]] bool rest_was_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_late_rest() const;
    /// CloseConnection to the peer: requests it has sent and we have not served are safe to repeat.
    void send_close_connection() noexcept;

    /// Sends control messages: the socket is the implementation's to handle.
    virtual void send_control(Bytes message) noexcept = 0;

    /// Behind a request whose reply took more memory than is kept anyway: gives that back, or keeps
    /// it.
    [[gnu::cold]] virtual void keep_reply_memory(UpcallMemory& memory) noexcept;

    /// Sends of what is queued as much as the peer takes now.
    virtual void flush() noexcept
    {
        unsent_.flush(socket_);
        note_unsent();
    }

    /// After each use of `unsent_`, by who may use it.
    void note_unsent() noexcept
    {
        if (unsent_.broken()) broken_ = true;
        if (congested_ || !unsent_.empty()) [[unlikely]]
            note_congestion();
    }
    /// When what was kept for the peer is late that it does not take; never where nothing is, and
    /// where nobody limits it. By who asks for rest_due().
    [[nodiscard, gnu::cold]] ReceiveLimit::Clock::time_point
    taking_due(ReceiveLimit::Clock::time_point now) noexcept;
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_late_taking() const noexcept;
    /// A message could not be received. Why, for the log; and the peer is told to try again if that
    /// is because there was too much of others.
    [[gnu::cold]] void end_out_of_memory() noexcept;

    /// Gives every whole message received to `take`, which says how to go on; stops early while the
    /// connection is congested, or holds a request.
    template <typename Take>
    [[nodiscard]] Next take_messages(Take&& take)
    {
        giop::Message message;
        for (;;) {
            if (congested_ || holding_) [[unlikely]]
                return broken_ ? Next::close : holding_ ? Next::hold : Next::read;
            const giop::Connection::Event event = protocol_.next(message);
            if (event == giop::Connection::Event::need_bytes)
                return broken_ || protocol_.ended() ? Next::close : Next::read;
            if (event != giop::Connection::Event::message) [[unlikely]]
                return end_with(event);
            if (const Next next = take(message); next != Next::read) [[unlikely]]
                return next;
        }
    }
    /// Tells the log that the connection ends for that.
    [[gnu::cold]] void log_out_of_memory() const noexcept;
    /// Answers MessageError, and tells the log why.
    [[nodiscard]] Next refuse(std::string_view why);
    /// Any thread.
    void note_malformed_arguments();

    /// How text travels in this request and its reply: as the client said at its first request.
    [[nodiscard]] const cdr::TextForm* text_form(const giop::Request& request)
    {
        if (!request.contexts.empty() || request.version.minor != text_minor_) [[unlikely]]
            find_text_form(request);
        return text_;
    }

  private:
    enum class From : std::uint8_t { received, socket, hold };
    [[nodiscard]] bool serve_nested(From from) noexcept;
    [[nodiscard]] bool may_serve_nested() const noexcept
    {
        return !congested_ && !broken_ && has_stack_to_serve();
    }
    [[gnu::cold]] void note_congestion() noexcept;
    static void send_rest_of(std::vector<ServerConnection*> congested);
    [[nodiscard]] Next serve_held(UpcallMemory& memory);
    [[nodiscard]] Next end_with(giop::Connection::Event event);
    [[nodiscard]] Next serve(const giop::Message& message, UpcallMemory& memory);
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
    /// The peer does not take its replies, some are queued: make no more of them.
    std::atomic<bool> congested_{false};

  private:
    bool holding_ = false;
    std::uint8_t text_minor_ = 0xFF;
    const cdr::TextForm* text_ = nullptr;      // the form for GIOP 1.text_minor_
    std::vector<giop::Connection::Kept> kept_; // of requests that wait for calls of their own

  protected:
    const std::optional<std::size_t> queue_max_; ///< net::Socket::receive_queue_max
    giop::Connection protocol_;
    Unsent unsent_; ///< replies, while it is congested_
    ReceiveLimit receive_limit_;
    ReceiveLimit taking_limit_;                ///< the same of what the peer takes
    std::atomic<std::uint64_t> congestion_{0}; ///< which episode of that this is
    std::atomic<std::uint64_t> taken_{0};      ///< octets, late
    const net::Address peer_;

  private:
    std::optional<CodeSetContext> code_sets_; // what the client announced
    giop::Message held_;                      // that the adapter did not take, if `holding_`
    std::optional<net::Bell> held_bell_;      // rung when that may go on; made at need
    std::atomic<bool> had_malformed_arguments_{false};
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
