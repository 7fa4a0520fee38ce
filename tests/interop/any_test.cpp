// SPDX-License-Identifier: Apache-2.0
//
// Anys of every type between Kairos and omniORB, each as client and as server, over the GIOP
// versions.
#include "process.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using Arguments = std::vector<std::string>;
using calls::Process;

constexpr int example_count = 34;

Arguments kairos(const std::string& version)
{
    return {
        ANYS_PEER, "-ORBListenEndpoints", "iiop://127.0.0.1", "-ORBDebug", "0", "-ORBGIOPVersion",
        version};
}

/// A server with these arguments, a client with those: every line of the client says "ok".
void expect_examples(const Arguments& server_arguments, Arguments client_arguments)
{
    Process server(server_arguments);
    client_arguments.insert(client_arguments.begin() + 1, server.read_line());
    Process client(client_arguments);
    std::istringstream output(client.read_all());
    int held = 0;
    for (std::string line; std::getline(output, line);) {
        if (line.starts_with("ok "))
            ++held;
        else
            ADD_FAILURE() << line;
    }
    EXPECT_EQ(held, example_count);
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(server.stop(), 0);
}

class Anys : public testing::TestWithParam<std::string> {};

TEST_P(Anys, KairosWithKairos) { expect_examples(kairos(GetParam()), kairos(GetParam())); }

#ifdef OMNIORB_ANYS_PEER

Arguments omniorb(const std::string& version)
{
    return {OMNIORB_ANYS_PEER,    "-ORBendPoint", "giop:tcp:127.0.0.1:", "-ORBtraceLevel", "0",
            "-ORBmaxGIOPVersion", version};
}

TEST_P(Anys, KairosCallsOmniOrb) { expect_examples(omniorb(GetParam()), kairos(GetParam())); }
TEST_P(Anys, OmniOrbCallsKairos) { expect_examples(kairos(GetParam()), omniorb(GetParam())); }
TEST_P(Anys, OmniOrbWithOmniOrb) { expect_examples(omniorb(GetParam()), omniorb(GetParam())); }

/// Exceptions without their repository ids, and TypeCodes without indirections or aliases.
TEST(AnysOfOlderPeers, AreUnderstood)
{
    Arguments options = omniorb("1.2");
    for (const char* option : {"-ORBexceptionIdInAny", "0", "-ORBtcAliasExpand", "1"})
        options.emplace_back(option);
    expect_examples(options, kairos("1.2"));
    expect_examples(kairos("1.2"), options);
}

#endif

INSTANTIATE_TEST_SUITE_P(Versions, Anys, testing::Values("1.0", "1.1", "1.2"),
                         [](const auto& info) { return "giop_1_" + info.param.substr(2); });

} // namespace
