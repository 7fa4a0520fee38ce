// SPDX-License-Identifier: Apache-2.0
//
// A server of Everything, or a client that runs every check on one. Plain mapping code, for any
// ORB.
//
//     all_peer serve                            prints a reference, serves until its input ends
//     all_peer check REFERENCE [-without NAME]… one line a check; -without leaves out those whose
//                                               name, with a space behind it, contains NAME
#include "all_checks.h"
#include "all_servant.h"

#include <iostream>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

All::Everything_ptr activate(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const PortableServer::Servant_var<all::EverythingServant> servant = new all::EverythingServant;
    return servant->_this();
}

void serve(CORBA::ORB_ptr orb)
{
    const All::Everything_var object = activate(orb);
    const CORBA::String_var reference = orb->object_to_string(object.in());
    std::cout << reference.in() << std::endl;
    std::thread input([orb] {
        char octet;
        while (read(STDIN_FILENO, &octet, 1) > 0) {
        }
        orb->shutdown(false);
    });
    orb->run();
    input.join();
}

/// Whether it held.
bool run(const all::Check& check, all::Context& context)
{
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
        std::cout << "ok " << check.name << std::endl;
    else
        std::cout << "FAILED " << check.name << ": " << failure << std::endl;
    return failure.empty();
}

bool run_checks(CORBA::ORB_ptr orb, const char* reference,
                const std::vector<std::string_view>& without)
{
    const CORBA::Object_var object = orb->string_to_object(reference);
    const All::Everything_var server = All::Everything::_narrow(object.in());
    const All::Everything_var own = activate(orb);
    all::Context context = all::make_context(orb, server.in(), own.in());
    bool held = true;
    for (const all::Check& check : all::all_checks()) {
        bool wanted = true;
        for (const std::string_view name : without)
            wanted = wanted && (check.name + ' ').find(name) == std::string::npos;
        if (wanted && !run(check, context)) held = false;
    }
    return held;
}

} // namespace

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    bool held = true;
    if (arguments.size() == 1 && arguments[0] == "serve") {
        serve(orb.in());
    } else if (arguments.size() >= 2 && arguments[0] == "check") {
        std::vector<std::string_view> without;
        for (std::size_t i = 3; i < arguments.size(); i += 2)
            without.push_back(arguments[i]);
        held = run_checks(orb.in(), argv[2], without);
    } else {
        std::cerr << "usage: all_peer serve | check REFERENCE [-without NAME]…\n";
        return 2;
    }
    orb->destroy();
    return held ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "all_peer: " << exception._name() << '\n';
    return 1;
}
