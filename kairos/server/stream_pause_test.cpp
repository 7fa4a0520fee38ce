// SPDX-License-Identifier: Apache-2.0
#include "kairos/server/stream_pause.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds none{0};
constexpr std::size_t chunk = StreamPause::stream_min / 4;

class StreamPauseTest : public testing::Test {
  protected:
    /// How long it sleeps then.
    std::chrono::nanoseconds read(std::size_t bytes, bool all = true)
    {
        const StreamPause::Pause pause = look(bytes, all);
        EXPECT_FALSE(pause.awake);
        return pause.length;
    }
    StreamPause::Pause look(std::size_t bytes, bool all = true)
    {
        now_ += 10us;
        return pause_.after_read({bytes, all, queue_max_, in_part_}, now_);
    }
    void stream()
    {
        for (int i = 0; i < 4; ++i)
            (void)read(chunk, false);
    }

    StreamPause pause_{20us};
    std::optional<std::size_t> queue_max_;
    std::size_t in_part_ = 0;
    StreamPause::Clock::time_point now_ = StreamPause::Clock::time_point(1h);
};

TEST_F(StreamPauseTest, ComesWhenEnoughWasReadOneAfterTheOther)
{
    EXPECT_EQ(read(chunk), none);
    EXPECT_EQ(read(chunk), none);
    EXPECT_EQ(read(chunk), none);
    EXPECT_EQ(read(chunk), 20us);
    EXPECT_EQ(read(StreamPause::read_min), 20us);
}

TEST_F(StreamPauseTest, DoesNotComeWhileThereIsMoreToRead)
{
    stream();
    EXPECT_EQ(read(chunk, false), none);
    EXPECT_EQ(read(chunk, true), 20us);
}

TEST_F(StreamPauseTest, DoesNotComeAfterAReply)
{
    stream();
    pause_.note_reply();
    EXPECT_EQ(read(chunk), none);
}

TEST_F(StreamPauseTest, DoesNotComeForLargeMessagesNowAndThen)
{
    stream();
    for (int i = 0; i < 10; ++i) {
        now_ += 2ms;
        EXPECT_EQ(read(chunk), none);
    }
}

TEST_F(StreamPauseTest, LeavesAQueueThatDoesNotGrowTwoThirdsEmpty)
{
    queue_max_ = 3 * chunk;
    stream();
    EXPECT_EQ(read(chunk), 8us); // five chunks came in 40
    queue_max_ = 300 * chunk;
    EXPECT_EQ(read(chunk), 20us);
}

TEST_F(StreamPauseTest, DoesNotComeWhereTheQueueIsFullBeforeItIsOver)
{
    queue_max_ = chunk;
    stream();
    EXPECT_EQ(read(chunk / 4), none);
}

TEST_F(StreamPauseTest, DoesNotComeWhereAReadBringsMostOfTheQueue)
{
    queue_max_ = 2 * chunk;
    stream();
    EXPECT_EQ(read(chunk), none);
    EXPECT_NE(read(chunk / 2), none);
}

TEST_F(StreamPauseTest, DoesNotComeWithinAMessageThatAQueueMayBeTooSmallFor)
{
    queue_max_ = 8 * chunk;
    stream();
    in_part_ = 2 * chunk;
    EXPECT_EQ(read(chunk), none);
    in_part_ = 0;
    EXPECT_NE(read(chunk), none);
    in_part_ = 3 * chunk; // that is another stream: the queue fills by itself
    EXPECT_EQ(read(chunk), none);
    in_part_ = 0;
    EXPECT_EQ(read(chunk), none);
}

TEST_F(StreamPauseTest, IsSpentAwakeWhereSleepsTakeLongerThanTheQueueTakesToFill)
{
    queue_max_ = 3 * chunk;
    stream();
    EXPECT_EQ(read(chunk), 8us);
    for (int i = 0; i < 10; ++i)
        pause_.note_slept(8us, 40us);
    const StreamPause::Pause pause = look(chunk);
    EXPECT_TRUE(pause.awake);
    EXPECT_EQ(pause.length, 12us + 500ns); // until half of it: six chunks came in 50
    queue_max_.reset();                    // where it grows, it may be as late as it wants to
    EXPECT_EQ(read(chunk), 20us);
}

TEST_F(StreamPauseTest, IsSleptAgainWhenThatWasLateLongAgoOrNotSo)
{
    queue_max_ = 3 * chunk;
    stream();
    for (int i = 0; i < 10; ++i)
        pause_.note_slept(8us, 40us);
    int reads = 0;
    while (look(chunk).awake)
        ASSERT_LT(++reads, 10'000);
    EXPECT_GT(reads, 100); // trying costs as much as many of them
    for (int i = 0; i < 20; ++i)
        pause_.note_slept(8us, 9us);
    EXPECT_NE(read(chunk), none);
}

TEST_F(StreamPauseTest, NeverComesIfItIsNotWanted)
{
    pause_ = StreamPause(0us);
    stream();
    EXPECT_EQ(read(chunk), none);
}

} // namespace
} // namespace kairos::orb
