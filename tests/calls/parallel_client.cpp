// SPDX-License-Identifier: Apache-2.0
//
// Calls a server from several threads at once; one line for each thing that did not hold, and one
// at the end. Exits with 0 if all held.
//
//     calls_parallel_client REFERENCE
//
// Plain mapping code, for any ORB.
#include "parallel.h"

#include <iostream>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) {
        std::cerr << "usage: calls_parallel_client REFERENCE\n";
        return 2;
    }
    std::vector<std::string> failures;
    {
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        object = orb->string_to_object(argv[1]);
        Types::Echo_var server = Types::Echo::_narrow(object.in());
        failures = calls::call_in_parallel(server.in(), poa.in());
    }
    orb->destroy();
    for (const std::string& failure : failures)
        std::cout << "FAILED " << failure << '\n';
    if (failures.empty()) std::cout << "ok parallel\n";
    return failures.empty() ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "calls_parallel_client: " << exception._name() << '\n';
    return 1;
}
