// SPDX-License-Identifier: Apache-2.0
//
// Servants of `kairos-idl --amh`: they answer later, from any thread, once; and what becomes of
// those who wait where nobody answers, and of answers that nobody waits for.
#include "fixture.h"

#include "kairos/orb/orb.h"
#include "kairos/orb/upcall_observer.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kairos::amh_testing {
namespace {

using Handler = Amh::AMH_TargetResponseHandler_var;

/// What servants were asked, for whoever answers. Thread-safe.
template <typename T>
class Asked {
  public:
    void push(T one)
    {
        const std::lock_guard lock(mutex_);
        all_.push_back(std::move(one));
        changed_.notify_all();
    }
    /// Answers whatever was asked until now.
    void answer_all()
    {
        const std::lock_guard lock(mutex_);
        for (const T& one : all_)
            one.answer();
        all_.clear();
    }
    /// Waits until somebody was asked.
    [[nodiscard]] T pop()
    {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return !all_.empty(); }))
            throw std::runtime_error("nobody was asked");
        T first = std::move(all_.front());
        all_.pop_front();
        return first;
    }

  private:
    std::mutex mutex_; // guards what follows
    std::condition_variable changed_;
    std::deque<T> all_;
};

struct Sum {
    Handler handler;
    CORBA::Long left;
    CORBA::Long right;

    void answer() const { handler->add(left + right); }
};

/// Answers `add` when the test does, all else at once.
class Servant final : public POA_Amh::AMH_Target {
  public:
    void name(Amh::AMH_BaseResponseHandler_ptr _tao_rh) override { _tao_rh->get_name("Ada"); }
    void name(Amh::AMH_BaseResponseHandler_ptr _tao_rh, const char* value) override
    {
        EXPECT_STREQ("Grace", value);
        _tao_rh->set_name();
    }
    void owner(Amh::AMH_BaseResponseHandler_ptr _tao_rh) override
    {
        Amh::Person person;
        person.name = "Ada";
        person.at = {3, 4.5};
        _tao_rh->get_owner(person);
    }
    void add(Amh::AMH_TargetResponseHandler_ptr _tao_rh, CORBA::Long left,
             CORBA::Long right) override
    {
        sums.push({Amh::AMH_TargetResponseHandler::_duplicate(_tao_rh), left, right});
        if (throws) throw std::runtime_error("too late or not");
    }
    void change(Amh::AMH_TargetResponseHandler_ptr _tao_rh, const char* text,
                const Amh::Person& who, const Amh::Point& where) override
    {
        Amh::Person changed = who;
        changed.at.x = 7;
        const Amh::Point there{where.x, 2.5};
        Amh::Names all;
        all.length(2);
        all[0] = "one";
        all[1] = "two";
        Amh::Grid same = {{1, 2, 3}, {4, 5, 6}};
        CORBA::Any anything;
        anything <<= CORBA::Long{17};
        const std::string longer = std::string(text) + "!";
        _tao_rh->change("done", longer.c_str(), changed, there, all, same, anything, nullptr, 5);
    }
    void refuse(Amh::AMH_TargetResponseHandler_ptr _tao_rh, const char* why) override
    {
        const std::string reason = why;
        if (reason == "thrown") throw Amh::Refused("thrown", Amh::Point{1, 2});
        if (reason == "unlisted") {
            Amh::AMH_TargetExceptionHolder holder(new Amh::Unlisted);
            return _tao_rh->refuse_excep(&holder);
        }
        if (reason == "system") {
            Amh::AMH_TargetExceptionHolder holder(new CORBA::NO_PERMISSION(3, CORBA::COMPLETED_NO));
            return _tao_rh->refuse_excep(&holder);
        }
        if (reason == "other") {
            EXPECT_THROW(_tao_rh->add(1), CORBA::BAD_OPERATION);
            EXPECT_THROW(_tao_rh->refuse_excep(nullptr), CORBA::BAD_PARAM);
            return _tao_rh->refuse();
        }
        Amh::AMH_TargetExceptionHolder holder(new Amh::Refused(why, Amh::Point{5, 6}));
        EXPECT_THROW(holder.raise_refuse(), Amh::Refused);
        _tao_rh->refuse_excep(&holder);
    }
    void note(Amh::AMH_TargetResponseHandler_ptr _tao_rh, CORBA::Long number) override
    {
        EXPECT_FALSE(CORBA::is_nil(_tao_rh));
        noted.push(number);
    }
    void echo(Amh::AMH_TargetResponseHandler_ptr _tao_rh, const Amh::Octets& data) override
    {
        _tao_rh->echo(data);
    }

    Asked<Sum> sums;
    Asked<CORBA::Long> noted;
    std::atomic<bool> throws{false};
};

/// Sends requests of `add` itself, and so several at the same time.
class Peer {
  public:
    explicit Peer(RunningServer& server, const std::string& reference, CORBA::ORB_ptr orb)
        : peer_(server.connect())
    {
        const CORBA::Object_var object = orb->string_to_object(reference.c_str());
        const auto key = object->_kairos_reference()->object_key();
        key_.assign(key.begin(), key.end());
    }
    void add(std::uint32_t request_id, CORBA::ULong left, CORBA::ULong right,
             giop::Version version = giop::version_1_2)
    {
        peer_.send(
            orb_testing::request(key_, "add", request_id, version).u32(left).u32(right).finish());
    }
    /// The next reply: its request's id, and its result.
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> reply()
    {
        const orb_testing::ParsedReply reply(peer_.read_message());
        if (!reply.valid) return {0, 0};
        cdr::Reader body = reply.reply.body;
        return {reply.reply.request_id, body.read<std::uint32_t>()};
    }

  private:
    orb_testing::RawPeer peer_;
    std::vector<std::byte> key_;
};

class Handlers : public EveryArchitecture {
  protected:
    RunningServer server_{GetParam()};
    Servant servant_;
    std::string reference_ = activate(server_, &servant_);
    Caller caller_;
    Amh::Target_var target_ = caller_.target(reference_);

    [[nodiscard]] std::future<std::string> begin_sum(CORBA::Long left, CORBA::Long right)
    {
        return begin([this, left, right] { EXPECT_EQ(left + right, target_->add(left, right)); });
    }
};

TEST_P(Handlers, AnswerLaterFromAnotherThread)
{
    for (CORBA::Long i = 0; i < 20; ++i) {
        auto call = begin_sum(i, 2);
        servant_.sums.pop().answer();
        EXPECT_EQ("ok", call.get());
    }
}

TEST_P(Handlers, AnswerWithinTheOperation)
{
    const CORBA::String_var name = target_->name();
    EXPECT_STREQ("Ada", name.in());
    target_->name("Grace");
    const Amh::Person_var owner = target_->owner();
    EXPECT_EQ(4.5, owner->at.y);
    Amh::Octets data;
    data.length(300'000);
    data[299'999] = 9;
    const Amh::Octets_var same = target_->echo(data);
    ASSERT_EQ(300'000u, same->length());
    EXPECT_EQ(9, same[299'999]);
}

TEST_P(Handlers, GiveResultsOfEveryShape)
{
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
    EXPECT_EQ(7, who.at.x);
    EXPECT_EQ(2.5, where.y);
    EXPECT_STREQ("two", all[1].in());
    EXPECT_EQ(6, same[1][2]);
    CORBA::Long value = 0;
    EXPECT_TRUE(anything.in() >>= value);
    EXPECT_EQ(17, value);
    EXPECT_TRUE(CORBA::is_nil(other.in()));
    EXPECT_EQ(5, number);
}

TEST_P(Handlers, GiveExceptions)
{
    try {
        target_->refuse("held");
        ADD_FAILURE();
    } catch (const Amh::Refused& refused) {
        EXPECT_STREQ("held", refused.why.in());
        EXPECT_EQ(6, refused.where.y);
    }
    EXPECT_EQ("Refused", outcome([&] { target_->refuse("thrown"); }));
    EXPECT_THROW(target_->refuse("unlisted"), CORBA::UNKNOWN);
    EXPECT_THROW(target_->refuse("system"), CORBA::NO_PERMISSION);
    EXPECT_EQ("ok", outcome([&] { target_->refuse("other"); }));
}

TEST_P(Handlers, AnswerOnce)
{
    auto call = begin_sum(1, 2);
    const Sum sum = servant_.sums.pop();
    sum.answer();
    EXPECT_EQ("ok", call.get());
    EXPECT_THROW(sum.answer(), CORBA::BAD_INV_ORDER);
    Amh::AMH_TargetExceptionHolder holder(new CORBA::UNKNOWN);
    EXPECT_THROW(sum.handler->add_excep(&holder), CORBA::BAD_INV_ORDER);
}

TEST_P(Handlers, AreLostWithoutAnAnswer)
{
    auto call = begin([this] { (void)target_->add(1, 2); });
    (void)servant_.sums.pop();
    const std::string heard = call.get();
    EXPECT_NE(std::string::npos, heard.find("NO_RESPONSE")) << heard;
    EXPECT_NE(std::string::npos, heard.find("MAYBE")) << heard;
}

TEST_P(Handlers, AnswerWithWhatTheOperationThrows)
{
    servant_.throws = true;
    EXPECT_THROW((void)target_->add(1, 2), CORBA::UNKNOWN);
    EXPECT_THROW(servant_.sums.pop().answer(), CORBA::BAD_INV_ORDER);
}

TEST_P(Handlers, ServeOneways)
{
    target_->note(12);
    EXPECT_EQ(12, servant_.noted.pop());
}

TEST_P(Handlers, LetOthersBeServedMeanwhile)
{
    auto call = begin_sum(1, 2);
    const Sum sum = servant_.sums.pop();
    const Caller other;
    const Amh::Target_var target = other.target(reference_);
    const CORBA::String_var name = target->name();
    EXPECT_STREQ("Ada", name.in());
    sum.answer();
    EXPECT_EQ("ok", call.get());
}

TEST_P(Handlers, AnswerRequestsOfOneConnectionInAnyOrder)
{
    for (const bool reversed : {false, true}) {
        Peer peer(server_, reference_, caller_.orb.in());
        peer.add(7, 1, 2);
        Sum first = servant_.sums.pop();
        peer.add(8, 3, 4);
        Sum second = servant_.sums.pop();
        if (reversed) std::swap(first, second);
        first.answer();
        second.answer();
        const std::set replies{peer.reply(), peer.reply()};
        EXPECT_EQ((std::set{std::pair(7U, 3U), std::pair(8U, 7U)}), replies);
    }
}

TEST_P(Handlers, AnswerRequestsOfEveryGiop)
{
    for (const giop::Version version : {giop::Version{1, 0}, giop::Version{1, 1}}) {
        Peer peer(server_, reference_, caller_.orb.in());
        peer.add(7, 1, 2, version);
        servant_.sums.pop().answer();
        EXPECT_EQ(std::pair(7U, 3U), peer.reply());
    }
}

TEST_P(Handlers, AnswerThoseWhoHaveGone)
{
    {
        Peer peer(server_, reference_, caller_.orb.in());
        peer.add(1, 1, 2);
    }
    const Sum sum = servant_.sums.pop();
    auto call = begin_sum(3, 4); // which the server has read after that
    const Sum other = servant_.sums.pop();
    sum.answer();
    other.answer();
    EXPECT_EQ("ok", call.get());
}

TEST_P(Handlers, AreWaitedForWhenTheServerIsShutDown)
{
    auto call = begin_sum(1, 2);
    const Sum sum = servant_.sums.pop();
    auto end = begin([this] { server_.orb()->shutdown(true); });
    sum.answer();
    EXPECT_EQ("ok", call.get());
    EXPECT_EQ("ok", end.get());
    EXPECT_THROW(sum.answer(), CORBA::BAD_INV_ORDER);
}

TEST_P(Handlers, KeepTheirObjectUntilTheyHaveAnswered)
{
    std::atomic<bool> is_gone{false};
    class Counted final : public POA_Amh::AMH_Clash {
      public:
        explicit Counted(std::atomic<bool>& is_gone) : is_gone_(is_gone) {}
        ~Counted() override { is_gone_ = true; }
        void go(Amh::AMH_AMH_ClashResponseHandler_ptr handler, CORBA::Long) override
        {
            asked.push(Amh::AMH_AMH_ClashResponseHandler::_duplicate(handler));
        }
        void go_excep(Amh::AMH_AMH_ClashResponseHandler_ptr handler) override
        {
            handler->go_excep();
        }
        Asked<Amh::AMH_AMH_ClashResponseHandler_var> asked;

      private:
        std::atomic<bool>& is_gone_;
    };
    auto* const servant = new Counted(is_gone);
    const PortableServer::ObjectId_var id = server_.poa()->activate_object(servant);
    const CORBA::Object_var object = server_.poa()->id_to_reference(id);
    const CORBA::String_var text = server_.orb()->object_to_string(object);
    const CORBA::Object_var remote = caller_.orb->string_to_object(text);
    const Amh::Clash_var clash = Amh::Clash::_unchecked_narrow(remote);
    auto call = begin([&] { EXPECT_EQ(4, clash->go(3)); });
    {
        const auto handler = servant->asked.pop();
        servant->_remove_ref(); // the adapter's is left
        server_.poa()->deactivate_object(id);
        EXPECT_FALSE(is_gone);
        handler->go(4);
    }
    EXPECT_EQ("ok", call.get());
    server_.poa()->destroy(true, true);
    EXPECT_TRUE(is_gone);
}

KAIROS_EVERY_ARCHITECTURE(Handlers);

class HandlersAtTheEnd : public EveryArchitecture {};

TEST_P(HandlersAtTheEnd, AreTooLateWhenTheOrbIsDestroyed)
{
    const Caller caller;
    Servant servant;
    std::vector<Sum> sums;
    std::future<std::string> call;
    {
        const orb_testing::HeldPorts ports(8); // reactors per priority have as many
        auto options = orb_testing::options_of_architecture(GetParam());
        options.insert(options.end(), {"-ORBListenEndpoints", ports.endpoint()});
        const CORBA::ORB_var orb = make_orb(std::move(options));
        const CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
        const PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var made = poa->id_to_reference(id);
        const CORBA::String_var text = orb->object_to_string(made);
        const PortableServer::POAManager_var manager = poa->the_POAManager();
        manager->activate();
        std::thread serving([&] { (void)outcome([&] { orb->run(); }); }); // it may come too late
        call = begin([target = caller.target(text.in())] { (void)target->add(1, 2); });
        sums.push_back(servant.sums.pop());
        orb->shutdown(false);
        orb->destroy();
        serving.join();
    }
    const std::string heard = call.get();
    EXPECT_NE(std::string::npos, heard.find("NO_RESPONSE")) << heard;
    EXPECT_THROW(sums.front().answer(), CORBA::BAD_INV_ORDER);
}

KAIROS_EVERY_ARCHITECTURE(HandlersAtTheEnd);

TEST(HandlersWithinTheProcess, AnswerWhileTheCallerWaits)
{
    RunningServer server("worker-pool");
    Servant servant;
    const CORBA::Object_var object =
        server.orb()->string_to_object(activate(server, &servant).c_str());
    const Amh::Target_var target = Amh::Target::_narrow(object);
    auto call = begin([&] { EXPECT_EQ(3, target->add(1, 2)); });
    servant.sums.pop().answer();
    EXPECT_EQ("ok", call.get());
    const CORBA::String_var name = target->name();
    EXPECT_STREQ("Ada", name.in());
    EXPECT_EQ("Refused", outcome([&] { target->refuse("held"); }));
    target->note(3);
    EXPECT_EQ(3, servant.noted.pop());
}

TEST(HandlersWithinTheProcess, AnswerInTheTimeOfTheCall)
{
    RunningServer server("worker-pool", {"-ORBClientTimeout", "50"});
    Servant servant;
    const CORBA::Object_var object =
        server.orb()->string_to_object(activate(server, &servant).c_str());
    const Amh::Target_var target = Amh::Target::_unchecked_narrow(object);
    // The time may be over before the servant is called, too: then it never is.
    EXPECT_THROW((void)target->add(1, 2), CORBA::TIMEOUT);
    servant.sums.answer_all(); // nobody hears it
}

/// The child's threads, which would send it, are not there; its connections are the parent's.
TEST(HandlersOfAParent, GiveNothingInAChild)
{
    RunningServer server("thread-per-connection");
    Servant servant;
    const Caller caller;
    const Amh::Target_var target = caller.target(activate(server, &servant));
    auto call = begin([&] { EXPECT_EQ(3, target->add(1, 2)); });
    auto sum = std::make_unique<Sum>(servant.sums.pop());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool gives = outcome([&] { sum->answer(); }) == "ok";
        sum.reset();
        ::_exit(gives ? 1 : 0);
    }
    int status = -1;
    EXPECT_EQ(child, ::waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    sum->answer();
    EXPECT_EQ("ok", call.get());
}

TEST(HandlersThatAreMany, LeavePlacesForOtherConnections)
{
    RunningServer server("reactor", {"-ORBAsynchronousCalls", "3"});
    Servant servant;
    const Caller caller;
    const std::string reference = activate(server, &servant);
    Peer peer(server, reference, caller.orb.in());
    peer.add(7, 1, 2);
    const Sum first = servant.sums.pop();
    peer.add(8, 1, 2);
    const Sum second = servant.sums.pop();
    peer.add(9, 1, 2);
    EXPECT_EQ(9U, peer.reply().first); // refused: one place is left, and it owes two
    const Amh::Target_var target = caller.target(reference);
    auto call = begin([&] { EXPECT_EQ(3, target->add(1, 2)); });
    servant.sums.pop().answer();
    EXPECT_EQ("ok", call.get());
    first.answer();
    second.answer();
}

TEST(HandlersThatAreMany, AreRefused)
{
    RunningServer server("worker-pool", {"-ORBAsynchronousCalls", "1"});
    Servant servant;
    const Caller caller;
    const Amh::Target_var target = caller.target(activate(server, &servant));
    auto call = begin([&] { EXPECT_EQ(3, target->add(1, 2)); });
    const Sum sum = servant.sums.pop();
    EXPECT_THROW((void)target->add(1, 2), CORBA::TRANSIENT);
    sum.answer();
    EXPECT_EQ("ok", call.get());
}

/// Counts what it hears of requests of `add`.
class Hearing final : public orb::UpcallObserver {
  public:
    struct Counts {
        std::atomic<int> replies{0};
        std::atomic<int> exceptions{0};
    };
    explicit Hearing(Counts& counts) : counts_(counts) {}
    void receive_request(orb::ObservedUpcall& upcall) override
    {
        constexpr std::byte data[] = {std::byte{1}};
        upcall.reply_contexts().append(0x1234, data);
    }
    void send_reply(orb::ObservedUpcall& upcall) override
    {
        EXPECT_EQ("add", upcall.operation());
        EXPECT_FALSE(upcall.object_key().empty());
        EXPECT_FALSE(upcall.reply_contexts().empty());
        ++counts_.replies;
    }
    void send_exception(orb::ObservedUpcall&) override { ++counts_.exceptions; }

  private:
    Counts& counts_;
};

class HandlersObserved : public EveryArchitecture {};

TEST_P(HandlersObserved, AreHeardOfWhenTheyAnswer)
{
    Hearing::Counts counts;
    RunningServer server(GetParam(), {}, RunningServer::Start::active, [&](CORBA::ORB_ptr orb) {
        EXPECT_TRUE(orb->_kairos_core().add_observer(std::make_unique<Hearing>(counts)));
    });
    Servant servant;
    const Caller caller;
    const Amh::Target_var target = caller.target(activate(server, &servant));
    auto call = begin([&] { EXPECT_EQ(3, target->add(1, 2)); });
    const Sum sum = servant.sums.pop();
    EXPECT_EQ(0, counts.replies);
    sum.answer();
    EXPECT_EQ("ok", call.get());
    EXPECT_EQ(1, counts.replies);
    auto lost = begin([&] { (void)target->add(1, 2); });
    (void)servant.sums.pop();
    (void)lost.get();
    EXPECT_EQ(1, counts.exceptions);
}

KAIROS_EVERY_ARCHITECTURE(HandlersObserved);

} // namespace
} // namespace kairos::amh_testing
