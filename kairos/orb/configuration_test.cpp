// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/configuration.h"

#include "kairos/orb/options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace kairos::orb {
namespace {

/// A file of this process, removed at the end.
class File {
  public:
    explicit File(std::string_view text)
        : name(testing::TempDir() + "kairos-configuration-" + std::to_string(getpid()))
    {
        std::ofstream(name) << text;
    }
    ~File() { unlink(name.c_str()); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    const std::string name;
};

Result<Options> parse(std::string_view file, std::vector<std::string> arguments = {})
{
    const File written(file);
    arguments.insert(arguments.end(), {"-ORBConfigFile", written.name});
    auto options = parse_options(arguments);
    if (options) return options;
    std::string reason = options.error().reason;
    if (const auto at = reason.find(written.name); at != std::string::npos)
        reason.replace(at, written.name.size(), "FILE");
    return Error{options.error().code, reason};
}

TEST(Configuration, LinesAreOptions)
{
    const auto settings =
        parse_configuration("# what this is for\n\n  -ORBConnection \t active \r\n"
                            "-ORBInitRef Name=corbaloc::host/key with blanks\n"
                            "-ORBDebug=2");
    ASSERT_TRUE(settings);
    ASSERT_EQ(settings->size(), 3u);
    EXPECT_EQ((*settings)[0].option, "-ORBConnection");
    EXPECT_EQ((*settings)[0].value, "active");
    EXPECT_EQ((*settings)[0].line, 3u);
    EXPECT_EQ((*settings)[1].value, "Name=corbaloc::host/key with blanks");
    EXPECT_EQ((*settings)[2].option, "-ORBDebug");
    EXPECT_EQ((*settings)[2].value, "2");
    EXPECT_EQ(parse_configuration("\nConnection active").error().reason,
              "line 2: expected an option: -ORBName value");
    EXPECT_EQ(parse_configuration("-ORBConnection").error().reason,
              "line 1: -ORBConnection needs a value");
}

TEST(Configuration, OfClients)
{
    const auto options = parse("-ORBConnection leader-followers\n"
                               "-ORBMaxClientConnections 3\n"
                               "-ORBClientIdle 1500\n"
                               "-ORBBindEarly 1\n"
                               "-ORBClientTimeout 20\n"
                               "-ORBSpin 7\n");
    ASSERT_TRUE(options) << options.error().reason;
    EXPECT_EQ(options->call_policies.connection, ConnectionArchitecture::leader_followers);
    EXPECT_EQ(options->client_connections_max, 3u);
    EXPECT_EQ(options->client_idle, std::chrono::milliseconds(1500));
    EXPECT_TRUE(options->binds_early);
    EXPECT_EQ(options->call_policies.round_trip_max, std::chrono::milliseconds(20));
    EXPECT_EQ(options->socket.spin, std::chrono::microseconds(7));
}

TEST(Configuration, OfServers)
{
    const auto options = parse("-ORBConcurrency worker-pool\n-ORBThreads 3\n"
                               "-ORBPriorityMapping direct\n-ORBSchedulingPolicy rr\n"
                               "-ORBListenEndpoints iiop://:1\n-ORBListenEndpoints iiop://:2\n");
    ASSERT_TRUE(options) << options.error().reason;
    EXPECT_EQ(options->concurrency->name, "worker-pool");
    EXPECT_EQ(options->threads, 3u);
    EXPECT_EQ(options->priority_mapping, InitialMapping::direct);
    EXPECT_EQ(options->scheduling_policy, net::SchedulingPolicy::round_robin);
    EXPECT_EQ(options->listen_endpoints.size(), 2u);
}

TEST(Configuration, IsOverruledByTheCommandLine)
{
    const std::string_view file = "-ORBConnection active\n-ORBListenEndpoints iiop://:1\n"
                                  "-ORBInitRef A=corbaloc::a/a\n-ORBInitRef B=corbaloc::b/b\n";
    const auto options = parse(file, {"-ORBConnection", "non-multiplexed", "-ORBEndpoint",
                                      "iiop://:2", "-ORBInitRef", "B=corbaloc::c/c"});
    ASSERT_TRUE(options) << options.error().reason;
    EXPECT_FALSE(options->call_policies.connection);
    ASSERT_EQ(options->listen_endpoints.size(), 1u);
    EXPECT_EQ(options->listen_endpoints[0].port, 2);
    EXPECT_EQ(options->initial_references.at("A"), "corbaloc::a/a");
    EXPECT_EQ(options->initial_references.at("B"), "corbaloc::c/c");
}

TEST(Configuration, WhatIsWrongIsNamed)
{
    const auto reason = [](std::string_view file, std::vector<std::string> arguments = {}) {
        const auto options = parse(file, std::move(arguments));
        return options ? "accepted" : options.error().reason;
    };
    EXPECT_EQ(reason("active"), "FILE: line 1: expected an option: -ORBName value");
    EXPECT_EQ(reason("\n-ORBFoo 1"), "FILE: line 2: unknown option -ORBFoo");
    EXPECT_EQ(reason("-ORBConnection shared"),
              "FILE: line 1: -ORBConnection: 'shared' is not non-multiplexed, leader-followers or "
              "active");
    EXPECT_EQ(reason("-ORBConfigFile other"),
              "FILE: line 1: -ORBConfigFile belongs on the command line");
    EXPECT_EQ(reason("-ORBThreads 3"),
              "-ORBThreads contradicts -ORBConcurrency thread-per-connection");
    EXPECT_EQ(reason("-ORBThreads 3", {"-ORBConcurrency", "leader-followers"}), "accepted");
    EXPECT_EQ(reason(std::string((1u << 20) + 1, '#')), "FILE: is larger than 1 MiB");
    std::vector<std::string> missing{"-ORBConfigFile", "/nowhere/kairos.conf"};
    EXPECT_EQ(parse_options(missing).error().reason,
              "/nowhere/kairos.conf: No such file or directory");
    std::vector<std::string> twice{"-ORBConfigFile", "a", "-ORBConfigFile", "b"};
    EXPECT_EQ(parse_options(twice).error().reason, "-ORBConfigFile is given twice");
}

} // namespace
} // namespace kairos::orb
