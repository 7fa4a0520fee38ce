// SPDX-License-Identifier: Apache-2.0
//
// Who serves whom in a thread pool, by numbers alone.
#include "kairos/server/pool_levels.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using Room = PoolLevels::Room;

constexpr std::size_t buffered_max = 2;

/// Two lanes of one static thread each; the higher one may have a dynamic one as well.
PoolSettings two_lanes()
{
    PoolSettings settings;
    settings.lanes = {{.priority = 10, .static_threads = 1},
                      {.priority = 20, .static_threads = 1, .dynamic_threads = 1}};
    settings.has_lanes = true;
    return settings;
}

class Levels : public testing::Test {
  protected:
    explicit Levels(PoolSettings settings = two_lanes()) : settings_(std::move(settings)) {}

    PoolSettings settings_;
    PoolLevels levels_{settings_, Dispatching::fifo, buffered_max};
    PoolLevel& low_ = *levels_.begin();
    PoolLevel& high_ = *std::next(levels_.begin());
    const std::function<void()> nothing_ = [] {};
    LocalCall call_{.work = nothing_, .waiter = nullptr};
    LocalCall other_call_{.work = nothing_, .waiter = nullptr};
};

class LevelsThatBorrow : public Levels {
  protected:
    LevelsThatBorrow()
        : Levels([] {
              PoolSettings settings = two_lanes();
              settings.borrows = true;
              return settings;
          }())
    {
    }
};

class LevelsThatBuffer : public Levels {
  protected:
    LevelsThatBuffer()
        : Levels([] {
              PoolSettings settings = two_lanes();
              settings.buffers = true;
              settings.buffered_bytes_max = 100;
              return settings;
          }())
    {
    }
};

class LevelsThatBlock : public Levels {
  protected:
    LevelsThatBlock()
        : Levels([] {
              PoolSettings settings = two_lanes();
              settings.buffers = true;
              settings.blocks = true;
              return settings;
          }())
    {
    }
};

TEST_F(Levels, AreTheHighestThatIsNotAboveThePriority)
{
    EXPECT_EQ(&levels_.level_for(std::nullopt), &low_);
    EXPECT_EQ(&levels_.level_for(Priority{9}), &low_);
    EXPECT_EQ(&levels_.level_for(Priority{19}), &low_);
    EXPECT_EQ(&levels_.level_for(Priority{20}), &high_);
    EXPECT_EQ(&levels_.level_for(priority_max), &high_);
}

TEST_F(Levels, ServeTheirOwnQueueWithAsManyThreadsAsTheyMay)
{
    EXPECT_EQ(levels_.next_for(low_), nullptr);
    low_.push(call_);
    EXPECT_EQ(levels_.next_for(low_), &low_);
    EXPECT_EQ(levels_.next_for(high_), nullptr);
    low_.serving = 1;
    EXPECT_EQ(levels_.next_for(low_), nullptr);
    EXPECT_EQ(levels_.next_nested_for(low_), nullptr);
    low_.serving = 0;
    low_.waiting = 1; // which does not count
    EXPECT_EQ(levels_.next_nested_for(low_), &low_);
}

TEST_F(Levels, LocalCallsAreTakenInTheirOrder)
{
    low_.push(call_);
    low_.push(other_call_);
    EXPECT_EQ(low_.queued(), 2u);
    EXPECT_EQ(low_.pop_call(), &call_);
    EXPECT_EQ(low_.pop_call(), &other_call_);
    EXPECT_EQ(low_.pop_call(), nullptr);
    EXPECT_EQ(low_.queued(), 0u);
}

TEST_F(Levels, HaveRoomForWhatFindsAThread)
{
    EXPECT_EQ(levels_.room_for(low_, 0), Room::found); // one may be started
    low_.idle = 1;
    EXPECT_EQ(levels_.room_for(low_, 0), Room::found);
    low_.push(call_); // which that one is to serve
    EXPECT_EQ(levels_.room_for(low_, 0), Room::none);
}

TEST_F(Levels, AreServedWhileTheyHaveThreads)
{
    EXPECT_FALSE(levels_.is_served(low_));
    low_.waiting = 1;
    EXPECT_TRUE(levels_.is_served(low_));
    EXPECT_FALSE(levels_.is_served(high_)); // nothing is lent
    EXPECT_EQ(levels_.lender_for(high_), nullptr);
}

TEST_F(LevelsThatBorrow, HaveTheThreadsOfLowerOnes)
{
    low_.idle = 1;
    EXPECT_TRUE(levels_.is_served(high_));
    EXPECT_EQ(levels_.lender_for(high_), &low_);
    EXPECT_EQ(levels_.lender_for(low_), nullptr);
    EXPECT_TRUE(levels_.serves(low_, high_));
    EXPECT_FALSE(levels_.serves(high_, low_));
    high_.push(call_);
    EXPECT_EQ(levels_.next_for(low_), &high_);
    high_.idle = 1; // a thread of its own is to serve that
    EXPECT_EQ(levels_.next_for(low_), nullptr);
}

TEST_F(LevelsThatBorrow, BorrowNoneThatHasWorkOfItsOwn)
{
    low_.idle = 1;
    low_.push(call_);
    EXPECT_EQ(levels_.lender_for(high_), nullptr);
}

TEST_F(LevelsThatBuffer, RefuseWhatIsMoreThanTheyMayKeep)
{
    low_.serving = 1;
    EXPECT_EQ(levels_.room_for(low_, 100), Room::found);
    EXPECT_EQ(levels_.room_for(low_, 101), Room::refused);
    low_.push(call_);
    EXPECT_EQ(levels_.room_for(low_, 0), Room::found);
    low_.push(other_call_);
    EXPECT_EQ(levels_.room_for(low_, 0), Room::refused);
    EXPECT_EQ(levels_.room_for(high_, 0), Room::found); // it may start a thread
}

TEST_F(LevelsThatBlock, KeepSoManyAndRefuseNone)
{
    low_.serving = 1;
    low_.push(call_);
    EXPECT_EQ(levels_.room_for(low_, 0), Room::found);
    low_.push(other_call_);
    EXPECT_EQ(levels_.room_for(low_, 0), Room::none);
    low_.serving = 0;
    low_.idle = 2; // which are on their way to those
    EXPECT_EQ(levels_.room_for(low_, 0), Room::none);
    (void)low_.pop_call();
    EXPECT_EQ(levels_.room_for(low_, 0), Room::found);
}

} // namespace
} // namespace kairos::orb
