// SPDX-License-Identifier: Apache-2.0
//
// A server that takes calls by TLS alone, and only from clients that its authority has signed for;
// a client that shows such a certificate, and one that has none. All certificates are of `kairos
// certs FOLDER`; TLS itself is a matter of options.
#include "press_skel.h"

#include <kairos/ssliop/KairosTls.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// Says who has called.
class PressServant final : public POA_Press {
  public:
    explicit PressServant(KairosTls::Current_ptr current)
        : current_(KairosTls::Current::_duplicate(current))
    {
    }
    char* stop() override
    {
        const KairosTls::Peer_var peer = current_->get_peer();
        return CORBA::string_dup(("stopped for " + std::string(peer->subject)).c_str());
    }

  private:
    const KairosTls::Current_var current_;
};

CORBA::ORB_ptr make_orb(const char* name, std::vector<std::string> options)
{
    options.insert(options.begin(), name);
    options.insert(options.end(), {"-ORBDebug", "0"}); // what the log says of the stranger
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(options.size());
    return CORBA::ORB_init(count, arguments.data(), name);
}

void call(CORBA::ORB_ptr client, const char* reference)
{
    const CORBA::Object_var object = client->string_to_object(reference);
    const Press_var press = Press::_unchecked_narrow(object);
    try {
        const CORBA::String_var answer = press->stop();
        std::cout << answer.in() << '\n';
    } catch (const CORBA::SystemException&) {
        // NO_PERMISSION, or COMM_FAILURE where the connection ended before it could say why.
        std::cout << "refused\n";
    }
}

void run(const std::string& keys)
{
    const std::string authority = keys + "/ca.pem";
    const CORBA::ORB_var server =
        make_orb("server", {"-ORBListenEndpoints", "ssliop://127.0.0.1", "-ORBTlsCertificate",
                            keys + "/server.pem", "-ORBTlsKey", keys + "/server-key.pem",
                            "-ORBTlsTrust", authority, "-ORBTlsVerifyClient", "required"});
    const CORBA::ORB_var client =
        make_orb("client", {"-ORBTlsClient", "required", "-ORBTlsCertificate", keys + "/client.pem",
                            "-ORBTlsKey", keys + "/client-key.pem", "-ORBTlsTrust", authority});
    const CORBA::ORB_var stranger =
        make_orb("stranger", {"-ORBTlsClient", "required", "-ORBTlsTrust", authority});

    const CORBA::Object_var found = server->resolve_initial_references("SSLIOPCurrent");
    const KairosTls::Current_var current = KairosTls::Current::_narrow(found);
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableServer::Servant_var<PressServant> servant = new PressServant(current);
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var reference = server->object_to_string(object);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    call(client, reference);
    call(stranger, reference);
    for (const CORBA::ORB_var& each : {stranger, client, server})
        each->destroy();
}

} // namespace

int main(int argc, char** argv)
try {
    if (argc != 2) {
        std::cerr << "usage: tls_press FOLDER, of `kairos certs FOLDER`\n";
        return 2;
    }
    run(argv[1]);
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "tls_press: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
