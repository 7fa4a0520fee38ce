// SPDX-License-Identifier: Apache-2.0
//
// POA: objects that have priorities of their own, for RTPortableServer::POA.
#include "kairos/corba/poa_in_use.h"
#include "kairos/mapping/exception.h"

#include <cstring>

namespace PortableServer {

using kairos::poa::Identity;

namespace {

kairos::poa::Id octets_of(const ObjectId& id)
{
    const auto* octets = reinterpret_cast<const std::byte*>(id.get_buffer());
    return {octets, octets + id.length()};
}

/// An object that is active without a priority of its own has the adapter's.
void require_same_priority(kairos::poa::Adapter& adapter, const kairos::poa::Id& id,
                           std::int16_t priority)
{
    Identity active;
    const char* repository_id = nullptr;
    if (!adapter.has_declared(id) &&
        priority != adapter.policies().real_time.priority_model->server_priority &&
        adapter.object_of(id, active, repository_id) == kairos::poa::Outcome::ok)
        throw CORBA::BAD_INV_ORDER(kairos::mapping::omg_minor(18), CORBA::COMPLETED_NO,
                                   "the object has another priority");
}

} // namespace

ObjectId* POA::activate_at(std::int16_t priority, const ObjectId* id, Servant servant)
{
    if (servant == nullptr) throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null servant");
    const InUse adapter(*this);
    if (!adapter->policies().real_time.declares() || !adapter->policies().retains())
        check(kairos::poa::Outcome::wrong_policy);
    Identity object;
    if (id != nullptr)
        object.id = octets_of(*id);
    else
        check(adapter->new_object(object));
    require_same_priority(*adapter, object.id, priority);
    const bool has_reference = adapter->has_declared(object.id);
    check(adapter->declare(object.id, priority));
    const auto outcome = adapter->activate(*servant, object, true);
    if (outcome != kairos::poa::Outcome::ok && !has_reference) adapter->forget_declared(object.id);
    check(outcome);
    ObjectId_var given = new ObjectId;
    given->length(static_cast<CORBA::ULong>(object.id.size()));
    if (!object.id.empty()) std::memcpy(given->get_buffer(), object.id.data(), object.id.size());
    return given._retn();
}

CORBA::Object_ptr POA::reference_at(std::int16_t priority, const ObjectId* id,
                                    const char* repository_id)
{
    if (repository_id == nullptr)
        throw CORBA::BAD_PARAM(0, CORBA::COMPLETED_NO, "null repository id");
    const InUse adapter(*this);
    if (!adapter->policies().real_time.declares()) check(kairos::poa::Outcome::wrong_policy);
    Identity object;
    if (id == nullptr) {
        check(adapter->new_object(object));
    } else {
        object.id = octets_of(*id);
        if (adapter->policies().system_ids() && !adapter->may_be_own(object.id))
            check(kairos::poa::Outcome::bad_id);
        require_same_priority(*adapter, object.id, priority);
    }
    check(adapter->declare(object.id, priority));
    return reference_to(object, repository_id);
}

void POA::reschedule_at(std::int16_t priority, const ObjectId& id)
{
    const InUse adapter(*this);
    check(adapter->reschedule(octets_of(id), priority));
}

} // namespace PortableServer
