// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls with reply handlers: what they hear of results and failures, in which order,
// and that no call is lost or told of twice wherever a peer closes, forwards or says nothing.
#include "fixture.h"
#include "tests/malformed/fake_server.h"

#include "kairos/client/client.h"
#include "kairos/orb/orb.h"

#include <algorithm>
#include <numeric>

namespace kairos::ami_testing {
namespace {

using orb_testing::FakeServer;
using orb_testing::outcome;
using Heard = std::vector<std::string>;

/// What is sent in place of `long` by a fake server.
orb_testing::Octets long_reply(std::uint32_t request_id, std::uint32_t value)
{
    return orb_testing::reply(request_id, 0).u32(value).finish();
}

std::size_t shared_connections(CORBA::ORB_ptr orb)
{
    return orb::Client::of(orb->_kairos_core()).shared_connections().count();
}

class Callback : public ::testing::Test {
  protected:
    Server server_;
    Client client_;
    Ami::Target_var target_ = client_.target(server_.reference);
};

TEST_F(Callback, ResultsOfEveryDirectionArrive)
{
    const Ami::Person who{"Bob", {1, 2}};
    target_->sendc_change(client_.reference.in(), "text", who, {5, 6});
    EXPECT_EQ(0u, client_.handler.count()); // until somebody dispatches
    EXPECT_EQ(Heard{"change text text! 7 two 42 9"}, client_.hear());
}

TEST_F(Callback, AttributesOfBasesAreCalled)
{
    Ami::Base_var base = Ami::Base::_duplicate(target_.in());
    base->sendc_get_name(client_.reference.in());
    (void)client_.hear(1);
    base->sendc_set_name(client_.reference.in(), "after");
    (void)client_.hear(2);
    target_->sendc_get_name(client_.reference.in());
    (void)client_.hear(3);
    target_->sendc_get_owner(client_.reference.in());
    EXPECT_EQ((Heard{"get_name before", "set_name", "get_name after", "get_owner Ada 3"}),
              client_.hear(4));
}

TEST_F(Callback, ExceptionsAreHeld)
{
    target_->sendc_refuse(client_.reference.in(), "no");
    (void)client_.hear(1);
    target_->sendc_fail(client_.reference.in(), 1);
    (void)client_.hear(2);
    target_->sendc_fail(client_.reference.in(), 2);
    (void)client_.hear(3);
    target_->sendc_fail(client_.reference.in(), 3);
    const Heard heard = client_.hear(4);
    EXPECT_EQ("refuse: Refused no", heard.at(0));
    EXPECT_EQ("fail: NO_PERMISSION 0x11 YES", heard.at(1));
    EXPECT_TRUE(heard.at(2).starts_with("fail: UNKNOWN ")) << heard.at(2);
    EXPECT_TRUE(heard.at(3).starts_with("fail: UNKNOWN ")) << heard.at(3);
}

/// Returns a list of these types.
CORBA::ExceptionList_var list_of(std::initializer_list<CORBA::TypeCode_ptr> types)
{
    CORBA::ExceptionList_var list = new CORBA::ExceptionList;
    for (const CORBA::TypeCode_ptr type : types)
        list->add(type);
    return list;
}

TEST_F(Callback, ExceptionsAreRaisedByAListOfThoseThatMayBe)
{
    const CORBA::ExceptionList_var refused = list_of({Ami::_tc_Refused});
    const CORBA::ExceptionList_var none = list_of({});
    const auto raised = [](Messaging::ExceptionHolder& holder,
                           const CORBA::ExceptionList_var& list) {
        return outcome([&] { holder.raise_exception_with_list(list.in()); });
    };
    const Messaging::ExceptionHolder_var user = messaging::make_exception_holder(
        std::make_exception_ptr(Ami::Refused("no", Ami::Point{3, 4.5})));
    EXPECT_EQ("Refused", raised(*user.in(), refused));
    EXPECT_EQ("UNKNOWN 0x4f4d0001 YES", raised(*user.in(), none));
    const Messaging::ExceptionHolder_var system = messaging::make_exception_holder(
        std::make_exception_ptr(CORBA::NO_PERMISSION(17, CORBA::COMPLETED_YES)));
    EXPECT_EQ("NO_PERMISSION 0x11 YES", raised(*system.in(), none));

    // One that came from elsewhere, with an exception whose C++ this process does not have.
    const CORBA::TypeCode_var strange = client_.orb()->create_exception_tc(
        "IDL:kairos.test/Strange:1.0", "Strange", CORBA::StructMemberSeq());
    cdr::Buffer buffer;
    cdr::Writer out(buffer);
    out.write(std::uint8_t{0}); // a user exception
    out.write(std::uint8_t{native_little_endian});
    cdr::Buffer inner;
    cdr::Writer exception(inner);
    exception.write_string("IDL:kairos.test/Strange:1.0");
    const Bytes octets = exception.contiguous();
    out.write(static_cast<std::uint32_t>(octets.size()));
    out.write_bytes(octets);
    const Messaging::ExceptionHolder_var came =
        messaging::make_exception_holder(std::make_exception_ptr(CORBA::NO_PERMISSION()));
    cdr::Reader in(out.contiguous(), native_little_endian);
    came->_kairos_decode(in);
    EXPECT_EQ("UNKNOWN 0x4f4d0001 YES", outcome([&] { came->raise_exception(); }));
    EXPECT_EQ("UNKNOWN 0x4f4d0001 YES", raised(*came.in(), refused));
    try {
        came->raise_exception_with_list(list_of({Ami::_tc_Refused, strange.in()}).in());
        ADD_FAILURE() << "nothing raised";
    } catch (const CORBA::UnknownUserException& unknown) {
        const CORBA::TypeCode_var type = unknown.exception().type();
        EXPECT_TRUE(type->equal(strange.in()));
    }
}

TEST_F(Callback, RepliesComeInAnyOrderOverOneConnection)
{
    for (const CORBA::Long number : {1, 2, 3})
        target_->sendc_hold(client_.reference.in(), number);
    for (const CORBA::Long number : {1, 2, 3})
        ASSERT_TRUE(server_.servant.wait_for_hold(number));
    server_.servant.release(3);
    (void)client_.hear(1);
    server_.servant.release(1);
    (void)client_.hear(2);
    server_.servant.release(2);
    EXPECT_EQ((Heard{"hold 3", "hold 1", "hold 2"}), client_.hear(3));
    EXPECT_EQ(1u, shared_connections(client_.orb()));
}

TEST_F(Callback, NobodyHearsOfANilHandlersReply)
{
    target_->sendc_add(Ami::AMI_TargetHandler::_nil(), 1, 2);
    target_->sendc_fail(Ami::AMI_TargetHandler::_nil(), 1);
    target_->sendc_get_name(client_.reference.in());
    EXPECT_EQ(Heard{"get_name before"}, client_.hear());
    EXPECT_TRUE(client_.dispatch([&] { return server_.servant.calls == 1; }));
}

TEST_F(Callback, AHandlerMaySendTheNextCall)
{
    client_.handler.on_add = [this](CORBA::Long sum) {
        if (sum < 100) target_->sendc_add(client_.reference.in(), sum, 1);
    };
    target_->sendc_add(client_.reference.in(), 0, 1);
    EXPECT_EQ("add 100", client_.hear(100).back());
}

TEST_F(Callback, AHandlerMayThrowOrBeGone)
{
    const orb_testing::LogLines log;
    client_.handler.on_add = [](CORBA::Long) { throw CORBA::NO_RESOURCES(); };
    target_->sendc_add(client_.reference.in(), 0, 1);
    (void)client_.hear(1);
    EXPECT_TRUE(log.wait_for("reply handler raises"));
    client_.handler.on_add = nullptr;
    const PortableServer::ObjectId_var id = client_.poa->reference_to_id(client_.reference.in());
    target_->sendc_add(client_.reference.in(), 0, 2);
    client_.poa->deactivate_object(id.in());
    EXPECT_TRUE(client_.dispatch([&] { return log.count("reply handler raises") == 2; }));
    EXPECT_EQ(1u, client_.handler.count());
}

TEST_F(Callback, LargeMessagesAreCopied)
{
    Ami::Octets octets;
    octets.length(3 << 20);
    std::ranges::fill(std::span(octets.get_buffer(), octets.length()), CORBA::Octet{7});
    target_->sendc_echo(client_.reference.in(), octets);
    octets.length(0); // they are not needed any more
    EXPECT_EQ(Heard{"echo 3145728"}, client_.hear());
}

TEST_F(Callback, HandlersMayBeElsewhere)
{
    Client other;
    const CORBA::String_var text = other.orb()->object_to_string(other.reference.in());
    const CORBA::Object_var object = client_.orb()->string_to_object(text.in());
    const Ami::AMI_TargetHandler_var handler = Ami::AMI_TargetHandler::_narrow(object);
    target_->sendc_refuse(handler.in(), "far");
    std::atomic<bool> done{false};
    std::thread dispatching([&] { // its calls of the handler wait for the other ORB
        EXPECT_TRUE(client_.dispatch([&] { return done.load(); }));
    });
    (void)other.hear(1);
    target_->sendc_fail(handler.in(), 1);
    (void)other.hear(2);
    target_->sendc_add(handler.in(), 1, 2);
    EXPECT_EQ((Heard{"refuse: Refused far", "fail: NO_PERMISSION 0x11 YES", "add 3"}),
              other.hear(3));
    done = true;
    dispatching.join();
}

TEST_F(Callback, ObjectsOfTheSameProcessAreCalledAtOnceAndToldOfLater)
{
    Servant own;
    const PortableServer::ObjectId_var id = client_.poa->activate_object(&own);
    const CORBA::Object_var object = client_.poa->id_to_reference(id.in());
    const Ami::Target_var local = Ami::Target::_narrow(object);
    local->sendc_add(client_.reference.in(), 4, 5);
    EXPECT_EQ(1, own.calls);
    EXPECT_EQ(0u, client_.handler.count());
    (void)client_.hear(1);
    local->sendc_refuse(client_.reference.in(), "near");
    EXPECT_EQ((Heard{"add 9", "refuse: Refused near"}), client_.hear(2));
    client_.poa->deactivate_object(id.in());
}

TEST_F(Callback, ThreadsSendAtTheSameTime)
{
    constexpr int threads = 4;
    constexpr int calls = 250;
    std::vector<std::thread> senders;
    for (int thread = 0; thread < threads; ++thread)
        senders.emplace_back([this] {
            for (int i = 0; i < calls; ++i)
                target_->sendc_add(client_.reference.in(), i, 1);
        });
    const Heard heard = client_.hear(threads * calls);
    for (std::thread& sender : senders)
        sender.join();
    EXPECT_EQ(threads, std::ranges::count(heard, "add 250"));
    EXPECT_EQ(1u, shared_connections(client_.orb()));
}

TEST_F(Callback, AProgramInRunHears)
{
    std::thread running([this] { client_.orb()->run(); });
    orb_testing::Event event;
    client_.handler.on_add = [&](CORBA::Long) { event.set(); };
    target_->sendc_add(client_.reference.in(), 1, 2);
    EXPECT_TRUE(event.wait());
    client_.orb()->shutdown(true);
    running.join();
}

TEST_F(Callback, TheSameWithAReactorThatServes)
{
    Client client({"-ORBConcurrency", "reactor", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    const Ami::Target_var target = client.target(server_.reference);
    orb_testing::Event event;
    client.handler.on_add = [&](CORBA::Long sum) {
        if (sum == 50) return event.set();
        target->sendc_add(client.reference.in(), sum, 1);
    };
    std::thread running([&] { client.orb()->run(); });
    target->sendc_add(client.reference.in(), 0, 1);
    EXPECT_TRUE(event.wait());
    client.orb()->shutdown(true);
    running.join();
    EXPECT_EQ(50u, client.handler.count());
}

TEST_F(Callback, CallsAfterShutdownAreRefused)
{
    target_->sendc_hold(client_.reference.in(), 1);
    ASSERT_TRUE(server_.servant.wait_for_hold(1));
    client_.orb()->shutdown(true);
    EXPECT_EQ("BAD_INV_ORDER 0x4f4d0004 NO",
              outcome([&] { target_->sendc_add(client_.reference.in(), 1, 2); }));
    server_.servant.release(1); // of which nobody hears
}

TEST_F(Callback, AnOrbMayGoWithCallsUnderWay)
{
    {
        Client client;
        const Ami::Target_var target = client.target(server_.reference);
        target->sendc_add(client.reference.in(), 1, 2);
        target->sendc_hold(client.reference.in(), 1);
        ASSERT_TRUE(server_.servant.wait_for_hold(1));
    }
    server_.servant.release(1);
}

TEST(CallbackLimits, AThousandAreOutstandingOnOneConnection)
{
    constexpr CORBA::Long calls = 1000;
    Server server({"-ORBConcurrency", "reactor", "-ORBHoldLimit", "2000"});
    server.manager->hold_requests(false);
    Client client;
    const Ami::Target_var target = client.target(server.reference);
    for (CORBA::Long i = 0; i < calls; ++i)
        target->sendc_add(client.reference.in(), i, 0);
    EXPECT_EQ(0u, client.handler.count());
    server.manager->activate();
    EXPECT_EQ(std::size_t{calls}, client.hear(calls).size());
    EXPECT_EQ(1u, shared_connections(client.orb()));
}

TEST(CallbackLimits, AFloodIsRefused)
{
    Server server;
    Client client({"-ORBAsynchronousCalls", "2"});
    const Ami::Target_var target = client.target(server.reference);
    for (const CORBA::Long number : {1, 2})
        target->sendc_hold(client.reference.in(), number);
    const auto third = [&] { target->sendc_add(client.reference.in(), 1, 2); };
    EXPECT_EQ("TRANSIENT 0x4b520018 NO", outcome(third));
    for (const CORBA::Long number : {1, 2})
        server.servant.release(number);
    (void)client.hear(2);
    third();
    EXPECT_EQ("add 3", client.hear(3).back());
}

TEST(CallbackLimits, LateRepliesAreTimeouts)
{
    Server server;
    Client client({"-ORBClientTimeout", "50"});
    const Ami::Target_var target = client.target(server.reference);
    for (const CORBA::Long number : {1, 2, 3})
        target->sendc_hold(client.reference.in(), number);
    const Heard heard = client.hear(3);
    // On a busy machine the time may be over before one of them is sent.
    EXPECT_EQ(3, std::ranges::count_if(heard, [](const std::string& what) {
                  return what.starts_with("hold: TIMEOUT ");
              }));
    for (const CORBA::Long number : {1, 2, 3})
        server.servant.release(number); // their replies are dropped
    std::string last;
    for (std::size_t count = 4; last.empty() || last.starts_with("get_name: TIMEOUT "); ++count) {
        target->sendc_get_name(client.reference.in());
        last = client.hear(count).back();
    }
    EXPECT_EQ("get_name before", last);
}

TEST(CallbackFailures, NobodyIsThere)
{
    Client client;
    const auto nowhere = ior::to_string(
        orb_testing::reference_of({orb_testing::profile_at(orb_testing::dead_port())}));
    client.target(nowhere)->sendc_add(client.reference.in(), 1, 2);
    EXPECT_EQ(Heard{"add: TRANSIENT 0x4b520001 NO"}, client.hear());
}

TEST(CallbackFailures, AConnectionLostMayHaveExecuted)
{
    FakeServer fake([](FakeServer& server) {
        FakeServer::Peer peer = server.accept();
        for (int i = 0; i < 3; ++i)
            (void)peer.read_request();
    });
    Client client;
    const Ami::Target_var target = client.target(fake.reference());
    for (CORBA::Long i = 0; i < 3; ++i)
        target->sendc_add(client.reference.in(), i, 0);
    const Heard heard = client.hear(3);
    EXPECT_EQ(3, std::ranges::count(heard, "add: COMM_FAILURE 0x4b520002 MAYBE"));
}

TEST(CallbackFailures, MalformedResultsAreMarshal)
{
    FakeServer fake([](FakeServer& server) {
        FakeServer::Peer peer = server.accept();
        peer.send(orb_testing::reply(peer.read_request().id(), 0).finish()); // no result
        peer.send(long_reply(peer.read_request().id(), 5));
    });
    Client client;
    const Ami::Target_var target = client.target(fake.reference());
    target->sendc_add(client.reference.in(), 1, 2);
    (void)client.hear(1);
    target->sendc_add(client.reference.in(), 1, 2);
    EXPECT_EQ((Heard{"add: MARSHAL 0x4b520004 YES", "add 5"}), client.hear(2));
}

TEST(CallbackFailures, RepliesToNobodyAreDropped)
{
    FakeServer fake([](FakeServer& server) {
        FakeServer::Peer peer = server.accept();
        const std::uint32_t id = peer.read_request().id();
        peer.send(long_reply(id + 77, 1));
        peer.send(long_reply(id, 2));
        peer.send(long_reply(id, 3)); // answered before
        peer.send(long_reply(peer.read_request().id(), 4));
    });
    Client client;
    const Ami::Target_var target = client.target(fake.reference());
    target->sendc_add(client.reference.in(), 1, 2);
    (void)client.hear(1);
    target->sendc_add(client.reference.in(), 1, 2);
    EXPECT_EQ((Heard{"add 2", "add 4"}), client.hear(2));
}

TEST(CallbackRoutes, ForwardsAreFollowed)
{
    Server server;
    Client client;
    const CORBA::Object_var real = client.orb()->string_to_object(server.reference.c_str());
    const ior::Ior at = real->_kairos_reference()->ior();
    FakeServer fake([&](FakeServer& agent) {
        FakeServer::Peer peer = agent.accept();
        for (int i = 0; i < 2; ++i)
            peer.send(orb_testing::forward(peer.read_request().id(), at));
    });
    const Ami::Target_var target = client.target(fake.reference());
    target->sendc_add(client.reference.in(), 1, 2);
    target->sendc_add(client.reference.in(), 3, 4);
    Heard heard = client.hear(2);
    std::ranges::sort(heard);
    EXPECT_EQ((Heard{"add 3", "add 7"}), heard);
}

TEST(CallbackRoutes, WhatWasNotExecutedIsSentAgain)
{
    FakeServer fake([](FakeServer& server) {
        {
            FakeServer::Peer peer = server.accept();
            (void)peer.read_request();
            peer.send(giop::close_connection(giop::version_1_2));
        }
        FakeServer::Peer peer = server.accept();
        peer.send(long_reply(peer.read_request().id(), 8));
    });
    Client client;
    client.target(fake.reference())->sendc_add(client.reference.in(), 1, 2);
    EXPECT_EQ(Heard{"add 8"}, client.hear());
}

/// Names that IDL has taken: what matters is that this compiles.
class Clash final : public POA_Ami::AMI_AMI_ClashHandler {
  public:
    void sendc_go() override {}
    void sendc_go_excep(Messaging::ExceptionHolder*) override {}
    void go(CORBA::Long) override {}
    void go_ami_excep(Messaging::ExceptionHolder*) override {}
    void go_excep() override {}
    void go_excep_excep(Messaging::ExceptionHolder*) override {}
};

TEST(CallbackNames, AvoidWhatIsTaken)
{
    void (Ami::Clash::*const send)(Ami::AMI_AMI_ClashHandler_ptr) = &Ami::Clash::sendc_ami_go;
    EXPECT_NE(nullptr, send);
    EXPECT_STREQ("IDL:kairos.test/Ami/AMI_AMI_ClashHandler:1.0",
                 Ami::AMI_AMI_ClashHandler::_kairos_id);
    EXPECT_STREQ("IDL:omg.org/Messaging/ReplyHandler:1.0", Messaging::ReplyHandler::_kairos_id);
    const PortableServer::ServantBase* const made = new Clash;
    delete made;
}

} // namespace
} // namespace kairos::ami_testing
