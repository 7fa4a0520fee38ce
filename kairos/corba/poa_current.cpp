// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/poa_current.h"

#include "kairos/corba/poa.h"
#include "kairos/poa/adapter.h"
#include "kairos/poa/calling.h"

#include <cstring>

namespace PortableServer {

namespace {

const kairos::poa::Calling& calling()
{
    const auto* calling = kairos::poa::Calling::innermost();
    if (calling == nullptr || calling->servant() == nullptr) throw Current::NoContext();
    return *calling;
}

} // namespace

bool Current::_kairos_supports(std::string_view repository_id) const
{
    return repository_id == _kairos_id || CORBA::Current::_kairos_supports(repository_id);
}

POA_ptr Current::get_POA() { return POA::_duplicate(&POA::_kairos_of(calling().adapter())); }

ObjectId* Current::get_object_id()
{
    const auto object = calling().adapter().called(calling());
    ObjectId_var id = new ObjectId;
    id->length(static_cast<CORBA::ULong>(object.id.size()));
    if (!object.id.empty()) std::memcpy(id->get_buffer(), object.id.data(), object.id.size());
    return id._retn();
}

CORBA::Object_ptr Current::get_reference()
{
    return POA::_kairos_of(calling().adapter())._kairos_called(calling());
}

Servant Current::get_servant()
{
    auto* servant = static_cast<Servant>(calling().servant());
    servant->_add_ref();
    return servant;
}

} // namespace PortableServer
