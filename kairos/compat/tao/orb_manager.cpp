// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/orb_manager.h"

#include "kairos/base/log.h"

namespace {

/// The reference of an active object as text.
char* text_of(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, const PortableServer::ObjectId& id)
{
    const CORBA::Object_var object = poa->id_to_reference(id);
    return orb->object_to_string(object.in());
}

} // namespace

TAO_ORB_Manager::TAO_ORB_Manager(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa,
                                 PortableServer::POAManager_ptr poa_manager)
    : orb_(CORBA::ORB::_duplicate(orb)), poa_(PortableServer::POA::_duplicate(poa)),
      poa_manager_(PortableServer::POAManager::_duplicate(poa_manager))
{
}

TAO_ORB_Manager::~TAO_ORB_Manager()
{
    try {
        (void)fini();
    } catch (const CORBA::Exception& exception) {
        kairos::log::warning(std::string("TAO_ORB_Manager: ") + exception.what());
    }
}

int TAO_ORB_Manager::init(int& argc, char* argv[], const char* orb_name)
{
    if (CORBA::is_nil(orb_.in()))
        orb_ = CORBA::ORB_init(argc, argv, orb_name == nullptr ? "" : orb_name);
    if (CORBA::is_nil(poa_.in())) {
        const CORBA::Object_var object = orb_->resolve_initial_references("RootPOA");
        poa_ = PortableServer::POA::_narrow(object.in());
    }
    if (CORBA::is_nil(poa_manager_.in())) poa_manager_ = poa_->the_POAManager();
    return 0;
}

int TAO_ORB_Manager::init_child_poa(int& argc, char* argv[], const char* poa_name,
                                    const char* orb_name)
{
    if (init(argc, argv, orb_name) != 0) return -1;
    CORBA::PolicyList policies(2);
    policies.length(2);
    policies[0] = poa_->create_id_assignment_policy(PortableServer::USER_ID);
    policies[1] = poa_->create_lifespan_policy(PortableServer::PERSISTENT);
    child_poa_ = poa_->create_POA(poa_name, poa_manager_.in(), policies);
    for (CORBA::ULong i = 0; i < policies.length(); ++i)
        policies[i]->destroy();
    return 0;
}

int TAO_ORB_Manager::fini()
{
    child_poa_ = PortableServer::POA::_nil();
    poa_manager_ = PortableServer::POAManager::_nil();
    poa_ = PortableServer::POA::_nil();
    if (CORBA::is_nil(orb_.in())) return 0;
    const CORBA::ORB_var orb = orb_._retn();
    orb->destroy(); // and all its POAs
    return 0;
}

int TAO_ORB_Manager::activate_poa_manager()
{
    if (CORBA::is_nil(poa_manager_.in())) return -1;
    poa_manager_->activate();
    return 0;
}

char* TAO_ORB_Manager::activate(PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = poa_->activate_object(servant);
    return text_of(orb_.in(), poa_.in(), id.in());
}

int TAO_ORB_Manager::deactivate(const char* id)
{
    if (CORBA::is_nil(poa_.in())) return -1;
    const CORBA::Object_var object = orb_->string_to_object(id); // as activate() has given it
    const PortableServer::ObjectId_var object_id = poa_->reference_to_id(object.in());
    poa_->deactivate_object(object_id.in());
    return 0;
}

char* TAO_ORB_Manager::activate_under_child_poa(const char* object_name,
                                                PortableServer::Servant servant)
{
    if (object_name == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "an object without a name");
    const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId(object_name);
    child_poa_->activate_object_with_id(id.in(), servant);
    return text_of(orb_.in(), child_poa_.in(), id.in());
}

int TAO_ORB_Manager::deactivate_under_child_poa(const char* id)
{
    if (CORBA::is_nil(child_poa_.in())) return -1;
    const PortableServer::ObjectId_var object_id = PortableServer::string_to_ObjectId(id);
    child_poa_->deactivate_object(object_id.in());
    return 0;
}

int TAO_ORB_Manager::run()
{
    if (activate_poa_manager() != 0) return -1;
    orb_->run();
    return 0;
}

CORBA::ORB_ptr TAO_ORB_Manager::orb() { return CORBA::ORB::_duplicate(orb_.in()); }

PortableServer::POA_ptr TAO_ORB_Manager::root_poa()
{
    return PortableServer::POA::_duplicate(poa_.in());
}

PortableServer::POA_ptr TAO_ORB_Manager::child_poa()
{
    return PortableServer::POA::_duplicate(child_poa_.in());
}

PortableServer::POAManager_ptr TAO_ORB_Manager::poa_manager()
{
    return PortableServer::POAManager::_duplicate(poa_manager_.in());
}
