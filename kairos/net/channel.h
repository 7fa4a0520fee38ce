// SPDX-License-Identifier: Apache-2.0
//
// Another way for the bytes of a Socket than its own descriptor: shared memory (ring_channel.h),
// what changes them on their way and shakes hands first (wrapping_channel.h), what is put in
// between (system.h), or the descriptor itself (descriptor_channel.h), looked at for a while before
// it is waited for (spinning_channel.h), or polled (polled_channel.h). A Socket that has one asks
// it for everything below; the words mean there what they mean of Socket.
//
// A channel may be agreeing with the peer at first: shaking hands, or taking memory over. That is a
// state of it, which whoever drives the connection need not know: reads and writes carry it on, and
// say would_block until it is over.
#pragma once

#include "kairos/base/block_taker.h"
#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/net/socket.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace kairos::net {

class KAIROS_API Channel {
  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    virtual ~Channel() = default;

    virtual IoResult read(MutableBytes buffer, ReadFlags flags) noexcept = 0;
    virtual IoResult write(std::span<const iovec> segments, WriteFlags flags) noexcept = 0;
    virtual IoResult wait_readable(Deadline deadline) noexcept = 0;
    virtual IoResult wait_writable(Deadline deadline) noexcept = 0;
    /// Says whether the descriptor blocks from here on. To be called while nobody reads or writes.
    virtual void set_blocking(bool blocks) noexcept { (void)blocks; }
    /// From here on a read of the descriptor that has blocked for `time` ends with would_block;
    /// zero: none does.
    virtual void limit_reading(std::chrono::nanoseconds time) noexcept { (void)time; }
    /// From here on a write of which the peer takes nothing for `time` ends with would_block; zero:
    /// none does.
    virtual void limit_writing(std::chrono::nanoseconds time) noexcept { (void)time; }
    /// Any thread. False: the descriptor must be shut down as well.
    virtual bool shut_reading() noexcept = 0;
    /// Any thread. The descriptor is shut down as well.
    virtual void shut_writing() noexcept = 0;
    /// Any thread.
    [[nodiscard]] virtual std::optional<std::uint64_t> stuck_at() const noexcept = 0;
    /// Does what Socket::prepare_poll says. Called by the thread that reads for `readable`, and by
    /// the one that writes for `writable`.
    [[nodiscard]] virtual Interest prepare_poll(Interest wish) noexcept = 0;
    /// Returns whether the descriptor itself could be read and written in place of this: it carries
    /// the same bytes, and is ready when this is.
    [[nodiscard]] virtual bool uses_descriptor() const noexcept { return false; }
    /// Returns whether the bytes do not go through the descriptor at all: it only wakes who waits.
    [[nodiscard]] virtual bool bypasses_descriptor() const noexcept { return false; }
    /// Returns whether the two ends have not agreed yet, so that no message can come or go; also
    /// when they never will.
    [[nodiscard]] virtual bool is_agreeing() const noexcept { return false; }
    /// Goes on to agree, without waiting: ok when that is over; would_block: prepare_poll() says
    /// what to wait for. Called by the thread that reads.
    virtual IoResult agree() noexcept { return {}; }
    /// From here on offers `taker`, if there is one, what a peer has put into memory
    /// that both have, before a read copies it. To be called while nobody reads.
    virtual void offer_blocks(BlockTaker* taker) noexcept { (void)taker; }
    /// Returns so many octets of memory that the peer has, too: what is written from its beginning
    /// is not copied. Null where there is none, or none is free. Any thread.
    [[nodiscard]] virtual std::shared_ptr<std::byte> loan(std::size_t size)
    {
        (void)size;
        return nullptr;
    }
    /// Returns why the two ends do not agree, for the log; empty where nothing but the connection's
    /// end is known. Lives as long as this. Called by the thread that reads.
    [[nodiscard]] virtual std::string_view refusal() const noexcept { return {}; }

  private:
    friend class Socket;
    std::atomic<int> sockets_{1}; // that have it (Socket::duplicate): the last closes it
};

} // namespace kairos::net
