// SPDX-License-Identifier: Apache-2.0
//
// A server in the classic mapping, as a user writes it against the installed package: one servant
// in the RootPOA, its reference in a file, "ready" on standard output; it serves until it is ended.
#include "hello_skel.h"

#include <fstream>
#include <iostream>
#include <string>

class HelloServant : public virtual POA_Hello {
  public:
    char* greet(const char* name) override
    {
        const std::string greeting = std::string("Hello, ") + name + "!";
        return CORBA::string_dup(greeting.c_str());
    }
};

int main(int argc, char** argv)
{
    try {
        CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
        if (argc != 2) {
            std::cerr << "usage: hello_server IOR-FILE\n";
            return 2;
        }
        CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());

        PortableServer::Servant_var<HelloServant> servant = new HelloServant;
        PortableServer::ObjectId_var id = poa->activate_object(servant.in());
        CORBA::Object_var reference = poa->id_to_reference(id.in());
        CORBA::String_var text = orb->object_to_string(reference.in());
        std::ofstream(argv[1]) << text.in() << '\n';

        PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::cout << "ready" << std::endl;
        orb->run();
        orb->destroy();
    } catch (const CORBA::Exception& exception) {
        std::cerr << "server: " << exception._name() << '\n';
        return 1;
    }
    return 0;
}
