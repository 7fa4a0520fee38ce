// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/poa_manager.h"

#include "kairos/corba/orb_types.h"
#include "kairos/corba/poa_services.h"
#include "kairos/orb/failure.h"
#include "kairos/orb/orb.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"
#include "kairos/poa/manager.h"
#include "kairos/server/serving.h"

#include <memory>
#include <utility>

namespace PortableServer {

using kairos::poa::ManagerState;

POAManager::POAManager(kairos::IntrusivePtr<kairos::orb::Orb> orb,
                       kairos::IntrusivePtr<kairos::poa::Manager> core)
    : orb_(std::move(orb)), core_(std::move(core))
{
}

POAManager::~POAManager() = default;

bool POAManager::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || Object::_kairos_supports(repository_id);
}

void POAManager::change(State state, CORBA::Boolean etherealize, CORBA::Boolean wait_for_completion)
{
    if (wait_for_completion && kairos::poa::in_upcall_of(*orb_))
        throw CORBA::BAD_INV_ORDER(kairos::orb::minor_code::would_deadlock, CORBA::COMPLETED_NO,
                                   "waiting for requests within an upcall would deadlock");
    if (!core_->set_state(static_cast<ManagerState>(state))) throw AdapterInactive();
    orb_->resume_held_requests();
    for (kairos::poa::Adapter* adapter : core_->adapters()) {
        const std::uint32_t key_id = adapter->key_id();
        {
            const kairos::poa::Adapter::Use use(*adapter, key_id);
            if (!use) continue; // destroyed meanwhile
            if (etherealize) adapter->etherealize_all();
        }
        if (wait_for_completion) adapter->wait_until_idle(etherealize);
    }
}

void POAManager::activate()
{
    change(ACTIVE, false, false);
    kairos::orb::Serving::of(*orb_).start();
}

void POAManager::hold_requests(CORBA::Boolean wait_for_completion)
{
    change(HOLDING, false, wait_for_completion);
}

void POAManager::discard_requests(CORBA::Boolean wait_for_completion)
{
    change(DISCARDING, false, wait_for_completion);
}

void POAManager::deactivate(CORBA::Boolean etherealize_objects, CORBA::Boolean wait_for_completion)
{
    change(INACTIVE, etherealize_objects, wait_for_completion);
}

POAManager::State POAManager::get_state() { return static_cast<State>(core_->state()); }

char* POAManager::get_id() { return CORBA::string_dup(core_->id().c_str()); }

// --- POAManagerFactory ---------------------------------------------------------------------------

/// In place of a member, so that the header can do without <memory>.
struct POAManagerFactory::State {
    const std::shared_ptr<kairos::corba::PoaServices> services;
};

POAManagerFactory::POAManagerFactory(kairos::corba::PoaServices& services)
    : state_(new State{services.shared_from_this()})
{
}

POAManagerFactory::~POAManagerFactory() = default;

bool POAManagerFactory::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || Object::_kairos_supports(repository_id);
}

POAManager_ptr POAManagerFactory::create_POAManager(const char* id,
                                                    const CORBA::PolicyList& policies)
{
    if (id == nullptr || *id == '\0')
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "a POAManager needs an id");
    if (policies.length() != 0) throw CORBA::PolicyError(CORBA::UNSUPPORTED_POLICY);
    POAManager_ptr manager = state_->services->create_manager(id);
    if (CORBA::is_nil(manager)) throw ManagerAlreadyExists();
    return manager;
}

POAManagerFactory::POAManagerSeq* POAManagerFactory::list()
{
    auto managers = state_->services->managers();
    POAManagerSeq_var list = new POAManagerSeq;
    list->length(static_cast<CORBA::ULong>(managers.size()));
    for (std::size_t i = 0; i < managers.size(); ++i)
        list[static_cast<CORBA::ULong>(i)] = managers[i]._retn();
    return list._retn();
}

POAManager_ptr POAManagerFactory::find(const char* id)
{
    if (id == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null id");
    return state_->services->find_manager(id);
}

} // namespace PortableServer
