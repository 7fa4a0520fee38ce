// SPDX-License-Identifier: Apache-2.0
//
// Requests whose responses are fetched later: several at once, in any order, by other threads, or
// never.
#include "fixture.h"
#include "kairos/client/client.h"
#include "kairos/orb/orb.h"

#include <algorithm>

namespace kairos::dynamic_testing {
namespace {

class Deferred : public ::testing::Test {
  protected:
    Deferred() : target_(target_of(client_)) {}

    [[nodiscard]] Dynamic::Target_ptr target_of(Client& client)
    {
        const CORBA::Object_var object = client.orb()->string_to_object(server_.reference.c_str());
        return Dynamic::Target::_unchecked_narrow(object);
    }
    [[nodiscard]] CORBA::Request_var hold(CORBA::Long number)
    {
        CORBA::Request_var request = target_->_request("hold");
        request->set_return_type(CORBA::_tc_long);
        request->add_in_arg("number") <<= number;
        return request;
    }
    static CORBA::Long result(CORBA::Request_ptr request)
    {
        CORBA::Long value = -1;
        EXPECT_TRUE(request->return_value() >>= value);
        return value;
    }
    [[nodiscard]] std::size_t connections()
    {
        return orb::Client::of(client_.orb()->_kairos_core()).connections().count();
    }
    [[nodiscard]] CORBA::RequestSeq three()
    {
        CORBA::RequestSeq requests;
        requests.length(3);
        for (CORBA::ULong i = 0; i < 3; ++i)
            requests[i] = hold(static_cast<CORBA::Long>(i));
        return requests;
    }

    Server server_;
    Client client_;
    Dynamic::Target_var target_;
};

TEST_F(Deferred, SeveralAreOutstandingAndNoneHoldsUpAnotherCall)
{
    std::vector<CORBA::Request_var> requests;
    for (CORBA::Long i = 0; i < 3; ++i) {
        requests.push_back(hold(i));
        requests.back()->send_deferred();
    }
    EXPECT_EQ(5, target_->add(2, 3)); // of the same thread, on a connection of its own
    for (const CORBA::Request_var& request : requests)
        EXPECT_FALSE(request->poll_response());
    for (const CORBA::Long i : {2, 0, 1}) {
        const CORBA::Request_var& request = requests[static_cast<std::size_t>(i)];
        server_.servant.release(i);
        while (!request->poll_response())
            std::this_thread::yield();
        EXPECT_TRUE(request->poll_response());
        EXPECT_EQ(i, result(request.in())); // as programs for omniORB have it
        request->get_response();
        EXPECT_EQ(i, result(request.in()));
    }
}

TEST_F(Deferred, ConnectionsAreUsedAgain)
{
    server_.servant.release(1);
    const CORBA::Request_var request = hold(1);
    for (int round = 0; round < 5; ++round) {
        request->send_deferred();
        request->get_response();
        EXPECT_EQ(1, result(request.in()));
        EXPECT_EQ(3, target_->add(1, 2));
    }
    EXPECT_EQ(1u, connections());
}

TEST_F(Deferred, AnotherThreadMayFetch)
{
    CORBA::Request_var request;
    std::thread sender([&] { // which is over before the response is there
        request = hold(1);
        request->send_deferred();
    });
    sender.join();
    server_.servant.release(1);
    std::thread([&] {
        request->get_response();
        EXPECT_EQ(1, result(request.in()));
        EXPECT_EQ(1u, connections()); // now of this thread's lane…
        EXPECT_EQ(7, target_->add(3, 4));
        EXPECT_EQ(1u, connections());
    }).join();
    EXPECT_EQ(0u, connections()); // …and gone with it
}

TEST_F(Deferred, ArgumentsMayChangeMeanwhile)
{
    const CORBA::Request_var request = target_->_request("large");
    request->set_return_type(CORBA::_tc_ulong);
    Dynamic::Octets octets;
    octets.length(1 << 20);
    std::ranges::fill(octets, CORBA::Octet{0}); // new numbers are anything
    octets[7] = 7;
    request->add_in_arg() <<= octets;
    request->send_deferred();
    *request->arguments()->item(0)->value() <<= CORBA::Long{0};
    request->get_response();
    CORBA::ULong sum = 0;
    EXPECT_TRUE(request->return_value() >>= sum);
    EXPECT_EQ(7u, sum);
}

TEST_F(Deferred, WhatNobodyFetchesIsGivenUp)
{
    {
        const CORBA::Request_var request = hold(1);
        request->send_deferred();
        EXPECT_EQ(1u, connections());
    }
    EXPECT_EQ(0u, connections());
    server_.servant.release(1);
    EXPECT_EQ(3, target_->add(1, 2));
}

TEST_F(Deferred, RequestsOutliveTheirOrb)
{
    CORBA::Request_var request;
    {
        Client own;
        const Dynamic::Target_var target = target_of(own);
        request = target->_request("hold");
        request->set_return_type(CORBA::_tc_long);
        request->add_in_arg() <<= CORBA::Long{1};
        request->send_deferred();
    }
    EXPECT_EQ("COMM_FAILURE 0x4b520002 MAYBE", outcome([&] { request->get_response(); }));
    EXPECT_EQ("BAD_INV_ORDER 0x4f4d0004 NO", outcome([&] { request->invoke(); }));
    server_.servant.release(1);
}

TEST_F(Deferred, ServersThatCannotBeReachedAreFoundInTheResponse)
{
    const CORBA::Object_var object =
        client_.orb()->string_to_object("corbaloc:iiop:1.2@127.0.0.1:1/nothing");
    const CORBA::Request_var request = object->_request("anything");
    request->send_deferred();
    EXPECT_TRUE(request->poll_response());
    EXPECT_NE(nullptr, CORBA::TRANSIENT::_downcast(request->env()->exception()));
    EXPECT_EQ("BAD_INV_ORDER 0x4f4d000a NO", outcome([&] { request->send_deferred(); }));
    EXPECT_EQ("TRANSIENT 0x4b520001 NO", outcome([&] { request->get_response(); }));
    EXPECT_EQ("BAD_INV_ORDER 0x4f4d000c NO", outcome([&] { request->get_response(); }));
}

TEST_F(Deferred, WhatWasPolledTheOrbGivesAsWell)
{
    const CORBA::RequestSeq requests = three();
    client_.orb()->send_multiple_requests_deferred(requests);
    server_.servant.release(1);
    while (!requests[1]->poll_response())
        std::this_thread::yield();
    EXPECT_TRUE(client_.orb()->poll_next_response());
    CORBA::Request_var next;
    client_.orb()->get_next_response(next.out());
    EXPECT_EQ(requests[1], next.in());
    EXPECT_EQ(1, result(next.in()));
    server_.servant.release(0);
    server_.servant.release(2);
}

TEST_F(Deferred, ManyThreadsEachWithTheirOwnRequests)
{
    for (CORBA::Long i = 0; i < 8; ++i)
        server_.servant.release(i);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            std::vector<CORBA::Request_var> requests;
            for (CORBA::Long i = 0; i < 8; ++i)
                requests.push_back(hold(i));
            for (const CORBA::Request_var& request : requests)
                request->send_deferred();
            for (CORBA::Long i = 7; i >= 0; --i) {
                requests[static_cast<std::size_t>(i)]->get_response();
                EXPECT_EQ(i, result(requests[static_cast<std::size_t>(i)].in()));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

// --- Several at once -----------------------------------------------------------------------------

TEST_F(Deferred, MultipleComeInTheOrderOfTheirResponses)
{
    const CORBA::RequestSeq requests = three();
    client_.orb()->send_multiple_requests_deferred(requests);
    EXPECT_FALSE(client_.orb()->poll_next_response());
    for (const CORBA::Long i : {1, 2, 0}) {
        server_.servant.release(i);
        CORBA::Request_var next;
        client_.orb()->get_next_response(next.out());
        EXPECT_EQ(requests[static_cast<CORBA::ULong>(i)], next.in());
        EXPECT_EQ(i, result(next.in()));
    }
    CORBA::Request_var none;
    EXPECT_EQ(not_sent, outcome([&] { client_.orb()->get_next_response(none.out()); }));
    EXPECT_FALSE(client_.orb()->poll_next_response());
}

TEST_F(Deferred, MultipleMayBePolledAndFetchedOneByOne)
{
    const CORBA::RequestSeq requests = three();
    client_.orb()->send_multiple_requests_deferred(requests);
    server_.servant.release(2);
    while (!client_.orb()->poll_next_response())
        std::this_thread::yield();
    server_.servant.release(1);
    requests[1]->get_response();
    EXPECT_EQ(1, result(requests[1]));
    CORBA::Request_var next;
    client_.orb()->get_next_response(next.out());
    EXPECT_EQ(requests[2], next.in());
    server_.servant.release(0);
    client_.orb()->get_next_response(next.out());
    EXPECT_EQ(requests[0], next.in());
}

TEST_F(Deferred, MultipleThreadsShareTheResponses)
{
    CORBA::RequestSeq requests;
    requests.length(12);
    for (CORBA::Long i = 0; i < 12; ++i) {
        requests[static_cast<CORBA::ULong>(i)] = hold(i);
        server_.servant.release(i);
    }
    client_.orb()->send_multiple_requests_deferred(requests);
    std::atomic<CORBA::Long> sum{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread)
        threads.emplace_back([&] {
            for (int i = 0; i < 4; ++i) {
                CORBA::Request_var next;
                client_.orb()->get_next_response(next.out());
                sum += result(next.in());
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(66, sum);
}

TEST_F(Deferred, MultipleTellInTheirEnvironmentsWhatWentWrong)
{
    CORBA::RequestSeq requests;
    requests.length(2);
    requests[0] = hold(1);
    (void)requests[0]->add_in_arg(); // without a type: cannot be sent
    requests[1] = target_->_request("no_such_operation");
    EXPECT_EQ("BAD_TYPECODE 0x4f4d0003 NO",
              outcome([&] { client_.orb()->send_multiple_requests_deferred(requests); }));
    CORBA::Request_var next;
    client_.orb()->get_next_response(next.out());
    EXPECT_EQ(requests[1], next.in());
    EXPECT_NE(nullptr, CORBA::BAD_OPERATION::_downcast(next->env()->exception()));
    requests[0] = CORBA::Request::_nil();
    EXPECT_EQ("BAD_PARAM 0x0 NO",
              outcome([&] { client_.orb()->send_multiple_requests_oneway(requests); }));
}

TEST_F(Deferred, MultipleOnewaysAllArrive)
{
    CORBA::RequestSeq requests;
    requests.length(2);
    for (CORBA::ULong i = 0; i < 2; ++i) {
        requests[i] = target_->_request("note");
        requests[i]->add_in_arg() <<= static_cast<CORBA::Long>(i + 1);
    }
    client_.orb()->send_multiple_requests_oneway(requests);
    EXPECT_TRUE(server_.servant.wait_for_note(2)); // the same connection: in order
}

TEST_F(Deferred, TheOrbForgetsThemInTheEnd)
{
    CORBA::Request_var kept = hold(1);
    {
        Client own;
        const Dynamic::Target_var target = target_of(own);
        CORBA::RequestSeq requests;
        requests.length(1);
        requests[0] = target->_request("hold");
        requests[0]->add_in_arg() <<= CORBA::Long{1};
        own.orb()->send_multiple_requests_deferred(requests);
    }
    server_.servant.release(1);
    kept->invoke();
    EXPECT_EQ(1, result(kept.in()));
}

} // namespace
} // namespace kairos::dynamic_testing
