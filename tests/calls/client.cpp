// SPDX-License-Identifier: Apache-2.0
//
// Runs every check on a server and prints one line a check; exits with 0 if all held.
//
//     calls_client REFERENCE [-without NAME]… [-end die|shut_down]
//
// -without leaves out checks whose name contains NAME; -end lets the server end last, at once or in
// order, and expects to be told. Plain mapping code,
// for any ORB.
#include "checks.h"
#include "servant.h"

#include <iostream>
#include <string_view>
#include <vector>

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

/// Of a server that is gone: a call ends with an exception, and so do those after it.
void expect_no_server(calls::Context& context)
{
    for (int failures = 0; failures < 3;) {
        try {
            context.server->nothing(); // may still be served: the request to end is a oneway
        } catch (const CORBA::COMM_FAILURE&) {
            ++failures;
        } catch (const CORBA::TRANSIENT&) {
            ++failures;
        } catch (const CORBA::OBJ_ADAPTER&) { // between the request and the end
        } catch (const CORBA::OBJECT_NOT_EXIST&) {
        }
    }
}

void end_at_once(calls::Context& context)
{
    context.server->die();
    expect_no_server(context);
}

void end_in_order(calls::Context& context)
{
    context.server->shut_down();
    expect_no_server(context);
}

/// Whether it held.
bool run(const calls::Check& check, calls::Context& context)
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
        std::cout << "ok " << check.name << '\n';
    else
        std::cout << "FAILED " << check.name << ": " << failure << '\n';
    return failure.empty();
}

struct Arguments {
    std::string_view reference;
    std::vector<std::string_view> without;
    std::string_view end;
};

/// What is left of the program's arguments; `reference` is empty if it is wrong.
Arguments parse(int argc, char** argv)
{
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (i + 1 < argc && argument == "-without")
            arguments.without.emplace_back(argv[++i]);
        else if (i + 1 < argc && argument == "-end")
            arguments.end = argv[++i];
        else if (arguments.reference.empty())
            arguments.reference = argument;
        else
            return {};
    }
    return arguments;
}

int run_checks(calls::Context& context, const Arguments& arguments)
{
    auto checks = calls::all_checks();
    for (const std::string_view name : arguments.without)
        std::erase_if(checks, [&](const calls::Check& check) {
            return check.name.find(name) != std::string::npos;
        });
    if (arguments.end == "die") checks.push_back({"end_at_once", end_at_once});
    if (arguments.end == "shut_down") checks.push_back({"end_in_order", end_in_order});
    int failures = 0;
    for (const calls::Check& check : checks)
        failures += run(check, context) ? 0 : 1;
    return failures;
}

} // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    const Arguments arguments = parse(argc, argv);
    if (arguments.reference.empty()) {
        std::cerr << "usage: calls_client REFERENCE [-without NAME]… [-end die|shut_down]\n";
        return 2;
    }
    int failures = 0;
    {
        CORBA::Object_var object = orb->string_to_object(arguments.reference.data());
        Types::Echo_var server = Types::Echo::_narrow(object.in());
        Types::Echo_var own = make_own_object(orb.in());
        calls::Context context = calls::make_context(orb.in(), server.in(), own.in());
        failures = run_checks(context, arguments);
    }
    orb->destroy();
    return failures == 0 ? 0 : 1;
} catch (const CORBA::Exception& exception) {
    std::cerr << "calls_client: " << exception._name() << '\n';
    return 1;
}
