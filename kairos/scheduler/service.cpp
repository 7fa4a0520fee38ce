// SPDX-License-Identifier: Apache-2.0
#include "kairos/scheduler/service.h"

#include "kairos/corba/CORBA.h"
#include "kairos/corba/ior_table.h"
#include "kairos/scheduler/servant.h"

#include <utility>

namespace kairos::scheduler {
namespace {

constexpr const char* service_name = "ScheduleService"; // what TAO's clients resolve

IORTable::Table_var table_of(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("IORTable");
    return IORTable::Table::_narrow(object.in());
}

} // namespace

SchedulingService::SchedulingService(CORBA::ORB_ptr orb, sched::Policy policy,
                                     sched::OperationSet set)
    : orb_(CORBA::ORB::_duplicate(orb))
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var root = PortableServer::POA::_narrow(object.in());
    poa_ = root->create_POA(service_name, PortableServer::POAManager::_nil(), {});
    const PortableServer::Servant_var<Servant> servant = new Servant(policy, std::move(set));
    const PortableServer::ObjectId_var id = poa_->activate_object(servant.in());
    const CORBA::Object_var activated = poa_->id_to_reference(id);
    reference_ = KairosScheduler::Scheduler::_narrow(activated.in());
    const PortableServer::POAManager_var manager = poa_->the_POAManager();
    manager->activate();

    const CORBA::String_var text = orb->object_to_string(reference_.in());
    const IORTable::Table_var table = table_of(orb);
    try {
        table->bind(service_name, text.in());
        in_table_ = true;
    } catch (const IORTable::AlreadyBound&) {
        // The program that this service is part of leads its clients to another one.
    }
}

SchedulingService::~SchedulingService()
{
    try {
        if (in_table_) table_of(orb_.in())->unbind(service_name);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, or the program has unbound it.
    }
    try {
        poa_->destroy(true, true);
    } catch (const CORBA::Exception&) {
        // The ORB was destroyed before, and its POAs with it.
    }
}

KairosScheduler::Scheduler_ptr SchedulingService::reference() const
{
    return KairosScheduler::Scheduler::_duplicate(reference_.in());
}

} // namespace kairos::scheduler
