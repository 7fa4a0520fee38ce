// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls of objects that omniORB serves.
#include "tests/ami/fixture.h"

#include "kairos/messaging/task.h"

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

messaging::Task<std::string> ask(Ami::Target_ptr target)
{
    Ami::Person who;
    who.name = "Bob";
    who.at = {1, 2};
    const Ami::Point where{5, 6};
    const auto all = co_await target->async().change("text", who, where);
    std::string heard = all.text.in();
    co_await target->async().set_name("after");
    const CORBA::String_var name = co_await target->async().get_name();
    heard += std::string(" ") + name.in();
    try {
        co_await target->async().refuse("no");
    } catch (const Ami::Refused& refused) {
        heard += std::string(" ") + refused.why.in();
    }
    co_return heard;
}

messaging::Task<CORBA::Long> add(Ami::Target_ptr target, messaging::AsyncOptions options)
{
    co_return co_await target->async(std::move(options)).add(1, 2);
}

TEST(Ami, CoroutinesAwaitOmniOrbsReplies)
{
    const interop::Peer server(
        {OMNIORB_AMI_SERVER, "-ORBtraceLevel", "0", "-ORBendPoint", "giop:tcp:127.0.0.1:"});
    Client client;
    const Ami::Target_var target = client.target(server.reference[0]);
    EXPECT_EQ("text! after no", ask(target.in()).wait());
    // None is cancelled: omniORB 4.2.5 may loop in giopStrand::acquireServer for ever, and answer
    // nobody on the connection, where a CancelRequest comes while it answers. ami.coroutines does.
    for (int round = 0; round < 100; ++round)
        EXPECT_EQ(3, add(target.in(), messaging::AsyncOptions()).wait());
    EXPECT_EQ("text! after no", ask(target.in()).wait());
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
