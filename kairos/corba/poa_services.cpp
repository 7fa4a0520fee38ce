// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/poa_services.h"

#include "kairos/base/assert_held.h"
#include "kairos/base/export.h"
#include "kairos/corba/access_control.h"
#include "kairos/corba/default_policies.h"
#include "kairos/corba/poa_current.h"
#include "kairos/corba/poa_state.h"
#include "kairos/orb/counting_observer.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/upcall_observation.h"
#include "kairos/server/serving.h"

#include <algorithm>

namespace kairos::corba {

CORBA::Object_ptr adapter_service(CORBA::ORB& orb, bool is_current);

/// Of kairos/access, if that is linked.
[[gnu::weak]] KAIROS_API const AccessControl& access_control();
/// Of kairos/rtcorba, if that is linked: then every POA is an RTPortableServer::POA.
[[gnu::weak]] KAIROS_API PortableServer::POA* make_real_time_poa(PoaServices& services);

using PortableServer::POA;
using PortableServer::POA_var;
using PortableServer::POAManager;
using PortableServer::POAManager_ptr;
using PortableServer::POAManager_var;

namespace {

poa::Adapters& give_adapters(orb::Orb& core)
{
    auto adapters = std::make_unique<poa::Adapters>(core);
    poa::Adapters& given = *adapters;
    if (orb::counts_requests(core.options())) (void)core.add_observer(orb::counting_observer());
    std::unique_ptr<orb::Adapter> front = orb::observed(core, std::move(adapters));
    if (!core.options().access.empty()) // ORB_init has looked whether it is linked
        front = access_control().guard(core, std::move(front), given);
    core.set_adapter(std::move(front));
    return given;
}

} // namespace

PoaServices::PoaServices(IntrusivePtr<orb::Orb> core, std::shared_ptr<AdapterListener> listener)
    : core_(std::move(core)), listener_(std::move(listener)), adapters_(give_adapters(*core_))
{
}

PoaServices::~PoaServices() = default;

poa::IdStrategy PoaServices::strategy() const noexcept
{
    switch (core_->options().demultiplexing) {
    case orb::Demultiplexing::linear:
        return poa::IdStrategy::linear;
    case orb::Demultiplexing::hash:
        return poa::IdStrategy::hash;
    case orb::Demultiplexing::delayered:
        return poa::IdStrategy::delayered;
    case orb::Demultiplexing::active:
        break;
    }
    return poa::IdStrategy::active;
}

PortableServer::POA_ptr PoaServices::make_poa()
{
    if (&make_real_time_poa != nullptr) return make_real_time_poa(*this);
    return new POA(*this);
}

PortableServer::POA_ptr PoaServices::root_poa()
{
    constexpr const char* manager_id = "RootPOAManager";
    for (;;) { // another thread may make or destroy it meanwhile
        if (const auto root = adapters_.root()) {
            const poa::Adapter::Use use(*root.adapter, root.key_id);
            if (use) return POA::_duplicate(&POA::_kairos_of(*root.adapter));
        }
        POAManager_var manager = create_manager(manager_id);
        if (CORBA::is_nil(manager.in())) manager = find_manager(manager_id);
        if (CORBA::is_nil(manager.in())) continue;
        POA_var root = make_poa();
        poa::Policies policies;
        policies.implicit_activation = poa::ImplicitActivation::implicit;
        policies.strategy = strategy();
        if (&add_default_policies != nullptr) add_default_policies(*core_, nullptr, policies);
        if (root->state_->create({}, "RootPOA", manager.in(), policies, {}) == poa::Outcome::ok)
            return root._retn();
    }
}

void PoaServices::deactivate_all() noexcept
{
    for (const auto& manager : adapters_.managers())
        manager->set_state(poa::ManagerState::inactive);
    core_->resume_held_requests();
}

void PoaServices::destroy_all() noexcept
{
    adapters_.forwards().clear();
    if (const auto root = adapters_.root()) (void)adapters_.destroy(root, true, true);
}

bool PoaServices::is_in_use()
{
    const auto is_active = [](const auto& manager) {
        return manager->state() == poa::ManagerState::active;
    };
    if (std::ranges::any_of(adapters_.managers(), is_active)) return true;
    const auto root = adapters_.root();
    if (!root) return false;
    const poa::Adapter::Use use(*root.adapter, root.key_id);
    return use && POA::_kairos_of(*root.adapter)._kairos_is_shared();
}

// --- managers ------------------------------------------------------------------------------------

bool PoaServices::knows(std::string_view id) const
{
    assert_held(mutex_);
    return std::ranges::any_of(
        managers_, [id](const Known& known) { return known.manager->_kairos_core().id() == id; });
}

POAManager_ptr PoaServices::create_manager(std::string id)
{
    const std::lock_guard lock(mutex_);
    while (id.empty()) {
        std::string next = "POAManager " + std::to_string(++last_manager_);
        if (!knows(next)) id = std::move(next);
    }
    if (knows(id)) return nullptr;
    managers_.push_back(
        {new POAManager(core_, make_intrusive<poa::Manager>(std::move(id), listener_))});
    return POAManager::_duplicate(managers_.back().manager.in());
}

POAManager_ptr PoaServices::find_manager(std::string_view id)
{
    const std::lock_guard lock(mutex_);
    for (const Known& known : managers_)
        if (known.manager->_kairos_core().id() == id)
            return POAManager::_duplicate(known.manager.in());
    return nullptr;
}

std::vector<POAManager_var> PoaServices::managers()
{
    std::vector<POAManager_var> managers;
    const std::lock_guard lock(mutex_);
    managers.reserve(managers_.size());
    for (const Known& known : managers_)
        managers.push_back(known.manager);
    return managers;
}

void PoaServices::keep_manager(POAManager_ptr manager)
{
    const std::lock_guard lock(mutex_);
    for (Known& known : managers_) {
        if (known.manager.in() != manager) continue;
        ++known.adapters;
        return;
    }
    managers_.push_back({POAManager::_duplicate(manager), 1}); // it had been forgotten
}

void PoaServices::let_manager_go(const POAManager& manager)
{
    POAManager_var forgotten; // released without the lock
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find_if(
        managers_, [&](const Known& one) { return one.manager.in() == &manager; });
    if (known == managers_.end() || --known->adapters != 0) return;
    forgotten = std::move(known->manager);
    managers_.erase(known);
}

std::shared_ptr<std::recursive_mutex>
PoaServices::serial_of(PortableServer::ServantActivator_ptr activator)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(serials_, [](const auto& known) { return known.second.expired(); });
    auto& known = serials_[activator];
    auto serial = known.lock();
    if (!serial) known = serial = std::make_shared<std::recursive_mutex>();
    return serial;
}

std::shared_ptr<PoaServices> poa_services_of(CORBA::ORB& orb)
{
    orb._kairos_require_running();
    CORBA::ORB::State& state = orb._kairos_state();
    const std::lock_guard lock(state.mutex);
    if (!state.adapters) {
        orb::Orb& core = orb._kairos_core();
        if (const auto listening = orb::Serving::of(core).listen(); !listening)
            throw CORBA::INITIALIZE(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                    listening.error().reason);
        state.adapters =
            std::make_shared<PoaServices>(IntrusivePtr<orb::Orb>(&core), state.listener);
    }
    return std::static_pointer_cast<PoaServices>(state.adapters);
}

/// For CORBA::ORB (orb.cpp).
CORBA::Object_ptr adapter_service(CORBA::ORB& orb, bool is_current)
{
    if (is_current) return new PortableServer::Current;
    return orb._kairos_root_poa();
}

} // namespace kairos::corba

PortableServer::POA_ptr CORBA::ORB::_kairos_root_poa()
{
    return kairos::corba::poa_services_of(*this)->root_poa();
}
