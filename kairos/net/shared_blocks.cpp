// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/shared_blocks.h"

#include "kairos/base/assert_held.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

namespace kairos::net {
namespace {

constexpr std::size_t page_size = 4096; // where pages are larger, the system rounds up

std::uint32_t units_of(std::size_t size) noexcept
{
    return static_cast<std::uint32_t>(align_up(size, BlockMemory::unit_size) /
                                      BlockMemory::unit_size);
}

/// The last of those who have a block that was lent gives it back.
struct GiveBack {
    std::shared_ptr<const SharedMemory> memory; // where the word is
    std::atomic<std::uint32_t>* returned;

    void operator()(const void*) const noexcept
    {
        returned->fetch_add(1, std::memory_order_release);
    }
};

} // namespace

// --- Memory --------------------------------------------------------------------------------------

BlockMemory::BlockMemory(std::shared_ptr<const SharedMemory> memory, MutableBytes part)
    : memory_(std::move(memory)), control_(reinterpret_cast<BlockControl*>(part.data())),
      returned_(reinterpret_cast<std::atomic<std::uint32_t>*>(control_ + 1)),
      blocks_(part.data() + unit_size),
      units_(static_cast<std::uint32_t>(part.size() / unit_size - 1)), present_(units_)
{
}

std::optional<BlockMemory> BlockMemory::open(std::shared_ptr<const SharedMemory> memory,
                                             MutableBytes part)
{
    constexpr std::size_t units_max =
        (unit_size - sizeof(BlockControl)) / sizeof(std::atomic<std::uint32_t>);
    if (part.size() < 2 * unit_size) return std::nullopt;
    if (part.size() > (units_max + 1) * unit_size) part = part.first((units_max + 1) * unit_size);
    BlockMemory opened(std::move(memory), part);
    const std::size_t words = opened.units_ * sizeof(std::atomic<std::uint32_t>);
    const std::size_t pages = align_up(sizeof(BlockControl) + words, page_size);
    if (!SharedMemory::make_present(part.first(pages))) return std::nullopt;
    return opened;
}

bool BlockMemory::make_present(std::uint32_t first, std::uint32_t count)
{
    for (const std::uint32_t end = first + count; first != end; ++first) {
        if (present_[first]) continue;
        std::uint32_t last = first + 1;
        while (last != end && !present_[last])
            ++last;
        if (!SharedMemory::make_present({unit(first), (last - first) * unit_size})) return false;
        std::fill(present_.begin() + first, present_.begin() + last, true);
        first = last - 1;
    }
    return true;
}

// --- Writing -------------------------------------------------------------------------------------

BlockWriter::BlockWriter(RingControl& ring, BlockMemory memory)
    : ring_(ring), memory_(std::move(memory)), used_(memory_.units()),
      announced_of_(memory_.units())
{
    runs_.reserve(BlockControl::announced_max);
}

/// Frees what has come back and belongs to nobody here.
void BlockWriter::collect() noexcept
{
    assert_held(mutex_);
    under_way_ = 0;
    std::erase_if(runs_, [this](const Run& run) {
        const std::uint32_t missing =
            run.announced - memory_.returned(run.unit).load(std::memory_order_acquire);
        // More than can be: the peer says what is not so, and gets nothing more in blocks.
        under_way_ += std::min(missing, BlockControl::announced_max);
        if (run.on_loan || missing != 0) return false;
        std::fill_n(used_.begin() + run.unit, run.count, false);
        announced_of_[run.unit] = run.announced;
        return true;
    });
}

/// The first that fits, so that what was used last is used next: it is in the caches. Null if
/// there is none.
BlockWriter::Run* BlockWriter::allocate(std::size_t size)
{
    assert_held(mutex_);
    const std::uint32_t count = units_of(size);
    if (runs_.size() == BlockControl::announced_max || count > memory_.units()) return nullptr;
    const auto found = std::search_n(used_.begin(), used_.end(), count, false);
    if (found == used_.end()) return nullptr;
    const auto unit = static_cast<std::uint32_t>(found - used_.begin());
    if (!memory_.make_present(unit, count)) return nullptr;
    std::fill_n(found, count, true);
    return &runs_.emplace_back(Run{unit, count, announced_of_[unit], false});
}

std::optional<BlockWriter::Place> BlockWriter::put(Bytes octets)
{
    Place place{0, 0};
    {
        const std::lock_guard lock(mutex_);
        collect();
        if (under_way_ >= BlockControl::announced_max) return std::nullopt;
        Run* const loan = find_loan(octets);
        // A block that is too large for the memory, or would leave the peer nothing to do
        // meanwhile, goes in pieces.
        const std::size_t all = memory_.units() * BlockMemory::unit_size;
        if (loan == nullptr && octets.size() > all / 2)
            octets = octets.first(std::max(all / 4 / BlockMemory::unit_size, std::size_t{1}) *
                                  BlockMemory::unit_size);
        Run* const run = loan != nullptr ? loan : allocate(octets.size());
        if (run == nullptr) return std::nullopt;
        ++run->announced;
        place = {run->unit, static_cast<std::uint32_t>(octets.size())};
        if (loan != nullptr) return place;
    }
    std::memcpy(memory_.unit(place.unit), octets.data(), octets.size());
    return place;
}

/// The loan that begins where these octets do; null for most.
BlockWriter::Run* BlockWriter::find_loan(Bytes octets) noexcept
{
    assert_held(mutex_);
    const auto found = std::ranges::find_if(runs_, [&](const Run& run) {
        return run.on_loan && memory_.unit(run.unit) == octets.data() &&
               octets.size() <= run.count * BlockMemory::unit_size;
    });
    return found == runs_.end() ? nullptr : &*found;
}

void BlockWriter::announce(Place place, std::uint32_t position) noexcept
{
    BlockControl::Entry& entry =
        memory_.control().entries[announced_ % BlockControl::announced_max];
    entry.position.store(position, std::memory_order_relaxed);
    entry.unit.store(place.unit, std::memory_order_relaxed);
    entry.size.store(place.size, std::memory_order_relaxed);
    ring_.head.blocks.store(++announced_, std::memory_order_seq_cst);
}

std::shared_ptr<std::byte> BlockWriter::loan(const std::shared_ptr<BlockWriter>& writer,
                                             std::size_t size)
{
    std::uint32_t unit = 0;
    {
        const std::lock_guard lock(writer->mutex_);
        writer->collect();
        Run* const run = writer->allocate(size);
        if (run == nullptr) return nullptr;
        run->on_loan = true;
        unit = run->unit;
    }
    return {writer->memory_.unit(unit),
            [writer, unit](const std::byte*) { writer->end_loan(unit); }};
}

void BlockWriter::end_loan(std::uint32_t unit) noexcept
{
    const std::lock_guard lock(mutex_);
    for (Run& run : runs_)
        if (run.unit == unit) run.on_loan = false;
}

// --- Reading -------------------------------------------------------------------------------------

std::uint32_t BlockReader::ahead(std::uint32_t position) const noexcept
{
    const std::uint32_t blocks = waiting();
    if (blocks == 0) [[likely]]
        return ~std::uint32_t{0};
    if (blocks > BlockControl::announced_max) return 0;
    const BlockControl::Entry& entry =
        memory_.control().entries[taken_ % BlockControl::announced_max];
    return entry.position.load(std::memory_order_relaxed) - position;
}

bool BlockReader::enter()
{
    // A count that is far ahead would have the same blocks be read for ever, also from a peer that
    // has died.
    if (waiting() - 1 >= BlockControl::announced_max) return false;
    const BlockControl::Entry& entry =
        memory_.control().entries[taken_ % BlockControl::announced_max];
    unit_ = entry.unit.load(std::memory_order_relaxed);
    size_ = entry.size.load(std::memory_order_relaxed);
    const std::uint32_t units = memory_.units();
    if (size_ == 0 || unit_ >= units || units_of(size_) > units - unit_) return false;
    if (!memory_.make_present(unit_, units_of(size_))) return false;
    ++taken_;
    left_ = size_;
    return true;
}

std::optional<Bytes> BlockReader::whole() const noexcept
{
    if (left_ != size_) return std::nullopt;
    return Bytes(memory_.unit(unit_), size_);
}

std::size_t BlockReader::read(MutableBytes buffer, bool peek) noexcept
{
    const std::size_t size = std::min<std::size_t>(buffer.size(), left_);
    std::memcpy(buffer.data(), memory_.unit(unit_) + (size_ - left_), size);
    if (peek) return size;
    left_ -= static_cast<std::uint32_t>(size);
    if (left_ != 0) return size;
    if (lease_ != nullptr)
        lease_.reset();
    else
        memory_.returned(unit_).fetch_add(1, std::memory_order_release);
    return size;
}

std::shared_ptr<const void> BlockReader::lease() const
{
    return {static_cast<const void*>(memory_.unit(unit_)),
            GiveBack{memory_.memory(), &memory_.returned(unit_)}};
}

} // namespace kairos::net
