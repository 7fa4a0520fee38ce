// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/synch.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <thread>

namespace kairos::compat::tao {
namespace {

/// As ACE_Time_Value is.
struct Time {
    long seconds;
    [[nodiscard]] long sec() const { return seconds; }
    [[nodiscard]] long usec() const { return 999'999; }
};

TEST(TaoCondition, ATimeThatTheClockDoesNotReachNeverComes)
{
    // The largest one, and the last that would not do as the clock's.
    for (const long seconds : {std::numeric_limits<long>::max(), 9'223'372'036L}) {
        PlainLock lock;
        Condition condition(lock);
        bool is_told = false;
        lock.acquire();
        std::thread other([&] {
            lock.acquire();
            is_told = true;
            condition.signal();
            lock.release();
        });
        const Time until{seconds};
        while (!is_told)
            EXPECT_EQ(condition.wait(&until), 0) << seconds;
        lock.release();
        other.join();
    }
}

TEST(TaoCondition, ATimeThatHasComeEndsTheWait)
{
    PlainLock lock;
    Condition condition(lock);
    const Time past{1};
    lock.acquire();
    errno = 0;
    EXPECT_EQ(condition.wait(&past), -1);
    EXPECT_EQ(errno, ETIME);
    lock.release();
}

} // namespace
} // namespace kairos::compat::tao
