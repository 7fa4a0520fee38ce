// SPDX-License-Identifier: Apache-2.0
//
// A server of Echo for tests: its reference is the first line of its output. It ends, in order, at
// the end of its input or when a client asks for it. Plain mapping code, for any ORB.
#include "servant.h"

#include <cstdio>
#include <iostream>
#include <thread>
#include <unistd.h>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    const calls::Commands commands{[&orb] { orb->shutdown(false); }, [] { _exit(3); }};
    PortableServer::Servant_var<calls::EchoServant> servant =
        new calls::EchoServant(orb.in(), poa.in(), commands);
    Types::Echo_var echo = servant->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var reference = orb->object_to_string(echo.in());
    std::cout << reference.in() << std::endl;

    std::thread input([&orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        try {
            orb->shutdown(false);
        } catch (const CORBA::BAD_INV_ORDER&) { // a client asked before
        }
    });
    try {
        orb->run();
    } catch (const CORBA::BAD_INV_ORDER&) { // the input ended before it came to that
    }
    close(STDOUT_FILENO); // whoever waits for our end need not close our input first
    input.join();
    orb->destroy();
    return 0;
} catch (const CORBA::Exception& exception) {
    std::cerr << "echo_server: " << exception._name() << '\n';
    return 1;
}
