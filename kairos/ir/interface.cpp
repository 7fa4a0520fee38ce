// SPDX-License-Identifier: Apache-2.0
//
// The one operation of every object, and of every servant, that needs the Interface Repository's
// stubs: here, so that no other program has them.
#include "kairos/corba/invocation.h"
#include "kairos/corba/servant.h"
#include "kairos/ir/ir.h"

#include "kairos/base/export.h"
namespace CORBA {

InterfaceDef_ptr Object::_get_interface()
{
    static constexpr kairos::orb::Operation operation{"_interface"};
    kairos::corba::Invocation call(*this, operation);
    call.invoke();
    InterfaceDef_var interface = kairos::corba::decode_reference<InterfaceDef>(call.in());
    call.finish();
    return interface._retn();
}

} // namespace CORBA

namespace kairos::corba {

// servant.cpp asks for this, and for what linked.h has, if they are there.
KAIROS_API CORBA::InterfaceDef_ptr interface_definition(CORBA::Object_ptr object);

CORBA::InterfaceDef_ptr interface_definition(CORBA::Object_ptr object)
{
    return CORBA::InterfaceDef::_unchecked_narrow(object);
}

CORBA::Object_ptr interface_of(PortableServer::ServantBase& servant)
{
    return servant._get_interface();
}

} // namespace kairos::corba
