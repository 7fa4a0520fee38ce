// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls of objects that omniORB serves.
#include "tests/ami/fixture.h"

#include "peer.h"

#include <algorithm>

#ifdef OMNIORB_AMI_SERVER

namespace kairos::ami_testing {
namespace {

using Heard = std::vector<std::string>;

TEST(Ami, HandlersHearOfOmniOrbsReplies)
{
    const interop::Peer server(
        {OMNIORB_AMI_SERVER, "-ORBtraceLevel", "0", "-ORBendPoint", "giop:tcp:127.0.0.1:"});
    Client client;
    const Ami::Target_var target = client.target(server.reference[0]);
    target->sendc_change(client.reference.in(), "text", Ami::Person{"Bob", {1, 2}}, {5, 6});
    (void)client.hear(1);
    target->sendc_set_name(client.reference.in(), "after");
    (void)client.hear(2);
    target->sendc_get_name(client.reference.in());
    (void)client.hear(3);
    target->sendc_refuse(client.reference.in(), "no");
    (void)client.hear(4);
    target->sendc_fail(client.reference.in(), 1);
    EXPECT_EQ((Heard{"change text text! 7 two 42 9", "set_name", "get_name after",
                     "refuse: Refused no", "fail: NO_PERMISSION 0x11 YES"}),
              client.hear(5));
}

TEST(Ami, AThousandAreOutstandingAtOmniOrb)
{
    constexpr CORBA::Long calls = 1000;
    const interop::Peer server(
        {OMNIORB_AMI_SERVER, "-ORBtraceLevel", "0", "-ORBendPoint", "giop:tcp:127.0.0.1:"});
    Client client;
    const Ami::Target_var target = client.target(server.reference[0]);
    for (CORBA::Long i = 0; i < calls; ++i)
        target->sendc_add(client.reference.in(), i, 1);
    Heard heard = client.hear(calls);
    std::ranges::sort(heard);
    EXPECT_EQ(heard.end(), std::ranges::unique(heard).begin());
}

} // namespace
} // namespace kairos::ami_testing

#else

TEST(Ami, HandlersHearOfOmniOrbsReplies) { GTEST_SKIP() << "omniORB is not installed"; }

#endif
