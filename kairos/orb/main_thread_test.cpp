// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/main_thread.h"

#include "kairos/net/waker.h"

#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace kairos::orb {
namespace {

/// Calls a function, on whichever thread does it.
class Task final : public MainThread::Posted {
  public:
    explicit Task(std::function<void()> function) : function_(std::move(function)) {}
    void work() noexcept override { function_(); }
    void refused() noexcept override {}

  private:
    std::function<void()> function_;
};

TEST(MainThread, WaitEndsThoughWorkNeverDoes)
{
    MainThread main;
    net::Waker ready = net::Waker::create().value();
    int times = 0;
    // As handlers do that make the next call, and peers that send the next request.
    Task* again = nullptr;
    Task task([&] {
        if (++times == 1) ready.wake();
        EXPECT_EQ(main.post(*again), MainThread::Accepted::first);
    });
    again = &task;
    ASSERT_EQ(main.post(task), MainThread::Accepted::first);
    EXPECT_TRUE(main.serve_until_ready(ready.descriptor(), Deadline()));
    EXPECT_TRUE(main.pending());
    main.close();
}

TEST(MainThread, WaitDoesWhatCameBeforeItsEnd)
{
    MainThread main;
    net::Waker ready = net::Waker::create().value();
    bool done = false;
    Task task([&] { done = true; });
    ASSERT_EQ(main.post(task), MainThread::Accepted::first);
    ready.wake();
    EXPECT_FALSE(main.serve_until_ready(ready.descriptor(), Deadline()));
    EXPECT_TRUE(done);
}

TEST(MainThread, WhoCameWhileOneServedAsItWaitedServesAfterIt)
{
    MainThread main;
    net::Waker ready = net::Waker::create().value();
    std::promise<void> serves;
    Task first([&] { serves.set_value(); });
    ASSERT_EQ(main.post(first), MainThread::Accepted::first);
    std::thread waiter([&] { (void)main.serve_until_ready(ready.descriptor(), Deadline()); });
    serves.get_future().wait();

    std::promise<void> came;
    std::thread runs([&] {
        const MainThread::Serving serving(main);
        came.set_value();
        main.serve_until_closed();
    });
    came.get_future().wait();
    ready.wake();
    waiter.join();

    std::promise<std::thread::id> by;
    Task second([&] { by.set_value(std::this_thread::get_id()); });
    ASSERT_EQ(main.post(second), MainThread::Accepted::first);
    EXPECT_EQ(by.get_future().get(), runs.get_id());
    main.close();
    runs.join();
}

} // namespace
} // namespace kairos::orb
