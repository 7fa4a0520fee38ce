// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/home.h"

#include "kairos/corba/CORBA.h"

#include <map>
#include <mutex>
#include <vector>

namespace kairos::lifecycle {

namespace {

using Id = std::vector<CORBA::Octet>;

Id octets_of(const PortableServer::ObjectId& id) { return {id.begin(), id.end()}; }

PortableServer::ObjectId_var id_of(PortableServer::POA_ptr poa, PortableServer::Servant servant)
{
    try {
        return poa->servant_to_id(servant);
    } catch (const PortableServer::POA::ServantNotActive&) {
        throw CORBA::OBJECT_NOT_EXIST();
    }
}

void deactivate(PortableServer::POA_ptr poa, const PortableServer::ObjectId& id)
{
    try {
        poa->deactivate_object(id);
    } catch (const PortableServer::POA::ObjectNotActive&) { // somebody else was faster
        throw CORBA::OBJECT_NOT_EXIST();
    }
}

} // namespace

/// Asked for objects that are not active: sends callers after those that have moved.
class Home::Forwarder final : public virtual PortableServer::ServantActivator {
  public:
    void add(const PortableServer::ObjectId& id, CORBA::Object_ptr there)
    {
        const std::lock_guard lock(mutex_);
        moved_[octets_of(id)] = CORBA::Object::_duplicate(there);
    }
    void drop(const PortableServer::ObjectId& id)
    {
        const std::lock_guard lock(mutex_);
        moved_.erase(octets_of(id));
    }

    PortableServer::Servant incarnate(const PortableServer::ObjectId& oid,
                                      PortableServer::POA_ptr) override
    {
        const std::lock_guard lock(mutex_);
        const auto found = moved_.find(octets_of(oid));
        if (found == moved_.end()) throw CORBA::OBJECT_NOT_EXIST();
        throw PortableServer::ForwardRequest(found->second.in());
    }
    void etherealize(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                     PortableServer::Servant servant, CORBA::Boolean,
                     CORBA::Boolean remaining_activations) override
    {
        if (!remaining_activations) servant->_remove_ref();
    }

  private:
    std::mutex mutex_; // guards moved_
    std::map<Id, CORBA::Object_var> moved_;
};

Home::Home(PortableServer::POA_ptr parent, const char* name, CosLifeCycle::FactoryFinder_ptr finder)
    : finder_(CosLifeCycle::FactoryFinder::_duplicate(finder))
{
    CORBA::PolicyList policies;
    policies.length(1);
    policies[0] = parent->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER);
    const PortableServer::POAManager_var manager = parent->the_POAManager();
    poa_ = parent->create_POA(name, manager, policies);
    const PortableServer::ServantActivator_var activator = forwarder_ = new Forwarder;
    poa_->set_servant_manager(activator);
}

CORBA::Object_ptr Home::activate(PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = poa_->activate_object(servant);
    return poa_->id_to_reference(id);
}

void Home::moved(PortableServer::Servant servant, CORBA::Object_ptr there)
{
    const PortableServer::ObjectId_var id = id_of(poa_, servant);
    forwarder_->add(id, there); // before it is gone: nobody may find it nowhere
    try {
        deactivate(poa_, id);
    } catch (...) {
        forwarder_->drop(id);
        throw;
    }
}

void Home::removed(PortableServer::Servant servant)
{
    const PortableServer::ObjectId_var id = id_of(poa_, servant);
    deactivate(poa_, id);
}

} // namespace kairos::lifecycle
