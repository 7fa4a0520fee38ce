// SPDX-License-Identifier: Apache-2.0
//
// A server without a skeleton: it serves the interface of examples/hello, whose IDL it has never
// seen. Its reference goes to standard output; it serves until it is ended.
#include "kairos/corba/CORBA.h"
#include "kairos/corba/portable_server.h"

#include <iostream>
#include <string>

class Greeter : public PortableServer::DynamicImplementation {
  public:
    explicit Greeter(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    void invoke(CORBA::ServerRequest_ptr request) override
    {
        if (std::string(request->operation()) != "greet")
            throw CORBA::BAD_OPERATION(0, CORBA::COMPLETED_NO);
        CORBA::NVList_ptr arguments = nullptr; // the request's, as soon as it has it
        orb_->create_list(0, arguments);
        arguments->add_item("name", CORBA::ARG_IN)->value()->replace(CORBA::_tc_string, nullptr);
        request->arguments(arguments);
        const char* name = nullptr;
        *arguments->item(0)->value() >>= name;
        CORBA::Any greeting;
        greeting <<= ("Hello, " + std::string(name) + "!").c_str();
        request->set_result(greeting);
    }
    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup("IDL:Hello:1.0");
    }

  private:
    CORBA::ORB_var orb_;
};

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::Servant_var<Greeter> greeter = new Greeter(orb);
    PortableServer::ObjectId_var id = poa->activate_object(greeter);
    CORBA::Object_var hello = poa->id_to_reference(id);
    CORBA::String_var reference = orb->object_to_string(hello);
    std::cout << reference << std::endl;
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    orb->run();
} catch (const CORBA::Exception& exception) {
    std::cerr << "dynamic_server: " << exception.what() << '\n';
    return 1;
}
