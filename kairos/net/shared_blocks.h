// SPDX-License-Identifier: Apache-2.0
//
// Large blocks beside a ring: one end writes each into memory that both have, once, and says where
// in the stream of the ring it belongs; the other reads it there, or lends it to who can do with
// it where it lies, and gives it back.
//
//   RingControl.head    octets of the ring │ how many blocks were ever announced
//   BlockControl        the last of these: where in the stream, where in the memory, how large
//                       for each unit of memory: how often a block that begins there came back
//   units of 64 KiB     the blocks
//
// The other end may be hostile. Which units are free only who writes them knows, by what it has
// announced itself; that a block has come back it believes, for what is overwritten then are its
// own octets. Who reads checks where a block is said to be once, and looks nowhere else. Pages of a
// unit are made present, at each end, before the first use: nothing that the other end does or
// leaves makes touching them fail (shared_memory.h).
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/net/shared_memory.h"
#include "kairos/net/shared_ring.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kairos::net {

/// What is at the beginning of the memory of a direction.
struct BlockControl {
    static constexpr std::uint32_t announced_max = 64; ///< blocks that have not come back
    struct Entry {
        std::atomic<std::uint32_t> position{0}; ///< octets ever written to the ring in front of it
        std::atomic<std::uint32_t> unit{0};
        std::atomic<std::uint32_t> size{0}; ///< octets, from the unit's first on
    };
    std::array<Entry, announced_max> entries; ///< of block n at n modulo announced_max
};

/// The memory of the blocks of one direction, mapped: whoever uses it keeps it.
class BlockMemory {
  public:
    static constexpr std::size_t unit_size = std::size_t{64} << 10;
    /// What a block is worth its while for: a smaller one goes through the ring.
    static constexpr std::size_t block_min = unit_size;

    /// `part` is of `memory`. Nothing if it is too small, or the system cannot make pages present
    /// (Linux before 5.14).
    [[nodiscard]] static std::optional<BlockMemory> open(std::shared_ptr<const SharedMemory> memory,
                                                         MutableBytes part);

    [[nodiscard]] std::uint32_t units() const noexcept { return units_; }
    [[nodiscard]] BlockControl& control() const noexcept { return *control_; }
    [[nodiscard]] std::byte* unit(std::uint32_t number) const noexcept
    {
        return blocks_ + std::size_t{number} * unit_size;
    }
    /// How often a block that begins at this unit came back, modulo 2^32.
    [[nodiscard]] std::atomic<std::uint32_t>& returned(std::uint32_t unit) const noexcept
    {
        return returned_[unit];
    }
    [[nodiscard]] const std::shared_ptr<const SharedMemory>& memory() const noexcept
    {
        return memory_;
    }
    /// Sees to it that these units can be touched. False: there is no memory for them.
    [[nodiscard]] bool make_present(std::uint32_t first, std::uint32_t count);

  private:
    BlockMemory(std::shared_ptr<const SharedMemory> memory, MutableBytes part);

    std::shared_ptr<const SharedMemory> memory_;
    BlockControl* control_;
    std::atomic<std::uint32_t>* returned_;
    std::byte* blocks_;
    std::uint32_t units_;
    std::vector<bool> present_; // of units, in this mapping
};

/// The end that writes.
class BlockWriter {
  public:
    BlockWriter(RingControl& ring, BlockMemory memory);
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;

    struct Place {
        std::uint32_t unit;
        std::uint32_t size;
    };
    /// Puts octets into a block, as many of the first as one should have; where they are a loan
    /// they stay where they are. Nothing if no block is free. Throws std::bad_alloc. Called by the
    /// thread that writes.
    [[nodiscard]] std::optional<Place> put(Bytes octets);
    /// Tells the other end of a block: it follows so many octets ever written to the ring. To be
    /// called before octets behind it are written to that.
    void announce(Place place, std::uint32_t position) noexcept;
    /// Takes a block for somebody to write to, before it is put; null if none is free. Whoever has
    /// it keeps `writer`. Throws std::bad_alloc. Any thread.
    [[nodiscard]] static std::shared_ptr<std::byte> loan(const std::shared_ptr<BlockWriter>& writer,
                                                         std::size_t size);

  private:
    struct Run {
        std::uint32_t unit;
        std::uint32_t count;
        std::uint32_t announced; // how often so far; modulo 2^32, as what comes back
        bool on_loan;
    };
    /// Must hold mutex_.
    [[nodiscard]] Run* allocate(std::size_t size);
    /// Must hold mutex_.
    [[nodiscard]] Run* find_loan(Bytes octets) noexcept;
    /// Must hold mutex_.
    void collect() noexcept;
    void end_loan(std::uint32_t unit) noexcept;

    RingControl& ring_;
    std::uint32_t announced_ = 0; // blocks ever; of the thread that writes
    std::mutex mutex_;            // guards what follows
    BlockMemory memory_;
    std::vector<bool> used_;                  // of units
    std::vector<Run> runs_;                   // those used
    std::vector<std::uint32_t> announced_of_; // how often blocks at each unit were, when last free
    std::uint32_t under_way_ = 0;             // blocks announced that have not come back
};

/// The end that reads. Used by the thread that reads.
class BlockReader {
  public:
    BlockReader(RingControl& ring, BlockMemory memory) : ring_(ring), memory_(std::move(memory)) {}
    BlockReader(const BlockReader&) = delete;
    BlockReader& operator=(const BlockReader&) = delete;

    /// Octets of the ring, of which so many were read, in front of the next block; far more than it
    /// holds if none is announced, and none if more are than can be, which enter() refuses. To be
    /// asked after the ring was asked what it has.
    [[nodiscard]] std::uint32_t ahead(std::uint32_t position) const noexcept;
    /// Whether a block is being read.
    [[nodiscard]] bool inside() const noexcept { return left_ != 0; }
    /// Begins the next block. False: the other end has announced what cannot be, or there is no
    /// memory. Throws std::bad_alloc.
    [[nodiscard]] bool enter();
    /// The block that was entered if nothing was read of it.
    [[nodiscard]] std::optional<Bytes> whole() const noexcept;
    /// Copies as much as there is to `buffer`, and returns that; gives the block back at its end. A
    /// `peek` leaves it as it is.
    [[nodiscard]] std::size_t read(MutableBytes buffer, bool peek) noexcept;
    /// What has the block come back when nobody has it any more: pass() or keep() is next. Throws
    /// std::bad_alloc.
    [[nodiscard]] std::shared_ptr<const void> lease() const;
    /// Leaves the block to who has its lease.
    void pass() noexcept { left_ = 0; }
    /// Takes its lease back: the block is read here.
    void keep(std::shared_ptr<const void> lease) noexcept { lease_ = std::move(lease); }

  private:
    /// Blocks that are announced and were not begun, by what the other end says.
    [[nodiscard]] std::uint32_t waiting() const noexcept
    {
        return ring_.head.blocks.load(std::memory_order_seq_cst) - taken_;
    }

    RingControl& ring_;
    BlockMemory memory_;
    std::uint32_t taken_ = 0; // blocks ever
    std::uint32_t unit_ = 0;  // of the block being read
    std::uint32_t size_ = 0;
    std::uint32_t left_ = 0;
    std::shared_ptr<const void> lease_; // of a block that somebody could have had
};

} // namespace kairos::net
