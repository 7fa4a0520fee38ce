// SPDX-License-Identifier: Apache-2.0
//
// Every type of IDL through `kairos gateway`, which has the IDL file and no generated code: between
// two processes of Kairos, and with omniORB as client, as server and as both, over every GIOP
// version.
#include "peer.h"

using namespace interop;

namespace {

// State of custom valuetypes says nothing of what is in it: it does not pass (docs/gateway.md).
const Arguments custom{"-without", "Route"};
constexpr int checks_of_kairos = 349;

Arguments kairos(const std::string& version)
{
    return {"-ORBDebug",       "0",    "-ORBListenEndpoints", "iiop://127.0.0.1:0",
            "-ORBGIOPVersion", version};
}

/// A gateway to this reference; killed at the end.
class GatewayProcess {
  public:
    GatewayProcess(const std::string& target, const std::string& version,
                   const Arguments& options = {})
        : process_(Arguments{KAIROS_TOOL, "gateway", "--listen", "iiop://127.0.0.1:0", "--idl",
                             ALL_TYPES_IDL, "-I", KAIROS_IDL_DIRECTORY, target, "-ORBGIOPVersion",
                             version} +
                   options),
          reference(process_.read_line())
    {
    }

  private:
    calls::Process process_;

  public:
    const std::string reference;
};

class Gateway : public testing::TestWithParam<const char*> {};

std::string version_name(const testing::TestParamInfo<const char*>& info)
{
    return std::string("giop_1_") + info.param[2];
}

} // namespace

TEST_P(Gateway, LeadsFromItsVersionToAnother)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos("1.2"));
    const GatewayProcess gateway(server.reference[0], GetParam());
    expect_checks(Arguments{ALL_PEER, "check", gateway.reference} + custom + kairos("1.2"),
                  checks_of_kairos);
}

TEST_P(Gateway, LeadsFromAnotherVersionToTheTargets)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos(GetParam()));
    const GatewayProcess gateway(server.reference[0], "1.2");
    expect_checks(Arguments{ALL_PEER, "check", gateway.reference} + custom + kairos("1.2"),
                  checks_of_kairos);
}

INSTANTIATE_TEST_SUITE_P(Versions, Gateway, testing::Values("1.1", "1.2"), version_name);

#ifdef OMNIORB_ALL_PEER

constexpr int checks_of_omniorb_clients = 331;
constexpr int checks_of_omniorb_servers = 328;

// As in all_types_test.cpp.
const Arguments not_with_omniorb{"-without", "Price",    "-without",   "Money_",   "-without",
                                 "Route",    "-without", "any_Node_s", "-without", "raised_Node_s"};
const Arguments not_of_its_servers{"-without",      "raise_Base", "-without",
                                   "raise_Derived", "-without",   "raise_Holding"};
const Arguments no_exception_id{"-ORBExceptionIdInAny", "0"};
const Arguments omniorb_server{"-ORBtraceLevel", "0", "-ORBendPoint", "giop:tcp:127.0.0.1:"};

TEST(GatewayOfOmniOrb, LeadsItsClientsToKairos)
{
    const Peer server(Arguments{ALL_PEER, "serve"} + kairos("1.2") + no_exception_id);
    const GatewayProcess gateway(server.reference[0], "1.2", no_exception_id);
    expect_checks(Arguments{OMNIORB_ALL_PEER, "check", gateway.reference} + not_with_omniorb,
                  checks_of_omniorb_clients);
}

TEST(GatewayOfOmniOrb, LeadsToItsServers)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve"} + omniorb_server);
    const GatewayProcess gateway(server.reference[0], "1.2", no_exception_id);
    expect_checks(Arguments{ALL_PEER, "check", gateway.reference} + not_with_omniorb +
                      not_of_its_servers + kairos("1.2") + no_exception_id,
                  checks_of_omniorb_servers);
}

TEST(GatewayOfOmniOrb, LeadsItsClientsToItsServers)
{
    const Peer server(Arguments{OMNIORB_ALL_PEER, "serve"} + omniorb_server);
    const GatewayProcess gateway(server.reference[0], "1.2", no_exception_id);
    expect_checks(Arguments{OMNIORB_ALL_PEER, "check", gateway.reference} + not_with_omniorb +
                      not_of_its_servers,
                  checks_of_omniorb_servers);
}

#endif
