// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/adapters.h"

#include "kairos/ior/object_key.h"
#include "kairos/ior/plain_key.h"
#include "kairos/orb/direct_call.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_observation.h"

namespace kairos::poa {

using ior::ObjectKey;
using orb::minor_code::no_such_object;
using orb::minor_code::request_discarded;

namespace {

[[noreturn, gnu::cold]] void raise_foreign_key()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(no_such_object, CORBA::COMPLETED_NO,
                                        "the object key is none of this server's");
}

/// Where a key that ObjectKey parses has adapter, slot and generation.
constexpr std::size_t place_at = 12;

/// What a key that ObjectKey parses asks for.
Wanted wanted_by(const ObjectKey& key, Bytes octets)
{
    const Bytes id = ObjectKey::id_in(octets);
    return {.id = id.empty() ? octets.subspan(place_at) : id,
            .place = Place{key.slot, key.generation},
            .id_is_place = id.empty()};
}

orb::Priority priority_of_caller(const orb::Orb& orb)
{
    return orb::thread_priority(orb::ThreadStorage::current(), orb.priority_mapping());
}

std::string_view interface_of(const void* servant)
{
    return static_cast<const Servant*>(servant)->_kairos_id();
}

/// Tells of an object that was entered by its place, which its id is unless it has one of its own.
void tell(const orb::Upcall& upcall, const poa::Adapter& adapter, const ObjectMap::Entry& entry)
{
    Bytes id = entry.id();
    const bool lasts = id.empty();
    if (lasts && adapter.places_are_ids())
        id = upcall.object_key().subspan(place_at, ObjectKey::size - place_at);
    upcall.observation()->found({.adapter_path = adapter.path(),
                                 .id = id,
                                 .id_lasts = lasts,
                                 .servant = &entry.servant(),
                                 .interface_of = interface_of});
}

class EncodedRequest final : public Request {
  public:
    explicit EncodedRequest(orb::Upcall& upcall)
        : Request(upcall.hold(), upcall.operation(), &upcall), upcall_(upcall)
    {
    }
    std::optional<orb::Priority> priority() const override
    {
        return upcall_.is_local() ? priority_of_caller(upcall_.orb())
                                  : orb::priority_in(upcall_.request().contexts);
    }
    void return_priority() override
    {
        if (upcall_.is_local()) return;
        if (const auto priority = orb::priority_in(upcall_.request().contexts))
            orb::append_priority(upcall_.reply_contexts(), *priority);
    }
    void call(Servant& servant, const ObjectMap::Entry* /*lasting*/) override
    {
        if (orb::UpcallObservation* const observation = upcall_.observation()) [[unlikely]]
            tell(*observation, servant);
        servant._kairos_dispatch(upcall_);
    }
    void keep_results() noexcept override { upcall_.keep_results(); }
    void send_kept() override { upcall_.send_kept(); }

  private:
    /// The thread says already what it serves.
    static void tell(orb::UpcallObservation& observation, const Servant& servant)
    {
        const Calling& calling = *Calling::innermost();
        Adapter::PlaceId room;
        observation.found({.adapter_path = calling.adapter().path(),
                           .id = calling.adapter().id_called(calling, room),
                           .servant = &servant,
                           .interface_of = interface_of});
    }

    orb::Upcall& upcall_;
};

[[gnu::cold]] void link(orb::DirectCall& call, void* direct, const ObjectMap::Entry& entry) noexcept
{
    const std::uint64_t state = entry.state().load(std::memory_order_relaxed);
    call.link({.interface = call.interface(),
               .servant = direct,
               .state = &entry.state(),
               .mask = ~Slot::inside,
               .expected = (state & ~Slot::inside) | Slot::active});
}

void make(orb::DirectCall& call, Servant& servant, const ObjectMap::Entry* lasting)
{
    void* direct = servant._kairos_direct(call.interface());
    if (direct == nullptr) [[unlikely]]
        return;
    if (call.links() && lasting != nullptr) [[unlikely]]
        link(call, direct, *lasting);
    call.make(direct);
}

/// Calls nothing itself, so that it saves no registers.
[[gnu::noinline, gnu::hot]] Operations::Serve operation_of(const Operations& operations,
                                                           const orb::Upcall& upcall) noexcept
{
    return operations.find(upcall.operation());
}

/// Results go where the caller wants them at once: an exception of postinvoke takes their place.
class DirectRequest final : public Request {
  public:
    DirectRequest(const orb::Orb& orb, orb::DirectCall& call)
        : Request(call.hold(), call.operation(), nullptr), orb_(orb), call_(call)
    {
    }
    std::optional<orb::Priority> priority() const override { return priority_of_caller(orb_); }
    void return_priority() override {}
    void call(Servant& servant, const ObjectMap::Entry* lasting) override
    {
        make(call_, servant, lasting);
    }
    void keep_results() noexcept override {}
    void send_kept() override {}

  private:
    const orb::Orb& orb_;
    orb::DirectCall& call_;
};

} // namespace

// --- requests ------------------------------------------------------------------------------------

bool Adapters::dispatch(orb::Upcall& upcall)
{
    const auto key = ObjectKey::parse(upcall.object_key());
    if (!key || key->incarnation != orb_.incarnation()) [[unlikely]]
        return serve_otherwise(upcall, nullptr);
    poa::Adapter* adapter = find(key->adapter);
    if (adapter == nullptr) [[unlikely]]
        raise_unknown();
    auto entry = adapter->objects().enter({key->slot, key->generation});
    // Now that this request can be seen inside: wait_until_idle must not miss it.
    if (!entry || !adapter->serves_plainly(key->adapter)) [[unlikely]] {
        // Where there are observers, too, if somebody knows that nobody need be told.
        if (!entry || !adapter->serves_observed(key->adapter) || upcall.observation() != nullptr)
            return serve_entered(upcall, *adapter, key->adapter, entry);
    }
    const Calling calling(*adapter, *entry);
    entry->servant()._kairos_dispatch(upcall);
    return true;
}

/// Object and operation in one step, without the servant's layers, where that is the policy.
bool Adapters::serve_entered(orb::Upcall& upcall, poa::Adapter& adapter, std::uint32_t key_id,
                             std::optional<ObjectMap::Entry>& entry)
{
    if (entry && adapter.serves_delayered(key_id)) {
        const Calling calling(adapter, *entry);
        const Skeleton skeleton = entry->skeleton();
        operation_of(*skeleton.operations, upcall)(skeleton.object, upcall);
        return true;
    }
    if (entry && adapter.serves_observed(key_id)) {
        const Calling calling(adapter, *entry);
        if (upcall.observation() != nullptr) // else somebody knows that nobody need be told
            tell(upcall, adapter, *entry);
        entry->servant()._kairos_dispatch(upcall);
        return true;
    }
    entry.reset(); // or it would wait for itself, should the object be leaving by its turn
    return serve_otherwise(upcall, &adapter);
}

/// The same steps as in dispatch(), for a call that is not encoded.
bool Adapters::call(orb::DirectCall& call)
{
    const auto key = ObjectKey::parse(call.object_key());
    if (!key || key->incarnation != orb_.incarnation()) [[unlikely]]
        return serve_otherwise(call, nullptr);
    poa::Adapter* adapter = find(key->adapter);
    if (adapter == nullptr) [[unlikely]]
        raise_unknown();
    auto entry = adapter->objects().enter({key->slot, key->generation});
    const auto serves = [&] {
        return adapter->serves_plainly(key->adapter) || adapter->serves_delayered(key->adapter);
    };
    if (!entry || !serves()) [[unlikely]] {
        entry.reset();
        return serve_otherwise(call, adapter);
    }
    const Calling calling(*adapter, *entry);
    make(call, entry->servant(), &*entry);
    return true;
}

std::optional<ior::PersistentKey> Adapters::persistent_key(Bytes key, Arena& arena) const
{
    if (const auto parsed = ior::PersistentKey::parse(key)) return parsed;
    if (auto target = forwards_.find(key)) throw orb::LocationForward{std::move(*target)};
    return orb_.options().plain_keys ? ior::parse_plain_key(key, arena) : std::nullopt;
}

bool Adapters::serve_otherwise(orb::Upcall& upcall, poa::Adapter* adapter)
{
    EncodedRequest request(upcall);
    return serve(request, upcall.object_key(), adapter);
}

bool Adapters::serve_otherwise(orb::DirectCall& call, poa::Adapter* adapter)
{
    DirectRequest request(orb_, call);
    return serve(request, call.object_key(), adapter);
}

/// Without an adapter, the object is a persistent one.
bool Adapters::serve(Request& request, Bytes object_key, poa::Adapter* adapter)
{
    if (adapter != nullptr) {
        const auto key = ObjectKey::parse(object_key);
        return adapter->dispatch(request, key->adapter, wanted_by(*key, object_key));
    }
    Arena arena;
    const auto key = persistent_key(object_key, arena);
    if (!key) raise_foreign_key();
    const Found found = reach(key->path, &request.hold());
    return found && found.adapter->dispatch(request, found.key_id, {.id = key->id, .place = {}});
}

bool Adapters::locates(Bytes object_key)
{
    if (const auto key = ObjectKey::parse(object_key)) {
        poa::Adapter* adapter =
            key->incarnation == orb_.incarnation() ? find(key->adapter) : nullptr;
        return adapter != nullptr && adapter->locates(key->adapter, wanted_by(*key, object_key));
    }
    Arena arena;
    const auto key = persistent_key(object_key, arena);
    if (!key) return false;
    const Found found = reach(key->path, nullptr);
    return found.adapter->locates(found.key_id, {.id = key->id, .place = {}});
}

/// For the thread that reads: adapters that are still to be activated are found by the thread that
/// serves.
template <typename Answer, typename Ask>
Answer Adapters::ask_before(Bytes object_key, Ask ask)
{
    if (const auto key = ObjectKey::parse(object_key)) {
        poa::Adapter* adapter =
            key->incarnation == orb_.incarnation() ? find(key->adapter) : nullptr;
        if (adapter == nullptr) return {};
        return ask(Found{adapter, key->adapter}, wanted_by(*key, object_key));
    }
    Arena arena;
    Bytes id;
    const Found found = find_persistent(object_key, arena, id);
    if (!found) return {};
    return ask(found, Wanted{.id = id, .place = {}});
}

/// Once, for all who ask before.
[[gnu::noinline]] Adapters::Found Adapters::find_persistent(Bytes object_key, Arena& arena,
                                                            Bytes& id) const
{
    auto key = ior::PersistentKey::parse(object_key);
    if (!key && orb_.options().plain_keys) key = ior::parse_plain_key(object_key, arena);
    if (!key) return {};
    id = key->id;
    return find_path(key->path);
}

bool Adapters::permits_bidirectional(Bytes object_key, const orb::ReplyChannel& from)
{
    return ask_before<bool>(object_key, [&from](Found found, const Wanted&) {
        return found.adapter->permits_bidirectional(found.key_id, from);
    });
}

orb::Adapter::OwnThreads Adapters::threads_for(const giop::Request& request, Bytes object_key)
{
    return ask_before<OwnThreads>(object_key, [&request](Found found, const Wanted& wanted) {
        return found.adapter->threads_for(request, found.key_id, wanted);
    });
}

const orb::OperationTiming* Adapters::timing_for(std::string_view operation, Bytes object_key)
{
    return ask_before<const orb::OperationTiming*>(
        object_key, [operation](Found found, const Wanted& wanted) {
            return found.adapter->timing_for(operation, found.key_id, wanted);
        });
}

void Adapters::hold(orb::Hold& hold, Manager& manager, std::uint64_t seen)
{
    if (!hold.has_place() && held_.fetch_add(1) >= orb_.options().held_requests_max) {
        held_.fetch_sub(1);
        orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                     "as many requests are held as -ORBHoldLimit allows");
    }
    hold.begin(manager, seen, held_);
}

Adapters::Found Adapters::find_path(Bytes path) const noexcept
{
    const auto found = paths_.find(path, [&](std::uint32_t index) -> std::optional<Found> {
        poa::Adapter* adapter = find(index);
        const std::uint32_t key_id = adapter->key_id();
        const poa::Adapter::Use use(*adapter, key_id);
        if (!use || as_text(adapter->path()) != as_text(path)) return std::nullopt;
        return Found{adapter, key_id};
    });
    return found.value_or(Found{});
}

} // namespace kairos::poa
