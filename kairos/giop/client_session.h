// SPDX-License-Identifier: Apache-2.0
//
// A client's end of one connection without its socket: what requests are called and which of them
// take the connection's service contexts, what the bytes that come back mean for whoever waits,
// and what the peer is to be told besides requests. No I/O, no clock, no lock. Station 4 of the
// request walk (docs/TOUR.md). A ClientSession belongs to whoever reads the connection; request
// ids and contexts may be asked for by any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/giop/connection.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"
#include "kairos/giop/reply.h"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>

namespace kairos::giop {

/// What became of a message sent, or of the wait for what answers it.
enum class Outcome : std::uint8_t {
    ok,
    not_executed,  ///< not wholly sent, or the peer closed in order: safe to send again
    lost,          ///< closed after sending: it may have been executed
    message_error, ///< the peer did not understand what we sent
    malformed,     ///< we did not understand what the peer sent
    not_sent,      ///< not wholly sent by the deadline
    late,          ///< sent, but the deadline passed before the answer was there
    no_memory,     ///< for the answer
    no_room,       ///< for a oneway beside those that were not sent yet
};

/// How much of a request the peer may have.
enum class Sent : std::uint8_t { no, partly, wholly };

/// Returns what becomes of a request whose sender has waited long enough. One that was begun must
/// be sent to its end where others use the connection, and may be executed then.
[[nodiscard]] constexpr Outcome outcome_when_late(Sent sent) noexcept
{
    return sent == Sent::no ? Outcome::not_sent : Outcome::late;
}

/// A Reply or LocateReply, whoever waits for it.
struct Answer {
    Message message;
    std::uint32_t request_id = 0;
};

/// One of several requests that are under way on a connection. It lies with whoever waits for its
/// answer.
struct PendingRequest {
    explicit PendingRequest(std::uint32_t id) noexcept : request_id(id) {}

    const std::uint32_t request_id;
    std::optional<MessageType> answer; ///< what is waited for; nothing after a oneway
    Sent sent = Sent::no;

  private:
    friend class PendingRequests;
    PendingRequest* next_ = nullptr; // in its bucket
};

/// The requests under way on one connection by their ids; allocates nothing. Whoever shares it
/// between threads locks it.
class KAIROS_API PendingRequests {
  public:
    /// Takes up a request that has an answer. Returns false if one with the same id, made 2^32
    /// requests ago, is still under way.
    [[nodiscard]] bool add(PendingRequest& request) noexcept;
    /// Forgets a request: its answer, if it still comes, is dropped. Does nothing if the request is
    /// not there.
    void remove(PendingRequest& request) noexcept;
    /// Forgets the request that this answers, and returns it. Returns null if nobody waits for the
    /// answer (given up), or if the peer has made it up: of a type that was not asked for, or to a
    /// request of which it has nothing.
    [[nodiscard]] PendingRequest* claim(const Answer& answer) noexcept;
    /// Forgets all requests and calls `use` with each.
    template <typename Use>
    void take_all(Use&& use)
    {
        for (PendingRequest*& bucket : buckets_) {
            while (PendingRequest* const request = bucket) {
                bucket = request->next_;
                --count_;
                use(*request);
            }
        }
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  private:
    /// Returns what points to the request with this id, or to null at the end of its bucket.
    [[nodiscard]] PendingRequest** find(std::uint32_t request_id) noexcept
    {
        PendingRequest** place = &buckets_[request_id % bucket_count];
        while (*place != nullptr && (*place)->request_id != request_id)
            place = &(*place)->next_;
        return place;
    }

    static constexpr std::size_t bucket_count = 256;
    std::array<PendingRequest*, bucket_count> buckets_{};
    std::size_t count_ = 0;
};

class KAIROS_API ClientSession {
  public:
    enum class Event : std::uint8_t {
        need_bytes, ///< the answer is not there: read more
        answer,     ///< the answer is there
        ended,      ///< the connection is of no more use: `outcome()` says what requests ended with
    };

    explicit ClientSession(std::size_t message_size_max = limits::message_size_max,
                           const ReadSizes& read_sizes = {}) noexcept
        : connection_(Connection::Role::client, message_size_max, read_sizes)
    {
    }

    // --- requests ---
    /// Returns the id of the next request, where one thread at a time makes requests.
    [[nodiscard]] std::uint32_t next_request_id() noexcept
    {
        const std::uint32_t id = last_request_id_.load(std::memory_order_relaxed) + 1;
        last_request_id_.store(id, std::memory_order_relaxed);
        return id;
    }
    /// Returns the id of the next request, where threads make requests at the same time.
    [[nodiscard]] std::uint32_t next_shared_request_id() noexcept { return ++last_request_id_; }
    /// Returns the service contexts that the next request takes: `first`, which are sent once a
    /// connection, until note_contexts_sent(). Requests made at the same time may each take them. A
    /// LocateRequest has none.
    [[nodiscard]] Bytes contexts(Bytes first) const noexcept
    {
        return contexts_sent_.load(std::memory_order_relaxed) ? Bytes() : first;
    }
    void note_contexts_sent() noexcept { contexts_sent_.store(true, std::memory_order_relaxed); }

    // --- what comes back ---
    /// Returns where the next read goes, as Connection::space does.
    [[nodiscard]] MutableBytes space() { return connection_.space(); }
    /// Returns whether anything has come that was not looked at.
    [[nodiscard]] bool has_bytes() const noexcept { return connection_.has_bytes(); }
    /// Notes that the first `count` bytes of the last `space()` were filled.
    void received(std::size_t count) noexcept { connection_.received(count); }
    /// Looks for the answer to this request, where nobody else waits for any: drops answers to
    /// others, which were given up. To be asked when there are bytes. `answer`, a Reply or
    /// LocateReply, is valid until the next call of anything that receives.
    template <typename Found>
    [[nodiscard]] Event next(std::uint32_t request_id, Found& answer)
    {
        do {
            MessageRoom room;
            Message& message = room.message;
            const auto event = connection_.next_received(message);
            if (event != Connection::Event::message) {
                if (event == Connection::Event::need_bytes) return Event::need_bytes;
                if (event != Connection::Event::message_with_gap) return end(event);
                if (look_before_gap(message, answer)) {
                    if (answer.request_id == request_id) return Event::answer;
                    continue;
                }
            }
            if (message.type != type_of(answer)) [[unlikely]]
                continue;
            if (const cdr::Fault fault = parse(message, answer); fault != cdr::Fault::none)
                [[unlikely]]
                return refuse(fault);
            if (answer.request_id == request_id) [[likely]]
                return Event::answer;
        } while (connection_.has_bytes());
        return Event::need_bytes;
    }
    /// Returns the next answer to any request, in order to claim it from PendingRequests.
    [[nodiscard]] Event next(Answer& answer);
    /// Drops the answers of requests given up that have come. Returns `answer` if no more of them
    /// are to come, or `ended`, which is `lost`, if something is behind them.
    [[nodiscard]] Event drop_late();
    /// Returns, after `ended`, what the requests have ended with that were wholly sent and have no
    /// answer.
    [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }
    /// Returns, after the outcome `malformed`, what is wrong with what the peer has sent.
    [[nodiscard]] std::string_view why() const noexcept { return why_; }
    /// Returns the receiving side, for whoever needs the memory of an answer longer.
    [[nodiscard]] Connection& connection() noexcept { return connection_; }

    // --- what the peer is told besides ---
    using Cancel = std::array<std::byte, header_size + 4>;
    using Bare = std::array<std::byte, header_size>;
    /// Notes that nobody waits for the answer to the last request any more, where one at a time is
    /// under way. It is dropped when it comes; until then the peer is still busy with it. Returns
    /// what to tell the peer.
    [[nodiscard]] Cancel give_up(Version version) noexcept
    {
        ++late_;
        return cancel_request(version, last_request_id_.load(std::memory_order_relaxed));
    }
    /// Returns whether answers of requests given up have not come.
    [[nodiscard]] bool expects_late() const noexcept { return late_ != 0; }
    /// Returns what to tell a peer whose messages cannot be understood, before the connection is
    /// closed.
    [[nodiscard]] Bare refusal() const noexcept
    {
        return message_error(connection_.error_version());
    }
    /// Returns the version of what the peer has sent last; 1.0 before it has.
    [[nodiscard]] Version peer_version() const noexcept { return connection_.error_version(); }
    /// Returns what to tell a peer whose last message was of this version before the connection is
    /// closed in order. Nothing before 1.2: then only servers say so (CORBA 3.3 part 2, 9.5.1).
    [[nodiscard]] static std::optional<Bare> farewell(Version peer) noexcept
    {
        return peer >= version_1_2 ? std::optional(close_connection(peer)) : std::nullopt;
    }

  private:
    static constexpr MessageType type_of(const Reply&) noexcept { return MessageType::reply; }
    static constexpr MessageType type_of(const LocateReply&) noexcept
    {
        return MessageType::locate_reply;
    }
    /// Parses a reply that has a gap; else makes `message` whole, and returns false.
    [[nodiscard, gnu::cold]] bool look_before_gap(Message& message, Reply& reply) noexcept;
    [[nodiscard, gnu::cold]] bool look_before_gap(Message& message, LocateReply& reply) noexcept;
    [[nodiscard, gnu::cold]] Event end(Connection::Event event) noexcept;
    [[nodiscard, gnu::cold]] Event refuse(cdr::Fault fault) noexcept;

    Connection connection_;
    std::atomic<std::uint32_t> last_request_id_{0};
    std::uint32_t late_ = 0; // answers of requests given up that have not come
    std::atomic<bool> contexts_sent_{false};
    Outcome outcome_ = Outcome::ok;
    std::string_view why_;
};

} // namespace kairos::giop
