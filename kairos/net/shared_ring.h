// SPDX-License-Identifier: Apache-2.0
//
// A stream of octets through memory that two processes share: one writes, one reads, neither locks.
// The other end may be hostile and write anything anywhere, at any time: each end keeps its own
// position to itself, reads the other's once for each use and checks it, and copies what it reads
// out before anybody looks at it. Nothing here waits or calls the system (ring_channel.h).
#pragma once

#include "kairos/base/bytes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>

namespace kairos::net {

/// What is in the memory beside the octets. Each word has a cache line: an end that spins reads
/// what the other writes, and nothing else.
struct RingControl {
    struct alignas(64) Line {
        std::atomic<std::uint32_t> word{0};
        /// Of the head: blocks ever announced that belong into the stream (shared_blocks.h).
        std::atomic<std::uint32_t> blocks{0};
    };
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

    Line head;         ///< octets ever written, modulo 2^32; the writer's
    Line tail;         ///< octets ever read, modulo 2^32; the reader's
    Line reader_waits; ///< a RingWait, for octets: set by the reader, taken back by who wakes it
    Line writer_waits; ///< a RingWait, for room: set by the writer, taken back by who wakes it
    Line reader_bell;  ///< what the reader sleeps on: changed by who wakes it
    Line writer_bell;  ///< what the writer sleeps on: changed by who wakes it
};

/// How an end wants to be woken.
enum class RingWait : std::uint32_t {
    no = 0,
    sleeps = 1, ///< on its bell
    polls = 2,  ///< at the socket beside the ring: by an octet there
};

/// One end of a ring: where it is, and how far this end has got. The memory belongs to the caller.
class RingEnd {
  public:
    /// `capacity` is a power of two: the size of `octets`. Both ends begin at `position`, as do
    /// head and tail.
    RingEnd(RingControl& control, std::byte* octets, std::uint32_t capacity,
            std::uint32_t position = 0) noexcept
        : control_(&control), octets_(octets), capacity_(capacity), own_(position)
    {
    }
    /// The other end has written what cannot be: the ring is of no more use.
    [[nodiscard]] bool broken() const noexcept { return broken_; }
    /// Takes the ring for broken from here on.
    void give_up() noexcept { broken_ = true; }

  protected:
    /// Octets between the positions, if these can be.
    [[nodiscard]] std::uint32_t distance(std::uint32_t head, std::uint32_t tail) noexcept
    {
        const std::uint32_t filled = head - tail;
        if (filled > capacity_) [[unlikely]]
            broken_ = true;
        return broken_ ? 0 : filled;
    }
    /// Who waits, once; most often nobody.
    [[nodiscard]] static RingWait take_waiting(std::atomic<std::uint32_t>& waits) noexcept
    {
        // In one order with the position that was just stored: the other end stores its wish first
        // and then looks at the position.
        if (waits.load(std::memory_order_seq_cst) == 0) [[likely]]
            return RingWait::no;
        const std::uint32_t wish = waits.exchange(0, std::memory_order_seq_cst);
        return wish == static_cast<std::uint32_t>(RingWait::polls) ? RingWait::polls
                                                                   : RingWait::sleeps;
    }

    RingControl* control_;
    std::byte* octets_;
    std::uint32_t capacity_;
    std::uint32_t own_; // this end's position; the one in the memory is for the other end
    bool broken_ = false;
};

class RingWriter : public RingEnd {
  public:
    using RingEnd::RingEnd;

    /// Writes as much as there is room for, and returns that. `reader` becomes how the reader is to
    /// be woken.
    [[nodiscard]] std::size_t write(std::span<const iovec> segments, RingWait& reader) noexcept;
    /// Octets ever written, modulo 2^32, by this end's own count.
    [[nodiscard]] std::uint32_t position() const noexcept { return own_; }
    /// Octets that could be written now; 0 of a broken ring.
    [[nodiscard]] std::size_t room() noexcept
    {
        const std::uint32_t tail = control_->tail.word.load(std::memory_order_seq_cst);
        const std::uint32_t filled = distance(own_, tail);
        return broken_ ? 0 : capacity_ - filled;
    }

    /// How the reader is to be woken for what was said elsewhere than in the ring.
    [[nodiscard]] RingWait waiting_reader() noexcept
    {
        return take_waiting(control_->reader_waits.word);
    }

  private:
    std::uint32_t put(std::uint32_t at, const std::byte* from, std::size_t size) noexcept;
};

class RingReader : public RingEnd {
  public:
    using RingEnd::RingEnd;

    /// Copies as much as there is to `buffer`, and returns that. `writer` becomes how the writer is
    /// to be woken. A `peek` leaves the octets in the ring.
    [[nodiscard]] std::size_t read(MutableBytes buffer, RingWait& writer,
                                   bool peek = false) noexcept;
    /// Octets ever read, modulo 2^32.
    [[nodiscard]] std::uint32_t position() const noexcept { return own_; }
    [[nodiscard]] std::size_t available() noexcept
    {
        return distance(control_->head.word.load(std::memory_order_seq_cst), own_);
    }
};

} // namespace kairos::net
