// SPDX-License-Identifier: Apache-2.0
//
// The one operation of every object that needs the Interface Repository's stubs: here, so that no
// other program has them.
#include "kairos/corba/invocation.h"
#include "kairos/ir/ir.h"

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
