// SPDX-License-Identifier: Apache-2.0
//
// Servants of `kairos-idl --async`, whose operations are coroutines: what they co_return and throw,
// in whatever thread they end, is the answer; and their arguments are theirs.
#include "fixture.h"

#include "kairos/messaging/task.h"

#include <atomic>
#include <coroutine>
#include <deque>
#include <stdexcept>
#include <thread>

namespace kairos::amh_testing {
namespace {

using messaging::Task;

/// Where coroutines wait until the test has them go on, in its thread.
class Gate {
  public:
    [[nodiscard]] auto pass() noexcept
    {
        struct Awaiter {
            [[nodiscard]] bool await_ready() const noexcept { return gate.is_open_; }
            void await_suspend(std::coroutine_handle<> coroutine) const { gate.add(coroutine); }
            void await_resume() const noexcept {}
            Gate& gate;
        };
        return Awaiter{*this};
    }
    void open() noexcept { is_open_ = true; }
    /// Waits until a coroutine waits here, and has it go on.
    void let_one_pass() { take().resume(); }
    /// Waits until a coroutine waits here, and returns it: to be resumed.
    [[nodiscard]] std::coroutine_handle<> take()
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return !waiting_.empty(); }))
            throw std::runtime_error("no coroutine waits");
        const auto first = waiting_.front();
        waiting_.pop_front();
        return first;
    }

  private:
    void add(std::coroutine_handle<> coroutine)
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(coroutine);
        changed_.notify_all();
    }

    std::atomic<bool> is_open_{false};
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::deque<std::coroutine_handle<>> waiting_;
};

class Servant final : public POA_Amh::Async_Target {
  public:
    Task<CORBA::String_var> name() override { co_return CORBA::string_dup("Ada"); }
    Task<void> name(CORBA::String_var value) override
    {
        co_await gate.pass();
        EXPECT_STREQ("Grace", value.in());
    }
    Task<Amh::Person_var> owner() override
    {
        Amh::Person_var person = new Amh::Person;
        person->name = "Ada";
        person->at = {3, 4.5};
        co_return person;
    }
    Task<CORBA::Long> add(CORBA::Long left, CORBA::Long right) override
    {
        co_await gate.pass();
        co_return left + right;
    }
    Task<change_results> change(CORBA::String_var text, Amh::Person_var who,
                                Amh::Point where) override
    {
        co_await gate.pass();
        change_results all;
        all.ami_return_val = CORBA::string_dup("done");
        all.text = CORBA::string_dup((std::string(text.in()) + "!").c_str());
        who->at.x = 7;
        all.who = who;
        all.where = {where.x, 2.5};
        all.all = new Amh::Names;
        all.all->length(2);
        all.all[0] = "one";
        all.all[1] = "two";
        all.same = Amh::Grid_alloc();
        for (CORBA::ULong row = 0; row < 2; ++row)
            for (CORBA::ULong column = 0; column < 3; ++column)
                all.same[row][column] = static_cast<CORBA::Long>(row * 3 + column + 1);
        all.anything = new CORBA::Any;
        all.anything.inout() <<= CORBA::Long{17};
        all.number = 5;
        co_return all;
    }
    Task<void> refuse(CORBA::String_var why) override
    {
        const std::string reason = why.in();
        if (reason == "at once") throw Amh::Refused(why.in(), Amh::Point{1, 2});
        co_await gate.pass();
        if (reason == "foreign") throw std::runtime_error("foreign");
        if (reason == "unlisted") throw Amh::Unlisted();
        if (reason == "system") throw CORBA::NO_PERMISSION(3, CORBA::COMPLETED_NO);
        throw Amh::Refused(why.in(), Amh::Point{5, 6});
    }
    Task<void> note(CORBA::Long number) override
    {
        co_await gate.pass();
        EXPECT_EQ(12, number);
        noted.set();
    }
    Task<Amh::Octets_var> echo(Amh::Octets_var data) override
    {
        co_await gate.pass();
        co_return data;
    }

    Gate gate;
    Event noted;
};

class CoroutineServants : public EveryArchitecture {
  protected:
    RunningServer server_{GetParam()};
    Servant servant_;
    Caller caller_;
    Amh::Target_var target_ = caller_.target(activate(server_, &servant_));
};

TEST_P(CoroutineServants, ReturnWhenTheyAreResumed)
{
    for (CORBA::Long i = 0; i < 20; ++i) {
        auto call = begin([this, i] { EXPECT_EQ(i + 2, target_->add(i, 2)); });
        servant_.gate.let_one_pass();
        EXPECT_EQ("ok", call.get());
    }
}

TEST_P(CoroutineServants, ReturnAtOnce)
{
    servant_.gate.open();
    EXPECT_EQ(5, target_->add(2, 3));
    const CORBA::String_var name = target_->name();
    EXPECT_STREQ("Ada", name.in());
    const Amh::Person_var owner = target_->owner();
    EXPECT_STREQ("Ada", owner->name.in());
    EXPECT_EQ("Refused", outcome([&] { target_->refuse("at once"); }));
}

TEST_P(CoroutineServants, OwnTheirArguments)
{
    auto set = begin([this] { target_->name("Grace"); });
    servant_.gate.let_one_pass();
    EXPECT_EQ("ok", set.get());
    auto echo = begin([this] {
        Amh::Octets data;
        data.length(300'000);
        data[299'999] = 9;
        const Amh::Octets_var same = target_->echo(data);
        ASSERT_EQ(300'000u, same->length());
        EXPECT_EQ(9, same[299'999]);
    });
    servant_.gate.let_one_pass();
    EXPECT_EQ("ok", echo.get());
}

TEST_P(CoroutineServants, ReturnSeveralResults)
{
    auto call = begin([this] {
        CORBA::String_var text = CORBA::string_dup("text");
        Amh::Person who;
        who.name = "Ada";
        who.at = {1, 2};
        Amh::Point where{1, 1};
        Amh::Names_var all;
        Amh::Grid same;
        CORBA::Any_var anything;
        Amh::Target_var other;
        CORBA::Long number = 0;
        const CORBA::String_var result = target_->change(text.inout(), who, where, all.out(), same,
                                                         anything.out(), other.out(), number);
        EXPECT_STREQ("done", result.in());
        EXPECT_STREQ("text!", text.in());
        EXPECT_STREQ("Ada", who.name.in());
        EXPECT_EQ(7, who.at.x);
        EXPECT_EQ(2.5, where.y);
        EXPECT_STREQ("two", all[1].in());
        EXPECT_EQ(6, same[1][2]);
        CORBA::Long value = 0;
        EXPECT_TRUE(anything.in() >>= value);
        EXPECT_EQ(17, value);
        EXPECT_TRUE(CORBA::is_nil(other.in()));
        EXPECT_EQ(5, number);
    });
    servant_.gate.let_one_pass();
    EXPECT_EQ("ok", call.get());
}

TEST_P(CoroutineServants, AnswerWithWhatTheyThrow)
{
    for (const auto& [why, heard] :
         {std::pair("user", "Refused"), std::pair("foreign", "UNKNOWN"),
          std::pair("unlisted", "UNKNOWN"), std::pair("system", "NO_PERMISSION")}) {
        auto call = begin([this, why] { target_->refuse(why); });
        servant_.gate.let_one_pass();
        const std::string got = call.get();
        EXPECT_NE(std::string::npos, got.find(heard)) << got;
    }
}

TEST_P(CoroutineServants, ServeOneways)
{
    target_->note(12);
    servant_.gate.let_one_pass();
    EXPECT_TRUE(servant_.noted.wait());
}

KAIROS_EVERY_ARCHITECTURE(CoroutineServants);

/// Says when it goes.
class Lasting final : public POA_Amh::Async_Clash {
  public:
    Lasting(Gate& gate, std::atomic<bool>& is_gone) : gate_(gate), is_gone_(is_gone) {}
    ~Lasting() override { is_gone_ = true; }
    Task<CORBA::Long> go(CORBA::Long number) override
    {
        co_await gate_.pass();
        EXPECT_FALSE(is_gone_);
        co_return number;
    }
    Task<void> go_excep() override { co_return; }

  private:
    Gate& gate_;
    std::atomic<bool>& is_gone_;
};

class CoroutineServantsAtTheEnd : public EveryArchitecture {};

TEST_P(CoroutineServantsAtTheEnd, LiveUntilTheyHaveReturned)
{
    Gate gate;
    std::atomic<bool> is_gone{false};
    const Caller caller;
    std::future<std::string> call;
    std::coroutine_handle<> waiting;
    {
        const orb_testing::HeldPorts ports(8); // reactors per priority have as many
        auto options = orb_testing::options_of_architecture(GetParam());
        options.insert(options.end(), {"-ORBListenEndpoints", ports.endpoint()});
        const CORBA::ORB_var orb = make_orb(std::move(options));
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        const PortableServer::ServantBase_var servant = new Lasting(gate, is_gone);
        const PortableServer::ObjectId_var id = poa->activate_object(servant);
        const CORBA::Object_var made = poa->id_to_reference(id);
        const CORBA::String_var text = orb->object_to_string(made);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::thread serving([&] { (void)outcome([&] { orb->run(); }); }); // it may come too late
        const CORBA::Object_var remote = caller.orb->string_to_object(text);
        call = begin([clash = Amh::Clash_var(Amh::Clash::_unchecked_narrow(remote))] {
            (void)clash->go(3);
        });
        waiting = gate.take();
        orb->shutdown(false);
        orb->destroy();
        serving.join();
    }
    const std::string heard = call.get();
    EXPECT_NE(std::string::npos, heard.find("NO_RESPONSE")) << heard;
    EXPECT_FALSE(is_gone);
    waiting.resume();
    EXPECT_TRUE(is_gone);
}

KAIROS_EVERY_ARCHITECTURE(CoroutineServantsAtTheEnd);

} // namespace
} // namespace kairos::amh_testing
