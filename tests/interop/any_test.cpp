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

/// Debian's omniORB, 4.2, knows no repository id in front of an exception in an Any.
Arguments for_omniorb(const std::string& version)
{
    Arguments options = kairos(version);
    options.insert(options.end(), {"-ORBExceptionIdInAny", "0"});
    return options;
}

Arguments dynamically(Arguments options)
{
    options.emplace_back("dynamically");
    return options;
}

TEST_P(Anys, KairosCallsOmniOrbWithDynAnys)
{
    expect_examples(omniorb(GetParam()), dynamically(for_omniorb(GetParam())));
}
TEST_P(Anys, KairosCallsOmniOrb) { expect_examples(omniorb(GetParam()), for_omniorb(GetParam())); }
TEST_P(Anys, OmniOrbCallsKairos) { expect_examples(for_omniorb(GetParam()), omniorb(GetParam())); }
TEST_P(Anys, OmniOrbWithOmniOrb) { expect_examples(omniorb(GetParam()), omniorb(GetParam())); }

#endif

INSTANTIATE_TEST_SUITE_P(Versions, Anys, testing::Values("1.0", "1.1", "1.2"),
                         [](const auto& way) { return "giop_1_" + way.param.substr(2); });

} // namespace
