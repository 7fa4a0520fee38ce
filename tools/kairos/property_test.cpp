// SPDX-License-Identifier: Apache-2.0
//
// `kairos property` as processes: sets that are served, and shown and changed by others.
// kairos/properties has what sets do.
#include "kairos/ior/profile.h"
#include "tools/kairos/outcome_testing.h"

#include <gtest/gtest.h>

namespace kairos::tools {
namespace {

class PropertyCommand : public ::testing::Test {
  protected:
    ~PropertyCommand() override { EXPECT_EQ(0, server_.end()); }

    ServingTool server_{{"property", "serve", "--set", "Plant"}};
    const std::string set_ = server_.reference;
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

TEST(PropertyStore, HasTheSetsAgain)
{
    const ToolFolder folder;
    const std::vector<std::string> serve{"property", "serve",   "--set",
                                         "Plant",    "--store", folder.file("sets")};
    {
        ServingTool server(serve);
        EXPECT_EQ("0 ", outcome_of({"property", "set", server.reference, "area", "12"}));
        const std::string second = outcome_of(serve);
        EXPECT_NE(std::string::npos, second.find("another property service has the store"))
            << second;
        EXPECT_EQ(0, server.end());
    }
    ServingTool server(serve);
    EXPECT_EQ("0 12\n", outcome_of({"property", "get", server.reference, "area"}));
    EXPECT_EQ(0, server.end());
}

} // namespace
} // namespace kairos::tools
