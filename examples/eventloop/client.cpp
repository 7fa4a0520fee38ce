// SPDX-License-Identifier: Apache-2.0
//
// Asks a clock until it has gone on.
#include "clock.h"

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->string_to_object(argc > 1 ? argv[1] : "");
    Clock_var clock = Clock::_narrow(object);
    const CORBA::ULong first = clock->ticks();
    while (clock->ticks() == first) {
    }
    std::cout << "ticking\n";
    orb->destroy();
} catch (const CORBA::Exception& exception) {
    std::cerr << "eventloop_client: " << exception.what() << '\n';
    return 1;
}
