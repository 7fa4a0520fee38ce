// SPDX-License-Identifier: Apache-2.0
//
// Calls that coroutines await: their results and exceptions, where coroutines go on, and what ends
// calls early.
#include "fixture.h"

#include "awaited.h"

#include "kairos/base/deadline.h"
#include "kairos/messaging/task.h"

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <future>
#include <sstream>
#include <stop_token>
#include <thread>

namespace kairos::ami_testing {
namespace {

using messaging::AsyncOptions;
using messaging::Cancelled;
using messaging::Task;

/// A client's ORB, of which no thread is in ORB::run.
class Caller {
  public:
    explicit Caller(std::vector<std::string> options = {}) : orb(make_orb(std::move(options))) {}
    ~Caller() { orb->destroy(); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    [[nodiscard]] Ami::Target_var target(const Server& server) const
    {
        const CORBA::Object_var object = orb->string_to_object(server.reference.c_str());
        return Ami::Target::_unchecked_narrow(object);
    }
    CORBA::ORB_var orb;
};

Task<CORBA::Long> sum(Ami::Target_ptr target, CORBA::Long count)
{
    CORBA::Long all = 0;
    for (CORBA::Long i = 1; i <= count; ++i)
        all = co_await target->async().add(all, i);
    co_return all;
}

TEST(Coroutines, AwaitResults)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    EXPECT_EQ(5050, sum(target.in(), 100).wait());
}

Task<std::string> changed(Ami::Target_ptr target)
{
    Ami::Person who;
    who.name = "Ada";
    who.at = {1, 2};
    const Ami::Point where{1, 1};
    const auto all = co_await target->async().change("text", who, where);
    CORBA::Long value = 0;
    EXPECT_TRUE(all.anything.in() >>= value);
    EXPECT_FALSE(CORBA::is_nil(all.other.in()));
    EXPECT_EQ(5, all.same[1][2]);
    EXPECT_EQ(2.5, all.where.y);
    co_return std::string(all.ami_return_val.in()) + " " + all.text.in() + " " +
        std::to_string(all.who->at.x) + " " + all.all[1].in() + " " + std::to_string(value) + " " +
        std::to_string(all.number);
}

TEST(Coroutines, AwaitSeveralResultsByTheirNames)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    EXPECT_EQ("text text! 7 two 42 9", changed(target.in()).wait());
}

Task<std::string> renamed(Ami::Target_ptr target)
{
    const auto async = target->async();
    co_await async.set_name("after"); // of the base
    const CORBA::String_var name = co_await async.get_name();
    const Ami::Person_var owner = co_await async.get_owner();
    co_await async.note(1); // a oneway
    const Ami::Octets_var none = co_await async.echo(Ami::Octets());
    EXPECT_EQ(0u, none->length());
    co_return std::string(name.in()) + " " + owner->name.in();
}

TEST(Coroutines, AwaitAttributesOnewaysAndOperationsOfBases)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    EXPECT_EQ("after Ada", renamed(target.in()).wait());
}

Task<std::string> refused(Ami::Target_ptr target)
{
    std::string heard;
    try {
        co_await target->async().refuse("no");
    } catch (const Ami::Refused& exception) {
        heard = exception.why.in();
    }
    try {
        co_await target->async().fail(1);
    } catch (const CORBA::NO_PERMISSION& exception) {
        heard += " " + std::to_string(exception.minor());
    }
    co_await target->async().refuse("at last");
    co_return heard;
}

TEST(Coroutines, HearOfExceptions)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    EXPECT_THROW((void)refused(target.in()).wait(), Ami::Refused);
    const Ami::Target_var nobody = Ami::Target::_unchecked_narrow(
        CORBA::Object_var(caller.orb->string_to_object("corbaloc::127.0.0.1:1/nobody")).in());
    EXPECT_THROW((void)sum(nobody.in(), 1).wait(), CORBA::TRANSIENT);
}

TEST(Coroutines, CallObjectsOfTheirOwnProcessAtOnce)
{
    Server server;
    const CORBA::Object_var object = server.orb()->string_to_object(server.reference.c_str());
    const Ami::Target_var target = Ami::Target::_unchecked_narrow(object);
    EXPECT_EQ(5050, sum(target.in(), 100).wait());
    EXPECT_EQ("after Ada", renamed(target.in()).wait());
    EXPECT_THROW((void)refused(target.in()).wait(), Ami::Refused);
}

Task<CORBA::Long> held(Ami::Target_ptr target, CORBA::Long number, AsyncOptions options = {})
{
    co_return co_await target->async(std::move(options)).hold(number);
}

TEST(Coroutines, EndByTheirDeadline)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    EXPECT_THROW(
        (void)held(target.in(), 1, AsyncOptions().within(std::chrono::milliseconds(20))).wait(),
        CORBA::TIMEOUT);
    server.servant.release(1);
    EXPECT_EQ(3, sum(target.in(), 2).wait()); // the connection lives on
}

TEST(Coroutines, AreCancelledByTheirStopToken)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    std::stop_source stop;
    std::jthread stopping([&] {
        EXPECT_TRUE(server.servant.wait_for_hold(1));
        stop.request_stop();
    });
    const auto stopped = AsyncOptions().stopped_by(stop.get_token());
    EXPECT_THROW((void)held(target.in(), 1, stopped).wait(), Cancelled);
    // What is to be cancelled already is not sent.
    EXPECT_THROW((void)held(target.in(), 2, stopped).wait(), Cancelled);
    server.servant.release(1);
    server.servant.release(2);
    EXPECT_EQ(3, sum(target.in(), 2).wait());
    const auto never = AsyncOptions().stopped_by(std::stop_source().get_token());
    EXPECT_EQ(2, held(target.in(), 2, never).wait());
}

/// Resumes in a thread of its own.
class OneThread final : public messaging::Executor {
  public:
    OneThread() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
    void resume_later(std::coroutine_handle<> coroutine) noexcept override
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(coroutine);
        changed_.notify_all();
    }
    [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }

  private:
    void run(const std::stop_token& stop)
    {
        for (;;) {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
            const std::coroutine_handle<> next = waiting_.front();
            waiting_.pop_front();
            lock.unlock();
            next.resume();
        }
    }
    std::mutex mutex_; // guards what follows
    std::condition_variable_any changed_;
    std::deque<std::coroutine_handle<>> waiting_;
    std::jthread thread_;
};

/// What a coroutine does in the thread that resumes it.
using Work = std::function<std::string(Ami::Target_ptr)>;

Task<void> work_resumed(Ami::Target_ptr target, CORBA::Long number, AsyncOptions options,
                        const Work& work, std::promise<std::string>& done)
{
    (void)co_await target->async(std::move(options)).hold(number);
    done.set_value(work(target));
}

std::string thread_name(std::thread::id id = std::this_thread::get_id())
{
    std::ostringstream text;
    text << id;
    return text.str();
}

TEST(Coroutines, AreResumedByWhoHasReadTheReplyOrByTheirExecutor)
{
    Server server;
    OneThread executor;
    std::vector<std::promise<std::string>> done(3); // beyond the thread that keeps them
    std::vector<std::string> threads;
    const Work who = [](Ami::Target_ptr) { return thread_name(); };
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    const auto by_executor = AsyncOptions().resumed_by(executor);
    for (CORBA::Long i = 0; i < 3; ++i) {
        work_resumed(target.in(), i, i == 0 ? by_executor : AsyncOptions(), who, done.at(i))
            .start();
        server.servant.release(i); // when the thread that has sent it is done with it
        threads.push_back(done.at(i).get_future().get());
    }
    EXPECT_EQ(thread_name(executor.id()), threads[0]);
    EXPECT_NE(threads[0], threads[1]);
    EXPECT_NE(thread_name(), threads[1]);
    EXPECT_EQ(threads[1], threads[2]);
}

/// What becomes of work in the thread that has read the reply.
std::string in_reader(std::vector<std::string> options, const Work& work)
{
    Server server;
    std::promise<std::string> done;
    const Caller caller(std::move(options));
    const Ami::Target_var target = caller.target(server);
    work_resumed(target.in(), 1, {}, work, done).start();
    server.servant.release(1);
    return done.get_future().get();
}

TEST(Coroutines, MayMakeOrdinaryCallsWhereTheyAreResumed)
{
    const Work call = [](Ami::Target_ptr target) { return std::to_string(target->add(3, 4)); };
    EXPECT_EQ("7", in_reader({}, call));
    EXPECT_EQ("7", in_reader({"-ORBConnection", "active"}, call));
    EXPECT_EQ("7", in_reader({"-ORBConnection", "leader-followers"}, call));
}

TEST(Coroutines, CannotDestroyTheirOrbWhereTheyAreResumed)
{
    const Work destroy = [](Ami::Target_ptr target) {
        const CORBA::ORB_var orb = target->_get_orb();
        return orb_testing::outcome([&] { orb->destroy(); });
    };
    EXPECT_EQ("BAD_INV_ORDER 0x4f4d0003 NO", in_reader({}, destroy));
}

/// A coroutine of another kind: it begins at once, and its handle is the test's to destroy.
struct Plain {
    struct promise_type {
        Plain get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

Plain plain(Ami::Target_ptr target, CORBA::Long number, std::promise<CORBA::Long>& result)
{
    result.set_value(co_await target->async().hold(number));
}

TEST(Coroutines, OfAnyKindMayAwaitAndBeDestroyedMeanwhile)
{
    Server server;
    std::promise<CORBA::Long> result;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    {
        std::promise<CORBA::Long> never;
        const Plain suspended = plain(target.in(), 1, never);
        EXPECT_TRUE(server.servant.wait_for_hold(1));
        EXPECT_FALSE(suspended.handle.done());
        suspended.handle.destroy();
    }
    server.servant.release(1); // whose reply is nobody's
    EXPECT_EQ(3, sum(target.in(), 2).wait());
    server.servant.release(2);
    const Plain run = plain(target.in(), 2, result);
    EXPECT_EQ(2, result.get_future().get());
    (void)sum(target.in(), 1).wait(); // by when the thread that has resumed it is done with it
    EXPECT_TRUE(run.handle.done());
    run.handle.destroy();
}

TEST(Coroutines, GiveBackWhatTheyDoNotWaitForAnyMore)
{
    Server server;
    const Caller caller({"-ORBAsynchronousCalls", "1"});
    const Ami::Target_var target = caller.target(server);
    std::promise<CORBA::Long> never;
    const Plain suspended = plain(target.in(), 1, never);
    EXPECT_THROW((void)target->async().add(1, 2), CORBA::TRANSIENT);
    suspended.handle.destroy();
    server.servant.release(1);
    const Deadline limit = Deadline::after(patience);
    for (bool is_free = false; !is_free && !limit.has_passed();) { // the reply is on its way
        try {
            (void)target->async().add(1, 2);
            is_free = true;
        } catch (const CORBA::TRANSIENT&) {
            std::this_thread::yield();
        }
    }
    EXPECT_EQ(3, sum(target.in(), 2).wait());
}

TEST(Coroutines, ThatAreNotAwaitedSendNothing)
{
    Server server;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    {
        [[maybe_unused]] const auto call = target->async().add(1, 2);
    }
    EXPECT_EQ(3, sum(target.in(), 2).wait());
    EXPECT_EQ(2, server.servant.calls);
}

Task<void> many(Ami::Target_ptr target, CORBA::Long number, std::atomic<CORBA::Long>& left,
                std::promise<void>& ended)
{
    EXPECT_EQ(number + 1, co_await target->async().add(number, 1));
    if (--left == 0) ended.set_value();
}

TEST(Coroutines, AreOutstandingByTheThousand)
{
    constexpr CORBA::Long count = 2000;
    Server server;
    std::atomic<CORBA::Long> left = count;
    std::promise<void> ended;
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    for (CORBA::Long i = 0; i < count; ++i)
        many(target.in(), i, left, ended).start();
    EXPECT_EQ(std::future_status::ready, ended.get_future().wait_for(patience));
    EXPECT_EQ(count, server.servant.calls);
}

Task<void> hears(Ami::Target_ptr target, std::promise<std::string>& heard)
{
    std::string what = "a result";
    try {
        (void)co_await target->async().hold(1);
    } catch (const CORBA::SystemException& exception) {
        what = exception._name();
    }
    heard.set_value(what);
}

TEST(Coroutines, HearOfTheEndOfTheirOrb)
{
    Server server;
    std::promise<std::string> heard;
    {
        const Caller caller;
        const Ami::Target_var target = caller.target(server);
        hears(target.in(), heard).start();
        EXPECT_TRUE(server.servant.wait_for_hold(1));
    }
    std::future<std::string> what = heard.get_future();
    ASSERT_EQ(std::future_status::ready, what.wait_for(patience));
    EXPECT_EQ("COMM_FAILURE", what.get());
    server.servant.release(1);
}

TEST(Coroutines, AreCancelledAtAnyMoment)
{
    Server server({"-ORBConcurrency", "reactor"});
    const Caller caller;
    const Ami::Target_var target = caller.target(server);
    int cancelled = 0;
    for (int round = 0; round < 200; ++round) {
        std::stop_source stop;
        std::jthread stopping([&] { stop.request_stop(); });
        const auto add = [](Ami::Target_ptr at, std::stop_token token) -> Task<CORBA::Long> {
            co_return co_await at->async(AsyncOptions().stopped_by(token)).add(1, 2);
        };
        try {
            EXPECT_EQ(3, add(target.in(), stop.get_token()).wait());
        } catch (const Cancelled&) {
            ++cancelled;
        }
    }
    EXPECT_LE(cancelled, 200);
    EXPECT_EQ(3, sum(target.in(), 2).wait());
}

/// Names of the IDL that those of awaited calls must avoid.
Task<std::string> avoided(Awaited::Clash_ptr clash)
{
    auto async = clash->ami_async();
    const CORBA::Long one = co_await async.ami_get_size();
    const CORBA::Long other = co_await async.get_size();
    const Awaited::Clash::_kairos_async::ami_divide_results both = co_await async.divide(7, 2);
    const CORBA::Long last = co_await async.divide_results();
    co_return std::to_string(one + other + both.ami_return_val + both._cxx_class + last);
}

TEST(Coroutines, OfNamesThatClash)
{
    const Caller caller;
    const CORBA::Object_var object = caller.orb->string_to_object("corbaloc::127.0.0.1:1/nobody");
    const Awaited::Clash_var nobody = Awaited::Clash::_unchecked_narrow(object.in());
    EXPECT_THROW((void)avoided(nobody.in()).wait(), CORBA::TRANSIENT);
}

} // namespace
} // namespace kairos::ami_testing
