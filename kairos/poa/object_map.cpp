// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/object_map.h"

#include <algorithm>
#include <limits>
#include <new>

namespace kairos::poa {

ObjectMap::~ObjectMap() { deactivate_all(); }

std::uint32_t ObjectMap::take_free_slot()
{
    if (!free_.empty()) {
        const std::uint32_t index = free_.back();
        free_.pop_back();
        return index;
    }
    const std::uint32_t index = slots_used_;
    if (find(index) == nullptr) {
        const std::size_t chunk = storage_.size();
        if (chunk == chunks_max) throw std::bad_alloc();
        storage_.push_back(std::make_unique<Slot[]>(std::size_t{first_chunk} << chunk));
        chunks_[chunk].store(storage_.back().get(), std::memory_order_release);
        // Room for every slot to become free, so that retiring one never allocates.
        free_.reserve(std::size_t{2 * first_chunk} << chunk);
    }
    ++slots_used_;
    return index;
}

std::optional<ObjectMap::Place> ObjectMap::activate(Servant& servant, bool unique)
{
    const std::lock_guard lock(mutex_);
    if (unique && places_.contains(&servant)) return std::nullopt;
    const std::uint32_t index = take_free_slot();
    Slot& slot = *find(index);
    const std::uint64_t state = slot.state.load(std::memory_order_relaxed);
    const Place place{index, static_cast<std::uint32_t>(state >> generation_shift)};
    places_.emplace(&servant, place);
    servant._add_ref();
    slot.servant = &servant;
    // Not a plain store: requests with stale places may be stepping in and out.
    slot.state.fetch_xor(active | vacant, std::memory_order_release);
    return place;
}

bool ObjectMap::deactivate(Place place)
{
    Slot* slot = find(place.slot);
    if (slot == nullptr) return false;
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t state = slot->state.load(std::memory_order_acquire);
        if ((state >> generation_shift) != place.generation || (state & active) == 0) return false;
        const auto [first, last] = places_.equal_range(slot->servant);
        places_.erase(
            std::find_if(first, last, [&](const auto& known) { return known.second == place; }));
        // Step inside, so that whoever leaves last, perhaps this thread, finds it deactivated.
        slot->state.fetch_add(1, std::memory_order_acquire);
        slot->state.fetch_and(~active, std::memory_order_acq_rel);
    }
    leave(*slot, place.slot);
    return true;
}

void ObjectMap::deactivate_all()
{
    std::vector<Place> places;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [servant, place] : places_)
            places.push_back(place);
    }
    for (const Place place : places)
        deactivate(place);
}

void ObjectMap::retire(Slot& slot, std::uint32_t index) noexcept
{
    // Requests with stale places may step in and out meanwhile; one thread wins the slot.
    std::uint64_t state = slot.state.load(std::memory_order_acquire);
    do {
        if ((state & (active | vacant | inside)) != 0) return;
    } while (!slot.state.compare_exchange_weak(state, state | vacant, std::memory_order_acq_rel));
    Servant* servant = slot.servant;
    {
        const std::lock_guard lock(mutex_);
        slot.servant = nullptr;
        // A slot whose generations are used up is never used again: an old key must not fit.
        if ((state >> generation_shift) != std::numeric_limits<std::uint32_t>::max()) {
            slot.state.fetch_add(std::uint64_t{1} << generation_shift, std::memory_order_acq_rel);
            free_.push_back(index);
        }
    }
    servant->_remove_ref(); // may run the servant's destructor: no lock is held
}

std::optional<ObjectMap::Place> ObjectMap::find(const Servant& servant) const
{
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(&servant);
    if (known == places_.end()) return std::nullopt;
    return known->second;
}

std::size_t ObjectMap::size() const
{
    const std::lock_guard lock(mutex_);
    return places_.size();
}

bool ObjectMap::busy() const
{
    const std::lock_guard lock(mutex_);
    for (std::uint32_t index = 0; index < slots_used_; ++index)
        if ((find(index)->state.load() & inside) != 0) return true;
    return false;
}

} // namespace kairos::poa
