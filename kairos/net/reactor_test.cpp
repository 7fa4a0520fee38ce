// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/reactor.h"

#include "kairos/net/loopback_testing.h"
#include "kairos/net/thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <vector>

namespace {
std::atomic<int> allocations{0};
int waits = 0;
} // namespace

// Every allocation of this program is counted. Not inlined, else the compiler sees new meet free.
[[gnu::noinline]] void* operator new(std::size_t size)
{
    ++allocations;
    if (void* memory = std::malloc(size); memory != nullptr) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#ifdef KAIROS_COUNTS_WAITS
// The linker sends the module's calls here (--wrap, CMakeLists.txt).
extern "C" {
int __real_epoll_wait(int, epoll_event*, int, int);
int __real_epoll_pwait2(int, epoll_event*, int, const timespec*, const sigset_t*);
int __wrap_epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms)
{
    ++waits;
    return __real_epoll_wait(epoll, events, count, timeout_ms);
}
int __wrap_epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* timeout,
                        const sigset_t* mask)
{
    ++waits;
    return __real_epoll_pwait2(epoll, events, count, timeout, mask);
}
}
#endif

namespace kairos::net {
namespace {

using namespace std::chrono_literals;
using testing::must;
using Registration = Reactor::Registration;

/// Calls a function; counts the calls.
class Handler final : public EventHandler {
  public:
    explicit Handler(std::function<void(Readiness)> action = {}) : action_(std::move(action)) {}
    void on_ready(Readiness readiness) noexcept override
    {
        ++calls;
        last = readiness;
        if (action_) action_(readiness);
    }

    int calls = 0;
    Readiness last;

  private:
    std::function<void(Readiness)> action_;
};

class FunctionTimer final : public Timer {
  public:
    explicit FunctionTimer(std::function<void()> action) : action_(std::move(action)) {}
    void on_timeout() noexcept override { action_(); }

  private:
    std::function<void()> action_;
};

class ReactorTest : public ::testing::Test {
  protected:
    /// A socket with something to read.
    std::pair<Socket, Socket> ready_pair()
    {
        auto pair = must(socket_pair());
        EXPECT_TRUE(pair.second.write(as_bytes("x")).ok());
        return pair;
    }

    std::unique_ptr<Reactor> reactor = must(Reactor::create());
};

TEST_F(ReactorTest, CallsTheHandlerWhileItIsReady)
{
    auto [socket, peer] = must(socket_pair());
    Handler handler;
    const auto registration = must(reactor->add(socket.descriptor(), Interest::readable, handler));
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    ASSERT_TRUE(peer.write(as_bytes("x")).ok());
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(reactor->run_once(), 1u); // not read yet
    EXPECT_TRUE(handler.last.readable);
    EXPECT_FALSE(handler.last.writable);
    EXPECT_FALSE(handler.last.hung_up);
    std::array<std::byte, 1> buffer;
    ASSERT_TRUE(socket.read(buffer).ok());
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    EXPECT_EQ(handler.calls, 2);
    EXPECT_TRUE(reactor->remove(registration));
    EXPECT_FALSE(reactor->remove(registration));
    EXPECT_FALSE(reactor->set_interest(registration, Interest::readable));
    EXPECT_FALSE(reactor->remove(Registration()));
}

TEST_F(ReactorTest, InterestCanChange)
{
    auto [socket, peer] = ready_pair();
    Handler handler;
    const auto registration = must(reactor->add(socket.descriptor(), Interest::none, handler));
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    ASSERT_TRUE(reactor->set_interest(registration, Interest::writable));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_TRUE(handler.last.writable && !handler.last.readable);
    ASSERT_TRUE(reactor->set_interest(registration, Interest::readable_and_writable));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_TRUE(handler.last.writable && handler.last.readable);
    ASSERT_TRUE(reactor->set_interest(registration, Interest::readable));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_TRUE(!handler.last.writable && handler.last.readable);
    // Throttled, not even the peer's end is heard, which would otherwise spin.
    ASSERT_TRUE(reactor->set_interest(registration, Interest::none));
    peer.close();
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    ASSERT_TRUE(reactor->set_interest(registration, Interest::readable));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_TRUE(handler.last.hung_up && handler.last.readable && !handler.last.writable);
    EXPECT_TRUE(reactor->remove(registration));
}

TEST_F(ReactorTest, WhatCannotBeWatchedIsAnError)
{
    Handler handler;
    EXPECT_EQ(reactor->add(-1, Interest::readable, handler).error().system_errno, EBADF);
    const Socket file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(reactor->add(file.descriptor(), Interest::readable, handler));
    auto [socket, peer] = ready_pair();
    const auto registration = must(reactor->add(socket.descriptor(), Interest::readable, handler));
    const auto twice = reactor->add(socket.descriptor(), Interest::readable, handler);
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().system_errno, EEXIST);
    EXPECT_EQ(reactor->run_once(0ns), 1u); // the first one is unharmed
    EXPECT_TRUE(reactor->remove(registration));
}

TEST_F(ReactorTest, HandlerMayRemoveAndDestroyItself)
{
    auto [socket, peer] = ready_pair();
    Registration registration;
    std::unique_ptr<Handler> handler;
    int calls = 0;
    handler = std::make_unique<Handler>([&, &socket = socket](Readiness) {
        ++calls;
        EXPECT_TRUE(reactor->remove(registration));
        socket.close();
        // The function object lives in the handler: nothing after this may touch its captures.
        handler.reset();
    });
    registration = must(reactor->add(socket.descriptor(), Interest::readable, *handler));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    EXPECT_EQ(calls, 1);
}

// Two are ready in one turn; whichever is called first removes and destroys the other.
TEST_F(ReactorTest, RemovedHandlerIsNotCalledInTheTurnInProgress)
{
    std::array pairs{ready_pair(), ready_pair()};
    std::array<Registration, 2> registrations;
    std::array<std::unique_ptr<Handler>, 2> handlers;
    int calls = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        handlers[i] = std::make_unique<Handler>([&, other = 1 - i](Readiness) {
            ++calls;
            EXPECT_TRUE(reactor->remove(registrations[other]));
            handlers[other].reset();
        });
        registrations[i] =
            must(reactor->add(pairs[i].first.descriptor(), Interest::readable, *handlers[i]));
    }
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(calls, 1);
}

// As before, but the freed slot goes to a newcomer that is not ready, on the same descriptor.
TEST_F(ReactorTest, NewcomerDoesNotInheritEventsOfTheTurnInProgress)
{
    std::array pairs{ready_pair(), ready_pair()};
    auto quiet = must(socket_pair());
    Handler newcomer;
    std::array<Registration, 2> registrations;
    std::array<std::unique_ptr<Handler>, 2> handlers;
    int calls = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        handlers[i] = std::make_unique<Handler>([&, other = 1 - i](Readiness) {
            if (++calls > 1) return;
            EXPECT_TRUE(reactor->remove(registrations[other]));
            Socket& socket = pairs[other].first;
            ASSERT_GE(::dup3(quiet.first.descriptor(), socket.descriptor(), O_CLOEXEC), 0);
            registrations[other] =
                must(reactor->add(socket.descriptor(), Interest::readable, newcomer));
        });
        registrations[i] =
            must(reactor->add(pairs[i].first.descriptor(), Interest::readable, *handlers[i]));
    }
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(newcomer.calls, 0);
    ASSERT_TRUE(quiet.second.write(as_bytes("now")).ok());
    EXPECT_EQ(reactor->run_once(), 2u);
    EXPECT_EQ(newcomer.calls, 1);
}

TEST_F(ReactorTest, HandlerMayRegisterMoreThanTheTableHolds)
{
    reactor = must(Reactor::create(1, 1));
    auto [socket, peer] = ready_pair();
    std::vector<std::pair<Socket, Socket>> more;
    Handler other;
    Registration registration;
    Handler handler([&](Readiness) {
        for (int i = 0; i < 100; ++i) {
            more.push_back(ready_pair());
            (void)must(reactor->add(more.back().first.descriptor(), Interest::readable, other));
        }
        reactor->remove(registration);
    });
    registration = must(reactor->add(socket.descriptor(), Interest::readable, handler));
    EXPECT_EQ(reactor->run_once(), 1u);
    // More than one turn's worth: none is forgotten, and those served come last in the next turn.
    std::size_t handled = 0;
    for (int turn = 0; turn < 2; ++turn)
        handled += reactor->run_once();
    EXPECT_GE(handled, more.size());
    EXPECT_EQ(other.calls, static_cast<int>(handled));
}

TEST_F(ReactorTest, HandlerMayRunANestedTurn)
{
    std::array pairs{ready_pair(), ready_pair()};
    std::array<Handler, 2> handlers;
    int depth = 0;
    const auto action = [&](Readiness) {
        if (++depth == 1) {
            EXPECT_EQ(reactor->run_once(), 2u);
        }
    };
    for (std::size_t i = 0; i < 2; ++i) {
        handlers[i] = Handler(action);
        (void)must(reactor->add(pairs[i].first.descriptor(), Interest::readable, handlers[i]));
    }
    EXPECT_EQ(reactor->run_once(), 2u);
    EXPECT_EQ(handlers[0].calls + handlers[1].calls, 4);
}

TEST_F(ReactorTest, DescriptorTellsAForeignLoop)
{
    auto [socket, peer] = must(socket_pair());
    Handler handler;
    (void)must(reactor->add(socket.descriptor(), Interest::readable, handler));
    pollfd entry{.fd = reactor->descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&entry, 1, 0), 0);
    ASSERT_TRUE(peer.write(as_bytes("x")).ok());
    EXPECT_EQ(::poll(&entry, 1, -1), 1);
    EXPECT_EQ(reactor->run_once(0ns), 1u);
    EXPECT_FALSE(reactor->next_deadline());
    FunctionTimer timer([] {});
    const auto deadline = Reactor::Clock::now() + 1h;
    reactor->schedule(timer, deadline);
    EXPECT_EQ(reactor->next_deadline(), deadline);
}

TEST_F(ReactorTest, DescriptorTellsAForeignLoopOfTimers)
{
    pollfd entry{.fd = must(reactor->descriptor_with_timers()), .events = POLLIN, .revents = 0};
    FunctionTimer later([] {});
    reactor->schedule(later, Reactor::Clock::now() + 1h);
    EXPECT_EQ(::poll(&entry, 1, 0), 0);
    int fired = 0;
    FunctionTimer timer([&fired] { ++fired; });
    reactor->schedule(timer, Reactor::Clock::now() + 1ms);
    EXPECT_EQ(::poll(&entry, 1, -1), 1);
    EXPECT_EQ(reactor->run_once(0ns), 1u);
    EXPECT_EQ(fired, 1);
    EXPECT_EQ(::poll(&entry, 1, 0), 0);
}

TEST_F(ReactorTest, WakeEndsTheWaitAndShowsWhatWasWritten)
{
    int message = 0; // guarded by wake() alone: ThreadSanitizer judges
    Thread other = must(Thread::start({.name = "waker"}, [&] {
        message = 7;
        reactor->wake();
    }));
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(message, 7);
    EXPECT_EQ(reactor->run_once(0ns), 0u);
}

TEST_F(ReactorTest, SeveralWakesAreOneTurn)
{
    Handler handler;
    reactor->set_wake_handler(&handler);
    for (int i = 0; i < 1000; ++i)
        reactor->wake();
    EXPECT_EQ(reactor->run_once(), 1u);
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    EXPECT_EQ(handler.calls, 1);
}

// A wake that were lost would leave both sides waiting for ever.
TEST_F(ReactorTest, NoWakeIsLost)
{
    constexpr int rounds = 20'000;
    std::atomic<int> sent{0};
    std::atomic<int> seen{0};
    Thread other = must(Thread::start({.name = "waker"}, [&] {
        for (int i = 1; i <= rounds; ++i) {
            sent = i;
            reactor->wake();
            // In step every few rounds, at a run in between: both ways of meeting the flag.
            if (i % 3 == 0) {
                for (int known = seen; known < i; known = seen)
                    seen.wait(known);
            }
        }
    }));
    while (seen < rounds) {
        if (sent == seen) (void)reactor->run_once();
        seen = sent.load();
        seen.notify_one();
    }
    EXPECT_EQ(seen, rounds);
}

TEST_F(ReactorTest, RunsUntilAnotherThreadStopsIt)
{
    auto [socket, peer] = ready_pair();
    Handler handler([&, &socket = socket](Readiness) {
        std::array<std::byte, 1> buffer;
        EXPECT_TRUE(socket.read(buffer).ok());
    });
    Thread loop = must(Thread::start({.name = "loop"}, [&, &socket = socket] {
        reactor->bind_to_this_thread();
        (void)must(reactor->add(socket.descriptor(), Interest::readable, handler));
        reactor->run();
    }));
    reactor->stop();
    loop.join();
    reactor->bind_to_this_thread();
    reactor->stop();
    reactor->stop();
    reactor->run(); // ended before it began
    while (handler.calls == 0)
        (void)reactor->run_once();
    EXPECT_EQ(handler.calls, 1);
}

TEST_F(ReactorTest, OnlyTheOwnerMayUseIt)
{
    must(Thread::start({}, [&] { reactor->bind_to_this_thread(); })).join();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH((void)reactor->run_once(0ns), "owner_");
    reactor->bind_to_this_thread();
    EXPECT_EQ(reactor->run_once(0ns), 0u);
}

TEST_F(ReactorTest, WaitsNoLongerThanAllowed)
{
    EXPECT_EQ(reactor->run_once(0ns), 0u);
    EXPECT_EQ(reactor->run_once(-5ns), 0u);
    EXPECT_EQ(reactor->run_once(100us), 0u);
}

TEST_F(ReactorTest, TimersFireInOrderAndNotEarly)
{
    const auto start = Reactor::Clock::now();
    std::vector<int> fired;
    const auto timer = [&](int name, Reactor::Clock::duration after) {
        auto created = std::make_unique<FunctionTimer>([&fired, name, deadline = start + after] {
            EXPECT_GE(Reactor::Clock::now(), deadline);
            fired.push_back(name);
        });
        reactor->schedule(*created, start + after);
        return created;
    };
    const auto third = timer(3, 2ms);
    const auto first = timer(1, -1ms);
    const auto second = timer(2, 300us);
    const auto fourth = timer(4, 2ms); // equal deadlines: as scheduled
    while (fired.size() < 4)
        (void)reactor->run_once(); // no limit: only the timers end the wait
    EXPECT_EQ(fired, (std::vector{1, 2, 3, 4}));
    EXPECT_FALSE(first->is_scheduled());
    EXPECT_FALSE(reactor->next_deadline());
}

TEST_F(ReactorTest, TimersCanBeCancelledMovedAndDestroyed)
{
    const auto now = Reactor::Clock::now();
    std::vector<int> fired;
    FunctionTimer first([&] { fired.push_back(1); });
    FunctionTimer second([&] { fired.push_back(2); });
    auto third = std::make_unique<FunctionTimer>([&] { fired.push_back(3); });
    reactor->schedule(first, now - 3ms);
    reactor->schedule(second, now - 2ms);
    reactor->schedule(*third, now - 4ms);
    reactor->schedule(first, now - 1ms); // moved behind the second
    third.reset();
    EXPECT_EQ(reactor->run_once(), 2u);
    EXPECT_EQ(fired, (std::vector{2, 1}));

    reactor->schedule(first, now);
    EXPECT_TRUE(first.is_scheduled());
    EXPECT_TRUE(reactor->cancel(first));
    EXPECT_FALSE(reactor->cancel(first));
    EXPECT_EQ(reactor->run_once(0ns), 0u);

    reactor->schedule(first, now + 1h);
    reactor = must(Reactor::create());
    EXPECT_FALSE(first.is_scheduled());
}

TEST_F(ReactorTest, TimerThatReschedulesItselfLetsOthersRun)
{
    auto [socket, peer] = ready_pair();
    Handler handler;
    (void)must(reactor->add(socket.descriptor(), Interest::readable, handler));
    int fired = 0;
    std::unique_ptr<FunctionTimer> timer;
    timer = std::make_unique<FunctionTimer>([&] {
        ++fired;
        reactor->schedule(*timer, Reactor::Clock::now() - 1h);
    });
    reactor->schedule(*timer, Reactor::Clock::now());
    for (int turn = 1; turn <= 3; ++turn) {
        EXPECT_EQ(reactor->run_once(), 2u);
        EXPECT_EQ(fired, turn);
        EXPECT_EQ(handler.calls, turn);
    }
}

TEST_F(ReactorTest, TimerMayCancelAndDestroyOthersThatAreDue)
{
    const auto now = Reactor::Clock::now();
    std::unique_ptr<FunctionTimer> victim;
    int fired = 0;
    FunctionTimer first([&] { victim.reset(); });
    FunctionTimer last([&] { ++fired; });
    victim = std::make_unique<FunctionTimer>([&] { fired += 100; });
    reactor->schedule(first, now - 3ms);
    reactor->schedule(*victim, now - 2ms);
    reactor->schedule(last, now - 1ms);
    EXPECT_EQ(reactor->run_once(), 2u);
    EXPECT_EQ(fired, 1);
}

// The heap against a sorted list, under scheduling, moving and cancelling.
TEST_F(ReactorTest, ManyTimersFireSorted)
{
    struct Mark {
        Reactor::Clock::time_point deadline;
        int order;
    };
    const auto past = Reactor::Clock::now() - 1h;
    std::vector<int> fired;
    std::vector<std::unique_ptr<FunctionTimer>> timers;
    for (int i = 0; i < 500; ++i)
        timers.push_back(std::make_unique<FunctionTimer>([&fired, i] { fired.push_back(i); }));
    std::vector<std::optional<Mark>> marks(timers.size());
    std::uint32_t random = 20261121;
    for (int step = 0; step < 5000; ++step) {
        random = random * 1664525 + 1013904223;
        const std::size_t i = (random >> 8) % timers.size();
        if (random >> 30 == 0) {
            EXPECT_EQ(reactor->cancel(*timers[i]), marks[i].has_value());
            marks[i].reset();
        } else {
            const auto deadline = past + std::chrono::microseconds((random >> 17) % 97);
            reactor->schedule(*timers[i], deadline);
            marks[i] = Mark{deadline, step};
        }
    }
    std::vector<int> expected;
    for (std::size_t i = 0; i < timers.size(); ++i)
        if (marks[i]) expected.push_back(static_cast<int>(i));
    std::sort(expected.begin(), expected.end(), [&](int left, int right) {
        const Mark& a = *marks[static_cast<std::size_t>(left)];
        const Mark& b = *marks[static_cast<std::size_t>(right)];
        return std::pair(a.deadline, a.order) < std::pair(b.deadline, b.order);
    });
    EXPECT_EQ(reactor->run_once(), expected.size());
    EXPECT_EQ(fired, expected);
}

/// Answers each message with itself.
class Echo final : public EventHandler {
  public:
    explicit Echo(Socket& socket) : socket_(socket) {}
    void on_ready(Readiness) noexcept override
    {
        std::array<std::byte, 64> buffer;
        const IoResult got = socket_.read(buffer);
        if (got.ok()) answered += socket_.write(Bytes(buffer).first(got.bytes)).ok() ? 1 : 0;
    }
    int answered = 0;

  private:
    Socket& socket_;
};

// The budget of a turn: one wait, no allocation; also with timers set and cancelled for each
// message, as for its deadline.
TEST_F(ReactorTest, SteadyTurnIsOneWaitAndNoAllocation)
{
    auto [client, server] = testing::connected_pair(Address::loopback_ipv4());
    Echo echo(server);
    (void)must(reactor->add(server.descriptor(), Interest::readable, echo));
    FunctionTimer deadline([] { ADD_FAILURE() << "an hour has passed"; });
    constexpr int messages = 200;
    std::array<std::byte, 8> buffer;
    std::size_t answered = 0;

    const int allocations_before = allocations;
    [[maybe_unused]] const int waits_before = waits;
    for (int i = 0; i < messages; ++i) {
        if (i % 2 == 1) reactor->schedule(deadline, Reactor::Clock::now() + 1h);
        if (!client.write(as_bytes("message")).ok()) break;
        (void)reactor->run_once();
        answered += client.read(buffer).bytes;
        reactor->cancel(deadline);
    }
    EXPECT_EQ(allocations - allocations_before, 0);
#ifdef KAIROS_COUNTS_WAITS
    EXPECT_EQ(waits - waits_before, messages);
#endif
    EXPECT_EQ(echo.answered, messages);
    EXPECT_EQ(answered, messages * std::string_view("message").size());
}

} // namespace
} // namespace kairos::net
