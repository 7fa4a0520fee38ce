// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/adapter.h"

#include "kairos/orb/failure.h"
#include "kairos/orb/upcall.h"

#include <chrono>
#include <thread>

namespace kairos::poa {

using orb::minor_code::no_such_object;
using orb::minor_code::request_discarded;
using orb::minor_code::unknown_adapter;

bool Adapter::dispatch(orb::Upcall& upcall)
{
    if (manager_.state() != ManagerState::active) [[unlikely]]
        return refuse();
    const auto key = ior::ObjectKey::parse(upcall.object_key());
    if (!key || key->incarnation != orb_.incarnation()) [[unlikely]]
        orb::raise<CORBA::OBJECT_NOT_EXIST>(no_such_object, CORBA::COMPLETED_NO,
                                            "the object key is none of this server's");
    if (key->adapter != index_) [[unlikely]]
        orb::raise<CORBA::OBJECT_NOT_EXIST>(unknown_adapter, CORBA::COMPLETED_NO,
                                            "no such object adapter");
    const auto entry = objects_.enter({key->slot, key->generation});
    if (!entry) [[unlikely]]
        orb::raise<CORBA::OBJECT_NOT_EXIST>(no_such_object, CORBA::COMPLETED_NO,
                                            "the object is not active");
    // Again, now that this request can be seen inside: wait_until_idle must not miss it.
    if (manager_.state() != ManagerState::active) [[unlikely]]
        return refuse();
    const orb::UpcallScope scope;
    entry->servant()._kairos_dispatch(upcall);
    return true;
}

bool Adapter::refuse() const
{
    switch (manager_.state()) {
    case ManagerState::holding:
    case ManagerState::active: // by now: offered again, it will be served
        return false;
    case ManagerState::discarding:
        orb::raise<CORBA::TRANSIENT>(request_discarded, CORBA::COMPLETED_NO,
                                     "the POAManager discards requests");
    case ManagerState::inactive:
        break;
    }
    orb::raise<CORBA::OBJ_ADAPTER>(mapping::omg_minor(1), CORBA::COMPLETED_NO,
                                   "the POAManager is inactive");
}

void Adapter::wait_until_idle() const
{
    while (objects_.busy())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool Adapter::locates(Bytes object_key)
{
    const auto place = place_of(object_key);
    return place && objects_.enter(*place).has_value();
}

std::optional<ObjectMap::Place> Adapter::place_of(Bytes object_key) const noexcept
{
    const auto key = ior::ObjectKey::parse(object_key);
    if (!key || key->incarnation != orb_.incarnation() || key->adapter != index_)
        return std::nullopt;
    return ObjectMap::Place{key->slot, key->generation};
}

} // namespace kairos::poa
