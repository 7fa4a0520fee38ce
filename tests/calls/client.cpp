// SPDX-License-Identifier: Apache-2.0
//
// Runs every check on the server whose reference is the argument, and prints one line a check.
// Exits with 0 if all held. Plain mapping code, for any ORB.
#include "checks.h"
#include "servant.h"

#include <iostream>
#include <string_view>

namespace {

Types::Echo_ptr make_own_object(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    PortableServer::Servant_var<calls::EchoServant> servant =
        new calls::EchoServant(orb, poa.in(), {});
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return servant->_this();
}

int run_checks(calls::Context& context)
{
    int failures = 0;
    for (const calls::Check& check : calls::all_checks()) {
        std::string failure;
        try {
            check.run(context);
        } catch (const CORBA::SystemException& exception) {
            failure = std::string(exception._name()) + " " + std::to_string(exception.minor());
        } catch (const CORBA::Exception& exception) {
            failure = exception._name();
        } catch (const std::exception& exception) {
            failure = exception.what();
        }
        if (failure.empty())
            std::cout << "ok " << check.name << '\n';
        else
            std::cout << "FAILED " << check.name << ": " << failure << '\n';
        failures += failure.empty() ? 0 : 1;
    }
    return failures;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 2) {
        std::cerr << "usage: echo_client REFERENCE\n";
        return 2;
    }
    int failures = 0;
    {
        CORBA::Object_var object = orb->string_to_object(argv[1]);
        Types::Echo_var server = Types::Echo::_narrow(object.in());
        Types::Echo_var own = make_own_object(orb.in());
        calls::Context context = calls::make_context(orb.in(), server.in(), own.in());
        failures = run_checks(context);
    }
    orb->destroy();
    return failures == 0 ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "echo_client: " << exception._name() << '\n';
    return 1;
}
