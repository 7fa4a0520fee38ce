// SPDX-License-Identifier: Apache-2.0
//
// A server: one servant, its reference on standard output. It serves until it is ended.
#include "hello_skel.h"

#include <iostream>
#include <string>

class Greeter : public POA_Hello {
  public:
    char* greet(const char* name) override
    {
        return CORBA::string_dup(("Hello, " + std::string(name) + "!").c_str());
    }
};

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Greeter> greeter = new Greeter;
    Hello_var hello = greeter->_this();
    CORBA::String_var reference = orb->object_to_string(hello);
    std::cout << reference << std::endl;
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    orb->run();
} catch (const CORBA::Exception& exception) {
    std::cerr << "hello_server: " << exception.what() << '\n';
    return 1;
}
