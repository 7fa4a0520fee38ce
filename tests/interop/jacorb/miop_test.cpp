// SPDX-License-Identifier: Apache-2.0
//
// Groups of objects with JacORB (Groups.java): what either says to the group both hear, in one
// packet and in several, in a network of the test's own.
#include "jacorb.h"
#include "kairos/datagrams/PortableGroup.h"
#include "tests/datagrams/fixture.h"
#include "tests/datagrams/namespace.h"

namespace interop {
namespace {

using kairos::orb_testing::ListenerClient;
using kairos::orb_testing::ListenerServer;

constexpr const char* group_url = "corbaloc:miop:1.0@1.0-Sensors-7/239.192.7.7:5077";

std::string no_network; // NOLINT(cert-err58-cpp): set before the first test

class OwnNetwork : public testing::Environment {
  public:
    void SetUp() override { no_network = kairos::orb_testing::enter_own_network(); }
};
[[maybe_unused]] const auto* const own_network = testing::AddGlobalTestEnvironment(new OwnNetwork);

std::string asked(calls::Process& process, const std::string& line)
{
    process.write_line(line);
    return process.read_line();
}

TEST(JacorbGroups, EachHearsTheOther)
{
    if (!no_network.empty()) GTEST_SKIP() << no_network;
    if (const std::string reason = missing(); !reason.empty()) {
        const char* const ci = std::getenv("CI");
        ASSERT_TRUE(ci == nullptr || *ci == 0) << reason; // where it must always run
        GTEST_SKIP() << reason;
    }
    ListenerServer server("worker-pool", {"-ORBListenEndpoints", "iiop://127.0.0.1:0",
                                          "-ORBMulticast", "interface=kairos0"});
    const PortableGroup::GOA_var goa = PortableGroup::GOA::_narrow(server.poa());
    const CORBA::Object_var group = server.orb()->string_to_object(group_url);
    goa->associate_reference_with_id(group, server.id());

    Arguments command = java("interop.Groups");
    command.insert(command.begin() + 1, "-Djava.net.preferIPv4Stack=true");
    command.push_back(group_url);
    calls::Process jacorb(command);
    ASSERT_EQ(jacorb.read_line(), "ready");

    ListenerClient client({"-ORBMulticast", "interface=kairos0,packet=600"});
    const Sensors::Listener_var all = client.target(group_url);
    all->said("by us");
    all->measured(7, Sensors::Samples(5000, 5000, Sensors::Samples::allocbuf(5000), true));
    for (const char* line : {"said by us", "measured 7 of 5000"}) {
        EXPECT_TRUE(server.servant().wait_for(line)) << line;
        EXPECT_EQ(asked(jacorb, std::string("heard ") + line), "1") << line;
    }
    EXPECT_EQ(asked(jacorb, "say by JacORB"), "said");
    EXPECT_EQ(asked(jacorb, "measure 6000"), "measured");
    for (const char* line : {"said by JacORB", "measured 1 of 6000"}) {
        EXPECT_TRUE(server.servant().wait_for(line)) << line;
        EXPECT_EQ(server.servant().count(line), 1u) << line;
        EXPECT_EQ(asked(jacorb, std::string("heard ") + line), "1") << line;
    }
    EXPECT_EQ(jacorb.stop(), 0) << "JacORB's exit status";
}

} // namespace
} // namespace interop
