// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes between two processes: ours with ours over every GIOP version, with fragments and
// both servers, and with omniORB in both directions.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 12;

struct Way {
    std::string version;
    bool fragments;
    bool reactor;
};

std::string way_name(const testing::TestParamInfo<Way>& info)
{
    return std::string("giop_1_") + info.param.version.back() +
           (info.param.fragments ? "_fragments" : "") + (info.param.reactor ? "_reactor" : "");
}

Arguments kairos_side(const Way& way)
{
    Arguments options{"-ORBDebug", "0", "-ORBGIOPVersion", way.version};
    if (way.fragments) options = options + Arguments{"-ORBFragmentSize", "256"};
    return options;
}

Peer kairos_server(const Way& way)
{
    Arguments options{GRAPHS_PEER, "serve", "-ORBListenEndpoints", "iiop://127.0.0.1"};
    if (way.reactor) options = options + Arguments{"-ORBConcurrency", "reactor"};
    return Peer(options + kairos_side(way));
}

void run_kairos_client(const std::string& reference, const Way& way)
{
    expect_checks(Arguments{GRAPHS_PEER, "call", reference} + kairos_side(way), checks_total);
}

class Graphs : public testing::TestWithParam<Way> {};

} // namespace

TEST_P(Graphs, KairosCallsKairos)
{
    const Peer server = kairos_server(GetParam());
    run_kairos_client(server.reference[0], GetParam());
}

#ifdef OMNIORB_GRAPHS_PEER

// omniORB 4.2 refuses chunks that lie in more than one of its buffers, so also those in fragments.
#define SKIP_WITH_FRAGMENTS()                                                                      \
    if (GetParam().fragments) GTEST_SKIP() << "omniORB cannot read chunks across fragments"

TEST_P(Graphs, KairosCallsOmniOrb)
{
    SKIP_WITH_FRAGMENTS();
    const Peer server({OMNIORB_GRAPHS_PEER, "serve", "-ORBtraceLevel", "0", "-ORBendPoint",
                       "giop:tcp:127.0.0.1:", "-ORBmaxGIOPVersion", GetParam().version});
    run_kairos_client(server.reference[0], GetParam());
}

TEST_P(Graphs, OmniOrbCallsKairos)
{
    SKIP_WITH_FRAGMENTS();
    const Peer server = kairos_server(GetParam());
    expect_checks({OMNIORB_GRAPHS_PEER, "call", server.reference[0], "-ORBtraceLevel", "0",
                   "-ORBmaxGIOPVersion", GetParam().version},
                  checks_total);
}

#endif

INSTANTIATE_TEST_SUITE_P(Ways, Graphs,
                         testing::Values(Way{"1.0", false, false}, Way{"1.1", false, false},
                                         Way{"1.2", false, false}, Way{"1.2", true, false},
                                         Way{"1.2", false, true}),
                         way_name);
