// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/object_map.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/check.h"

#include <limits>
#include <new>

namespace kairos::poa {

namespace {

void dispatch(void* servant, orb::Upcall& upcall)
{
    static_cast<Servant*>(servant)->_kairos_dispatch(upcall);
}

constexpr Operations::Entry dispatch_all[] = {{{}, dispatch}};
constexpr std::uint16_t first_entry[] = {0};
constexpr Operations layered{dispatch_all, first_entry, 0, 0, dispatch};

} // namespace

ObjectMap::StoredId::StoredId(Bytes id)
{
    if (id.size() > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    const auto size = static_cast<std::uint32_t>(id.size());
    block_ = std::make_unique_for_overwrite<std::byte[]>(sizeof size + size);
    std::memcpy(block_.get(), &size, sizeof size);
    if (size != 0) std::memcpy(block_.get() + sizeof size, id.data(), size);
}

ObjectMap::~ObjectMap() { deactivate_all(); }

void ObjectMap::reset(const Options& options)
{
    const std::lock_guard lock(mutex_);
    KAIROS_CHECK(occupied_ == 0);
    if (options.knows_skeletons && kinds_ == nullptr) {
        kinds_ = std::make_unique<ServantKinds>();
        (*kinds_)[0] = {&layered, layered, 0};
    }
    if (options.user_ids) {
        stored_ids_.grow(slots_.size());
        ids_.reset(options.strategy, options.known_ids);
    }
    if (options.knows_timings) timings_.grow(slots_.size());
    user_ids_ = options.user_ids;
    retiring_ = options.retiring;
    find_servants_ = options.find_servants;
    knows_skeletons_ = options.knows_skeletons;
    knows_timings_ = options.knows_timings;
    kinds_used_ = 1;
    first_generation_ = options.first_generation;
    if (tracks_servants()) servants_.reserve(slots_);
}

/// With a hook also where nobody looks for servants: it is told whether a servant is gone.
bool ObjectMap::tracks_servants() const noexcept { return find_servants_ || retiring_ != nullptr; }

bool ObjectMap::is_active(std::uint32_t index) const noexcept
{
    return (slots_.find(index)->state.load(std::memory_order_relaxed) & Slot::active) != 0;
}

// --- activation ----------------------------------------------------------------------------------

ObjectMap::Activated ObjectMap::activate(Servant& servant, Bytes id, bool unique)
{
    const std::lock_guard lock(mutex_);
    if (const auto refused = refusal(servant, id, unique)) return {*refused, {}};
    StoredId stored = user_ids_ ? StoredId(id) : StoredId();
    if (user_ids_) ids_.reserve();
    reserve_slot();
    // From here on nothing fails.
    const std::uint32_t index = take_slot();
    Slot& slot = *slots_.find(index);
    servant._add_ref();
    servant._kairos_known();
    slot.servant = &servant;
    if (tracks_servants()) servants_.insert(slots_, index);
    if (user_ids_) {
        *stored_ids_.find(index) = std::move(stored);
        ids_.insert(id, index);
    }
    if (knows_timings_) *timings_.find(index) = servant._kairos_timed_operations();
    ++active_;
    ++occupied_;
    const std::uint32_t kind = knows_skeletons_ ? kind_of(servant) : 0;
    const std::uint32_t former = Slot::kind_in(slot.state.load(std::memory_order_relaxed));
    // Not a plain store: requests with stale places may be stepping in and out.
    const std::uint64_t before = slot.state.fetch_xor(
        Slot::active | Slot::vacant | std::uint64_t{kind ^ former} << Slot::kind_shift,
        std::memory_order_release);
    return {Activation::activated,
            {index, static_cast<std::uint32_t>(before >> Slot::generation_shift)}};
}

std::optional<Activation> ObjectMap::refusal(const Servant& servant, Bytes id, bool unique) const
{
    assert_held(mutex_);
    if (unique) {
        KAIROS_CHECK(find_servants_);
        if (active_place_of(servant)) return Activation::servant_active;
    }
    if (!user_ids_) return std::nullopt;
    if (!ids_.admits(id)) return Activation::id_unknown;
    if (const auto index = slot_of(id))
        return is_active(*index) ? Activation::id_active : Activation::id_leaving;
    return std::nullopt;
}

/// Room in everything that is as long as the slots.
void ObjectMap::reserve_slot()
{
    assert_held(mutex_);
    if (free_ == Slot::none) slots_.grow(std::size_t{slots_used_} + 1);
    if (user_ids_) stored_ids_.grow(slots_.size());
    if (knows_timings_) timings_.grow(slots_.size());
    if (tracks_servants()) servants_.reserve(slots_);
    if (retiring_ != nullptr) retired_.reserve(slots_.size());
}

/// A servant of a class too many, or without operations to look into, is called in layers.
std::uint32_t ObjectMap::kind_of(Servant& servant) noexcept
{
    assert_held(mutex_);
    const Skeleton own = servant._kairos_skeleton();
    if (own.operations == nullptr) return 0;
    const std::ptrdiff_t offset =
        static_cast<std::byte*>(own.object) - reinterpret_cast<std::byte*>(&servant);
    for (std::uint32_t kind = 1; kind < kinds_used_; ++kind) {
        const ServantKind& known = (*kinds_)[kind];
        if (known.said == own.operations && known.offset == offset) return kind;
    }
    if (kinds_used_ == kinds_->size()) return 0;
    (*kinds_)[kinds_used_] = {own.operations, *own.operations, offset};
    return kinds_used_++;
}

std::uint32_t ObjectMap::take_slot() noexcept
{
    assert_held(mutex_);
    if (free_ != Slot::none) {
        const std::uint32_t index = free_;
        free_ = slots_.find(index)->next_free;
        return index;
    }
    const std::uint32_t index = slots_used_++;
    slots_.find(index)->state.fetch_add(std::uint64_t{first_generation_} << Slot::generation_shift,
                                        std::memory_order_relaxed);
    return index;
}

/// The slot that an object of this id occupies. Must hold mutex_: ids stay without stepping in.
std::optional<std::uint32_t> ObjectMap::slot_of(Bytes id) const
{
    assert_held(mutex_);
    return ids_.find(id, [&](std::uint32_t index) {
        return as_text(id_of(index)) == as_text(id) ? std::optional(index) : std::nullopt;
    });
}

// --- deactivation --------------------------------------------------------------------------------

bool ObjectMap::deactivate(Place place)
{
    Slot* slot = slots_.find(place.slot);
    if (slot == nullptr) return false;
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t state = slot->state.load(std::memory_order_acquire);
        if ((state >> Slot::generation_shift) != place.generation || (state & Slot::active) == 0)
            return false;
        --active_;
        // Step inside, so that whoever leaves last, perhaps this thread, finds it deactivated.
        slot->state.fetch_add(1, std::memory_order_acquire);
        slot->state.fetch_and(~Slot::active, std::memory_order_acq_rel);
    }
    leave(*slot, place.slot);
    return true;
}

void ObjectMap::deactivate_all()
{
    std::uint32_t used = 0;
    {
        const std::lock_guard lock(mutex_);
        used = slots_used_;
    }
    for (std::uint32_t index = 0; index < used; ++index) {
        const std::uint64_t state = slots_.find(index)->state.load(std::memory_order_relaxed);
        if ((state & Slot::active) != 0)
            deactivate({index, static_cast<std::uint32_t>(state >> Slot::generation_shift)});
    }
}

bool ObjectMap::abandon(const Servant& servant, Servant& instead) noexcept
{
    for (bool found = false;; found = true) {
        std::uint32_t index = 0;
        {
            const std::lock_guard lock(mutex_);
            index = servants_.find(slots_, servant);
            if (index == Slot::none) return found;
            Slot& slot = *slots_.find(index);
            servants_.reserve(slots_);
            servants_.erase(slots_, index);
            const bool active = is_active(index);
            if (active) {
                --active_;
                slot.state.fetch_add(1, std::memory_order_acquire); // as `deactivate` does
                slot.state.fetch_and(~Slot::active, std::memory_order_acq_rel);
            }
            slot.servant = &instead;
            servants_.insert(slots_, index);
            if (!active) continue; // whoever is inside, or retires it, sees to the rest
        }
        leave(*slots_.find(index), index);
    }
}

void ObjectMap::retire(Slot& slot, std::uint32_t index) noexcept
{
    // Requests with stale places may step in and out meanwhile; one thread wins the slot.
    std::uint64_t state = slot.state.load(std::memory_order_acquire);
    do {
        if ((state & (Slot::active | Slot::vacant | Slot::inside)) != 0) return;
    } while (
        !slot.state.compare_exchange_weak(state, state | Slot::vacant, std::memory_order_acq_rel));
    if (retiring_ != nullptr) return tell_retired(index);
    slot.servant->_kairos_forgotten();
    slot.servant->_remove_ref(); // may run the servant's destructor: no lock is held
    const std::lock_guard lock(mutex_);
    release(index);
}

/// One thread at a time tells the hook, what others retire meanwhile too: calls never overlap, and
/// of a servant's objects exactly the last is told to be the last.
void ObjectMap::tell_retired(std::uint32_t index) noexcept
{
    std::unique_lock lock(mutex_);
    retired_.push_back(index);
    if (retiring_now_) return;
    retiring_now_ = true;
    while (!retired_.empty()) {
        index = retired_.back();
        retired_.pop_back();
        const Slot& slot = *slots_.find(index);
        const auto generation = static_cast<std::uint32_t>(
            slot.state.load(std::memory_order_relaxed) >> Slot::generation_shift);
        const bool remaining = servants_.next(index) != index;
        lock.unlock();
        retiring_->retired(*slot.servant, id_of(index), {index, generation}, remaining);
        lock.lock();
        release(index);
    }
    retiring_now_ = false;
}

/// Makes a slot free, whose object is gone.
void ObjectMap::release(std::uint32_t index) noexcept
{
    assert_held(mutex_);
    Slot& slot = *slots_.find(index);
    if (tracks_servants()) servants_.erase(slots_, index);
    if (user_ids_) {
        ids_.erase(id_of(index), index);
        *stored_ids_.find(index) = StoredId();
    }
    --occupied_;
    released_.notify_all();
    const std::uint64_t state = slot.state.load(std::memory_order_relaxed);
    // A slot whose generations are used up is never used again: an old key must not fit.
    if ((state >> Slot::generation_shift) == std::numeric_limits<std::uint32_t>::max()) return;
    slot.next_free = std::exchange(free_, index);
    slot.state.fetch_add(std::uint64_t{1} << Slot::generation_shift, std::memory_order_acq_rel);
}

// --- questions -----------------------------------------------------------------------------------

std::optional<const orb::TimedOperations*> ObjectMap::timing_at(Place place) const noexcept
{
    const Slot* slot = slots_.find(place.slot);
    const auto* timing = timings_.find(place.slot);
    if (slot == nullptr || timing == nullptr) return std::nullopt;
    const std::uint64_t state = slot->state.load(std::memory_order_acquire);
    if ((state >> Slot::generation_shift) != place.generation || (state & Slot::active) == 0)
        return std::nullopt;
    return timing->load(std::memory_order_relaxed);
}

const orb::TimedOperations* ObjectMap::timing_of(Bytes id) const noexcept
{
    // The id itself may be gone at any time. Where two are alike to the index, the wrong one may
    // be found: then a request waits at the wrong place.
    return ids_.find(id, [this](std::uint32_t index) -> const orb::TimedOperations* {
        const auto* timing = timings_.find(index);
        return timing == nullptr ? nullptr : timing->load(std::memory_order_relaxed);
    });
}

void ObjectMap::wait_while_leaving(Bytes id) const
{
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] {
        const auto index = slot_of(id);
        return !index || is_active(*index);
    });
}

bool ObjectMap::leaving(Bytes id) const
{
    const std::lock_guard lock(mutex_);
    const auto index = slot_of(id);
    return index && !is_active(*index);
}

void ObjectMap::wait_until_empty() const
{
    std::unique_lock lock(mutex_);
    released_.wait(lock, [&] { return occupied_ == 0; });
}

std::optional<Place> ObjectMap::find(const Servant& servant) const
{
    const std::lock_guard lock(mutex_);
    KAIROS_CHECK(find_servants_);
    return active_place_of(servant);
}

std::optional<Place> ObjectMap::active_place_of(const Servant& servant) const
{
    assert_held(mutex_);
    const std::uint32_t first = servants_.find(slots_, servant);
    if (first == Slot::none) return std::nullopt;
    std::uint32_t index = first;
    do {
        const std::uint64_t state = slots_.find(index)->state.load(std::memory_order_relaxed);
        if ((state & Slot::active) != 0)
            return Place{index, static_cast<std::uint32_t>(state >> Slot::generation_shift)};
        index = servants_.next(index);
    } while (index != first);
    return std::nullopt;
}

std::size_t ObjectMap::size() const
{
    const std::lock_guard lock(mutex_);
    return active_;
}

bool ObjectMap::busy() const
{
    const std::lock_guard lock(mutex_);
    for (std::uint32_t index = 0; index < slots_used_; ++index)
        if ((slots_.find(index)->state.load() & Slot::inside) != 0) return true;
    return false;
}

} // namespace kairos::poa
