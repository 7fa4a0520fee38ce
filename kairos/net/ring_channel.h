// SPDX-License-Identifier: Apache-2.0
//
// A connection through shared memory: a ring for each direction, and the Unix socket over which the
// memory was handed over. That stays open: its end is the peer's, however it died, and who wants to
// wait for several connections at once is woken there. A Socket that has a channel reads and writes
// by it, and is otherwise used as any other (socket.h); nothing but that uses this class.
//
//   process A                 memory                process B
//   RingWriter ──► control, 64 KiB of octets ──► RingReader
//   RingReader ◄── control, 64 KiB of octets ◄── RingWriter
//   socket ═════════ the end of either process ═════════ socket
//
// Where both ends have memory for them, blocks of 64 KiB and more lie beside the rings and are
// announced in the order of the stream (shared_blocks.h).
//
// Whoever waits may spin for a while first, and then sleeps on a word of the memory (futex). One
// thread reads and one writes at a time; the shut_* functions are for any thread. Of the two only
// one at a time waits at the socket (prepare_poll): it takes every octet that came to wake it.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/result.h"
#include "kairos/net/channel.h"
#include "kairos/net/peer_watch.h"
#include "kairos/net/shared_blocks.h"
#include "kairos/net/shared_memory.h"
#include "kairos/net/shared_ring.h"
#include "kairos/net/socket.h"
#include "kairos/net/spin.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::net {

class RingChannel final : public Channel, public PeerWatch::Watched {
  public:
    /// Octets that a direction has room for. A larger message goes through it bit by bit.
    static constexpr std::uint32_t capacity = 64 << 10;

    /// Makes a client's channel: makes the memory, about `loans` octets of it for large blocks, and
    /// hands it over, by the deadline. `socket` must outlive the channel.
    [[nodiscard]] static Result<std::unique_ptr<RingChannel>>
    connect(Socket& socket, const SpinRule& spin, Deadline deadline, std::size_t loans = 0);
    /// Makes a server's channel, which agrees when the client sends its memory. Takes memory for
    /// blocks if that is no more than `loans` octets.
    RingChannel(int descriptor, const SpinRule& spin, std::size_t loans = 0);
    RingChannel(const RingChannel&) = delete;
    RingChannel& operator=(const RingChannel&) = delete;
    ~RingChannel() override;

    IoResult read(MutableBytes buffer, ReadFlags flags) noexcept override;
    IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept override;
    IoResult wait_readable(Deadline deadline) noexcept override;
    IoResult wait_writable(Deadline deadline) noexcept override;
    /// Ends reading from the memory. False while the memory has not come: then the socket must be
    /// shut down.
    bool shut_reading() noexcept override;
    void shut_writing() noexcept override;
    void limit_reading(std::chrono::nanoseconds time) noexcept override { read_limit_ = time; }
    void limit_writing(std::chrono::nanoseconds time) noexcept override { write_limit_ = time; }
    /// Where writing is stuck, by what was written here, not by what the peer says of it: the peer
    /// could say what never ends.
    [[nodiscard]] std::optional<std::uint64_t> stuck_at() const noexcept override;
    /// The peer then wakes who waits for the socket, by an octet there, whatever the wish was.
    [[nodiscard]] Interest prepare_poll(Interest wish) noexcept override;
    [[nodiscard]] bool bypasses_descriptor() const noexcept override { return true; }
    void offer_blocks(BlockTaker* taker) noexcept override { taker_ = taker; }
    [[nodiscard]] std::shared_ptr<std::byte> loan(std::size_t size) override;
    [[nodiscard]] bool is_agreeing() const noexcept override
    {
        return !is_open_ || !refusal_.empty();
    }
    /// Takes the memory over if it has come.
    IoResult agree() noexcept override;
    [[nodiscard]] std::string_view refusal() const noexcept override { return refusal_; }

    /// Called by the PeerWatch when the socket has ended.
    void note_end() noexcept override;

  private:
    struct Memory; // how it is laid out
    [[nodiscard]] Result<void> open(SharedMemory memory, bool is_client);
    [[nodiscard]] bool open_blocks(bool is_client);
    [[nodiscard]] std::size_t read_blocks(MutableBytes buffer, RingWait& writer,
                                          bool peek) noexcept;
    [[nodiscard]] std::size_t write_blocks(std::span<const iovec> segments,
                                           RingWait& reader) noexcept;
    [[nodiscard]] bool is_anything_there() noexcept;
    [[nodiscard]] bool no_more_reading() const noexcept { return peer_gone_ || reading_shut_; }
    [[nodiscard]] bool no_more_writing() const noexcept { return peer_gone_ || writing_shut_; }
    [[nodiscard]] bool has_something() noexcept;
    [[nodiscard]] bool has_room() noexcept;
    [[nodiscard]] IoResult broken() noexcept;
    void stop_polling(bool& polls, std::atomic<std::uint32_t>& waits) noexcept;
    void wake(RingWait wish, std::atomic<std::uint32_t>& bell) noexcept;
    template <typename Ready>
    [[nodiscard]] bool wait_for(Spin& spin, std::atomic<std::uint32_t>& waits,
                                std::atomic<std::uint32_t>& bell, Deadline deadline,
                                Ready ready) noexcept;

    [[nodiscard]] Result<void> take_memory();
    [[nodiscard]] IoResult agree_by(Deadline deadline) noexcept;

    const int descriptor_;                       // the socket's, which owns this
    const bool blocks_;                          // as that does
    std::string refusal_;                        // why no memory was taken over, and none will be
    const std::size_t loans_;                    // octets of memory for blocks that a server takes
    std::shared_ptr<const SharedMemory> memory_; // and of blocks that are lent
    std::shared_ptr<BlockWriter> block_writer_;  // null where there are none; and of loans
    std::unique_ptr<BlockReader> block_reader_;  // as that
    BlockTaker* taker_ = nullptr;                // of who reads
    std::optional<RingReader> reader_;
    std::optional<RingWriter> writer_;
    RingControl* incoming_ = nullptr;
    RingControl* outgoing_ = nullptr;
    std::atomic<bool> is_open_{false}; ///< the memory is there
    std::atomic<bool> peer_gone_{false};
    std::atomic<bool> reading_shut_{false};
    std::atomic<bool> writing_shut_{false};
    static constexpr std::uint64_t not_stuck = ~std::uint64_t{0};
    std::atomic<std::uint64_t> stuck_at_{not_stuck};
    bool polls_to_read_ = false; ///< since prepare_poll
    bool polls_to_write_ = false;
    std::chrono::nanoseconds read_limit_{0};  // of a wait for octets; 0: none
    std::chrono::nanoseconds write_limit_{0}; // of a wait for room; 0: none
    Spin reading_;                            // of who waits for octets
    Spin writing_;                            // of who waits for room
    std::shared_ptr<PeerWatch> watch_;
};

} // namespace kairos::net
