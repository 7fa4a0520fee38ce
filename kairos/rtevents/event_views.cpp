// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/event_views.h"

#include "kairos/mapping/marshal.h"

#include <algorithm>

namespace kairos::rtevents {
namespace {

constexpr std::uint32_t empty_any = CORBA::tk_null; // all that there is of it

/// A header without padding, a long, the number of octets and an Any.
constexpr std::size_t event_octets_min = 52 + 4 + 4 + 4;

} // namespace

bool read(cdr::Reader& in, std::vector<EventView>& views)
{
    views.clear();
    const std::uint32_t count = in.read_length(event_octets_min);
    for (std::uint32_t i = 0; i < count; ++i) {
        EventView& event = views.emplace_back();
        mapping::decode(in, event.header);
        event.pad = in.read<CORBA::Long>();
        event.payload = in.read_octets();
        if (in.read<std::uint32_t>() != empty_any || !in.ok()) return false;
    }
    return in.ok();
}

void write(cdr::Writer& out, const EventView& event)
{
    mapping::encode(out, event.header);
    out.write(event.pad);
    out.write_octets(event.payload);
    out.write(empty_any);
}

RtecEventComm::Event value_of(const EventView& event)
{
    RtecEventComm::Event value{};
    value.header = event.header;
    value.data.pad1 = event.pad;
    value.data.payload.length(static_cast<CORBA::ULong>(event.payload.size()));
    if (!event.payload.empty())
        std::memcpy(value.data.payload.get_buffer(), event.payload.data(), event.payload.size());
    return value;
}

BlockPtr::~BlockPtr()
{
    if (block_ != nullptr && block_->users_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        block_->home_->give_back(block_);
}

Blocks::~Blocks()
{
    for (const std::atomic<Block*>& place : idle_)
        delete place.load();
}

BlockPtr Blocks::take()
{
    const std::size_t first = next_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < places; ++i) {
        std::atomic<Block*>& place = idle_[(first + places - i) % places];
        if (place.load(std::memory_order_relaxed) == nullptr) continue;
        if (Block* const block = place.exchange(nullptr, std::memory_order_acquire)) {
            next_.store((first + places - i) % places, std::memory_order_relaxed);
            return BlockPtr(block);
        }
    }
    auto made = std::make_unique<Block>();
    made->home_ = this;
    return BlockPtr(made.release());
}

/// To where the next one is looked for.
void Blocks::give_back(Block* block) noexcept
{
    const std::size_t first = next_.load(std::memory_order_relaxed);
    if (block->buffer.capacity() <= kept_octets_max)
        for (std::size_t i = 0; i < places; ++i) {
            std::atomic<Block*>& place = idle_[(first + i) % places];
            Block* nobody = nullptr;
            if (place.load(std::memory_order_relaxed) != nullptr) continue;
            if (place.compare_exchange_strong(nobody, block, std::memory_order_release,
                                              std::memory_order_relaxed)) {
                next_.store((first + i) % places, std::memory_order_relaxed);
                return;
            }
        }
    delete block;
}

} // namespace kairos::rtevents
