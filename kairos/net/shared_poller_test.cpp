// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/shared_poller.h"

#include "kairos/net/loopback_testing.h"
#include "kairos/net/thread.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace kairos::net {
namespace {

using testing::connected_pair;
using testing::must;

TEST(SharedPoller, EachReadinessGoesToOneThreadUntilItIsWatchedAgain)
{
    auto poller = must(SharedPoller::create());
    auto [client, server] = connected_pair(Address::loopback_ipv4());
    int token = 0;
    ASSERT_TRUE(poller->add(server.descriptor(), Interest::readable, &token).ok());
    EXPECT_EQ(poller->look().token, nullptr) << "nothing came";

    ASSERT_TRUE(client.write_all(as_bytes("x")).ok());
    const SharedPoller::Ready ready = poller->wait();
    EXPECT_EQ(ready.token, &token);
    EXPECT_TRUE(ready.readiness.readable);
    EXPECT_EQ(poller->look().token, nullptr) << "found twice";

    ASSERT_TRUE(poller->watch(server.descriptor(), Interest::readable, &token).ok());
    EXPECT_EQ(poller->look().token, &token) << "still unread";
}

TEST(SharedPoller, IsWokenInAllThreadsForGood)
{
    auto poller = must(SharedPoller::create());
    std::vector<Thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.push_back(
            must(Thread::start({}, [&] { EXPECT_EQ(poller->wait().token, nullptr); })));
    poller->wake_all();
    threads.clear(); // joined
    EXPECT_EQ(poller->wait().token, nullptr);
}

// One thread gives a descriptor back, another finds it and closes it, maybe before the first one's
// system call has returned. Of both, only the closing is a use of the descriptor.
TEST(SharedPoller, WhoFindsADescriptorMayCloseIt)
{
    auto poller = must(SharedPoller::create());
    auto [client, server] = connected_pair(Address::loopback_ipv4());
    ASSERT_TRUE(poller->add(server.descriptor(), Interest::readable, &server).ok());
    client.close();
    ASSERT_EQ(poller->wait().token, &server);
    const int descriptor = server.descriptor();

    auto other = must(Thread::start({}, [&poller] {
        auto* const found = static_cast<Socket*>(poller->wait().token);
        ASSERT_NE(found, nullptr);
        found->close();
    }));
    EXPECT_TRUE(poller->watch(descriptor, Interest::readable, &server).ok());
    other.join();
    EXPECT_EQ(server.descriptor(), -1);
}

} // namespace
} // namespace kairos::net
