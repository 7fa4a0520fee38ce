// SPDX-License-Identifier: Apache-2.0
//
// Mistakes of the people who start a server: options that do not exist or make no sense, addresses
// that cannot be had. The exception's text names the option, the value and the system's reason.
#include "tests/malformed/fake_server.h"

#include <optional>

namespace kairos::orb_testing {
namespace {

/// What ORB_init, and then asking for the RootPOA, says about these options.
std::string complaint(const std::vector<std::string>& options)
{
    try {
        const CORBA::ORB_var orb = make_orb(options);
        try {
            const CORBA::Object_var poa = orb->resolve_initial_references("RootPOA");
        } catch (const CORBA::INITIALIZE& exception) {
            EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
            orb->destroy();
            return exception.what();
        }
        orb->destroy();
        return "none";
    } catch (const CORBA::BAD_PARAM& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        return exception.what();
    }
}

#define EXPECT_COMPLAINT(options, part)                                                            \
    EXPECT_NE(complaint(options).find(part), std::string::npos) << complaint(options)

using Arguments = std::vector<std::string>;

TEST(Startup, OptionsThatDoNotExist)
{
    EXPECT_COMPLAINT((Arguments{"-ORBNoSuchThing", "1"}), "-ORBNoSuchThing");
    EXPECT_COMPLAINT(Arguments{"-ORB"}, "-ORB");
    EXPECT_COMPLAINT(Arguments{"-ORBConcurrency"}, "-ORBConcurrency needs a value");
}

/// This program is linked with none of the libraries that are named here.
TEST(Startup, WhatNeedsAnotherLibrary)
{
    EXPECT_COMPLAINT((Arguments{"-ORBAccess", "rules.toml"}),
                     "-ORBAccess: the program is not linked with libkairos-access");
    EXPECT_COMPLAINT((Arguments{"-ORBCsi", "csi.toml"}),
                     "-ORBCsi: the program is not linked with libkairos-csiv2");
    EXPECT_COMPLAINT((Arguments{"-ORBMulticast", "ttl=2"}),
                     "-ORBMulticast: the program is not linked with libkairos-datagrams");
    EXPECT_COMPLAINT((Arguments{"-ORBListenEndpoints", "ssliop://"}),
                     "endpoint 'ssliop://': the program is not linked with libkairos-tls");
    EXPECT_COMPLAINT((Arguments{"-ORBTlsClient", "required"}),
                     "-ORBTls… options: the program is not linked with libkairos-tls");
    EXPECT_EQ(complaint({"-ORBTlsClient", "never"}), "none");
    ior::IiopProfile profile{.version = {1, 2},
                             .host = "127.0.0.1",
                             .port = 0,
                             .object_key = {std::byte{1}},
                             .components = {ior::make_secure_address({.port = 684})}};
    const std::string text = ior::to_string(ior::Ior{"", {ior::encode_iiop(profile)}});
    Client client;
    try {
        const Probe::Target_var target = client.target(text);
        target->ping();
        FAIL();
    } catch (const CORBA::TRANSIENT& exception) {
        EXPECT_NE(std::string(exception.what())
                      .find("the server wants TLS: the program is not linked with libkairos-tls"),
                  std::string::npos)
            << exception.what();
    }
}

TEST(Startup, ValuesThatMakeNoSense)
{
    const Arguments bad[] = {
        {"-ORBConcurrency", "fast"},
        {"-ORBMaxMessageSize", "0"},
        {"-ORBMaxMessageSize", "1e9"},
        {"-ORBMaxMessageSize", "99999999999"},
        {"-ORBMaxConnections", "-1"},
        {"-ORBMaxConnections", "many"},
        {"-ORBFragmentSize", "3"},
        {"-ORBGIOPVersion", "1.3"},
        {"-ORBSendQueue", "x"},
        {"-ORBNoDelay", "maybe"},
        {"-ORBInitRef", "NameService"},
        {"-ORBListenEndpoints", ""},
        {"-ORBListenEndpoints", "tcp://x"},
        {"-ORBListenEndpoints", "iiop://127.0.0.1:65536"},
        {"-ORBListenEndpoints", "iiop://[::1"},
        {"-ORBListenEndpoints", "iiop://127.0.0.1:1/what=ever"},
        {"-ORBListenEndpoints", "iiop://127.0.0.1:1/hostname_in_ior=0.0.0.0"},
        {"-ORBPublish", "everything"},
        {"-ORBPublish", "host=[::]:7000"},
        {"-ORBPublishAs", "components"},
        {"-ORBPlainKeys", "yes"},
    };
    for (const Arguments& options : bad) {
        EXPECT_COMPLAINT(options, options[0]);
        EXPECT_COMPLAINT(options, options[1]);
    }
}

TEST(Startup, PortThatIsTaken)
{
    for (const char* concurrency : {"thread-per-connection", "reactor"}) {
        RunningServer server(concurrency);
        const std::string endpoint = "iiop://127.0.0.1:" + std::to_string(server.port());
        const Arguments options{"-ORBConcurrency", concurrency, "-ORBListenEndpoints", endpoint};
        EXPECT_COMPLAINT(options, "-ORBListenEndpoints " + endpoint);
        EXPECT_COMPLAINT(options, "Address already in use");
        RawPeer peer = server.connect(); // the one that has it is unharmed
        peer.send(server.ping());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    }
}

TEST(Startup, InterfaceThatIsNotThisMachines)
{
    const Arguments options{"-ORBListenEndpoints", "iiop://192.0.2.1:0"}; // RFC 5737: nobody's
    EXPECT_COMPLAINT(options, "-ORBListenEndpoints iiop://192.0.2.1:0");
    EXPECT_COMPLAINT(options, "Cannot assign requested address");
}

TEST(Startup, AddressesThatCannotBePublished)
{
    const std::string loopback = "iiop://127.0.0.1";
    EXPECT_COMPLAINT((Arguments{"-ORBPublish", "interface=none"}), "-ORBPublish: interface=none: ");
    EXPECT_COMPLAINT((Arguments{"-ORBListenEndpoints", loopback, "-ORBPublish", "ipv6"}),
                     "-ORBPublish: the server has no address");
}

TEST(Startup, OneBadEndpointOfSeveralGivesAllBack)
{
    const HeldPorts port(1);
    const std::string good = port.endpoint();
    EXPECT_COMPLAINT((Arguments{"-ORBListenEndpoints", good + ";iiop://192.0.2.1"}), "192.0.2.1");
    EXPECT_EQ(complaint({"-ORBListenEndpoints", good}), "none"); // its port is free again
}

TEST(Startup, AfterAComplaintTheOrbCanBeAskedAgain)
{
    std::optional<RunningServer> server;
    server.emplace("thread-per-connection");
    const std::string endpoint = "iiop://127.0.0.1:" + std::to_string(server->port());
    const CORBA::ORB_var orb = make_orb({"-ORBListenEndpoints", endpoint});
    EXPECT_THROW((void)orb->resolve_initial_references("RootPOA"), CORBA::INITIALIZE);
    server.reset();
    const CORBA::Object_var poa = orb->resolve_initial_references("RootPOA");
    EXPECT_FALSE(CORBA::is_nil(poa));
    orb->destroy();
}

} // namespace
} // namespace kairos::orb_testing
