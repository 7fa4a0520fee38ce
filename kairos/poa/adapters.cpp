// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/adapters.h"

#include "kairos/ior/object_key.h"
#include "kairos/ior/plain_key.h"
#include "kairos/orb/direct_call.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/priority_context.h"
#include "kairos/orb/upcall.h"
#include "kairos/orb/upcall_observation.h"
#include "kairos/poa/forget.h"

#include <algorithm>
#include <new>

namespace kairos::poa {

using ior::ObjectKey;
using orb::minor_code::no_such_object;
using orb::minor_code::request_discarded;
using orb::minor_code::unknown_adapter;

namespace {

[[noreturn, gnu::cold]] void raise_unknown_adapter()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(unknown_adapter, CORBA::COMPLETED_NO,
                                        "no such object adapter");
}

[[noreturn, gnu::cold]] void raise_foreign_key()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(no_such_object, CORBA::COMPLETED_NO,
                                        "the object key is none of this server's");
}

/// What a key that ObjectKey parses asks for.
Wanted wanted_by(const ObjectKey& key, Bytes octets)
{
    constexpr std::size_t place_at = 12; // adapter, slot and generation
    const Bytes id = ObjectKey::id_in(octets);
    return {.id = id.empty() ? octets.subspan(place_at) : id,
            .place = Place{key.slot, key.generation},
            .id_is_place = id.empty()};
}

orb::Priority priority_of_caller(const orb::Orb& orb)
{
    return orb::thread_priority(orb::Lane::current(), orb.priority_mapping());
}

class EncodedRequest final : public Request {
  public:
    explicit EncodedRequest(orb::Upcall& upcall)
        : Request(upcall.hold(), upcall.operation()), upcall_(upcall)
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
        const Identity object = calling.adapter().called(calling);
        observation.found({.adapter_path = calling.adapter().path(),
                           .id = object.id,
                           .interface = servant._kairos_id()});
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
        : Request(call.hold(), call.operation()), orb_(orb), call_(call)
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

Adapters::Adapters(orb::Orb& orb) : orb_(orb)
{
    paths_.reset(IdStrategy::hash, {});
    ask_to_forget(*this);
}

Adapters::~Adapters() { ask_no_more(*this); }

// --- requests ------------------------------------------------------------------------------------

bool Adapters::dispatch(orb::Upcall& upcall)
{
    const auto key = ObjectKey::parse(upcall.object_key());
    if (!key || key->incarnation != orb_.incarnation()) [[unlikely]]
        return serve_otherwise(upcall, nullptr);
    poa::Adapter* adapter = find(key->adapter);
    if (adapter == nullptr) [[unlikely]]
        raise_unknown_adapter();
    auto entry = adapter->objects().enter({key->slot, key->generation});
    // Now that this request can be seen inside: wait_until_idle must not miss it.
    if (!entry || !adapter->serves_plainly(key->adapter)) [[unlikely]]
        return serve_entered(upcall, *adapter, key->adapter, entry);
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
        raise_unknown_adapter();
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
    auto key = ior::PersistentKey::parse(object_key);
    if (!key && orb_.options().plain_keys) key = ior::parse_plain_key(object_key, arena);
    const Found found = key ? find_path(key->path) : Found{};
    if (!found) return {};
    return ask(found, Wanted{.id = key->id, .place = {}});
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

// --- persistent paths ----------------------------------------------------------------------------

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

Adapters::Found Adapters::reach(Bytes path, orb::Hold* hold)
{
    if (const Found known = find_path(path)) return known;
    Found at = root();
    for (const std::string_view name : ior::PersistentKey::names_of(path)) {
        if (!at) break;
        Found next = child(at, name, false);
        if (!next) {
            const poa::Adapter::Use use(*at.adapter, at.key_id);
            // Requests wait for adapters that exist, or that somebody may make: else a peer's would
            // wait for ever for what it has thought of.
            if (!use || !has_activator(at)) raise_unknown_adapter();
            // Adapter activators are called as servants are: when the manager lets them.
            if (hold != nullptr && !at.adapter->admits(*hold)) return {};
            if (at.adapter->manager().state() != ManagerState::active)
                orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                             "the POAManager lets nobody make the object adapter");
            next = child(at, name, true);
        }
        at = next;
    }
    if (!at) raise_unknown_adapter();
    const poa::Adapter::Use use(*at.adapter, at.key_id);
    if (!use || !at.adapter->policies().persistent()) raise_unknown_adapter();
    return at;
}

bool Adapters::has_activator(Found adapter) const
{
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(adapter.adapter->adapter_activator_);
}

void Adapters::publish(poa::Adapter& adapter)
{
    if (adapter.published_ || !adapter.policies().persistent()) return;
    paths_.reserve();
    paths_.insert(adapter.path(), adapter.index());
    adapter.published_ = true;
}

// --- the tree ------------------------------------------------------------------------------------

/// Returns an adapter with its key id; nothing for one that is about to be forgotten: its key id
/// went first.
Adapters::Found Adapters::found(poa::Adapter* adapter) noexcept
{
    const std::uint32_t key_id = adapter == nullptr ? poa::Adapter::no_key : adapter->key_id();
    return key_id == poa::Adapter::no_key ? Found{} : Found{adapter, key_id};
}

Adapters::Found Adapters::root() const
{
    const std::lock_guard lock(mutex_);
    return found(root_);
}

const Adapters::Activating* Adapters::activating(const poa::Adapter* parent,
                                                 std::string_view name) const
{
    const auto found = std::ranges::find_if(activating_, [&](const Activating& one) {
        return one.parent == parent && one.name == name;
    });
    return found == activating_.end() ? nullptr : &*found;
}

Adapters::Found Adapters::child(Found parent, std::string_view name, bool activate)
{
    std::unique_lock lock(mutex_);
    for (;;) {
        if (parent.adapter->key_id() != parent.key_id) return {};
        const Activating* asked = activating(parent.adapter, name);
        if (asked != nullptr && asked->thread != std::this_thread::get_id()) {
            changed_.wait(lock);
            continue;
        }
        const auto known = parent.adapter->children_.find(name);
        if (known != parent.adapter->children_.end()) {
            if (const Found child = found(known->second)) return child;
            changed_.wait(lock); // it is on its way out
            continue;
        }
        if (!activate || asked != nullptr || !parent.adapter->adapter_activator_) return {};
        return this->activate(parent, name, lock);
    }
}

Adapters::Found Adapters::activate(Found parent, std::string_view name,
                                   std::unique_lock<std::mutex>& lock)
{
    const IntrusivePtr<AdapterActivator> activator = parent.adapter->adapter_activator_;
    const auto asked = activating_.insert(
        activating_.end(), {parent.adapter, std::string(name), std::this_thread::get_id()});
    lock.unlock();
    bool made = false;
    bool threw = false;
    {
        const poa::Adapter::Use use(*parent.adapter, parent.key_id);
        const Calling calling(*parent.adapter);
        try {
            made = use && activator->unknown_adapter(*parent.adapter, name);
        } catch (...) {
            threw = true;
        }
    }
    lock.lock();
    activating_.erase(asked);
    changed_.notify_all();
    if (threw)
        orb::raise<CORBA::OBJ_ADAPTER>(mapping::omg_minor(1), CORBA::COMPLETED_NO,
                                       "the adapter activator threw an exception");
    if (parent.adapter->key_id() != parent.key_id) return {};
    const auto known = parent.adapter->children_.find(name);
    if (known == parent.adapter->children_.end()) return {};
    const Found child = found(known->second);
    if (child) publish(*child.adapter);
    return made ? child : Found{};
}

std::vector<Adapters::Found> Adapters::children(Found parent) const
{
    std::vector<Found> children;
    const std::lock_guard lock(mutex_);
    if (parent.adapter->key_id() != parent.key_id) return children;
    for (const auto& [name, adapter] : parent.adapter->children_) {
        if (const Found child = found(adapter)) children.push_back(child);
    }
    return children;
}

Outcome Adapters::set_adapter_activator(Found adapter, IntrusivePtr<AdapterActivator> activator)
{
    const std::lock_guard lock(mutex_);
    if (adapter.adapter->key_id() != adapter.key_id) return Outcome::gone;
    std::swap(adapter.adapter->adapter_activator_, activator);
    return Outcome::ok;
}

bool Adapters::abandon(const Servant& servant) noexcept
{
    // Without the lock, which an adapter takes that ends with its last object. They stay.
    std::vector<poa::Adapter*> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& adapter : owned_)
            all.push_back(adapter.get());
    }
    bool known = false;
    for (poa::Adapter* adapter : all)
        known |= adapter->abandon(servant, gone_servant());
    return known;
}

std::vector<IntrusivePtr<Manager>> Adapters::managers() const
{
    std::vector<IntrusivePtr<Manager>> managers;
    const std::lock_guard lock(mutex_);
    for (const auto& adapter : owned_) {
        if (adapter->key_id() == poa::Adapter::no_key) continue;
        const auto& manager = adapter->manager_;
        if (std::ranges::find(managers, manager) == managers.end()) managers.push_back(manager);
    }
    return managers;
}

// --- making and destroying -----------------------------------------------------------------------

poa::Adapter& Adapters::take_shell()
{
    if (!free_.empty()) return *free_.back();
    if (owned_.size() == index_mask) throw std::bad_alloc(); // whose shell would have no_key
    const auto index = static_cast<std::uint32_t>(owned_.size());
    shells_.grow(index + 1);
    free_.reserve(index + 1); // so that giving one back never allocates
    owned_.push_back(std::make_unique<poa::Adapter>(*this, index));
    shells_.find(index)->store(owned_.back().get(), std::memory_order_release);
    if (index < first_shells_.size())
        first_shells_[index].store(owned_.back().get(), std::memory_order_release);
    free_.push_back(owned_.back().get());
    return *free_.back();
}

Outcome Adapters::create(Found parent, std::string name, Manager& manager, Policies policies,
                         AdapterFace& face)
{
    std::unique_lock lock(mutex_);
    if (!parent && root_ != nullptr) return Outcome::adapter_exists;
    while (parent) {
        if (parent.adapter->key_id() != parent.key_id) return Outcome::gone;
        if (parent.adapter->life_ != poa::Adapter::Life::alive) return Outcome::being_destroyed;
        const auto known = parent.adapter->children_.find(name);
        if (known == parent.adapter->children_.end()) break;
        if (known->second->life_ == poa::Adapter::Life::alive || orb::in_upcall())
            return Outcome::adapter_exists;
        changed_.wait(lock); // it is on its way out
    }
    poa::Adapter& adapter = take_shell();
    const std::uint32_t key_id =
        ((adapter.ended_ >> index_bits) + 1) << index_bits | adapter.index();
    adapter.manager_ = IntrusivePtr<Manager>(&manager);
    adapter.begin(key_id, parent.adapter, name, std::move(policies), face);
    free_.pop_back();
    if (parent)
        parent.adapter->children_.emplace(name, &adapter);
    else
        root_ = &adapter;
    manager.add(adapter);
    // One that an adapter activator is making is found when that returns.
    if (activating(parent.adapter, name) == nullptr) publish(adapter);
    return Outcome::ok;
}

Outcome Adapters::destroy(Found found, bool etherealize, bool wait)
{
    if (wait && orb::in_upcall()) return Outcome::would_deadlock;
    poa::Adapter& adapter = *found.adapter;
    bool first = false;
    IntrusivePtr<Manager> manager;
    {
        const std::lock_guard lock(mutex_);
        if (adapter.key_id() != found.key_id) return Outcome::gone;
        first = adapter.begin_end(etherealize);
        manager = adapter.manager_;
    }
    if (first) {
        manager->remove(adapter); // and requests that it holds go on
        orb_.resume_held_requests();
        for (const Found child : children(found))
            (void)destroy(child, etherealize, wait);
        adapter.end_when_idle();
    }
    if (!wait) return Outcome::ok;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return adapter.ended_ >= found.key_id; });
    return Outcome::ok;
}

void Adapters::forget(poa::Adapter& adapter) noexcept
{
    IntrusivePtr<AdapterActivator> activator; // the program's: released without the lock
    const std::lock_guard lock(mutex_);
    if (adapter.published_) paths_.erase(adapter.path(), adapter.index());
    adapter.published_ = false;
    if (adapter.parent_ == nullptr) {
        root_ = nullptr;
    } else {
        auto& siblings = adapter.parent_->children_;
        const auto known = siblings.find(adapter.name_);
        if (known != siblings.end() && known->second == &adapter) siblings.erase(known);
    }
    std::swap(activator, adapter.adapter_activator_);
    changed_.notify_all();
}

void Adapters::recycle(poa::Adapter& adapter, std::uint32_t key_id) noexcept
{
    const std::lock_guard lock(mutex_);
    adapter.manager_ = {};
    adapter.children_.clear(); // those that are still on their way out do not need it
    adapter.ended_ = key_id;
    if ((key_id >> index_bits) != last_life) free_.push_back(&adapter);
    changed_.notify_all();
}

} // namespace kairos::poa
