// SPDX-License-Identifier: Apache-2.0
#include "kairos/events/service_adapters.h"

#include <random>

namespace kairos::events {
namespace {

PortableServer::POA_ptr make_poa(PortableServer::POA_ptr parent, const char* name,
                                 PortableServer::POAManager_ptr manager,
                                 PortableServer::LifespanPolicyValue lifespan,
                                 PortableServer::IdAssignmentPolicyValue assignment)
{
    CORBA::PolicyList policies;
    policies.length(2);
    policies[0] = parent->create_lifespan_policy(lifespan);
    policies[1] = parent->create_id_assignment_policy(assignment);
    return parent->create_POA(name, manager, policies);
}

} // namespace

ServiceAdapters::ServiceAdapters(CORBA::ORB_ptr orb, const char* name, bool keeps)
    : orb_(CORBA::ORB::_duplicate(orb)), keeps_(keeps)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    object = orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
    named_ = make_poa(root.in(), name, PortableServer::POAManager::_nil(),
                      PortableServer::PERSISTENT, PortableServer::USER_ID);
    manager_ = named_->the_POAManager();
    try {
        others_ = make_poa(named_.in(), "Objects", manager_.in(),
                           keeps ? PortableServer::PERSISTENT : PortableServer::TRANSIENT,
                           keeps ? PortableServer::USER_ID : PortableServer::SYSTEM_ID);
        if (!keeps) serve();
    } catch (...) {
        destroy();
        throw;
    }
}

ServiceAdapters::ServiceAdapters(CORBA::ORB_ptr orb, PortableServer::POA_ptr named,
                                 PortableServer::POA_ptr others)
    : orb_(CORBA::ORB::_duplicate(orb)), keeps_(true), is_share_(true),
      named_(PortableServer::POA::_duplicate(named)),
      others_(PortableServer::POA::_duplicate(others)), manager_(named->the_POAManager())
{
    const CORBA::Object_var object = orb->resolve_initial_references("IORTable");
    table_ = IORTable::Table::_narrow(object.in());
}

CORBA::Object_ptr ServiceAdapters::activate(PortableServer::Servant servant,
                                            PortableServer::ObjectId_var& id) const
{
    if (keeps_ && id.operator->() == nullptr) id = new_id();
    if (id.operator->() == nullptr)
        id = others_->activate_object(servant);
    else
        others_->activate_object_with_id(id.in(), servant);
    return others_->id_to_reference(id.in());
}

PortableServer::ObjectId* ServiceAdapters::new_id()
{
    constexpr CORBA::ULong octets = 16;
    PortableServer::ObjectId_var id = new PortableServer::ObjectId(octets);
    id->length(octets);
    std::random_device random;
    for (CORBA::ULong i = 0; i < octets; ++i)
        id[i] = static_cast<CORBA::Octet>(random());
    return id._retn();
}

void ServiceAdapters::serve() const { manager_->activate(); }

void ServiceAdapters::discard() const noexcept
{
    try {
        manager_->discard_requests(false);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or its POAs.
    }
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
    try {
        table_->bind(name, reference.in());
    } catch (const IORTable::AlreadyBound&) {
        if (!is_share_) throw; // else it leads there already
    }
}

void ServiceAdapters::unbind(const char* name) const noexcept
{
    if (is_share_) return;
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
