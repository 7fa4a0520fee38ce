// SPDX-License-Identifier: Apache-2.0
//
// A server of Everything, or a client that runs every check on one. Plain mapping code, for any
// ORB.
//
//     all_peer serve|serve-dynamic   prints a reference, serves until its input ends; dynamic:
//                                    without a skeleton
//     all_peer check|dynamic REFERENCE [-without NAME | -MARSHAL NAME | -INV_OBJREF NAME]…
//                                    one line a check; of those whose name, with a space behind it,
//                                    contains NAME, -without leaves out all, and the others expect
//                                    this refusal of what has wide text; dynamic: without stubs
#include "all_checks.h"
#include "all_dynamic_servant.h"
#include "all_servant.h"

#include <algorithm>
#include <iostream>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

PortableServer::POA_ptr active_root(CORBA::ORB_ptr orb)
{
    const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object.in());
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    return poa._retn();
}

All::Everything_ptr activate(CORBA::ORB_ptr orb)
{
    const PortableServer::POA_var poa = active_root(orb);
    const PortableServer::Servant_var<all::EverythingServant> servant = new all::EverythingServant;
    return servant->_this();
}

CORBA::Object_ptr activate_dynamic(CORBA::ORB_ptr orb)
{
    const PortableServer::POA_var poa = active_root(orb);
    const PortableServer::Servant_var<all::DynamicEverything> servant =
        new all::DynamicEverything(orb);
    const PortableServer::ObjectId_var id = poa->activate_object(servant.in());
    return poa->id_to_reference(id.in());
}

void serve(CORBA::ORB_ptr orb, CORBA::Object_ptr activated)
{
    const CORBA::Object_var object = activated;
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

std::string describe(const CORBA::SystemException& exception)
{
    return std::string(exception._name()) + ' ' + std::to_string(exception.minor());
}

/// Why the check does not hold, empty if it does.
std::string failure_of(const all::Check& check, all::Context& context)
{
    try {
        check.run(context);
    } catch (const CORBA::SystemException& exception) {
        return describe(exception);
    } catch (const CORBA::Exception& exception) {
        return exception._name();
    } catch (const std::exception& exception) {
        return exception.what();
    }
    return {};
}

/// The same of a check that must be refused, sooner or later: not every value has wide text.
std::string failure_to_refuse(const all::Check& check, all::Context& context,
                              std::string_view exception)
{
    constexpr CORBA::ULong omg = 0x4f4d0000;
    const std::vector<std::string> expected =
        exception == "MARSHAL"
            ? std::vector{describe(CORBA::MARSHAL(omg | 5, CORBA::COMPLETED_NO)), // to a server
                          describe(CORBA::MARSHAL(omg | 6, CORBA::COMPLETED_NO))} // to a client
            : std::vector{describe(CORBA::INV_OBJREF(omg | 1, CORBA::COMPLETED_NO))};
    for (int attempt = 0; attempt < 10; ++attempt) {
        const std::string failure = failure_of(check, context);
        if (std::ranges::find(expected, failure) != expected.end()) return {};
        if (!failure.empty()) return failure;
    }
    return "not refused";
}

/// An option of the command line about all checks whose name contains this one.
struct Rule {
    std::string_view option;
    std::string_view name;
};

bool run_checks(CORBA::ORB_ptr orb, const std::vector<all::Check>& checks, const char* reference,
                const std::vector<Rule>& rules)
{
    const CORBA::Object_var object = orb->string_to_object(reference);
    const All::Everything_var server = All::Everything::_narrow(object.in());
    const All::Everything_var own = activate(orb);
    all::Context context = all::make_context(orb, server.in(), own.in());
    bool held = true;
    for (const all::Check& check : checks) {
        const auto rule = std::ranges::find_if(rules, [&](const Rule& candidate) {
            return (check.name + ' ').find(candidate.name) != std::string::npos;
        });
        if (rule != rules.end() && rule->option == "-without") continue;
        const std::string failure = rule == rules.end()
                                        ? failure_of(check, context)
                                        : failure_to_refuse(check, context, rule->option.substr(1));
        if (failure.empty())
            std::cout << "ok " << check.name << std::endl;
        else
            std::cout << "FAILED " << check.name << ": " << failure << std::endl;
        held = held && failure.empty();
    }
    return held;
}

} // namespace

#ifdef PEER_OMNIORB
/// omniORB's stubs do not give back what an inout value was before the call.
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "detect_leaks=0"; }
#endif

int main(int argc, char** argv)
try {
    const CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    all::register_factories(orb.in());
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    bool held = true;
    if (arguments.size() == 1 && arguments[0] == "serve") {
        serve(orb.in(), activate(orb.in()));
    } else if (arguments.size() == 1 && arguments[0] == "serve-dynamic") {
        serve(orb.in(), activate_dynamic(orb.in()));
    } else if (arguments.size() >= 2 && (arguments[0] == "check" || arguments[0] == "dynamic")) {
        std::vector<Rule> rules;
        for (std::size_t i = 2; i + 1 < arguments.size(); i += 2)
            rules.push_back({arguments[i], arguments[i + 1]});
        const auto checks = arguments[0] == "check" ? all::all_checks() : all::dynamic_checks();
        held = run_checks(orb.in(), checks, argv[2], rules);
    } else {
        std::cerr
            << "usage: all_peer serve|serve-dynamic | check|dynamic REFERENCE [OPTION NAME]…\n";
        return 2;
    }
    all::NodeImpl::cut_all();
    orb->destroy();
    return held ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "all_peer: " << exception._name() << '\n';
    return 1;
}
