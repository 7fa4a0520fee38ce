// SPDX-License-Identifier: Apache-2.0
//
// `kairos property` as processes: sets that are served, and shown and changed by others.
// kairos/properties has what sets do.
#include "bench/process.h"
#include "kairos/ior/profile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdlib.h>

namespace kairos::tools {
namespace {

constexpr std::chrono::seconds patience{60};

bench::ChildProcess start(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), KAIROS_TOOL);
    return bench::ChildProcess::start({.command = std::move(arguments),
                                       .environment = {},
                                       .cpu = {},
                                       .inherited_descriptor = -1})
        .value();
}

/// The exit status, and what was printed.
std::string outcome_of(std::vector<std::string> arguments)
{
    bench::ChildProcess process = start(std::move(arguments));
    std::string output;
    while (const auto line = process.read_line(patience))
        output += *line + "\n";
    const auto remains = process.finish(patience);
    return std::to_string(remains.exit_status) + " " + output + remains.errors;
}

class PropertyCommand : public ::testing::Test {
  protected:
    PropertyCommand()
        : server_(start({"property", "serve", "--set", "Plant"})),
          set_(server_.read_line(patience).value())
    {
    }
    ~PropertyCommand() override
    {
        ::kill(server_.pid(), SIGTERM);
        EXPECT_EQ(0, server_.finish(patience).exit_status);
    }

    bench::ChildProcess server_;
    const std::string set_;
};

TEST_F(PropertyCommand, ShowsAndChangesSets)
{
    EXPECT_EQ("0 ", outcome_of({"property", "set", set_, "area", "12"}));
    EXPECT_EQ("0 ", outcome_of({"property", "set", set_, "town", "Sankt Anna"}));
    EXPECT_EQ("0 ", outcome_of({"property", "set", set_, "port", "80", "--type", "unsigned short",
                                "--mode", "read_only"}));
    EXPECT_EQ("0 area\tnormal\tlong\t12\nport\tread_only\tunsigned short\t80\n"
              "town\tnormal\tstring\t\"Sankt Anna\"\n",
              outcome_of({"property", "ls", set_}));
    EXPECT_EQ("0 ", outcome_of({"property", "set", set_, "area", "13"}));
    EXPECT_EQ("0 13\n", outcome_of({"property", "get", set_, "area"}));
    EXPECT_EQ("0 {\"name\":\"town\",\"type\":\"string\",\"value\":\"Sankt Anna\"}\n",
              outcome_of({"property", "get", set_, "town", "--json"}));
    EXPECT_EQ("0 ", outcome_of({"property", "rm", set_, "area"}));
    EXPECT_EQ("0 ", outcome_of({"property", "rm", set_, "town"}));
    EXPECT_EQ("0 [{\"name\":\"port\",\"type\":\"unsigned short\",\"value\":80,"
              "\"mode\":\"read_only\"}]\n",
              outcome_of({"property", "ls", set_, "--json"}));
}

TEST_F(PropertyCommand, SaysWhatIsWrong)
{
    const auto complains = [](const std::string& outcome, const char* of) {
        return outcome.starts_with("1 ") && outcome.find(of) != std::string::npos;
    };
    std::string outcome = outcome_of({"property", "get", set_, "none"});
    EXPECT_TRUE(complains(outcome, "PropertyNotFound")) << outcome;
    outcome = outcome_of({"property", "set", set_, "list", "[1]"});
    EXPECT_TRUE(complains(outcome, "needs --type")) << outcome;
    outcome = outcome_of({"property", "serve", "--ior", "a"});
    EXPECT_TRUE(complains(outcome, "fewer sets")) << outcome;
    const auto port = ior::decode_iiop(ior::from_string(set_)->profiles[0].data)->port;
    outcome = outcome_of(
        {"property", "ls", "corbaloc::localhost:" + std::to_string(port) + "/PropertySetFactory"});
    EXPECT_TRUE(complains(outcome, "is not a PropertySet")) << outcome;
}

} // namespace
} // namespace kairos::tools
