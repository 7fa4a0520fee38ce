// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtcorba/RTPortableServer.h"

namespace RTPortableServer {

POA::POA(kairos::corba::PoaServices& services) : PortableServer::POA(services) {}

bool POA::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || PortableServer::POA::_kairos_supports(repository_id);
}

CORBA::Object_ptr POA::create_reference_with_priority(const char* intf, RTCORBA::Priority priority)
{
    return reference_at(priority, nullptr, intf);
}

CORBA::Object_ptr POA::create_reference_with_id_and_priority(const PortableServer::ObjectId& oid,
                                                             const char* intf,
                                                             RTCORBA::Priority priority)
{
    return reference_at(priority, &oid, intf);
}

PortableServer::ObjectId* POA::activate_object_with_priority(PortableServer::Servant p_servant,
                                                             RTCORBA::Priority priority)
{
    return activate_at(priority, nullptr, p_servant);
}

void POA::activate_object_with_id_and_priority(const PortableServer::ObjectId& oid,
                                               PortableServer::Servant p_servant,
                                               RTCORBA::Priority priority)
{
    const PortableServer::ObjectId_var id = activate_at(priority, &oid, p_servant);
}

void POA::_kairos_reschedule(const PortableServer::ObjectId& oid, RTCORBA::Priority priority)
{
    reschedule_at(priority, oid);
}

} // namespace RTPortableServer

namespace kairos::corba {

/// For poa_services.cpp, which knows it by this name only.
KAIROS_API PortableServer::POA* make_real_time_poa(PoaServices& services);

PortableServer::POA* make_real_time_poa(PoaServices& services)
{
    return new RTPortableServer::POA(services);
}

} // namespace kairos::corba
