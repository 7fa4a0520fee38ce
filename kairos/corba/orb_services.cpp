// SPDX-License-Identifier: Apache-2.0
//
// CORBA::ORB: what it says of services. Apart from orb.cpp, which can do without the structs.
#include "kairos/corba/orb.h"
#include "kairos/corba/orb_types.h"

namespace CORBA {

Boolean ORB::get_service_information(ServiceType /*service_type*/,
                                     ServiceInformation_out service_information)
{
    _kairos_require_running();
    service_information = new ServiceInformation;
    return false;
}

} // namespace CORBA
