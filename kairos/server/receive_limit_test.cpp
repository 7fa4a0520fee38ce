// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/receive_limit.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace std::chrono_literals;

/// A connection whose clock the test turns.
class Limited : public testing::Test {
  protected:
    /// Whether the message that begins at this place is late, when so much of it has come.
    bool is_late(std::uint64_t begins_at, std::size_t octets)
    {
        return limit_.due(giop::Unfinished{begins_at, octets}, 60s, now_) <= now_;
    }
    bool is_late_between_messages() { return limit_.due(std::nullopt, 60s, now_) <= now_; }
    /// The same for who asks before it reads.
    bool was_due(std::size_t octets)
    {
        return limit_.was_due(giop::Unfinished{0, octets}, 60s, now_);
    }
    void stop_reading() { limit_.stop_reading(); }
    void pass(std::chrono::nanoseconds time) { now_ += time; }

    static constexpr std::size_t enough = ReceiveLimit::progress_min;

  private:
    ReceiveLimit limit_;
    ReceiveLimit::Clock::time_point now_{24h};
};

TEST_F(Limited, AMessageIsLateWhenItsTimeIsOver)
{
    EXPECT_FALSE(is_late(0, 10));
    pass(60s - 1ns);
    EXPECT_FALSE(is_late(0, 10));
    pass(1ns);
    EXPECT_TRUE(is_late(0, 10));
    EXPECT_TRUE(is_late(0, 10));
}

TEST_F(Limited, ItIsCountedFromWhereItWasSeenFirst)
{
    pass(1h);
    EXPECT_FALSE(is_late(500, 10));
    pass(59s);
    EXPECT_FALSE(is_late(500, 11));
}

TEST_F(Limited, AnotherOneHasATimeOfItsOwn)
{
    EXPECT_FALSE(is_late(0, 10));
    pass(59s);
    EXPECT_FALSE(is_late(100, 10)) << "the same size, but another message";
    pass(59s);
    EXPECT_FALSE(is_late(100, 10));
    pass(1s);
    EXPECT_TRUE(is_late(100, 10));
}

TEST_F(Limited, SilenceBetweenMessagesIsNeverLate)
{
    EXPECT_FALSE(is_late(0, 10));
    pass(59s);
    EXPECT_FALSE(is_late_between_messages());
    pass(1h);
    EXPECT_FALSE(is_late_between_messages());
    EXPECT_FALSE(is_late(0, 10));
}

TEST_F(Limited, WhoGoesOnHasAllTheTime)
{
    std::size_t octets = 10;
    for (int i = 0; i < 10'000; ++i, octets += enough) {
        ASSERT_FALSE(is_late(0, octets));
        pass(59s);
    }
    pass(60s);
    EXPECT_TRUE(is_late(0, octets - 1));
}

TEST_F(Limited, WhoDripsHasNot)
{
    std::size_t octets = 10;
    EXPECT_FALSE(is_late(0, octets));
    for (int i = 0; i < 59; ++i) {
        pass(1s);
        octets += 10;
        ASSERT_FALSE(is_late(0, octets));
    }
    pass(1s);
    EXPECT_TRUE(is_late(0, octets + 10));
}

/// Of a fragmented one the octets may become fewer, when what came behind it was another message.
TEST_F(Limited, NoOctetCountsTwice)
{
    std::size_t octets = 10;
    int rounds = 0;
    for (; !is_late(0, octets) && rounds < 100; ++rounds) {
        octets = octets == 10 ? 10 + enough : 10;
        pass(30s);
    }
    EXPECT_EQ(rounds, 3);
}

/// A reader that was busy, or read nothing for some other reason, asks before it reads again.
TEST_F(Limited, WhatCameWhileNobodyReadIsInTime)
{
    EXPECT_FALSE(was_due(10));
    pass(1h);
    EXPECT_FALSE(was_due(10)) << "there may be more to read";
    pass(1ns);
    EXPECT_TRUE(was_due(10)) << "there was not";
    EXPECT_FALSE(was_due(10 + enough));
}

TEST_F(Limited, WhoStopsReadingBlamesNobody)
{
    EXPECT_FALSE(was_due(10));
    pass(1h);
    EXPECT_FALSE(was_due(10));
    stop_reading();
    pass(1h);
    EXPECT_FALSE(was_due(10));
    EXPECT_TRUE(was_due(10));
}

TEST(ReceiveLimit, IsLookedAtOftenEnough)
{
    EXPECT_EQ(ReceiveLimit::between_looks(60s), 15s);
    EXPECT_EQ(ReceiveLimit::between_looks(1ms), 1ms);
}

} // namespace
} // namespace kairos::orb
