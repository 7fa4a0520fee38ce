// SPDX-License-Identifier: Apache-2.0
//
// Unions of every discriminator and fixed-point numbers between two processes: ours with ours over
// every GIOP version and server, and with omniORB in both directions.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 25;
[[maybe_unused]] constexpr int plain_checks_total = 24; // omniORB cannot copy unions with fixed

struct Way {
    std::string version;
    bool reactor;
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    return std::string("giop_1_") + info.param.version.back() +
           (info.param.reactor ? "_reactor" : "");
}

Peer kairos_server(const Way& way)
{
    Arguments options{
        UNIONS_PEER,        "serve",           "-ORBDebug", "0", "-ORBListenEndpoints",
        "iiop://127.0.0.1", "-ORBGIOPVersion", way.version};
    if (way.reactor) options = options + Arguments{"-ORBConcurrency", "reactor"};
    return Peer(options);
}

void run_kairos_client(const std::string& reference, const Way& way,
                       const std::string& calls = "call", int expected = checks_total)
{
    expect_checks({UNIONS_PEER, calls, reference, "-ORBDebug", "0", "-ORBGIOPVersion", way.version},
                  expected);
}

class Unions : public testing::TestWithParam<Way> {};

} // namespace

TEST_P(Unions, KairosCallsKairos)
{
    const Peer server = kairos_server(GetParam());
    run_kairos_client(server.reference[0], GetParam());
}

#ifdef OMNIORB_UNIONS_PEER

TEST_P(Unions, KairosCallsOmniOrb)
{
    const Peer server({OMNIORB_UNIONS_PEER, "serve", "-ORBtraceLevel", "0", "-ORBendPoint",
                       "giop:tcp:127.0.0.1:", "-ORBmaxGIOPVersion", GetParam().version});
    run_kairos_client(server.reference[0], GetParam(), "call_plain", plain_checks_total);
}

TEST_P(Unions, OmniOrbCallsKairos)
{
    const Peer server = kairos_server(GetParam());
    expect_checks({OMNIORB_UNIONS_PEER, "call", server.reference[0], "-ORBtraceLevel", "0",
                   "-ORBmaxGIOPVersion", GetParam().version},
                  plain_checks_total);
}

#endif

INSTANTIATE_TEST_SUITE_P(Ways, Unions,
                         testing::Values(Way{"1.0", false}, Way{"1.1", false}, Way{"1.2", false},
                                         Way{"1.2", true}),
                         way_name);
