// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/service_adapters.h"

namespace kairos::events {
namespace {

/// A POA that begins to serve.
PortableServer::POA_ptr make_poa(PortableServer::POA_ptr parent, const char* name,
                                 PortableServer::LifespanPolicyValue lifespan,
                                 PortableServer::IdAssignmentPolicyValue assignment)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(assignment);
    PortableServer::POA_var made =
        parent->create_POA(name, PortableServer::POAManager::_nil(), policies);
    const PortableServer::POAManager_var manager = made->the_POAManager();
    manager->activate();
    return made._retn();
}

} // namespace

ServiceAdapters::ServiceAdapters(CORBA::ORB_ptr orb, const char* name)
    : orb_(CORBA::ORB::_duplicate(orb))
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    object = orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    named_ = make_poa(root.in(), name, PortableServer::PERSISTENT, PortableServer::USER_ID);
    try {
        others_ =
            make_poa(named_.in(), "Objects", PortableServer::TRANSIENT, PortableServer::SYSTEM_ID);
    } catch (...) {
        destroy();
        throw;
    }
}

CORBA::Object_ptr ServiceAdapters::activate(PortableServer::Servant servant,
                                            PortableServer::ObjectId_var& id) const
{
    id = others_->activate_object(servant);
    return others_->id_to_reference(id.in());
}

CORBA::Object_ptr ServiceAdapters::activate_named(PortableServer::Servant servant, const char* name,
                                                  PortableServer::ObjectId_var& id) const
{
    id = PortableServer::string_to_ObjectId(name);
    named_->activate_object_with_id(id.in(), servant);
    return named_->id_to_reference(id.in());
}

void ServiceAdapters::deactivate(PortableServer::POA_ptr poa,
                                 PortableServer::ObjectId_var& id) noexcept
{
    try {
        if (id.operator->() != nullptr) poa->deactivate_object(id.in());
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

void ServiceAdapters::bind(const char* name, CORBA::Object_ptr object) const
{
    const CORBA::String_var reference = orb_->object_to_string(object);
    table_->bind(name, reference.in());
}

void ServiceAdapters::unbind(const char* name) const noexcept
{
    try {
        table_->unbind(name);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
}

void ServiceAdapters::destroy() noexcept
{
    try {
        named_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it; or this was called before.
    }
}

} // namespace kairos::events
