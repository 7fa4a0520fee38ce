// SPDX-License-Identifier: Apache-2.0
//
// A server that is reached by a transport of the program's own (keyed_transport.h), a client that
// knows the key, and somebody who finds the socket and does not.
#include "keyed_transport.h"
#include "vault_skel.h"

#include <kairos/corba/CORBA.h>
#include <kairos/net/connector.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

class VaultServant final : public POA_Vault {
  public:
    char* look(const char* box) override
    {
        return CORBA::string_dup((std::string(box) + " holds a letter").c_str());
    }
};

CORBA::ORB_ptr make_server(const std::string& socket)
{
    std::vector<std::string> options{"server", "-ORBListenEndpoints", "keyiop://" + socket,
                                     "-ORBDebug", "0"};
    std::vector<char*> arguments;
    for (std::string& option : options)
        arguments.push_back(option.data());
    arguments.push_back(nullptr);
    int count = static_cast<int>(options.size());
    return CORBA::ORB_init(count, arguments.data(), "server");
}

/// What becomes of a request whose sender has no key.
void knock(const std::string& path)
{
    auto socket = kairos::net::connect(kairos::net::Address::unix_path(path).value());
    if (!socket) throw CORBA::TRANSIENT();
    constexpr std::string_view request = "open the vault, please";
    std::byte answer{};
    (void)socket->write_all(kairos::as_bytes(request));
    const bool answered = socket->read(kairos::MutableBytes(&answer, 1)).ok();
    std::cout << "without the key: " << (answered ? "answered" : "no answer") << '\n';
}

void run(CORBA::ORB_ptr server, CORBA::ORB_ptr client, const std::string& socket)
{
    const CORBA::Object_var root = server->resolve_initial_references("RootPOA");
    const PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    const PortableServer::Servant_var<VaultServant> servant = new VaultServant;
    const PortableServer::ObjectId_var id = poa->activate_object(servant);
    const CORBA::Object_var reference = poa->id_to_reference(id);
    const CORBA::String_var text = server->object_to_string(reference);
    const PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();

    const CORBA::Object_var object = client->string_to_object(text);
    const Vault_var vault = Vault::_unchecked_narrow(object);
    const CORBA::String_var found = vault->look("box 7");
    std::cout << "with the key: " << found.in() << '\n';
    knock(socket);
}

} // namespace

int main(int argc, char** argv)
try {
    KeyedTransport::Key key{}; // a real one comes from a file
    key.fill(std::byte{0x2a});
    static const KeyedTransport transport(key);
    if (const auto added = kairos::orb::add_transport(transport); !added) {
        std::cerr << "vault: " << added.error().reason << '\n';
        return EXIT_FAILURE;
    }
    const std::string socket = "@kairos-vault-" + std::to_string(::getpid());
    const CORBA::ORB_var client = CORBA::ORB_init(argc, argv);
    const CORBA::ORB_var server = make_server(socket);
    run(server, client, socket);
    client->destroy();
    server->destroy();
    return EXIT_SUCCESS;
} catch (const CORBA::Exception& exception) {
    std::cerr << "vault: " << exception.what() << '\n';
    return EXIT_FAILURE;
}
