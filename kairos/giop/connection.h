// SPDX-License-Identifier: Apache-2.0
//
// One GIOP connection's receiving side as a state machine: bytes in, messages out. No sockets and
// no clock: the caller reads into `space()`, says how much came, and asks for messages until there
// is none. Stations 4 and 7 of the request walk (docs/TOUR.md). Owned by one lane.
//
//   for (;;) {
//       read(socket, connection.space()) → connection.received(n);
//       while ((event = connection.next(message)) == Event::message) serve(message);
//   }
#pragma once

#include "kairos/base/block_taker.h"
#include "kairos/base/export.h"
#include "kairos/base/limits.h"
#include "kairos/cdr/buffer.h"
#include "kairos/giop/fragments.h"

#include <memory>

namespace kairos::giop {

/// How much to read of a socket.
struct ReadSizes {
    /// How much one read asks for while messages are smaller; a larger one is read as it comes.
    std::size_t at_once = limits::receive_buffer_streaming;
    /// How much a buffer holds, with what has come of the next message already.
    std::size_t buffered = limits::receive_buffer_streaming;

    /// Less where the socket's queue cannot grow, for whoever takes all of a small one at once
    /// leaves the peer nothing to do meanwhile: two messages of 8 K, one of 16 K.
    [[nodiscard]] static constexpr ReadSizes of(bool queue_grows) noexcept
    {
        if (queue_grows) return {};
        return {.at_once = std::size_t{20} << 10, .buffered = std::size_t{32} << 10};
    }
};

/// Counts the memory that connections hold, for all of them together.
class MemoryKeeper {
  public:
    /// The connection holds so many octets from now on. False: too many, and it is to end.
    [[nodiscard]] virtual bool hold(std::size_t octets) noexcept = 0;
    /// Whether a connection may keep memory that is of no use between messages for the next one.
    [[nodiscard]] virtual bool may_keep() const noexcept = 0;

  protected:
    ~MemoryKeeper() = default;
};

class KAIROS_API Connection {
  public:
    /// Which end of the connection this is. A server receives requests, a client replies.
    enum class Role : std::uint8_t { client, server };

    enum class Event : std::uint8_t {
        need_bytes,       ///< no whole message left: read more
        message,          ///< a Request, Reply, CancelRequest, LocateRequest or LocateReply
        message_with_gap, ///< a Request or Reply, up to a block that was taken: see enter_gap()
        closed,        ///< the peer sent CloseConnection: calls without a reply were not executed
        message_error, ///< the peer sent MessageError: it could not make sense of what we sent
        fault,         ///< `fault()` says why; answer with MessageError and close
    };

    /// A block of a message, taken from where it lies.
    struct Block {
        cdr::Gap gap;
        std::shared_ptr<const void> lease;
    };

    explicit Connection(Role role, std::size_t message_size_max = limits::message_size_max,
                        const ReadSizes& read_sizes = {}) noexcept;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();
    /// Has `keeper`, which must outlive the connection, count its memory. To be called before
    /// anything is received.
    void count_with(MemoryKeeper& keeper) noexcept { keeper_ = &keeper; }

    /// Hands out replies to this end's own requests, too, from here on, at a server's end: the
    /// connection is bidirectional.
    void accept_replies() noexcept;

    /// Where the next read goes; never empty. Invalidates messages. Throws std::bad_alloc: while a
    /// large message arrives, the buffer grows with the bytes really received; or because the
    /// memory's keeper wants the connection to end.
    [[nodiscard]] MutableBytes space();
    /// The first `count` bytes of the last `space()` were filled.
    void received(std::size_t count) noexcept { end_ += count; }

    /// The next event in the bytes received. A message is valid until the next call of `next` or
    /// `space`. After `closed`, `message_error` or `fault`, reported once, everything that still
    /// arrives is dropped and only `need_bytes` follows.
    [[nodiscard]] Event next(Message& message)
    {
        if (!has_bytes()) return Event::need_bytes;
        return next_received(message);
    }
    /// The next event, as next() says it, for who has seen that there are bytes: after most
    /// messages, and before most replies, there are none.
    [[nodiscard]] Event next_received(Message& message);

    // --- blocks of messages that lie elsewhere, in memory shared with the peer ---
    /// Returns who takes blocks from here on. Then `message_with_gap` may come: of such a message
    /// only what is in front of the block is handed out. Lives as long as this. Throws
    /// std::bad_alloc.
    [[nodiscard]] BlockTaker& block_taker();
    /// Has `body`, the reader of the body of a message_with_gap, go on with the block and what is
    /// behind it: it is there until the next `space`, or for as long as what `keep_messages` gives.
    /// Returns false where the body does not begin in front of the block.
    [[nodiscard]] bool enter_gap(cdr::Reader& body) noexcept;
    /// Copies the block of a message_with_gap to its place, and returns the message, whole.
    [[nodiscard]] Message filled() noexcept;

    /// The memory in which the messages handed out so far are, for who needs them longer: the
    /// connection goes on in other memory. Throws std::bad_alloc, and nothing has changed then.
    struct Kept {
        cdr::Buffer buffer;
        Reassembly::Whole whole;
        std::unique_ptr<Block> block;
    };
    [[nodiscard]] Kept keep_messages();
    /// Whether there can be messages to keep: something was handed out since the last keeping and
    /// the last `space`.
    [[nodiscard]] bool has_messages() const noexcept
    {
        return begin_ != 0 || (reassembly_ && reassembly_->has_whole());
    }

    /// Forgets the parts of a message that nobody waits for any more: a call that timed out.
    void abandon(std::uint32_t request_id) noexcept;

    /// Whether anything was received that was not handed out: else `next` says `need_bytes`.
    [[nodiscard]] bool has_bytes() const noexcept { return begin_ != end_; }
    /// What was received and not handed out, where nothing is in parts: for who goes on reading
    /// elsewhere. Nothing if some message is.
    [[nodiscard]] std::optional<Bytes> unread() const noexcept
    {
        if ((reassembly_ && reassembly_->count() != 0) || (lent_ && has_block()))
            return std::nullopt;
        return Bytes(buffer_.data() + begin_, end_ - begin_);
    }
    /// Bytes that must arrive before another event can: at least one. For a read that waits for all
    /// of a message.
    [[nodiscard]] std::size_t bytes_needed() const noexcept;
    /// Whether everything received was handed out: nothing is lost if the connection ends here.
    [[nodiscard]] bool between_messages() const noexcept
    {
        return begin_ == end_ && (!reassembly_ || reassembly_->count() == 0);
    }
    /// The message that has waited longest for its rest, when everything received was looked at. Of
    /// one in fragments what is under way behind them counts as a part. Nothing between messages,
    /// and after the end.
    [[nodiscard]] std::optional<Unfinished> unfinished() const noexcept;
    /// Whether `closed`, `message_error` or `fault` was reported.
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    /// The version to answer a fault with: the peer's last one, if it is understood here.
    [[nodiscard]] Version error_version() const noexcept { return error_version_; }

    /// Bytes of memory held, for limits and tests.
    [[nodiscard]] std::size_t memory_held() const noexcept;
    /// Whether the buffer is larger than it should be while nothing is read.
    [[nodiscard]] bool holds_much() const noexcept { return buffer_.capacity() > kept_max_; }
    /// Nothing will be read for some time: gives back what is of no use meanwhile. Invalidates
    /// messages.
    void rest() noexcept;

  private:
    /// Read beyond the end of a large message: the beginning of the next one usually comes along,
    /// which saves a read, and little must be moved.
    static constexpr std::size_t read_ahead = 4096;

    [[nodiscard]] Event end_with(Event event, Fault fault = Fault::none) noexcept;
    [[nodiscard]] MutableBytes space_other();
    [[nodiscard]] Event next_other(Message& message);
    [[nodiscard]] std::optional<Event> refuse(const MessageHeader& header) noexcept;
    [[nodiscard]] std::optional<Event> take_special(Message& message, const MessageHeader& header);
    void replace_buffer(std::size_t capacity);
    struct Lent;
    [[nodiscard, gnu::cold]] bool has_block() const noexcept;
    [[nodiscard, gnu::cold]] Event next_with_gap(Message& message);
    [[gnu::cold]] std::unique_ptr<Block> end_gap() noexcept;
    [[gnu::cold]] void count(std::size_t end);

    cdr::Buffer buffer_;
    std::size_t kept_max_ = limits::receive_buffer_kept; // of the buffer, between messages
    std::size_t begin_ = 0;                              // the first byte not handed out yet
    std::size_t end_ = 0;                                // behind the last byte received
    std::size_t received_at_once_ = 0;                   // most that was ever in the buffer, whole
    std::uint64_t passed_ = 0; // bytes of the stream that came before those in the buffer
    std::size_t size_max_;
    const ReadSizes read_sizes_;
    std::size_t message_size_ = 0; // of the incomplete message at begin_, or 0 while unknown
    std::size_t first_read_;       // into an empty buffer
    std::uint8_t permitted_;       // bit per MessageType handed out without further ado
    Role role_;
    bool ended_ = false;
    Fault fault_ = Fault::none;
    Version error_version_ = version_1_0;
    MemoryKeeper* keeper_ = nullptr;
    std::unique_ptr<Reassembly> reassembly_; // from the first fragment on
    std::unique_ptr<Lent> lent_;             // once blocks are taken
};

} // namespace kairos::giop
