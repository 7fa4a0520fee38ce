// SPDX-License-Identifier: Apache-2.0
//
// A gateway in a program: a greeter listens at a Unix socket only; the gateway leads to it from
// TCP. Three ORBs, as three programs would have them, and no generated code.
#include <kairos/corba/CORBA.h>
#include <kairos/corba/portable_server.h>
#include <kairos/gateway/gateway.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

/// What the gateway is told of interfaces: operation, result, parameters.
class Greeters final : public kairos::gateway::Interfaces {
  public:
    std::shared_ptr<const kairos::gateway::Interface> interface_of(CORBA::Object_ptr) override
    {
        using kairos::gateway::Operation;
        Operation greet(CORBA::_tc_string);
        greet.add(Operation::Direction::in, CORBA::_tc_string); // whom
        greet.add(Operation::Direction::in, CORBA::_tc_Object); // on behalf of: a reference
        auto greeter = std::make_shared<kairos::gateway::Interface>();
        greeter->id = "IDL:Greeter:1.0";
        greeter->operations.emplace("greet", std::move(greet));
        return greeter;
    }
    CORBA::TypeCode_ptr type(std::string_view) override { return CORBA::TypeCode::_nil(); }
};

class Greeter final : public PortableServer::DynamicImplementation {
  public:
    void invoke(CORBA::ServerRequest_ptr request) override
    {
        CORBA::NVList_ptr arguments = new CORBA::NVList;
        arguments->add(CORBA::ARG_IN)->value()->replace(CORBA::_tc_string, nullptr);
        arguments->add(CORBA::ARG_IN)->value()->replace(CORBA::_tc_Object, nullptr);
        request->arguments(arguments);
        const char* whom = nullptr;
        *arguments->item(0)->value() >>= whom;
        CORBA::Any greeting;
        greeting <<= ("Hello, " + std::string(whom) + "!").c_str();
        request->set_result(greeting);
    }
    char* _primary_interface(const PortableServer::ObjectId&, PortableServer::POA_ptr) override
    {
        return CORBA::string_dup("IDL:Greeter:1.0");
    }
};

CORBA::ORB_ptr make_orb(const char* id, std::vector<std::string> options)
{
    options.insert(options.begin(), id);
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return CORBA::ORB_init(count, arguments.data(), id);
}

PortableServer::POA_ptr active_root(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return poa._retn();
}

void run()
{
    const std::string socket = "uiop://@kairos-example-gateway-" + std::to_string(getpid());
    const CORBA::ORB_var inside = make_orb("inside", {"-ORBListenEndpoints", socket});
    const CORBA::ORB_var between =
        make_orb("between", {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const CORBA::ORB_var outside = make_orb("outside", {});

    const PortableServer::POA_var greeters = active_root(inside.in());
    Greeter greeter;
    const PortableServer::ObjectId_var id = greeters->activate_object(&greeter);
    const CORBA::Object_var own = greeters->id_to_reference(id.in());
    const CORBA::String_var target = inside->object_to_string(own.in());

    const PortableServer::POA_var root = active_root(between.in());
    Greeters known;
    {
        kairos::gateway::Gateway gateway(between.in(), known);
        const CORBA::Object_var behind = between->string_to_object(target.in());
        const CORBA::Object_var published = gateway.publish(behind.in());
        const CORBA::String_var reference = between->object_to_string(published.in());

        const CORBA::Object_var object = outside->string_to_object(reference.in());
        const CORBA::Request_var request = object->_request("greet");
        request->add_in_arg() <<= "world";
        request->add_in_arg() <<= object.in(); // leads to the greeter itself where it arrives
        request->set_return_type(CORBA::_tc_string);
        request->invoke();
        const char* greeting = nullptr;
        request->return_value() >>= greeting;
        std::cout << greeting << std::endl;
    }
    outside->destroy();
    between->destroy();
    inside->destroy();
}

} // namespace

int main()
{
    try {
        run();
        return EXIT_SUCCESS;
    } catch (const CORBA::Exception& exception) {
        std::cerr << exception.what() << std::endl;
        return EXIT_FAILURE;
    }
}
