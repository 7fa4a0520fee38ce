// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes between Kairos and omniORB, in both directions and between two programs of ours.
#include "peer.h"

using namespace interop;

namespace {

constexpr int checks_total = 91; // two a type, and three

const Arguments kairos_options{"-ORBDebug", "0", "-ORBListenEndpoints", "iiop://127.0.0.1"};

void run(const Arguments& client, const Arguments& server)
{
    const Peer peer(server);
    expect_checks({client[0], peer.reference[0]}, checks_total);
}

TEST(TypeCodes, BetweenOurPrograms) { run({KAIROS_PEER}, Arguments{KAIROS_PEER} + kairos_options); }

#ifdef OMNIORB_PEER
const Arguments omniorb_options{"-ORBtraceLevel", "0", "-ORBendPoint", "giop:tcp:127.0.0.1:"};

TEST(TypeCodes, KairosCallsOmniOrb)
{
    run({KAIROS_PEER}, Arguments{OMNIORB_PEER} + omniorb_options);
}
TEST(TypeCodes, OmniOrbCallsKairos)
{
    run({OMNIORB_PEER}, Arguments{KAIROS_PEER} + kairos_options);
}
TEST(TypeCodes, OmniOrbCallsItself)
{
    run({OMNIORB_PEER}, Arguments{OMNIORB_PEER} + omniorb_options);
}
#else
TEST(TypeCodes, WithOmniOrb) { GTEST_SKIP() << "omniORB's Debian packages are not installed"; }
#endif

} // namespace
