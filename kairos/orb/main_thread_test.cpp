// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/main_thread.h"

#include "kairos/net/socket.h"

#include <future>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace kairos::orb {
namespace {

/// An eventfd that is not ready until it is told.
class Event {
  public:
    [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
    void set() const
    {
        const std::uint64_t one = 1;
        ASSERT_EQ(::write(descriptor(), &one, sizeof one), ssize_t{sizeof one});
    }

  private:
    net::Socket socket_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

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
    const Event ready;
    int times = 0;
    // As handlers do that make the next call, and peers that send the next request.
    Task* again = nullptr;
    Task task([&] {
        if (++times == 1) ready.set();
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
    const Event ready;
    bool done = false;
    Task task([&] { done = true; });
    ASSERT_EQ(main.post(task), MainThread::Accepted::first);
    ready.set();
    EXPECT_FALSE(main.serve_until_ready(ready.descriptor(), Deadline()));
    EXPECT_TRUE(done);
}

TEST(MainThread, WhoCameWhileOneServedAsItWaitedServesAfterIt)
{
    MainThread main;
    const Event ready;
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
    ready.set();
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
