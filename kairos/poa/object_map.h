// SPDX-License-Identifier: Apache-2.0
//
// The active object map: slots that hold servants, found by index and checked by generation in one
// step (active demultiplexing, paper 000 §5.3), or by object id. Station 9 of the request walk
// (docs/TOUR.md).
//
// Entering and leaving take no lock: one atomic operation each on the slot's state word. An id is
// looked for in a table of candidates, each of which is entered and only then compared, so that
// it cannot go away meanwhile. Activation publishes a slot with one store; deactivation takes it
// out at once, and whoever leaves last retires it. Any thread.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/poa/id_index.h"
#include "kairos/poa/servant.h"
#include "kairos/poa/servant_index.h"
#include "kairos/poa/slots.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kairos::poa {

/// Where an object is in its map: the slot, and how often the slot was used before.
struct Place {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

/// Told by a map when a deactivated object has no request inside any more.
class Retiring {
  public:
    Retiring(const Retiring&) = delete;
    Retiring& operator=(const Retiring&) = delete;

    /// The map's count of the servant passes to the callee. No lock is held, no other call of the
    /// same map's runs, and until it returns the id (borrowed; empty where objects have places
    /// only) stays taken. `remaining_activations`: the servant is in other slots of this map, which
    /// are active or will be retired after this one. The thread may be any that was inside an
    /// object, deactivated one, or is retiring another.
    virtual void retired(Servant& servant, Bytes id, Place place,
                         bool remaining_activations) noexcept = 0;

  protected:
    Retiring() = default;
    ~Retiring() = default;
};

/// What came of an activation.
enum class Activation {
    activated,
    servant_active, ///< and it was to be unique
    id_active,
    id_leaving, ///< deactivated, but requests are inside still or it is being retired
    id_unknown, ///< not among the ids known a priori
};

class ObjectMap {
  public:
    using Place = poa::Place;

    struct Options {
        /// Objects have ids of their own; otherwise their places are all that they have.
        bool user_ids = false;
        /// How ids are found.
        IdStrategy strategy = IdStrategy::active;
        /// For a perfect hash: all ids there will ever be. Copied.
        std::span<const Bytes> known_ids = {};
        /// Keep what `find(servant)` and `unique` need.
        bool find_servants = true;
        /// Keep what `Entry::skeleton` says.
        bool knows_skeletons = false;
        /// Keep what `timing_at` says.
        bool knows_timings = false;
        /// Told of objects that are gone; without it their servants lose the map's count. Borrowed.
        Retiring* retiring = nullptr;
        /// The first generation of slots that were never used: lets a test see their end.
        std::uint32_t first_generation = 0;
    };

    struct Activated {
        Activation status;
        Place place; ///< of the new object
        explicit operator bool() const noexcept { return status == Activation::activated; }
    };

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
        /// Returns the operations of the servant's skeleton, in a map that knows skeletons; any
        /// servant has one that calls it.
        [[nodiscard]] Skeleton skeleton() const noexcept
        {
            const std::uint64_t state = slot_->state.load(std::memory_order_relaxed);
            const ServantKind& kind = (*map_->kinds_)[Slot::kind_in(state)];
            return {&kind.operations, reinterpret_cast<std::byte*>(slot_->servant) + kind.offset};
        }
        [[nodiscard]] Place place() const noexcept
        {
            return {index_,
                    static_cast<std::uint32_t>(slot_->state.load(std::memory_order_relaxed) >>
                                               Slot::generation_shift)};
        }
        /// Returns an entry of its own for the same object, which this one keeps there.
        [[nodiscard]] Entry again() const noexcept
        {
            slot_->state.fetch_add(1, std::memory_order_relaxed);
            return {*map_, *slot_, index_};
        }
        /// Returns the slot's state word, which does not change while the object is active, but for
        /// the number of requests inside.
        [[nodiscard]] const std::atomic<std::uint64_t>& state() const noexcept
        {
            return slot_->state;
        }
        /// Returns the object's id, borrowed from the object; empty where objects have places only.
        [[nodiscard]] Bytes id() const noexcept { return map_->id_of(index_); }

      private:
        ObjectMap* map_;
        Slot* slot_;
        std::uint32_t index_;
    };

    ObjectMap() = default;
    explicit ObjectMap(const Options& options) { reset(options); }
    /// Deactivates all objects. Nobody may be inside, and the Retiring of the options must still
    /// exist.
    ~ObjectMap();
    ObjectMap(const ObjectMap&) = delete;
    ObjectMap& operator=(const ObjectMap&) = delete;

    /// Makes an empty map, whose last user is gone, ready for another. Late requests for objects
    /// of old may step in and out all the while: no place of theirs fits ever again, but an id of
    /// theirs may, so that whoever enters by id checks *afterwards* that the map is still the one
    /// meant. Throws std::bad_alloc and changes nothing.
    void reset(const Options& options);

    /// Enters the object at this place, if it is still active; the place may be forged. Takes no
    /// lock.
    [[nodiscard, gnu::always_inline]] std::optional<Entry> enter(Place place) noexcept
    {
        Slot* slot = slots_.find(place.slot);
        if (slot == nullptr) [[unlikely]]
            return std::nullopt;
        // Before what the adapter looks at next: whoever waits for it to be idle closes it first,
        // then looks here.
        const std::uint64_t state = slot->state.fetch_add(1, std::memory_order_seq_cst);
        if ((state >> Slot::generation_shift) != place.generation || (state & Slot::active) == 0)
            [[unlikely]] {
            leave(*slot, place.slot);
            return std::nullopt;
        }
        return std::optional<Entry>(std::in_place, *this, *slot, place.slot);
    }

    /// Enters the object of this id, if it is active; always nothing where objects have places
    /// only. Searches by the map's strategy, without a lock and without allocation.
    [[nodiscard]] std::optional<Entry> enter(Bytes id) noexcept
    {
        return ids_.find(id, [&](std::uint32_t index) { return enter_if(index, id); });
    }

    /// Returns what the servant of the object at this place says of the timing of its operations,
    /// without stepping into the object: whoever only asks must not be the one that retires it.
    /// Null where it says nothing; nothing where the object is not at this place.
    [[nodiscard]] std::optional<const orb::TimedOperations*> timing_at(Place place) const noexcept;
    /// Returns what the servant of the object of this id says of the timing of its operations, as
    /// far as the index tells ids apart; null where it says nothing or is not found.
    [[nodiscard]] const orb::TimedOperations* timing_of(Bytes id) const noexcept;

    /// Adds a count to the servant and makes it reachable, under `id` if objects have ids. With
    /// `unique` (which takes a map that finds servants) refuses a servant that is active already.
    /// Throws std::bad_alloc and changes nothing.
    [[nodiscard]] Activated activate(Servant& servant, Bytes id, bool unique);
    /// Adds a count to the servant and makes it reachable, where objects have places only. With
    /// `unique` (which takes a map that finds servants) refuses a servant that is active already.
    /// Throws std::bad_alloc and changes nothing.
    [[nodiscard]] Activated activate(Servant& servant, bool unique)
    {
        return activate(servant, {}, unique);
    }
    /// Takes an object out: later requests do not find it; those inside finish, and the last
    /// retires it. Returns false if it is not active.
    bool deactivate(Place place);
    /// Takes all objects out: later requests do not find them; those inside finish, and the last
    /// request of each object retires it.
    void deactivate_all();
    /// Deactivates all objects of a servant that is on its way out; all of them, also those with
    /// requests inside still, have `instead` from now on. Returns false if there are none. Takes a
    /// map that finds servants.
    bool abandon(const Servant& servant, Servant& instead) noexcept;

    /// Blocks while an object of this id is leaving. Not from within Retiring::retired or an object
    /// that may be leaving itself: that would be for ever.
    void wait_while_leaving(Bytes id) const;
    /// Returns whether an object of this id is leaving: deactivated, but with requests inside or
    /// being retired.
    [[nodiscard]] bool leaving(Bytes id) const;
    /// Blocks until no object is active, leaving or being retired.
    void wait_until_empty() const;

    /// Returns where a servant is active; with several places, any of them. Takes a map that finds
    /// servants.
    [[nodiscard]] std::optional<Place> find(const Servant& servant) const;
    /// Returns how many objects are active.
    [[nodiscard]] std::size_t size() const;
    /// Returns whether any request is inside any object.
    [[nodiscard]] bool busy() const;

  private:
    /// What servants of one class have in common: the operations of their skeleton, at hand, and
    /// where in the servant that is. So an object costs some bits of its slot's state.
    struct ServantKind {
        const Operations* said; ///< by the servants
        Operations operations;
        std::ptrdiff_t offset;
    };
    using ServantKinds = std::array<ServantKind, std::size_t{1} << Slot::kind_bits>;

    /// The octets of an id, with their number before them.
    class StoredId {
      public:
        StoredId() = default;
        explicit StoredId(Bytes id);
        [[nodiscard]] Bytes octets() const noexcept
        {
            std::uint32_t size;
            std::memcpy(&size, block_.get(), sizeof size);
            return {block_.get() + sizeof size, size};
        }

      private:
        std::unique_ptr<std::byte[]> block_;
    };

    [[nodiscard]] std::optional<Entry> enter_if(std::uint32_t index, Bytes id) noexcept
    {
        Slot& slot = *slots_.find(index);
        const std::uint64_t state = slot.state.fetch_add(1, std::memory_order_acquire);
        std::optional<Entry> entry(std::in_place, *this, slot, index);
        if ((state & Slot::active) == 0 || as_text(entry->id()) != as_text(id)) entry.reset();
        return entry;
    }
    [[nodiscard]] Bytes id_of(std::uint32_t index) const noexcept
    {
        const StoredId* id = stored_ids_.find(index);
        return id == nullptr || !user_ids_ ? Bytes() : id->octets();
    }

    void leave(Slot& slot, std::uint32_t index) noexcept
    {
        const std::uint64_t before = slot.state.fetch_sub(1, std::memory_order_acq_rel);
        if ((before & (Slot::active | Slot::vacant | Slot::inside)) == 1) [[unlikely]]
            retire(slot, index); // the last one out of a deactivated object
    }
    [[gnu::cold]] void retire(Slot& slot, std::uint32_t index) noexcept;
    void tell_retired(std::uint32_t index) noexcept;

    // All of these must hold mutex_.
    void release(std::uint32_t index) noexcept;
    [[nodiscard]] std::optional<Activation> refusal(const Servant& servant, Bytes id,
                                                    bool unique) const;
    void reserve_slot();
    [[nodiscard]] std::uint32_t kind_of(Servant& servant) noexcept;
    [[nodiscard]] std::uint32_t take_slot() noexcept;
    [[nodiscard]] std::optional<std::uint32_t> slot_of(Bytes id) const;
    [[nodiscard]] std::optional<Place> active_place_of(const Servant& servant) const;

    [[nodiscard]] bool is_active(std::uint32_t index) const noexcept;
    [[nodiscard]] bool tracks_servants() const noexcept;

    StableArray<Slot> slots_;
    StableArray<StoredId> stored_ids_;    // by slot; none while objects have places only
    std::unique_ptr<ServantKinds> kinds_; // made when first needed
    // By slot, where they are kept. What a free slot has is of its last object.
    StableArray<std::atomic<const orb::TimedOperations*>> timings_;
    bool user_ids_ = false; // read inside objects: changes only while there are none
    IdIndex ids_;

    // guards what follows and all changes; never taken by enter; inside Adapter::mutex_
    mutable std::mutex mutex_;
    mutable std::condition_variable released_;
    Retiring* retiring_ = nullptr; // this and the next change only while there are no objects
    bool find_servants_ = true;
    bool knows_skeletons_ = false;
    bool knows_timings_ = false;
    std::uint32_t first_generation_ = 0;
    std::uint32_t slots_used_ = 0; // slots that were ever in use
    std::uint32_t free_ = Slot::none;
    std::uint32_t active_ = 0;
    std::uint32_t occupied_ = 0;         // active, leaving or being retired
    ServantIndex servants_;              // of occupied slots
    std::uint32_t kinds_used_ = 1;       // with that of servants that are called in layers
    std::vector<std::uint32_t> retired_; // slots whose end the hook has not been told
    bool retiring_now_ = false;          // a thread is telling it
};

} // namespace kairos::poa
