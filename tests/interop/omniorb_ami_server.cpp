// SPDX-License-Identifier: Apache-2.0
//
// The object of tests/ami in omniORB, until the input ends.
#include "tests/ami/servant.h"

#include <iostream>
#include <thread>
#include <unistd.h>

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    kairos::ami_testing::Servant servant;
    PortableServer::ObjectId_var id = poa->activate_object(&servant);
    CORBA::Object_var target = poa->id_to_reference(id.in());
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var reference = orb->object_to_string(target.in());
    std::cout << reference.in() << std::endl;
    std::thread input([&orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        orb->shutdown(false);
    });
    orb->run();
    input.join();
    orb->destroy();
    return 0;
} catch (const CORBA::Exception& exception) {
    std::cerr << "omniorb_ami_server: " << exception._name() << '\n';
    return 1;
}
