// SPDX-License-Identifier: Apache-2.0
//
// Servants that send more than sockets hold, to servers that do the same at the same moment: who
// waits until the other takes it serves meanwhile, in every architecture, by every way to send and
// over every transport. No call has a time limit here but those that say so.
#include "tests/malformed/fake_server.h"
#include "tests/robust/nested.h"

#include "kairos/corba/Messaging.h"

#include <barrier>

namespace kairos::orb_testing {
namespace {

constexpr CORBA::ULong large = 8'000'000;
constexpr auto holding = RunningServer::Start::holding;
using Options = std::vector<std::string>;

const Probe::Octets& large_octets()
{
    static const Probe::Octets octets = [] {
        Probe::Octets made;
        made.length(large);
        return made;
    }();
    return octets;
}

class NestedSending : public SmallestServers {
  protected:
    static Options small_queues(const Options& more = {})
    {
        Options options = smallest_with({"-ORBSendQueue", "8192", "-ORBReceiveQueue", "8192"});
        options.insert(options.end(), more.begin(), more.end());
        return options;
    }

    /// Two servers, each of which does this to the other when both are in an upcall.
    static void both(const Options& options, const std::function<void(Probe::Target_ptr)>& work)
    {
        std::barrier both_inside(2);
        RunningServer left(GetParam(), options, holding);
        RunningServer right(GetParam(), options, holding);
        const Probe::Target_var to_right = target_in(left, right.reference());
        const Probe::Target_var to_left = target_in(right, left.reference());
        const auto act = [&](Probe::Target_ptr other) {
            both_inside.arrive_and_wait();
            work(other);
        };
        left.servant().action = [&] { act(to_right); };
        right.servant().action = [&] { act(to_left); };
        left.manager()->activate();
        right.manager()->activate();
        std::thread other([&] { expect_to_act(right); });
        expect_to_act(left);
        other.join();
        for (RunningServer* server : {&left, &right})
            while (server->servant().calls < 2) // a oneway may still be on its way
                std::this_thread::yield();
        for (RunningServer* server : {&left, &right}) {
            server->end();
            EXPECT_EQ(server->servant().calls, 2u);
        }
    }
    static void expect_to_act(RunningServer& server)
    {
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    }
    static void count(Probe::Target_ptr other)
    {
        EXPECT_EQ(other->count_octets(large_octets()), large);
    }
    /// The same object, whose oneways need not even be sent when they return.
    static Probe::Target_ptr without_synchronisation(Probe::Target_ptr target)
    {
        CORBA::Any scope;
        scope <<= Messaging::SyncScope{Messaging::SYNC_NONE};
        const CORBA::ORB_var orb = target->_get_orb();
        CORBA::PolicyList policies(1);
        policies.length(1);
        policies[0] = orb->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, scope);
        const CORBA::Object_var object =
            target->_set_policy_overrides(policies, CORBA::ADD_OVERRIDE);
        return Probe::Target::_unchecked_narrow(object);
    }
    static CORBA::Request_ptr request_to_count(Probe::Target_ptr other)
    {
        CORBA::Request_ptr request = other->_request("count_octets");
        const CORBA::OctetSeq octets(large, large,
                                     const_cast<CORBA::Octet*>(large_octets().get_buffer()));
        request->add_in_arg() <<= octets;
        request->set_return_type(CORBA::_tc_ulong);
        return request;
    }
};

TEST_P(NestedSending, Requests) { both(small_queues(), count); }

TEST_P(NestedSending, RequestsInFragments)
{
    both(small_queues({"-ORBFragmentSize", "100000"}), count);
}

TEST_P(NestedSending, RequestsWhereThreadsShareConnections)
{
    for (const char* connection : {"leader-followers", "active"})
        both(small_queues({"-ORBConnection", connection}), count);
}

TEST_P(NestedSending, RequestsWithATimeLimit)
{
    both(small_queues({"-ORBClientTimeout", "600000"}), count);
}

TEST_P(NestedSending, RequestsByUnixSockets)
{
    both(small_queues({"-ORBListenEndpoints", "uiop://"}), count);
}

TEST_P(NestedSending, RequestsBySharedMemory)
{
    both(small_queues({"-ORBListenEndpoints", "shmiop://", "-ORBLoanMemory", "0"}), count);
}

TEST_P(NestedSending, Replies)
{
    both(small_queues(), [](Probe::Target_ptr other) {
        const Probe::Octets_var octets = other->produce(large);
        EXPECT_EQ(octets->length(), large);
    });
}

TEST_P(NestedSending, Oneways)
{
    both(small_queues(), [](Probe::Target_ptr other) {
        const CORBA::Request_var request = request_to_count(other);
        request->send_oneway();
    });
}

/// What is kept goes first.
TEST_P(NestedSending, WhatIsKeptOfOneways)
{
    both(small_queues({"-ORBOnewayQueue", "10000000"}), [](Probe::Target_ptr other) {
        const Probe::Target_var unsynchronised = without_synchronisation(other);
        const CORBA::Request_var request = request_to_count(unsynchronised);
        request->send_oneway();
        EXPECT_FALSE(unsynchronised->_non_existent());
    });
}

TEST_P(NestedSending, DeferredRequests)
{
    both(small_queues(), [](Probe::Target_ptr other) {
        const CORBA::Request_var request = request_to_count(other);
        request->send_deferred();
        request->get_response();
        CORBA::ULong counted = 0;
        EXPECT_TRUE(request->return_value() >>= counted);
        EXPECT_EQ(counted, large);
    });
}

/// Each request leads to another as large, on and on.
TEST_P(NestedSending, RequestsWithinRequests)
{
    constexpr int depth = 4;
    std::atomic<int> to_do{2 * depth};
    RunningServer left(GetParam(), small_queues(), holding);
    RunningServer right(GetParam(), small_queues(), holding);
    const Probe::Target_var to_right = target_in(left, right.reference());
    const Probe::Target_var to_left = target_in(right, left.reference());
    const auto act = [&](Probe::Target_ptr other) {
        if (to_do-- > 0) other->act();
        count(other);
    };
    left.servant().action = [&] { act(to_right); };
    right.servant().action = [&] { act(to_left); };
    left.manager()->activate();
    right.manager()->activate();
    std::thread other([&] { expect_to_act(right); });
    expect_to_act(left);
    other.join();
    EXPECT_EQ(left.servant().calls + right.servant().calls, 2u * (2 * depth + 2));
}

/// The peer reads only when somebody else was served.
TEST_P(NestedSending, OthersAreServedWhileAPeerDoesNotRead)
{
    Event served;
    FakeServer stalled([&](FakeServer& server) {
        FakeServer::Peer peer = server.accept();
        EXPECT_TRUE(served.wait());
        const ReceivedRequest request = peer.read_request();
        peer.send(reply(request.id(), 0).u32(large).finish());
    });
    RunningServer server(GetParam(), small_queues());
    const Probe::Target_var to_stalled = target_in(server, stalled.reference());
    Event inside;
    server.servant().action = [&] {
        inside.set();
        count(to_stalled);
    };
    std::thread caller([&] { expect_to_act(server); });
    EXPECT_TRUE(inside.wait());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    target->ping();
    served.set();
    caller.join();
    stalled.end();
}

TEST_P(NestedSending, TimeLimitsHold)
{
    Event over;
    FakeServer stalled([&](FakeServer& server) {
        const FakeServer::Peer peer = server.accept();
        EXPECT_TRUE(over.wait());
    });
    RunningServer server(GetParam(), small_queues({"-ORBClientTimeout", "100"}));
    const Probe::Target_var to_stalled = target_in(server, stalled.reference());
    server.servant().action = [&] {
        EXPECT_EQ(outcome([&] { count(to_stalled); }), "TIMEOUT 0x4b52000f NO");
    };
    expect_to_act(server);
    over.set();
}

// --- The connection of the request ---------------------------------------------------------------

/// The answer to what calls back, by the connection of the call, is more than that holds.
TEST_P(NestedSending, ALargeReplyByTheConnectionOfTheCall)
{
    RunningServer server(GetParam(), small_queues());
    RunningServer other("thread-per-connection");
    RawPeer peer = server.connect({.receive_queue_bytes = 8192});
    const Probe::Target_var to_other = target_in(server, other.reference());
    Event called_back;
    server.servant().action = [&] { to_other->act(); };
    other.servant().action = [&] {
        for (const std::uint32_t id : {2u, 3u}) {
            peer.send(request(server.key(), "produce", id).u32(large).finish());
            const ParsedReply produced(peer.read_message());
            EXPECT_EQ(produced.reply.request_id, id);
            EXPECT_GT(produced.bytes.size(), large);
        }
        called_back.set();
    };
    peer.send(request(server.key(), "act", 1).finish());
    EXPECT_TRUE(called_back.wait());
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 1u);
}

/// It is not even read before the call has got further.
TEST_P(NestedSending, ALargeReplyThatIsReadLater)
{
    RunningServer server(GetParam(), small_queues());
    RunningServer other("thread-per-connection");
    RawPeer peer = server.connect({.receive_queue_bytes = 8192});
    const Probe::Target_var to_other = target_in(server, other.reference());
    Event got_further;
    server.servant().action = [&] {
        to_other->act();
        got_further.set();
        to_other->ping();
    };
    other.servant().action = [&] {
        peer.send(request(server.key(), "produce", 2).u32(large).finish());
        while (server.servant().calls < 2)
            std::this_thread::yield();
    };
    peer.send(request(server.key(), "act", 1).finish());
    EXPECT_TRUE(got_further.wait());
    std::array<std::uint32_t, 2> ids{};
    for (std::uint32_t& id : ids)
        id = ParsedReply(peer.read_message()).reply.request_id;
    EXPECT_EQ(std::min(ids[0], ids[1]), 1u);
    EXPECT_EQ(std::max(ids[0], ids[1]), 2u);
    peer.send(server.ping(3));
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 3u);
}

KAIROS_EVERY_ARCHITECTURE(NestedSending);

} // namespace
} // namespace kairos::orb_testing
