// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous calls whose replies are polled: results, failures, timeouts, sets of pollers, and
// pollers that nobody asks.
#include "fixture.h"
#include "tests/malformed/fake_server.h"
#include "tests/robust/observers.h"

#include "kairos/client/asynchronous.h"

#include <atomic>
#include <future>
#include <set>
#include <thread>

namespace kairos::ami_testing {
namespace {

using orb_testing::FakeServer;
using orb_testing::outcome;

constexpr CORBA::ULong for_ever = 0xFFFFFFFF;

class Polling : public ::testing::Test {
  protected:
    [[nodiscard]] CORBA::Long held(Ami::AMI_TargetPoller* poller)
    {
        CORBA::Long number = 0;
        poller->hold(for_ever, number);
        return number;
    }

    Server server_;
    orb_testing::Client client_;
    CORBA::Object_var object_ = client_.orb()->string_to_object(server_.reference.c_str());
    Ami::Target_var target_ = Ami::Target::_unchecked_narrow(object_);
};

TEST_F(Polling, ResultsOfEveryDirectionAreFetched)
{
    Ami::Person who;
    who.name = "Bob";
    who.at = {1, 2};
    const Ami::AMI_TargetPoller_var poller = target_->sendp_change("text", who, {5, 6});
    CORBA::String_var result;
    CORBA::String_var text;
    Ami::Person_var changed;
    Ami::Point where{};
    Ami::Names_var all;
    Ami::Grid same;
    CORBA::Any_var anything;
    Ami::Target_var other;
    CORBA::Long number = 0;
    poller->change(for_ever, result.out(), text.out(), changed.out(), where, all.out(), same,
                   anything.out(), other.out(), number);
    EXPECT_STREQ("text", result.in());
    EXPECT_STREQ("text!", text.in());
    EXPECT_EQ(7, changed->at.x);
    EXPECT_EQ(2.5, where.y);
    EXPECT_STREQ("two", all[1].in());
    EXPECT_EQ(5, same[1][2]);
    CORBA::Long value = 0;
    EXPECT_TRUE(anything.in() >>= value);
    EXPECT_EQ(42, value);
    EXPECT_FALSE(CORBA::is_nil(other.in()));
    EXPECT_EQ(9, number);
}

TEST_F(Polling, AttributesOfBasesAreFetched)
{
    const Ami::AMI_BasePoller_var set = target_->sendp_set_name("after");
    set->set_name(for_ever);
    const Ami::AMI_BasePoller_var get = target_->sendp_get_name();
    CORBA::String_var name;
    get->get_name(for_ever, name.out());
    EXPECT_STREQ("after", name.in());
    const CORBA::String_var operation = get->operation_name();
    EXPECT_STREQ("_get_name", operation.in());
    const CORBA::Object_var target = get->operation_target();
    EXPECT_TRUE(target->_is_equivalent(target_.in()));
}

TEST_F(Polling, FailuresAreRaised)
{
    const Ami::AMI_TargetPoller_var refused = target_->sendp_refuse("no");
    EXPECT_THROW(refused->refuse(for_ever), Ami::Refused);
    const Ami::AMI_TargetPoller_var failed = target_->sendp_fail(1);
    EXPECT_EQ("NO_PERMISSION 0x11 YES", outcome([&] { failed->fail(for_ever); }));
    EXPECT_FALSE(failed->is_from_poller());
}

TEST_F(Polling, AReplyIsThereOnceAndWhenItIsThere)
{
    const Ami::AMI_TargetPoller_var poller = target_->sendp_hold(1);
    CORBA::Long number = 0;
    EXPECT_FALSE(poller->is_ready(0));
    EXPECT_FALSE(poller->is_ready(1));
    EXPECT_EQ("NO_RESPONSE 0x4f4d0001 NO", outcome([&] { poller->hold(0, number); }));
    EXPECT_EQ("TIMEOUT 0x4f4d0001 NO", outcome([&] { poller->hold(1, number); }));
    EXPECT_EQ("BAD_OPERATION 0x0 NO", outcome([&] { poller->add(0, number); }));
    EXPECT_TRUE(poller->is_from_poller());
    server_.servant.release(1);
    EXPECT_TRUE(poller->is_ready(for_ever));
    EXPECT_FALSE(poller->is_from_poller());
    EXPECT_EQ(1, held(poller.in()));
    EXPECT_FALSE(poller->is_from_poller());
    EXPECT_EQ("OBJECT_NOT_EXIST 0x4f4d0005 NO", outcome([&] { (void)poller->is_ready(0); }));
    EXPECT_EQ("OBJECT_NOT_EXIST 0x4f4d0005 NO", outcome([&] { poller->hold(0, number); }));
    EXPECT_TRUE(poller->is_from_poller());
}

TEST_F(Polling, ASetGivesThoseThatAreReady)
{
    std::vector<Ami::AMI_TargetPoller_var> pollers;
    for (const CORBA::Long number : {1, 2, 3})
        pollers.emplace_back(target_->sendp_hold(number));
    const CORBA::PollableSet_var set = pollers[0]->create_pollable_set();
    EXPECT_EQ("NoPossiblePollable", outcome([&] { (void)set->get_ready_pollable(0); }));
    for (const Ami::AMI_TargetPoller_var& poller : pollers)
        set->add_pollable(poller.in());
    EXPECT_EQ("BAD_PARAM 0x4f4d002b NO", outcome([&] { set->add_pollable(pollers[0].in()); }));
    EXPECT_EQ(3, set->number_left());
    EXPECT_EQ("NO_RESPONSE 0x4f4d0001 NO", outcome([&] { (void)set->get_ready_pollable(0); }));
    EXPECT_EQ("TIMEOUT 0x4f4d0001 NO", outcome([&] { (void)set->get_ready_pollable(1); }));
    set->remove(pollers[2].in());
    EXPECT_EQ("UnknownPollable", outcome([&] { set->remove(pollers[2].in()); }));
    for (const CORBA::Long number : {2, 1}) {
        server_.servant.release(number);
        const CORBA::Pollable_var ready = set->get_ready_pollable(for_ever);
        EXPECT_EQ(number, held(Ami::AMI_TargetPoller::_downcast(ready.in())));
    }
    EXPECT_EQ(0, set->number_left());
    server_.servant.release(3);
}

TEST_F(Polling, ASetWaitsForDeferredDynamicRequests)
{
    const CORBA::ORB_ptr orb = client_.orb();
    const Ami::AMI_TargetPoller_var poller = target_->sendp_hold(1);
    const CORBA::PollableSet_var set = poller->create_pollable_set();
    const CORBA::DIIPollable_var dii = set->create_dii_pollable();
    set->add_pollable(dii.in());
    set->add_pollable(poller.in());
    EXPECT_FALSE(dii->is_ready(for_ever)); // none is outstanding
    EXPECT_EQ("TIMEOUT 0x4f4d0001 NO", outcome([&] { (void)set->get_ready_pollable(1); }));

    const CORBA::Request_var request = object_->_request("hold");
    request->add_in_arg() <<= CORBA::Long{2};
    request->set_return_type(CORBA::_tc_long);
    CORBA::ORB::RequestSeq requests;
    requests.length(1);
    requests[0] = CORBA::Request::_duplicate(request.in());
    orb->send_multiple_requests_deferred(requests);
    EXPECT_FALSE(dii->is_ready(1));
    EXPECT_EQ("NO_RESPONSE 0x4f4d0001 NO", outcome([&] { (void)set->get_ready_pollable(0); }));
    EXPECT_EQ("TIMEOUT 0x4f4d0001 NO", outcome([&] { (void)set->get_ready_pollable(1); }));

    const auto get_ready = [&set] {
        return CORBA::Pollable_var(set->get_ready_pollable(for_ever));
    };
    auto ready =
        std::async(std::launch::async, get_ready); // of the poller, though it waits for both
    server_.servant.release(1);
    EXPECT_EQ(poller.in(), ready.get().in());
    EXPECT_EQ(1, held(poller.in()));
    ready = std::async(std::launch::async, get_ready);
    server_.servant.release(2);
    EXPECT_EQ(static_cast<CORBA::Pollable*>(dii.in()), ready.get().in());
    EXPECT_TRUE(dii->is_ready(0));
    CORBA::Request_var answered;
    orb->get_next_response(answered.out());
    CORBA::Long number = 0;
    EXPECT_TRUE(answered->return_value() >>= number);
    EXPECT_EQ(2, number);
    EXPECT_FALSE(dii->is_ready(0));
}

using Heard = std::vector<std::string>;

/// With a client that dispatches, as handlers hear of what is polled only there.
class Handed : public ::testing::Test {
  protected:
    Server server_;
    Client client_;
    Ami::Target_var target_ = client_.target(server_.reference);
};

TEST_F(Handed, AHandlerHearsInPlaceOfThePoller)
{
    const Ami::AMI_TargetPoller_var poller = target_->sendp_hold(1);
    const Messaging::ReplyHandler_var none = poller->associated_handler();
    EXPECT_TRUE(CORBA::is_nil(none.in()));
    poller->associated_handler(client_.reference.in());
    const Messaging::ReplyHandler_var one = poller->associated_handler();
    EXPECT_TRUE(one->_is_equivalent(client_.reference.in()));
    server_.servant.release(1);
    CORBA::Long number = 0;
    EXPECT_EQ("TIMEOUT 0x4f4d0001 NO", outcome([&] { poller->hold(1, number); }));
    EXPECT_EQ(0u, client_.handler.count()); // until somebody dispatches
    EXPECT_EQ(Heard{"hold 1"}, client_.hear());
    EXPECT_EQ("OBJECT_NOT_EXIST 0x4f4d0005 NO", outcome([&] { (void)poller->is_ready(0); }));
    EXPECT_EQ("OBJECT_NOT_EXIST 0x4f4d0005 NO",
              outcome([&] { poller->associated_handler(client_.reference.in()); }));
}

TEST_F(Handed, AHandlerHearsOfWhatIsThereAlreadyAndOfFailures)
{
    const Ami::AMI_TargetPoller_var there = target_->sendp_add(1, 2);
    EXPECT_TRUE(there->is_ready(for_ever));
    there->associated_handler(client_.reference.in());
    EXPECT_EQ(Heard{"add 3"}, client_.hear(1));
    const Ami::AMI_TargetPoller_var failed = target_->sendp_refuse("no");
    failed->associated_handler(client_.reference.in());
    EXPECT_EQ("refuse: Refused no", client_.hear(2).back());
}

TEST_F(Handed, ThePollerMayGoAndTheHandlerStillHears)
{
    {
        const Ami::AMI_TargetPoller_var poller = target_->sendp_hold(1);
        poller->associated_handler(client_.reference.in());
        const Ami::AMI_TargetPoller_var there = target_->sendp_add(1, 2);
        EXPECT_TRUE(there->is_ready(for_ever));
        there->associated_handler(client_.reference.in());
    }
    EXPECT_EQ(Heard{"add 3"}, client_.hear(1));
    server_.servant.release(1);
    EXPECT_EQ("hold 1", client_.hear(2).back());
}

TEST_F(Handed, ANilHandlerGivesTheReplyBackToThePoller)
{
    const Ami::AMI_TargetPoller_var early = target_->sendp_hold(1);
    early->associated_handler(client_.reference.in());
    early->associated_handler(Messaging::ReplyHandler::_nil());
    const Ami::AMI_TargetPoller_var late = target_->sendp_add(1, 2);
    EXPECT_TRUE(late->is_ready(for_ever));
    late->associated_handler(client_.reference.in()); // the main thread has it to do now
    late->associated_handler(Messaging::ReplyHandler::_nil());
    CORBA::Long number = 0;
    late->add(for_ever, number);
    EXPECT_EQ(3, number);
    server_.servant.release(1);
    early->hold(for_ever, number);
    EXPECT_EQ(1, number);
    const Ami::AMI_TargetPoller_var last = target_->sendp_add(3, 4);
    last->associated_handler(client_.reference.in());
    EXPECT_EQ(Heard{"add 7"}, client_.hear());
}

TEST_F(Handed, AHandlerOfAnotherInterfaceIsRefused)
{
    const Ami::AMI_TargetPoller_var poller = target_->sendp_add(1, 2);
    const Messaging::ReplyHandler_var other =
        Messaging::ReplyHandler::_unchecked_narrow(target_.in());
    EXPECT_EQ("BAD_PARAM 0x0 NO", outcome([&] { poller->associated_handler(other.in()); }));
    CORBA::Long sum = 0;
    poller->add(for_ever, sum);
    EXPECT_EQ(3, sum);
}

TEST_F(Handed, WhatTheEndOfTheOrbRefusesIsThePollersAgain)
{
    const Ami::AMI_TargetPoller_var there = target_->sendp_add(1, 2);
    EXPECT_TRUE(there->is_ready(for_ever));
    there->associated_handler(client_.reference.in());
    client_.orb()->shutdown(false);
    CORBA::Long sum = 0;
    there->add(for_ever, sum);
    EXPECT_EQ(3, sum);
    EXPECT_EQ(0u, client_.handler.count());
}

TEST_F(Handed, ThreadsThatPollAndDispatchGiveEachReplyOnce)
{
    constexpr std::size_t calls = 200;
    std::vector<Ami::AMI_TargetPoller_var> pollers;
    for (std::size_t i = 0; i < calls; ++i)
        pollers.emplace_back(target_->sendp_add(static_cast<CORBA::Long>(i), 0));
    std::atomic<std::size_t> fetched{0};
    std::thread polling([&] {
        for (const Ami::AMI_TargetPoller_var& poller : pollers) {
            CORBA::Long sum = 0;
            try {
                poller->add(for_ever, sum);
                ++fetched;
            } catch (const CORBA::OBJECT_NOT_EXIST&) { // a handler has it
            }
        }
    });
    for (const Ami::AMI_TargetPoller_var& poller : pollers) {
        try {
            poller->associated_handler(client_.reference.in());
        } catch (const CORBA::OBJECT_NOT_EXIST&) { // the other thread was faster
        }
    }
    EXPECT_TRUE(client_.dispatch([&] { return client_.handler.count() + fetched == calls; }));
    polling.join();
    EXPECT_EQ(calls, client_.handler.count() + fetched);
}

TEST_F(Polling, ThreadsWaitForOneReply)
{
    const Ami::AMI_TargetPoller_var poller = target_->sendp_hold(1);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] { ready += poller->is_ready(for_ever) ? 1 : 0; });
    server_.servant.release(1);
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(3, ready);
    EXPECT_EQ(1, held(poller.in()));
}

TEST_F(Polling, APollerMayGoAtAnyTime)
{
    {
        const Ami::AMI_TargetPoller_var under_way = target_->sendp_hold(1);
        const Ami::AMI_TargetPoller_var posted = target_->sendp_add(1, 2);
        const Ami::AMI_TargetPoller_var ready = target_->sendp_add(3, 4);
        EXPECT_TRUE(ready->is_ready(for_ever));
        while (server_.servant.calls < 2)
            std::this_thread::yield();
    }
    server_.servant.release(1);
    const Ami::AMI_TargetPoller_var next = target_->sendp_add(5, 6);
    CORBA::Long sum = 0;
    next->add(for_ever, sum);
    EXPECT_EQ(11, sum);
}

TEST_F(Polling, APollerMayOutliveItsOrb)
{
    Ami::AMI_TargetPoller_var poller;
    {
        orb_testing::Client client;
        const CORBA::Object_var object = client.orb()->string_to_object(server_.reference.c_str());
        const Ami::Target_var target = Ami::Target::_unchecked_narrow(object);
        poller = target->sendp_hold(1);
        ASSERT_TRUE(server_.servant.wait_for_hold(1));
    }
    server_.servant.release(1);
    EXPECT_EQ("COMM_FAILURE 0x4b520002 MAYBE", outcome([&] { (void)held(poller.in()); }));
}

TEST_F(Polling, ForwardsAreFollowed)
{
    const ior::Ior at = object_->_kairos_reference()->ior();
    FakeServer fake([&](FakeServer& agent) {
        FakeServer::Peer peer = agent.accept();
        peer.send(orb_testing::forward(peer.read_request().id(), at));
    });
    const CORBA::Object_var object = client_.orb()->string_to_object(fake.reference().c_str());
    const Ami::Target_var target = Ami::Target::_unchecked_narrow(object);
    const Ami::AMI_TargetPoller_var poller = target->sendp_add(1, 2);
    CORBA::Long sum = 0;
    poller->add(for_ever, sum);
    EXPECT_EQ(3, sum);
}

TEST_F(Polling, ObserversHearOfTheEndWhereItIsFetched)
{
    orb_testing::Record record;
    orb_testing::Client client;
    client.orb()->_kairos_add_call_observer(
        Owner<orb::CallObserver>(new orb_testing::RecordingCalls("one", record)));
    const ior::Ior at = object_->_kairos_reference()->ior();
    FakeServer fake([&](FakeServer& agent) {
        FakeServer::Peer peer = agent.accept();
        peer.send(orb_testing::forward(peer.read_request().id(), at));
    });
    const CORBA::Object_var object = client.orb()->string_to_object(fake.reference().c_str());
    const Ami::Target_var target = Ami::Target::_unchecked_narrow(object);
    const Ami::AMI_TargetPoller_var poller = target->sendp_add(1, 2);
    EXPECT_EQ(orb_testing::Lines{"one send_request"}, record.take());
    CORBA::Long sum = 0;
    poller->add(for_ever, sum);
    EXPECT_EQ((orb_testing::Lines{"one receive_other location_forward", "one send_request",
                                  "one receive_reply"}),
              record.take());
    const Ami::AMI_TargetPoller_var failed = target->sendp_fail(1);
    EXPECT_THROW(failed->fail(for_ever), CORBA::NO_PERMISSION);
    EXPECT_EQ(
        (orb_testing::Lines{"one send_request", "one receive_exception system NO_PERMISSION"}),
        record.take());
}

/// Whose listener is gone is over for observers before: its operation may go with the listener.
TEST_F(Polling, ObserversHearOfADroppedCallFirst)
{
    struct Dropped {
        orb_testing::Record& record;
        std::unique_ptr<const orb::Operation> operation =
            std::make_unique<const orb::Operation>("_get_name");
        bool is_over = false;
    };
    orb_testing::Record record;
    orb_testing::Client client;
    const orb_testing::CallDeeds names{{"receive_other", [&record](orb::ObservedCall& call) {
                                            record.add("of " +
                                                       std::string(call.operation().name()));
                                        }}};
    client.orb()->_kairos_add_call_observer(
        Owner<orb::CallObserver>(new orb_testing::RecordingCalls("one", record, names)));
    const CORBA::Object_var object = client.orb()->string_to_object(server_.reference.c_str());
    orb::Reference& target = corba::reference_of(*object.in());
    Dropped dropped{.record = record};
    const auto nobody_polls = [](const orb::CallListener&) noexcept {
        return orb::MainThread::Accepted::no;
    };
    const auto drop = [](const orb::CallListener& listener) noexcept {
        auto& self = *static_cast<Dropped*>(listener.object);
        self.record.add("dropped");
        self.operation = nullptr;
        self.is_over = true;
    };
    orb::AsynchronousCall::make(target, *dropped.operation)
        .send({.posted = nobody_polls, .dropped = drop, .object = &dropped});
    constexpr orb::Operation other("_get_name");
    while (!dropped.is_over) { // the next call that is made finds it, once the reply is there
        orb::AsynchronousCall::make(target, other).abandon();
        std::this_thread::yield();
    }
    EXPECT_EQ((orb_testing::Lines{"one send_request", "one receive_other unknown", "of _get_name",
                                  "dropped"}),
              record.take());
}

} // namespace
} // namespace kairos::ami_testing
