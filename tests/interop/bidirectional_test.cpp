// SPDX-License-Identifier: Apache-2.0
//
// Calls back over the connections of clients, with omniORB at either end. Nobody could connect to
// these clients: Kairos's listen nowhere, omniORB's publish an address where nobody listens.
#include "peer.h"

#ifndef OMNIORB_BOTH_PEER

TEST(Bidirectional, IsNotTriedWithOthers) { GTEST_SKIP() << "omniORB is not installed"; }

#else

namespace interop {
namespace {

constexpr int checks = 4;

const Arguments omni_server{OMNIORB_BOTH_PEER,
                            "-ORBendPoint",
                            "giop:tcp:127.0.0.1:",
                            "-ORBacceptBiDirectionalGIOP",
                            "1",
                            "-ORBserverTransportRule",
                            "* unix,tcp,bidir",
                            "-ORBclientTransportRule",
                            "* unix,tcp,bidir"};
const Arguments omni_client{OMNIORB_BOTH_PEER,
                            "-ORBendPointNoListen",
                            "giop:tcp:127.0.0.1:1",
                            "-ORBofferBiDirectionalGIOP",
                            "1",
                            "-ORBclientTransportRule",
                            "* unix,tcp,bidir",
                            "-ORBserverTransportRule",
                            "* unix,tcp,bidir",
                            "client"};

Arguments kairos_server(const char* architecture)
{
    return {BOTH_PEER, "-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBConcurrency",
            architecture};
}
Arguments kairos_client(const char* architecture)
{
    return {BOTH_PEER, "-ORBListenEndpoints", "none", "-ORBConcurrency", architecture, "client"};
}

class Bidirectional : public ::testing::TestWithParam<const char*> {};

TEST_P(Bidirectional, AmongOurselves)
{
    const Peer server(kairos_server(GetParam()));
    expect_checks(kairos_client(GetParam()) + Arguments{server.reference[0]}, checks);
}

TEST_P(Bidirectional, ClientOfOmniorb)
{
    const Peer server(omni_server);
    expect_checks(kairos_client(GetParam()) + Arguments{server.reference[0]}, checks);
}

TEST_P(Bidirectional, ServerOfOmniorb)
{
    const Peer server(kairos_server(GetParam()));
    expect_checks(omni_client + Arguments{server.reference[0]}, checks);
}

INSTANTIATE_TEST_SUITE_P(Every, Bidirectional,
                         ::testing::Values("thread-per-connection", "leader-followers",
                                           "worker-pool", "thread-per-request"),
                         [](const auto& parameter) {
                             std::string name = parameter.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace interop

#endif
