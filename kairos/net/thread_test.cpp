// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/thread.h"

#include "kairos/base/assert_held.h"
#include "kairos/net/loopback_testing.h"
#include "kairos/net/priority_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace kairos::net {
namespace {

using testing::must;

/// The first CPU this process may use.
int allowed_cpu()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) return cpu;
    return -1;
}

TEST(PriorityMutex, SaysWhetherItIsHeldAlsoByWhoWaitedForACondition)
{
    PriorityMutex mutex;
    PriorityCondition condition;
    assert_not_held(mutex);
    bool called = false;
    std::unique_lock lock(mutex);
    assert_held(mutex);
    Thread thread = must(Thread::start({.name = "caller"}, [&] {
        const std::lock_guard there(mutex);
        assert_held(mutex);
        called = true;
        condition.notify_one();
    }));
    condition.wait(lock, [&] { return called; });
    assert_held(mutex);
    lock.unlock();
    assert_not_held(mutex);
    thread.join();
}

TEST(Thread, RunsItsBodyUnderItsNameAndIsJoined)
{
    std::string name;
    {
        const Thread thread = must(Thread::start({.name = "a name that is too long"}, [&] {
            char text[32] = {};
            ::pthread_getname_np(::pthread_self(), text, sizeof text);
            name = text;
        }));
        EXPECT_TRUE(thread.joinable());
    }
    EXPECT_EQ(name, "a name that is ");
}

TEST(Thread, MovesAndJoinsWhatItHad)
{
    std::atomic<int> ended{0};
    Thread first = must(Thread::start({}, [&] { ++ended; }));
    Thread second = std::move(first);
    EXPECT_FALSE(first.joinable());
    second = must(Thread::start({}, [&] { ++ended; }));
    EXPECT_GE(ended, 1); // assigning has joined the former thread
    second.join();
    second.join(); // a second time is nothing
    EXPECT_EQ(ended, 2);
}

TEST(Thread, IsNotCancelledInItsBody)
{
    std::atomic<bool> cancelled{false};
    bool ended = false;
    Thread thread = must(Thread::start({}, [&] {
        cancelled.wait(false);
        ::pthread_testcancel();
        ended = ::write(-1, nullptr, 0) < 0; // a cancellation point of the C library's
    }));
    ASSERT_EQ(::pthread_cancel(thread.native_handle()), 0);
    cancelled = true;
    cancelled.notify_one();
    thread.join();
    EXPECT_TRUE(ended);
}

TEST(NotCancelled, LeavesTheCallerAsItWas)
{
    int state = -1;
    int type = -1;
    {
        const NotCancelled here;
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        EXPECT_EQ(state, PTHREAD_CANCEL_DISABLE);
    }
    ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    EXPECT_EQ(state, PTHREAD_CANCEL_ENABLE);
    EXPECT_EQ(type, PTHREAD_CANCEL_DEFERRED);
}

TEST(Thread, StackHasAtLeastTheSizeAskedFor)
{
    constexpr std::size_t stack_bytes = 3'000'001; // not a multiple of a page
    std::size_t size = 0;
    must(Thread::start({.stack_bytes = stack_bytes}, [&] {
        pthread_attr_t attributes;
        if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
        void* base = nullptr;
        ::pthread_attr_getstack(&attributes, &base, &size);
        ::pthread_attr_destroy(&attributes);
    })).join();
    EXPECT_GE(size, stack_bytes);
    EXPECT_TRUE(Thread::start({.stack_bytes = 1}, [] {})); // raised to the system's least
    const auto absurd = Thread::start({.stack_bytes = SIZE_MAX}, [] {});
    ASSERT_FALSE(absurd);
}

TEST(Thread, RunsOnTheCpuAskedFor)
{
    const int cpu = allowed_cpu();
    cpu_set_t set;
    CPU_ZERO(&set);
    must(Thread::start({.cpu = cpu}, [&] { ::sched_getaffinity(0, sizeof set, &set); })).join();
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(cpu), &set));
}

TEST(Thread, PinsTheCallingThread)
{
    const int cpu = allowed_cpu();
    int running_on = -1;
    bool is_pinned = false;
    must(Thread::start({}, [&] {
        is_pinned = pin_this_thread(cpu).ok();
        running_on = ::sched_getcpu();
    })).join();
    EXPECT_TRUE(is_pinned);
    EXPECT_EQ(running_on, cpu);
    EXPECT_FALSE(pin_this_thread(-1));
    EXPECT_FALSE(pin_this_thread(CPU_SETSIZE));
}

TEST(Thread, RefusedSettingsAreNamedAndNothingRuns)
{
    std::atomic<bool> ran{false};
    const auto body = [&] { ran = true; };
    for (const int cpu : {-1, CPU_SETSIZE, CPU_SETSIZE - 1}) {
        const auto thread = Thread::start({.cpu = cpu}, body);
        ASSERT_FALSE(thread);
        EXPECT_NE(thread.error().reason.find("CPU"), std::string::npos);
        EXPECT_NE(thread.error().reason.find(std::to_string(cpu)), std::string::npos);
    }
    const auto thread =
        Thread::start({.scheduling = Scheduling{SchedulingPolicy::fifo, 100}}, body);
    ASSERT_FALSE(thread);
    EXPECT_EQ(thread.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(thread.error().reason.find("SCHED_FIFO priority 100"), std::string::npos);
    EXPECT_FALSE(Thread::start({.scheduling = Scheduling{SchedulingPolicy::other, 1}}, body));
    EXPECT_FALSE(ran);
}

// With the right to real-time scheduling it must work, without it the error must say so.
TEST(Thread, RealTimeSchedulingWorksOrIsRefusedClearly)
{
    constexpr Scheduling wanted{SchedulingPolicy::round_robin, 2};
    int policy = -1;
    sched_param parameter{};
    auto thread = Thread::start({.scheduling = wanted}, [&] {
        ::pthread_getschedparam(::pthread_self(), &policy, &parameter);
    });
    if (!thread) {
        EXPECT_EQ(thread.error().system_errno, EPERM);
        EXPECT_NE(thread.error().reason.find("SCHED_RR priority 2"), std::string::npos);
        const auto again = schedule_this_thread(wanted);
        ASSERT_FALSE(again);
        EXPECT_NE(again.error().reason.find("CAP_SYS_NICE"), std::string::npos);
        return;
    }
    (*thread).join();
    EXPECT_EQ(policy, SCHED_RR);
    EXPECT_EQ(parameter.sched_priority, 2);
}

TEST(Thread, SchedulesTheCallingThread)
{
    bool is_set = false;
    must(Thread::start({}, [&] { is_set = schedule_this_thread({}).ok(); })).join();
    EXPECT_TRUE(is_set);
    const auto refused = schedule_this_thread({SchedulingPolicy::round_robin, 0});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

} // namespace
} // namespace kairos::net
