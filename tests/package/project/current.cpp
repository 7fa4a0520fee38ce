// SPDX-License-Identifier: Apache-2.0
//
// Nothing of Real-Time CORBA but what headers define: no symbol tells that the library is used.
// Ends with "ok".
#include <kairos/rtcorba/RTCORBA.h>

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RTCurrent");
    std::cout << (CORBA::is_nil(object) ? "FAILED: nil" : "ok") << std::endl;
} catch (const CORBA::Exception& exception) {
    std::cout << "FAILED: " << exception._name() << std::endl;
    return 1;
}
