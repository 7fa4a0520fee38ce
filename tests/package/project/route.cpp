// SPDX-License-Identifier: Apache-2.0
//
// What the ORB has only where somebody asks for it, in a program that names no more of it than it
// needs. Ends with "ok".
#include "route_skel.h"

#include <kairos/corba/CORBA.h>
#include <kairos/corba/ior_table.h>
#include <kairos/rtcorba/RTCORBA.h>

#include <iostream>

namespace {

template <typename Interface>
bool has(CORBA::ORB_ptr orb, const char* name)
{
    CORBA::Object_var object = orb->resolve_initial_references(name);
    typename Interface::_var_type narrowed = Interface::_narrow(object);
    if (!CORBA::is_nil(narrowed)) return true;
    std::cout << "FAILED: " << name << std::endl;
    return false;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const Route::Stop stop{};
    CORBA::Any any;
    any <<= stop;
    if (!has<RTCORBA::RTORB>(orb, "RTORB") || !has<RTCORBA::Current>(orb, "RTCurrent") ||
        !has<CORBA::PolicyManager>(orb, "ORBPolicyManager") ||
        !has<CORBA::PolicyCurrent>(orb, "PolicyCurrent") || !has<IORTable::Table>(orb, "IORTable"))
        return 1;
    orb->destroy();
    std::cout << "ok" << std::endl;
} catch (const CORBA::Exception& exception) {
    std::cout << "FAILED: " << exception._name() << std::endl;
    return 1;
}
