// SPDX-License-Identifier: Apache-2.0
//
// The active object map: slots that hold servants, found by index and checked by generation in one
// step (active demultiplexing, paper 000 §5.3). Station 9 of the request walk (docs/TOUR.md).
//
// Entering and leaving take no lock: one atomic operation each on the slot's state word.
// Activation publishes a slot with one store; deactivation takes it out at once, and whoever leaves
// last gives the servant back. Any thread.
#pragma once

#include "kairos/poa/servant.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kairos::poa {

class ObjectMap {
  public:
    /// Where an object is: slot and how often the slot was used before.
    struct Place {
        std::uint32_t slot = 0;
        std::uint32_t generation = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };

  private:
    // Slot state: generation in the upper half; below it `active`, `vacant` and the number of
    // requests inside. Neither flag: deactivated, with requests inside still.
    static constexpr std::uint64_t active = std::uint64_t{1} << 31;
    static constexpr std::uint64_t vacant = std::uint64_t{1} << 30;
    static constexpr std::uint64_t inside = vacant - 1;
    static constexpr unsigned generation_shift = 32;

    struct Slot {
        std::atomic<std::uint64_t> state{vacant};
        Servant* servant = nullptr; // written before `active` is set, while nobody is inside
    };

  public:
    /// A request inside an object: the servant stays while it lives.
    class Entry {
      public:
        Entry(ObjectMap& map, Slot& slot, std::uint32_t index) noexcept
            : map_(&map), slot_(&slot), index_(index)
        {
        }
        Entry(Entry&& other) noexcept
            : map_(other.map_), slot_(std::exchange(other.slot_, nullptr)), index_(other.index_)
        {
        }
        Entry& operator=(Entry&&) = delete;
        ~Entry()
        {
            if (slot_ != nullptr) map_->leave(*slot_, index_);
        }
        [[nodiscard]] Servant& servant() const noexcept { return *slot_->servant; }

      private:
        ObjectMap* map_;
        Slot* slot_;
        std::uint32_t index_;
    };

    ObjectMap() = default;
    ~ObjectMap();
    ObjectMap(const ObjectMap&) = delete;
    ObjectMap& operator=(const ObjectMap&) = delete;

    /// The object at this place, if it is still active; the place may be forged.
    [[nodiscard]] std::optional<Entry> enter(Place place) noexcept
    {
        Slot* slot = find(place.slot);
        if (slot == nullptr) [[unlikely]]
            return std::nullopt;
        const std::uint64_t state = slot->state.fetch_add(1, std::memory_order_acquire);
        std::optional<Entry> entry(std::in_place, *this, *slot, place.slot);
        if ((state >> generation_shift) != place.generation || (state & active) == 0) [[unlikely]]
            entry.reset(); // leaves again
        return entry;
    }

    /// Adds a count to the servant and makes it reachable. With `unique` a servant that is active
    /// already is refused.
    [[nodiscard]] std::optional<Place> activate(Servant& servant, bool unique);
    /// Takes an object out: later requests do not find it; those inside finish, and the last gives
    /// up the servant's count. False if it is not active.
    bool deactivate(Place place);
    /// The same for all objects.
    void deactivate_all();

    /// Where a servant is active; with several places, any of them.
    [[nodiscard]] std::optional<Place> find(const Servant& servant) const;
    [[nodiscard]] std::size_t size() const;
    /// Whether any request is inside any object.
    [[nodiscard]] bool busy() const;

  private:
    // Chunk i has first_chunk << i slots, so that slots never move and an index is split by its
    // highest bit.
    static constexpr std::uint32_t first_chunk_bits = 6;
    static constexpr std::uint32_t first_chunk = 1u << first_chunk_bits;
    static constexpr std::size_t chunks_max = 26;

    [[nodiscard]] Slot* find(std::uint32_t index) const noexcept
    {
        const std::uint64_t shifted = std::uint64_t{index} + first_chunk;
        const auto bits = static_cast<unsigned>(63 - __builtin_clzll(shifted));
        const std::size_t chunk = bits - first_chunk_bits;
        if (chunk >= chunks_max) [[unlikely]]
            return nullptr;
        Slot* slots = chunks_[chunk].load(std::memory_order_acquire);
        return slots == nullptr ? nullptr : slots + (shifted - (std::uint64_t{1} << bits));
    }

    void leave(Slot& slot, std::uint32_t index) noexcept
    {
        const std::uint64_t before = slot.state.fetch_sub(1, std::memory_order_acq_rel);
        if ((before & (active | vacant | inside)) == 1) [[unlikely]]
            retire(slot, index); // the last one out of a deactivated object
    }
    [[gnu::cold]] void retire(Slot& slot, std::uint32_t index) noexcept;
    [[nodiscard]] std::uint32_t take_free_slot();

    std::array<std::atomic<Slot*>, chunks_max> chunks_{};
    mutable std::mutex mutex_; // guards what follows; never taken by enter
    std::vector<std::unique_ptr<Slot[]>> storage_;
    std::uint32_t slots_used_ = 0; // slots that were ever in use
    std::vector<std::uint32_t> free_;
    std::unordered_multimap<const Servant*, Place> places_; // of active objects
};

} // namespace kairos::poa
