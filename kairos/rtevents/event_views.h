// SPDX-License-Identifier: Apache-2.0
//
// Events that nobody has to decode: their headers, and their octets where they lie. So an event
// that is given on as it came costs its channel no memory. Those that have an Any with something in
// it are not among them: text in it may have to be written otherwise for who gets it.
#pragma once

#include "kairos/cdr/buffer.h"
#include "kairos/cdr/reader.h"
#include "kairos/cdr/writer.h"
#include "kairos/rtevents/RtecEventComm.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kairos::rtevents {

struct EventView {
    RtecEventComm::EventHeader header;
    CORBA::Long pad = 0; // RtecEventData::pad1
    Bytes payload;       // borrowed
};
using EventViews = std::span<const EventView>;

/// Reads an EventSet; returns false where it is malformed, or an Any has something in it.
[[nodiscard]] bool read(cdr::Reader& in, std::vector<EventView>& views);
/// Writes one event of a set, behind the number of all. Octets are sent from where they are.
void write(cdr::Writer& out, const EventView& event);
[[nodiscard]] RtecEventComm::Event value_of(const EventView& event);

class Blocks;

/// A set of events, encoded, for the queues that wait with it. Immutable once it is shared; any
/// thread.
class Block {
  public:
    cdr::Buffer buffer;
    Bytes octets; // of the buffer; they begin as a message's body does
    CORBA::ULong count = 0;

  private:
    friend class Blocks;
    friend class BlockPtr;
    std::atomic<unsigned> users_{0};
    Blocks* home_ = nullptr; // which outlives it
};

/// A user of a block.
class BlockPtr {
  public:
    BlockPtr() = default;
    explicit BlockPtr(Block* block) noexcept : block_(block) { add(); }
    BlockPtr(const BlockPtr& other) noexcept : block_(other.block_) { add(); }
    BlockPtr(BlockPtr&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    BlockPtr& operator=(BlockPtr other) noexcept
    {
        std::swap(block_, other.block_);
        return *this;
    }
    ~BlockPtr();
    [[nodiscard]] Block* operator->() const noexcept { return block_; }
    [[nodiscard]] explicit operator bool() const noexcept { return block_ != nullptr; }

  private:
    void add() const noexcept
    {
        if (block_ != nullptr) block_->users_.fetch_add(1, std::memory_order_relaxed);
    }
    Block* block_ = nullptr;
};

/// Blocks that nobody uses just now, so that the next event finds memory without a lock. What is
/// large, or more than there are places, is given back. Any thread.
class Blocks {
  public:
    Blocks() = default;
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;
    ~Blocks();

    /// Throws std::bad_alloc.
    [[nodiscard]] BlockPtr take();

  private:
    friend class BlockPtr;
    static constexpr std::size_t places = 1024;
    static constexpr std::size_t kept_octets_max = std::size_t{4} << 10; // of each

    void give_back(Block* block) noexcept;

    std::array<std::atomic<Block*>, places> idle_{}; // who exchanges one for null owns it
    std::atomic<std::size_t> next_{0};               // where to look first
};

} // namespace kairos::rtevents
