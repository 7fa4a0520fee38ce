// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/alarm.h"

#include <gtest/gtest.h>

#include <chrono>
#include <poll.h>
#include <utility>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;

/// Whether it is readable, at the latest when this is over.
bool rings(const Alarm& alarm, std::chrono::milliseconds within)
{
    pollfd watched{.fd = alarm.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&watched, 1, static_cast<int>(within.count())) == 1;
}

TEST(Alarm, RingsAfterItsTimeUntilItIsCleared)
{
    auto alarm = Alarm::create();
    ASSERT_TRUE(alarm);
    EXPECT_FALSE(rings(*alarm, 0ms));
    const auto begin = std::chrono::steady_clock::now();
    alarm->set(5ms);
    EXPECT_TRUE(rings(*alarm, 30s));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 5ms);
    EXPECT_TRUE(rings(*alarm, 0ms));
    alarm->clear();
    EXPECT_FALSE(rings(*alarm, 0ms));
    alarm->set(1ns);
    EXPECT_TRUE(rings(*alarm, 30s));
}

TEST(Alarm, TheLastTimeThatWasSetCounts)
{
    auto alarm = Alarm::create();
    ASSERT_TRUE(alarm);
    alarm->set(1ns);
    EXPECT_TRUE(rings(*alarm, 30s));
    alarm->set(1h);
    EXPECT_FALSE(rings(*alarm, 0ms));
    Alarm other = std::move(*alarm);
    other.set(1ns);
    EXPECT_TRUE(rings(other, 30s));
}

} // namespace
} // namespace kairos::net
