// SPDX-License-Identifier: Apache-2.0
//
// The adapters' tree, and their persistent paths: all that is done to adapters but asking them for
// an object.
#include "kairos/base/assert_held.h"
#include "kairos/orb/bidirectional.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/owed_answer.h"
#include "kairos/orb/upcall.h"
#include "kairos/poa/adapters.h"
#include "kairos/poa/calling.h"
#include "kairos/poa/forget.h"
#include "kairos/server/serving.h"

#include <algorithm>
#include <exception>
#include <new>

namespace kairos::poa {

using orb::minor_code::request_discarded;
using orb::minor_code::unknown_adapter;

Adapters::Adapters(orb::Orb& orb) : orb_(orb)
{
    paths_.reset(IdStrategy::hash, {});
    ask_to_forget(*this);
}

Adapters::~Adapters() { ask_no_more(*this); }

// --- persistent paths ----------------------------------------------------------------------------

void Adapters::raise_unknown()
{
    orb::raise<CORBA::OBJECT_NOT_EXIST>(unknown_adapter, CORBA::COMPLETED_NO,
                                        "no such object adapter");
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
            if (!use || !has_activator(at)) raise_unknown();
            // Adapter activators are called as servants are: when the manager lets them.
            if (hold != nullptr && !at.adapter->admits(*hold)) return {};
            if (at.adapter->manager().state() != ManagerState::active)
                orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                             "the POAManager lets nobody make the object adapter");
            next = child(at, name, true);
        }
        at = next;
    }
    if (!at) raise_unknown();
    const poa::Adapter::Use use(*at.adapter, at.key_id);
    if (!use || !at.adapter->policies().persistent()) raise_unknown();
    return at;
}

bool Adapters::has_activator(Found adapter) const
{
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(adapter.adapter->adapter_activator_);
}

void Adapters::publish(poa::Adapter& adapter)
{
    assert_held(mutex_);
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
    std::unique_lock lock(mutex_);
    while (root_ != nullptr) {
        const Activating* made = activating(nullptr, root_->name_);
        if (made == nullptr || made->thread == std::this_thread::get_id()) break;
        changed_.wait(lock);
    }
    return found(root_);
}

const Adapters::Activating* Adapters::activating(const poa::Adapter* parent,
                                                 std::string_view name) const
{
    assert_held(mutex_);
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
    assert_held(mutex_);
    const IntrusivePtr<AdapterActivator> activator = parent.adapter->adapter_activator_;
    const auto asked = activating_.insert(
        activating_.end(), {parent.adapter, std::string(name), std::this_thread::get_id()});
    lock.unlock();
    assert_not_held(mutex_);
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
    assert_held(mutex_);
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

/// Has `work` done while other threads wait for the adapter.
void Adapters::establish(Found made, std::list<Activating>::iterator establishing,
                         std::unique_lock<std::mutex>& lock, const std::function<void()>& work)
{
    assert_held(mutex_);
    std::exception_ptr failure;
    lock.unlock();
    assert_not_held(mutex_);
    try {
        work();
    } catch (...) {
        failure = std::current_exception();
        (void)destroy(made, false, false);
    }
    lock.lock();
    activating_.erase(establishing);
    changed_.notify_all();
    if (failure) std::rethrow_exception(failure);
}

Outcome Adapters::create(Found parent, std::string name, Manager& manager, Policies policies,
                         AdapterFace& face, const std::function<void()>& establish)
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
    std::list<Activating> establishing;
    if (establish) establishing.push_back({parent.adapter, name, std::this_thread::get_id()});
    poa::Adapter& adapter = take_shell();
    const std::uint32_t key_id =
        ((adapter.ended_ >> index_bits) + 1) << index_bits | adapter.index();
    adapter.manager_ = IntrusivePtr<Manager>(&manager);
    if (policies.bidirectional) orb::Serving::of(orb_).bidirectional().note_adapter();
    adapter.begin(key_id, parent.adapter, name, std::move(policies), face);
    free_.pop_back();
    if (parent)
        parent.adapter->children_.emplace(name, &adapter);
    else
        root_ = &adapter;
    manager.add(adapter);
    if (establish) {
        activating_.splice(activating_.begin(), establishing);
        this->establish({&adapter, key_id}, activating_.begin(), lock, establish);
        if (adapter.key_id() != key_id) return Outcome::gone;
    }
    // One that an adapter activator is making is found when that returns.
    if (activating(parent.adapter, name) == nullptr) publish(adapter);
    return Outcome::ok;
}

bool in_upcall_of(const orb::Orb& orb) noexcept
{
    for (const Calling* call = Calling::innermost(); call != nullptr; call = call->outer())
        if (&call->adapter().orb() == &orb) return true;
    return orb::OwedAnswer::is_being_given_here(&orb); // which is a request of it, too
}

// Only a thread that serves a request of the same ORB must not wait (CORBA 3.3 part 1, 15.3.9,
// destroy: "dispatched from some POA belonging to the same ORB as this POA").
Outcome Adapters::destroy(Found found, bool etherealize, bool wait)
{
    if (wait && in_upcall_of(orb_)) return Outcome::would_deadlock;
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
