// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/stream_pause.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds none{0};
constexpr std::size_t chunk = StreamPause::stream_min / 4;

class StreamPauseTest : public testing::Test {
  protected:
    std::chrono::nanoseconds read(std::size_t bytes, bool all = true)
    {
        now_ += 10us;
        return pause_.after_read(bytes, all, now_);
    }
    void stream()
    {
        for (int i = 0; i < 4; ++i)
            (void)read(chunk, false);
    }

    StreamPause pause_{20us};
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

TEST_F(StreamPauseTest, NeverComesIfItIsNotWanted)
{
    pause_ = StreamPause(0us);
    stream();
    EXPECT_EQ(read(chunk), none);
}

} // namespace
} // namespace kairos::orb
