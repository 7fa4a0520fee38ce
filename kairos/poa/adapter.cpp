// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/adapter.h"

#include "kairos/base/assert_held.h"
#include "kairos/orb/failure.h"
#include "kairos/poa/adapters.h"
#include "kairos/poa/forget.h"
#include "kairos/server/thread_pool.h"

#include <chrono>
#include <functional>
#include <thread>

namespace kairos::poa {

using mapping::omg_minor;
using orb::minor_code::no_such_object;
using orb::minor_code::request_discarded;
using orb::minor_code::unknown_adapter;

namespace {

[[noreturn]] void raise_gone()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(unknown_adapter, CORBA::COMPLETED_NO,
                                        "no such object adapter");
}

[[noreturn]] void raise_no_object()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(no_such_object, CORBA::COMPLETED_NO,
                                        "the object is not active");
}

[[noreturn]] void raise_adapter(CORBA::ULong code, std::string_view reason)
{
    orb::raise<CORBA::OBJ_ADAPTER>(omg_minor(code), CORBA::COMPLETED_NO, reason);
}

/// Gives back the count of an adapter.
void release(Servant& servant) noexcept
{
    servant._kairos_forgotten();
    servant._remove_ref();
}

/// What a servant is asked for where somebody only wants to know where the object is.
constexpr std::string_view locating = "_non_existent";

} // namespace

Adapter::Use::Use(Adapter& adapter, std::uint32_t key_id) noexcept : adapter_(adapter)
{
    adapter_.requests_.fetch_add(1);
    // After the count: whoever ends the adapter looks at these two the other way round.
    valid_ = key_id != no_key && adapter_.life_.load() != Life::ending &&
             adapter_.key_id_.load() == key_id;
}

orb::Orb& Adapter::orb() const noexcept { return adapters_.orb(); }

void Adapter::open_to_requests(bool active) noexcept
{
    const std::uint32_t key_id = active && policies_.plain() ? key_id_.load() : no_key;
    const bool observed = orb().observes_upcalls();
    const bool delayered = policies_.delayered();
    plain_key_ = observed || delayered ? no_key : key_id;
    delayered_key_ = !observed && delayered ? key_id : no_key;
    observed_key_ = observed ? key_id : no_key;
}

/// Says that the program is called from here on: none of these may be held then.
void Adapter::assert_calls_out() const noexcept
{
    assert_not_held(mutex_);
    assert_not_held(adapters_.mutex_);
}

// --- requests ------------------------------------------------------------------------------------

void Adapter::on_its_thread(std::uint32_t key_id, const std::function<void()>& work)
{
    bool main = false;
    {
        // Not for as long as it waits: the main thread may be waiting for the adapter to be idle.
        const Use use(*this, key_id);
        if (!use) raise_gone();
        main = policies_.threads == Threads::main;
    }
    orb::MainThread& main_thread = orb().main_thread();
    if (!main || main_thread.is_current()) return work();
    if (!main_thread.run(work, [this] { orb().resume_held_requests(); }))
        orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                     "the ORB was shut down");
}

bool Adapter::dispatch(Request& request, std::uint32_t key_id, const Wanted& wanted)
{
    bool served = false;
    const auto work = [&] { served = serve(request, key_id, wanted); };
    on_its_thread(key_id, std::ref(work)); // a copy would be allocated
    return served;
}

bool Adapter::serve(Request& request, std::uint32_t key_id, const Wanted& asked)
{
    const Use use(*this, key_id);
    const auto wanted = use ? understood(asked) : std::nullopt;
    if (!wanted || !may_say(*wanted)) raise_gone();
    if (policies_.guard) policies_.guard->admit(request);
    if (!admits(request.hold())) return false;
    if (policies_.real_time.is_set())
        serve_in_real_time(request, *wanted);
    else
        serve_alone(request, *wanted);
    return true;
}

bool Adapter::permits_bidirectional(std::uint32_t key_id, const orb::ReplyChannel& from)
{
    const Use use(*this, key_id);
    return use && policies_.bidirectional && (!policies_.guard || policies_.guard->knows(from));
}

void Adapter::serve_alone(Request& request, const Wanted& wanted)
{
    assert_calls_out();
    std::unique_lock alone(single_, std::defer_lock);
    if (policies_.threads == Threads::single) alone.lock();
    call(request, wanted);
}

bool Adapter::admits(orb::Hold& hold)
{
    const std::uint64_t seen = manager_->changes();
    if (life_ != Life::alive)
        orb::raise<CORBA::TRANSIENT>(omg_minor(4), CORBA::COMPLETED_NO,
                                     "the object adapter is being destroyed");
    switch (manager_->state()) {
    case ManagerState::active:
        return true;
    case ManagerState::holding:
        adapters_.hold(hold, *manager_, seen);
        return false;
    case ManagerState::discarding:
        orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                     "the POAManager discards requests");
    case ManagerState::inactive:
        break;
    }
    raise_adapter(1, "the POAManager is inactive");
}

void Adapter::call(Request& request, const Wanted& wanted)
{
    const Bytes id = id_of(wanted);
    if (policies_.retains()) {
        if (call_active(request, enter(wanted))) return;
        if (activator_.load() != nullptr && call_active(request, incarnate(id))) return;
    }
    switch (policies_.processing) {
    case Processing::map_only:
        raise_no_object();
    case Processing::default_servant:
        if (Servant* servant = default_servant_.load()) {
            const Calling calling(*this, *servant, id);
            return request.call(*servant, nullptr);
        }
        raise_adapter(3, "there is no default servant");
    case Processing::servant_manager:
        if (policies_.retains()) raise_adapter(4, "there is no servant manager");
        call_located(request, id);
    }
}

bool Adapter::call_active(Request& request, const std::optional<ObjectMap::Entry>& entry)
{
    if (!entry) return false;
    const bool any_thread = policies_.threads == Threads::orb_controlled &&
                            !policies_.real_time.is_set() && !policies_.guard;
    const Calling calling(*this, *entry);
    request.call(entry->servant(), any_thread ? &*entry : nullptr);
    return true;
}

ServantLocator& Adapter::locator_or_raise() const
{
    ServantLocator* locator = locator_.load();
    if (locator == nullptr) raise_adapter(4, "there is no servant manager");
    return *locator;
}

Servant& Adapter::preinvoke(ServantLocator& locator, Bytes id, std::string_view operation,
                            void*& cookie)
{
    assert_calls_out();
    const Calling calling(*this);
    Servant* servant = locator.preinvoke(id, *this, operation, cookie);
    if (servant == nullptr) raise_adapter(7, "the servant locator has no servant");
    return *servant;
}

/// What is to be sent waits for postinvoke, which may have an exception for the caller instead.
void Adapter::call_located(Request& request, Bytes id)
{
    ServantLocator& locator = locator_or_raise();
    void* cookie = nullptr;
    Servant& servant = preinvoke(locator, id, request.operation(), cookie);
    request.keep_results();
    const auto postinvoke = [&] {
        const Calling calling(*this);
        locator.postinvoke(id, *this, request.operation(), cookie, servant);
    };
    try {
        const Calling calling(*this, servant, id);
        request.call(servant, nullptr);
    } catch (...) {
        postinvoke();
        throw;
    }
    postinvoke();
    request.send_kept();
}

// --- LocateRequest -------------------------------------------------------------------------------

bool Adapter::locates(std::uint32_t key_id, const Wanted& wanted)
{
    bool found = false;
    const auto work = [&] { found = look_for(key_id, wanted); };
    on_its_thread(key_id, std::ref(work));
    return found;
}

bool Adapter::look_for(std::uint32_t key_id, const Wanted& asked)
{
    const Use use(*this, key_id);
    const auto understood_as = use ? understood(asked) : std::nullopt;
    if (!understood_as || !may_say(*understood_as)) return false;
    if (policies_.guard) return true; // a request tells him who may know
    const Wanted& wanted = *understood_as;
    if (policies_.retains() && enter(wanted)) return true;
    if (policies_.processing == Processing::map_only) return false;
    // Whoever could be asked may not be called now, but it may be there.
    if (life_ != Life::alive || manager_->state() != ManagerState::active) return true;
    std::unique_lock alone(single_, std::defer_lock);
    if (policies_.threads == Threads::single) alone.lock();
    if (policies_.processing == Processing::default_servant)
        return default_servant_.load() != nullptr;
    const Bytes id = id_of(wanted);
    if (policies_.retains()) return activator_.load() != nullptr && incarnate(id).has_value();
    ServantLocator& locator = locator_or_raise();
    void* cookie = nullptr;
    Servant& servant = preinvoke(locator, id, locating, cookie);
    const Calling calling(*this);
    locator.postinvoke(id, *this, locating, cookie, servant);
    return true;
}

// --- servant activators --------------------------------------------------------------------------

std::optional<ObjectMap::Entry> Adapter::incarnate(Bytes id)
{
    assert_calls_out();
    ServantActivator& activator = *activator_.load();
    for (;;) {
        if (objects_.leaving(id)) {
            if (is_being_called(id))
                orb::raise<CORBA::BAD_INV_ORDER>(orb::minor_code::would_deadlock,
                                                 CORBA::COMPLETED_NO,
                                                 "the object waits for this very call to end");
            objects_.wait_while_leaving(id);
        }
        const std::lock_guard serial(activator.serial());
        if (auto entry = objects_.enter(id)) return entry;
        if (objects_.leaving(id)) continue; // again; and etherealizing it takes the lock
        Servant* servant = nullptr;
        {
            const Calling calling(*this);
            servant = activator.incarnate(id, *this);
        }
        if (servant == nullptr) raise_adapter(7, "the servant activator has no servant");
        if (auto entry = activate_incarnated(id, *servant)) return entry;
    }
}

/// Activates what the servant activator has incarnated and enters it; nothing if the object is
/// deactivated already.
std::optional<ObjectMap::Entry> Adapter::activate_incarnated(Bytes id, Servant& servant)
{
    Identity object{.id = Id(id.begin(), id.end()), .place = {}};
    const Outcome outcome = try_to_activate(servant, object, true);
    if (outcome == Outcome::gone) raise_gone();
    auto entry = objects_.enter(id);
    if (outcome == Outcome::ok) {
        servant._remove_ref(); // the count that came with it: the map has one of its own
        return entry;
    }
    // The activator may have activated it by itself.
    if (entry && &entry->servant() == &servant) return entry;
    if (outcome == Outcome::bad_id) raise_no_object();
    raise_adapter(5, "the servant activator's servant may not become this object");
}

/// Gives a servant up, with the count that the adapter had: to the servant activator, if there is
/// one.
void Adapter::give_up(Servant& servant, Bytes id, bool remaining_activations) noexcept
{
    assert_calls_out();
    ServantActivator* activator = activator_.load();
    if (activator == nullptr || !etherealize_.load()) return release(servant);
    if (&servant == &gone_servant()) return; // there is nothing to etherealize
    servant._kairos_forgotten();
    std::unique_lock alone(single_, std::defer_lock);
    if (policies_.threads == Threads::single) alone.lock();
    const std::lock_guard serial(activator->serial());
    const Calling calling(*this);
    activator->etherealize(id, *this, servant, cleaning_up_.load(), remaining_activations);
}

void Adapter::retired(Servant& servant, Bytes id, Place place, bool remaining_activations) noexcept
{
    (void)place;
    bool later = false;
    if (life_ == Life::being_destroyed && activator_.load() != nullptr) {
        // The adapter is gone before its objects are etherealized (15.3.9, destroy).
        try {
            Leaving leaving{&servant, Id(id.begin(), id.end()), remaining_activations};
            const std::lock_guard lock(mutex_);
            leaving_.push_back(std::move(leaving));
            later = true;
        } catch (const std::bad_alloc&) { // then a little too early
        }
    }
    if (!later) give_up(servant, id, remaining_activations);
    if (policies_.real_time.declares()) forget_declared(id);
    occupied_.fetch_sub(1);
    if (unsettled_.load()) settle();
}

void Adapter::etherealize_all()
{
    if (!policies_.retains() || activator_.load() == nullptr) return;
    cleaning_up_ = true;
    objects_.deactivate_all();
}

Outcome Adapter::set_activator(IntrusivePtr<ServantActivator> activator)
{
    const std::lock_guard lock(mutex_);
    if (activator_.load() != nullptr) return Outcome::already_set;
    activator_ = activator.detach();
    return Outcome::ok;
}

Outcome Adapter::set_locator(IntrusivePtr<ServantLocator> locator)
{
    const std::lock_guard lock(mutex_);
    if (locator_.load() != nullptr) return Outcome::already_set;
    locator_ = locator.detach();
    return Outcome::ok;
}

// --- default servants ----------------------------------------------------------------------------

Outcome Adapter::set_default_servant(Servant& servant)
{
    if (policies_.processing != Processing::default_servant) return Outcome::wrong_policy;
    servant._add_ref();
    servant._kairos_known();
    const std::lock_guard lock(mutex_);
    default_timing_ = servant._kairos_timed_operations();
    Servant* former = default_servant_.exchange(&servant);
    if (former == nullptr) return Outcome::ok;
    replaced_.push_back(former); // requests may be inside it: given up when none is
    unsettled_ = true;
    return Outcome::ok;
}

Servant* Adapter::default_servant()
{
    const std::lock_guard lock(mutex_); // against a replacement that is given up
    Servant* servant = default_servant_.load();
    if (servant != nullptr) servant->_add_ref();
    return servant;
}

// --- servants that are no more -------------------------------------------------------------------

bool Adapter::abandon(const Servant& servant, Servant& instead) noexcept
{
    bool known = objects_.abandon(servant, instead);
    if (ObjectMap* map = named_.load()) known |= map->abandon(servant, instead);
    const std::lock_guard lock(mutex_);
    Servant* expected = const_cast<Servant*>(&servant);
    if (default_servant_.compare_exchange_strong(expected, nullptr)) {
        default_timing_ = nullptr;
        known = true;
    }
    for (Leaving& leaving : leaving_)
        if (leaving.servant == &servant) {
            leaving.servant = &instead;
            known = true;
        }
    return std::erase(replaced_, &servant) != 0 || known;
}

// --- life ----------------------------------------------------------------------------------------

/// Must hold Adapters::mutex_.
void Adapter::begin(std::uint32_t key_id, Adapter* parent, std::string name, Policies policies,
                    AdapterFace& face)
{
    assert_held(adapters_.mutex_);
    objects_.wait_until_empty(); // of the last life: its last object may still be on its way out
    if (ObjectMap* map = named_.load()) {
        map->wait_until_empty();
        map->reset(map_options(true));
    }
    path_ = parent == nullptr ? Id() : ior::PersistentKey::path_of(parent->path_, name);
    policies_ = std::move(policies);
    const std::vector<Bytes> known_ids(policies_.known_ids.begin(), policies_.known_ids.end());
    ObjectMap::Options options = map_options(!policies_.places_are_ids());
    options.known_ids = known_ids;
    options.knows_skeletons = policies_.delayered();
    objects_.reset(options);
    if (policies_.real_time.pool != nullptr) policies_.real_time.pool->add_user();
    {
        const std::lock_guard lock(mutex_);
        declared_.clear();
        scheduled_.clear();
        priorities_ = 0;
        if (policies_.real_time.declares())
            note_declared(policies_.real_time.priority_model->server_priority);
    }
    name_ = std::move(name);
    parent_ = parent;
    parent_key_id_ = parent == nullptr ? no_key : parent->key_id();
    face_ = &face;
    cleaning_up_ = false;
    etherealize_ = true;
    may_end_ = false;
    next_id_ = 0;
    life_ = Life::alive;
    face.begin(*this, key_id);
    key_id_ = key_id;
}

/// Begins to end; returns false if that has begun already. Must hold Adapters::mutex_.
bool Adapter::begin_end(bool etherealize)
{
    assert_held(adapters_.mutex_);
    const std::lock_guard lock(mutex_); // no activation is under way, and none begins
    if (life_ != Life::alive) return false;
    etherealize_ = etherealize;
    cleaning_up_ = true;
    life_ = Life::being_destroyed;
    return true;
}

void Adapter::end_when_idle()
{
    objects_.deactivate_all();
    if (ObjectMap* map = named_.load()) map->deactivate_all();
    {
        const std::lock_guard lock(mutex_);
        may_end_ = true;
        unsettled_ = true;
    }
    settle();
}

/// Does what has waited for nobody to be inside.
void Adapter::settle()
{
    std::vector<Servant*> replaced;
    {
        const std::lock_guard lock(mutex_);
        if (life_ == Life::alive && requests_ == 0) {
            replaced.swap(replaced_);
            unsettled_ = false;
        }
    }
    for (Servant* servant : replaced)
        release(*servant);
    if (try_to_end()) end();
}

bool Adapter::try_to_end()
{
    const std::lock_guard lock(mutex_);
    if (life_ != Life::being_destroyed || !may_end_) return false;
    life_ = Life::ending; // now nobody comes in
    if (occupied_ == 0 && requests_ == 0) return true;
    life_ = Life::being_destroyed; // whoever is inside still will call settle
    return false;
}

void Adapter::end()
{
    const std::uint32_t key_id = key_id_.exchange(no_key);
    adapters_.forget(*this);
    for (const Leaving& leaving : std::exchange(leaving_, {}))
        give_up(*leaving.servant, leaving.id, leaving.remaining_activations);
    default_timing_ = nullptr;
    if (Servant* servant = default_servant_.exchange(nullptr)) release(*servant);
    for (Servant* servant : std::exchange(replaced_, {}))
        release(*servant);
    (void)IntrusivePtr<ServantActivator>::adopt(activator_.exchange(nullptr));
    (void)IntrusivePtr<ServantLocator>::adopt(locator_.exchange(nullptr));
    if (policies_.real_time.pool != nullptr) policies_.real_time.pool->remove_user();
    std::exchange(face_, nullptr)->end();
    unsettled_ = false;
    life_ = Life::none;
    adapters_.recycle(*this, key_id);
}

void Adapter::wait_until_idle(bool empty) const
{
    const bool objects_go = empty && activator_.load() != nullptr;
    const auto busy = [this, objects_go] {
        const ObjectMap* map = named_.load();
        return requests_ != 0 || (objects_go && occupied_ != 0) || objects_.busy() ||
               (map != nullptr && map->busy());
    };
    while (busy())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace kairos::poa
