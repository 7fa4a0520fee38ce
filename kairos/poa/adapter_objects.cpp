// SPDX-License-Identifier: Apache-2.0
//
// Adapter: objects, their ids and their keys.
#include "kairos/base/assert_held.h"
#include "kairos/ior/object_key.h"
#include "kairos/ior/plain_key.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/adapters.h"

#include <algorithm>

namespace kairos::poa {

using ior::ObjectKey;

namespace {

// Ids that the system gives: octets 12 to 23 of the key where places are ids; else where they come
// from, 8 octets, and a number.
constexpr std::size_t place_id_at = 12;
constexpr std::size_t place_id_size = ObjectKey::size - place_id_at;
static_assert(sizeof(Adapter::PlaceId) == place_id_size);
constexpr std::size_t numbered_id_size = 16;

void append(Id& id, std::uint64_t number)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        id.push_back(static_cast<std::byte>(number >> shift));
}

std::uint64_t number_at(Bytes id, std::size_t at)
{
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8; ++i)
        number |= std::to_integer<std::uint64_t>(id[at + i]) << (8 * i);
    return number;
}

} // namespace

// --- ids and keys --------------------------------------------------------------------------------

Id Adapter::new_id()
{
    Id id;
    id.reserve(numbered_id_size);
    append(id, policies_.persistent() ? orb().incarnation() : key_id_.load());
    append(id, next_id_.fetch_add(1));
    return id;
}

Adapter::PlaceId Adapter::place_id_of(Place place) const noexcept
{
    const auto key = ObjectKey{.incarnation = 0,
                               .adapter = key_id_.load(),
                               .slot = place.slot,
                               .generation = place.generation}
                         .encode();
    PlaceId id;
    std::copy(key.begin() + place_id_at, key.end(), id.begin());
    return id;
}

Id Adapter::id_at(Place place) const
{
    const PlaceId id = place_id_of(place);
    return {id.begin(), id.end()};
}

std::optional<Place> Adapter::place_in(Bytes id) const
{
    if (!policies_.places_are_ids() || id.size() != place_id_size) return std::nullopt;
    auto octets = ObjectKey{}.encode();
    std::copy(id.begin(), id.end(), octets.begin() + place_id_at);
    const auto key = ObjectKey::parse(octets);
    if (key->adapter != key_id_.load()) return std::nullopt;
    return Place{key->slot, key->generation};
}

bool Adapter::may_be_own(Bytes id) const
{
    if (place_in(id)) return true;
    if (id.size() != numbered_id_size) return false;
    const std::uint64_t origin = number_at(id, 0);
    const bool known = number_at(id, 8) < next_id_.load();
    if (policies_.persistent()) return origin != orb().incarnation() || known;
    return origin == key_id_.load() && known;
}

Id Adapter::id_in_key(Bytes id) const
{
    Id octets;
    if (policies_.real_time.declares()) {
        const orb::Priority priority = declared_priority(id);
        octets = {static_cast<std::byte>(priority >> 8), static_cast<std::byte>(priority)};
    }
    octets.insert(octets.end(), id.begin(), id.end());
    return octets;
}

std::vector<std::byte> Adapter::key_of(const Identity& object) const
{
    if (policies_.persistent()) {
        const Id id = id_in_key(object.id);
        const ior::PersistentKey key{path_, id};
        return orb().options().plain_keys ? ior::plain_key(key) : key.encode();
    }
    ObjectKey key{.incarnation = orb().incarnation(),
                  .adapter = key_id_.load(),
                  .slot = ObjectKey::no_slot,
                  .generation = 0};
    const auto place = place_in(object.id);
    const auto known = policies_.keys_say_places() ? object.place : std::nullopt;
    if (const auto said = place ? place : known) {
        key.slot = said->slot;
        key.generation = said->generation;
    }
    const auto head = key.encode();
    std::vector<std::byte> octets(head.begin(), head.end());
    if (place) return octets;
    const Id id = id_in_key(object.id);
    octets.insert(octets.end(), id.begin(), id.end());
    return octets;
}

std::optional<Identity> Adapter::object_in(Bytes object_key) const
{
    if (policies_.persistent()) {
        Arena arena;
        auto key = ior::PersistentKey::parse(object_key);
        if (!key && orb().options().plain_keys) key = ior::parse_plain_key(object_key, arena);
        if (!key || as_text(key->path) != as_text(path_)) return std::nullopt;
        const auto wanted = understood({.id = key->id, .place = {}});
        if (!wanted) return std::nullopt;
        return Identity{.id = Id(wanted->id.begin(), wanted->id.end()), .place = {}};
    }
    const auto key = ObjectKey::parse(object_key);
    if (!key || key->incarnation != orb().incarnation() || key->adapter != key_id_.load())
        return std::nullopt;
    const Place place{key->slot, key->generation};
    const auto wanted = understood({.id = ObjectKey::id_in(object_key), .place = place});
    if (!wanted) return std::nullopt;
    const Bytes id = wanted->id;
    if (id.empty() && policies_.places_are_ids()) return Identity{id_at(place), place};
    if (place_in(id)) return std::nullopt; // its place would stand in front, and no id behind
    return Identity{Id(id.begin(), id.end()), place};
}

Identity Adapter::called(const Calling& calling) const
{
    const ObjectMap::Entry* entry = calling.entry();
    if (entry == nullptr) return {Id(calling.id().begin(), calling.id().end()), std::nullopt};
    const Bytes id = entry->id();
    if (id.empty() && policies_.places_are_ids()) return {id_at(entry->place()), entry->place()};
    return {Id(id.begin(), id.end()), entry->place()};
}

Bytes Adapter::id_called(const Calling& calling, PlaceId& room) const noexcept
{
    const ObjectMap::Entry* entry = calling.entry();
    if (entry == nullptr) return calling.id();
    const Bytes id = entry->id();
    if (!id.empty() || !policies_.places_are_ids()) return id;
    room = place_id_of(entry->place());
    return room;
}

bool Adapter::is_being_called(Bytes id) const
{
    for (const Calling* calling = Calling::innermost(); calling != nullptr;
         calling = calling->outer())
        if (&calling->adapter() == this && calling->entry() != nullptr &&
            as_text(calling->entry()->id()) == as_text(id))
            return true;
    return false;
}

// --- looking -------------------------------------------------------------------------------------

Bytes Adapter::id_of(const Wanted& wanted) const noexcept
{
    return wanted.id_is_place && !policies_.places_are_ids() ? Bytes() : wanted.id;
}

std::optional<ObjectMap::Entry> Adapter::enter(const Wanted& wanted)
{
    if (wanted.place) {
        if (auto entry = objects_.enter(*wanted.place)) return entry;
    }
    if (!policies_.places_are_ids()) return objects_.enter(id_of(wanted));
    ObjectMap* map = named_.load();
    return map == nullptr ? std::nullopt : map->enter(wanted.id);
}

/// Returns what is said of the timing of the servant that `enter` would find, or of the default
/// servant. While in use.
const orb::TimedOperations* Adapter::timed_operations(const Wanted& wanted) const noexcept
{
    if (!policies_.retains()) return default_timing_.load();
    if (wanted.place)
        if (const auto timing = objects_.timing_at(*wanted.place)) return *timing;
    const bool is_named = policies_.places_are_ids();
    const ObjectMap* const map = is_named ? named_.load() : &objects_;
    const orb::TimedOperations* timing = nullptr;
    if (map != nullptr) timing = map->timing_of(is_named ? wanted.id : id_of(wanted));
    return timing != nullptr ? timing : default_timing_.load();
}

const orb::OperationTiming* Adapter::timing_for(std::string_view operation, std::uint32_t key_id,
                                                const Wanted& asked)
{
    const Use use(*this, key_id);
    const auto wanted = use ? understood(asked) : std::nullopt;
    if (!wanted) return nullptr; // whoever serves it says so
    const orb::TimedOperations* const timing = timed_operations(*wanted);
    return timing == nullptr ? nullptr : timing->find(operation);
}

Outcome Adapter::servant_of(Bytes id, Servant*& servant)
{
    const bool has_default = policies_.processing == Processing::default_servant;
    if (!policies_.retains() && !has_default) return Outcome::wrong_policy;
    if (policies_.retains()) {
        if (const auto entry = enter({.id = id, .place = place_in(id)})) {
            servant = &entry->servant();
            servant->_add_ref();
            return Outcome::ok;
        }
    }
    servant = has_default ? default_servant() : nullptr;
    return servant == nullptr ? Outcome::object_not_active : Outcome::ok;
}

Outcome Adapter::object_of(Bytes id, Identity& object, const char*& repository_id)
{
    if (!policies_.retains()) return Outcome::wrong_policy;
    const auto entry = enter({.id = id, .place = place_in(id)});
    if (!entry) return Outcome::object_not_active;
    object = {Id(id.begin(), id.end()), entry->place()};
    const Calling asked(*this,
                        *entry); // a servant of several interfaces says which the object's is
    repository_id = entry->servant()._kairos_id();
    return Outcome::ok;
}

bool Adapter::finds_servants() const noexcept
{
    return policies_.retains() && (policies_.unique() || policies_.implicit());
}

std::optional<Identity> Adapter::active_object(const Servant& servant)
{
    if (const auto place = objects_.find(servant)) {
        if (policies_.places_are_ids()) return Identity{id_at(*place), place};
        const auto entry = objects_.enter(*place);
        if (entry) return Identity{Id(entry->id().begin(), entry->id().end()), place};
    }
    if (ObjectMap* map = named_.load()) {
        const auto place = map->find(servant);
        const auto entry = place ? map->enter(*place) : std::nullopt;
        if (entry) return Identity{Id(entry->id().begin(), entry->id().end()), std::nullopt};
    }
    return std::nullopt;
}

Outcome Adapter::found_or_activated(Servant& servant, Identity& object)
{
    for (;;) { // another thread may activate or deactivate it in between
        if (policies_.unique()) {
            if (auto active = active_object(servant)) {
                object = std::move(*active);
                return Outcome::ok;
            }
        }
        if (!policies_.implicit()) return Outcome::servant_not_active;
        const Outcome outcome = activate(servant, object, false);
        if (outcome != Outcome::servant_active) return outcome;
    }
}

Outcome Adapter::object_of(Servant& servant, Identity& object)
{
    const Calling* calling = Calling::innermost();
    const bool called_here =
        calling != nullptr && calling->servant() == &servant && &calling->adapter() == this;
    if (!finds_servants() && !called_here) return Outcome::wrong_policy;
    const Outcome outcome =
        finds_servants() ? found_or_activated(servant, object) : Outcome::servant_not_active;
    if (outcome != Outcome::servant_not_active || !called_here) return outcome;
    object = called(*calling);
    return Outcome::ok;
}

Outcome Adapter::id_of(Servant& servant, Identity& object)
{
    const bool has_default = policies_.processing == Processing::default_servant;
    if (!finds_servants() && !has_default) return Outcome::wrong_policy;
    const Outcome outcome =
        finds_servants() ? found_or_activated(servant, object) : Outcome::servant_not_active;
    const Calling* calling = Calling::innermost();
    if (outcome != Outcome::servant_not_active || !has_default || calling == nullptr ||
        calling->servant() != &servant || &calling->adapter() != this ||
        default_servant_.load() != &servant)
        return outcome;
    object = called(*calling);
    return Outcome::ok;
}

Outcome Adapter::new_object(Identity& object)
{
    if (!policies_.system_ids()) return Outcome::wrong_policy;
    object = {new_id(), std::nullopt};
    return Outcome::ok;
}

// --- activation ----------------------------------------------------------------------------------

ObjectMap::Options Adapter::map_options(bool user_ids)
{
    ObjectMap::Options options;
    options.user_ids = user_ids;
    options.strategy = policies_.strategy;
    options.find_servants = true;
    options.retiring = this;
    options.knows_timings = orb().options().dispatching != orb::Dispatching::fifo;
    return options;
}

ObjectMap& Adapter::named()
{
    assert_held(mutex_);
    if (named_.load() == nullptr) {
        owned_named_ = std::make_unique<ObjectMap>(map_options(true));
        named_ = owned_named_.get();
    }
    return *named_.load();
}

Outcome Adapter::activate(Servant& servant, Identity& object, bool has_id)
{
    if (!policies_.retains()) return Outcome::wrong_policy;
    if (!has_id && !policies_.system_ids()) return Outcome::wrong_policy;
    for (;;) {
        if (has_id) {
            if (policies_.system_ids() && !may_be_own(object.id)) return Outcome::bad_id;
            if (enter({.id = object.id, .place = place_in(object.id)}))
                return Outcome::object_active;
        }
        const Outcome outcome = try_to_activate(servant, object, has_id);
        if (outcome != Outcome::object_leaving) return outcome;
        if (is_being_called(object.id)) return Outcome::object_active; // until this call ends
        (policies_.places_are_ids() ? *named_.load() : objects_).wait_while_leaving(object.id);
    }
}

Outcome Adapter::try_to_activate(Servant& servant, Identity& object, bool has_id)
{
    const std::lock_guard lock(mutex_);
    if (life_ != Life::alive) return Outcome::gone;
    const bool places = policies_.places_are_ids();
    ObjectMap& map = places && has_id ? named() : objects_;
    const ObjectMap* other = !places ? nullptr : has_id ? &objects_ : named_.load();
    if (policies_.unique() && other != nullptr && other->find(servant))
        return Outcome::servant_active;
    if (!has_id && !places) object.id = new_id();
    ++occupied_; // before it can be retired
    const auto activated = map.activate(servant, object.id, policies_.unique());
    if (!activated) --occupied_;
    switch (activated.status) {
    case Activation::activated:
        break;
    case Activation::servant_active:
        return Outcome::servant_active;
    case Activation::id_active:
        return Outcome::object_active;
    case Activation::id_leaving:
        return Outcome::object_leaving;
    case Activation::id_unknown:
        return Outcome::bad_id;
    }
    if (places && !has_id) object.id = id_at(activated.place);
    if (&map == &objects_) object.place = activated.place;
    return Outcome::ok;
}

Outcome Adapter::deactivate(Bytes id)
{
    if (!policies_.retains()) return Outcome::wrong_policy;
    if (const auto place = place_in(id); place && objects_.deactivate(*place)) return Outcome::ok;
    ObjectMap* map = policies_.places_are_ids() ? named_.load() : &objects_;
    if (map == nullptr) return Outcome::object_not_active;
    std::optional<Place> place;
    if (const auto entry = map->enter(id)) place = entry->place();
    return place && map->deactivate(*place) ? Outcome::ok : Outcome::object_not_active;
}

} // namespace kairos::poa
