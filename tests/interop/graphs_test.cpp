// SPDX-License-Identifier: Apache-2.0
//
// Valuetypes between two processes: ours with ours over every GIOP version, with fragments and
// both servers, and with omniORB in both directions.
#include "peer.h"

#include "kairos/ior/component.h"
#include "kairos/ior/profile.h"

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

// TAO's form (-ORBQuirks tao-chunks): no TAO is here, so that both ends are ours. What the form is
// on the wire is held by the tests of kairos/values.

/// As a server of TAO would say it.
std::string of_tao(const std::string& reference)
{
    auto ior = kairos::ior::from_string(reference).value();
    auto profile = kairos::ior::decode_iiop(ior.profiles.at(0).data).value();
    for (kairos::ior::TaggedComponent& each : profile.components)
        if (each.tag == kairos::ior::tag_orb_type)
            each = kairos::ior::make_orb_type(kairos::ior::orb_type::tao);
    ior.profiles.at(0) = kairos::ior::encode_iiop(profile);
    return kairos::ior::to_string(ior);
}

TEST(GraphsInTaosForm, PassWhereTheReferenceSaysThatItIsTao)
{
    const Way way{"1.2", false, false};
    const Peer server(Arguments{GRAPHS_PEER, "serve", "-ORBListenEndpoints", "iiop://127.0.0.1",
                                "-ORBQuirks", "tao-chunks"} +
                      kairos_side(way));
    run_kairos_client(of_tao(server.reference[0]), way);
    // … or the client was told.
    expect_checks(Arguments{GRAPHS_PEER, "call", server.reference[0], "-ORBQuirks", "tao-chunks"} +
                      kairos_side(way),
                  checks_total);
}

TEST(GraphsInTaosForm, AreForNobodyElse)
{
    const Way way{"1.2", false, false};
    const Peer server = kairos_server(way);
    calls::Process client(Arguments{GRAPHS_PEER, "call", of_tao(server.reference[0])} +
                          kairos_side(way));
    int held = 0;
    for (std::string line = client.read_line(); !line.empty(); line = client.read_line())
        held += line.starts_with("ok ") ? 1 : 0;
    EXPECT_NE(client.wait(), 0);
    EXPECT_LT(held, checks_total);
    // It goes on, as the specification says.
    run_kairos_client(server.reference[0], way);
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
