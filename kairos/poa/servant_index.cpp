// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/servant_index.h"

#include <bit>

namespace kairos::poa {

std::size_t ServantIndex::home(const Servant* servant) const noexcept
{
    // Servants are aligned: the low bits of their addresses say nothing.
    const auto mixed =
        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(servant)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed >> 32) & (entries_.size() - 1);
}

std::size_t ServantIndex::place_of(const StableArray<Slot>& slots,
                                   const Servant* servant) const noexcept
{
    std::size_t place = home(servant);
    while (entries_[place] != Slot::none && slots.find(entries_[place])->servant != servant)
        place = (place + 1) & (entries_.size() - 1);
    return place;
}

void ServantIndex::reserve(const StableArray<Slot>& slots)
{
    if (rings_.size() < slots.size()) rings_.resize(slots.size());
    if ((servants_ + 1) * 4 <= entries_.size() * 3) return;
    std::vector<std::uint32_t> old(entries_.empty() ? 16 : entries_.size() * 2, Slot::none);
    old.swap(entries_);
    for (const std::uint32_t slot : old)
        if (slot != Slot::none) entries_[place_of(slots, slots.find(slot)->servant)] = slot;
}

void ServantIndex::insert(const StableArray<Slot>& slots, std::uint32_t slot) noexcept
{
    std::uint32_t& entry = entries_[place_of(slots, slots.find(slot)->servant)];
    if (entry == Slot::none) {
        entry = slot;
        rings_[slot] = {.next = slot, .previous = slot};
        ++servants_;
        return;
    }
    const std::uint32_t after = rings_[entry].next;
    rings_[slot] = {.next = after, .previous = entry};
    rings_[after].previous = slot;
    rings_[entry].next = slot;
}

void ServantIndex::erase(const StableArray<Slot>& slots, std::uint32_t slot) noexcept
{
    const std::size_t place = place_of(slots, slots.find(slot)->servant);
    const Ring ring = rings_[slot];
    if (ring.next == slot) return erase_entry(slots, place);
    if (entries_[place] == slot) entries_[place] = ring.next;
    rings_[ring.next].previous = ring.previous;
    rings_[ring.previous].next = ring.next;
}

void ServantIndex::erase_entry(const StableArray<Slot>& slots, std::size_t place) noexcept
{
    // Entries behind it that may stand nearer to their homes close the gap.
    const std::size_t mask = entries_.size() - 1;
    std::size_t gap = place;
    for (std::size_t at = (gap + 1) & mask; entries_[at] != Slot::none; at = (at + 1) & mask) {
        const std::size_t from_home = (at - home(slots.find(entries_[at])->servant)) & mask;
        if (from_home < ((at - gap) & mask)) continue;
        entries_[gap] = entries_[at];
        gap = at;
    }
    entries_[gap] = Slot::none;
    --servants_;
}

std::uint32_t ServantIndex::find(const StableArray<Slot>& slots,
                                 const Servant& servant) const noexcept
{
    return entries_.empty() ? Slot::none : entries_[place_of(slots, &servant)];
}

} // namespace kairos::poa
