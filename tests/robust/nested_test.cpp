// SPDX-License-Identifier: Apache-2.0
//
// Servants that call, and are called back before their call returns: no architecture may deadlock,
// however few threads it has and whatever connection the call back comes by.
#include "tests/robust/nested.h"

#include <set>

namespace kairos::orb_testing {
namespace {

class Nested : public SmallestServers {};

/// Two processes, as it were, that call each other: each ORB calls with its own connections.
TEST_P(Nested, PartnersCallEachOtherBack)
{
    constexpr int depth = 6;
    RunningServer left(GetParam(), smallest());
    RunningServer right(GetParam(), smallest());
    const CORBA::Object_var right_object = left.orb()->string_to_object(right.reference().c_str());
    const Probe::Target_var to_right = Probe::Target::_unchecked_narrow(right_object);
    const CORBA::Object_var left_object = right.orb()->string_to_object(left.reference().c_str());
    const Probe::Target_var to_left = Probe::Target::_unchecked_narrow(left_object);
    std::atomic<int> left_to_do{depth};
    left.servant().action = [&] {
        if (left_to_do-- > 0) to_right->act();
    };
    right.servant().action = [&] { to_left->act(); };
    Client client;
    const Probe::Target_var target = client.target(left.reference());
    target->act();
    EXPECT_EQ(left.servant().calls, depth + 1u);
    EXPECT_EQ(right.servant().calls, unsigned{depth});
}

/// Who answers us shares its connection with who called us, as clients with one connection a
/// process do.
TEST_P(Nested, TheCallBackComesByTheConnectionOfTheCall)
{
    RunningServer server(GetParam(), smallest());
    RunningServer other("thread-per-connection");
    RawPeer peer = server.connect();
    Event called_back;
    other.servant().action = [&] {
        peer.send(server.ping(2));
        EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 2u);
        called_back.set();
    };
    const CORBA::Object_var object = server.orb()->string_to_object(other.reference().c_str());
    const Probe::Target_var to_other = Probe::Target::_unchecked_narrow(object);
    server.servant().action = [&] { to_other->act(); };
    peer.send(request(server.key(), "act", 1).finish());
    ASSERT_TRUE(called_back.wait());
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 1u);
}

/// What calls back, as it were, came together with the call.
TEST_P(Nested, TheCallBackCameInOnePieceWithTheCall)
{
    RunningServer server(GetParam(), smallest());
    RunningServer other("thread-per-connection");
    RawPeer peer = server.connect();
    Event served;
    other.servant().action = [&] {
        EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 2u);
        EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 3u);
        served.set();
    };
    const CORBA::Object_var object = server.orb()->string_to_object(other.reference().c_str());
    const Probe::Target_var to_other = Probe::Target::_unchecked_narrow(object);
    server.servant().action = [&] { to_other->act(); };
    Octets all = request(server.key(), "act", 1).finish();
    for (const std::uint32_t id : {2u, 3u}) {
        const Octets ping = server.ping(id);
        all.insert(all.end(), ping.begin(), ping.end());
    }
    peer.send(all);
    ASSERT_TRUE(served.wait());
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 1u);
}

/// Which nobody else would have served: all who could have are waiting.
TEST_P(Nested, TheCallBackIsHeldForATime)
{
    RunningServer server(GetParam(), smallest());
    RunningServer other("thread-per-connection", {}, RunningServer::Start::holding);
    const Probe::Target_var to_other = target_in(server, other.reference());
    RawPeer peer = server.connect();
    Event called_back;
    other.servant().action = [&] {
        for (const std::uint32_t id : {2u, 3u, 4u}) {
            server.manager()->hold_requests(false);
            // Where an object is can be asked: when that is answered, the next is being looked at.
            Octets both = WireMessage(giop::MessageType::locate_request)
                              .u32(10 + id)
                              .u16(0)
                              .octets(server.key())
                              .finish();
            const Octets ping = server.ping(id);
            both.insert(both.end(), ping.begin(), ping.end());
            peer.send(both);
            EXPECT_FALSE(peer.read_message().empty());
            server.manager()->activate();
            const ParsedReply answer(peer.read_message());
            EXPECT_EQ(answer.reply.request_id, id);
            EXPECT_EQ(answer.text(), "NO_EXCEPTION");
        }
        called_back.set();
    };
    server.servant().action = [&] { to_other->act(); };
    other.manager()->activate();
    peer.send(request(server.key(), "act", 1).finish());
    EXPECT_TRUE(called_back.wait());
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 1u);
}

/// Makes an adapter whose manager holds requests, and calls somebody meanwhile.
class CallsAndHolds final : public virtual PortableServer::AdapterActivator {
  public:
    CallsAndHolds(RunningServer& server, Probe::Target_ptr to_other)
        : server_(server), to_other_(Probe::Target::_duplicate(to_other))
    {
    }

    PortableServer::POA_ptr make(PortableServer::POA_ptr parent)
    {
        CORBA::PolicyList policies(2);
        policies.length(2);
        policies[0] = parent->create_lifespan_policy(PortableServer::PERSISTENT);
        policies[1] = parent->create_id_assignment_policy(PortableServer::USER_ID);
        return parent->create_POA("late", nullptr, policies);
    }
    CORBA::Boolean unknown_adapter(PortableServer::POA_ptr parent, const char*) override
    {
        const PortableServer::POA_var made = make(parent);
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("late");
        made->activate_object_with_id(id.in(), &server_.servant());
        manager = made->the_POAManager();
        to_other_->act();
        return true;
    }

    PortableServer::POAManager_var manager;

  private:
    RunningServer& server_;
    const Probe::Target_var to_other_;
};

/// The request that waits for a call is held behind the one that came, and was held, meanwhile.
TEST_P(Nested, BothTheCallAndTheCallBackAreHeld)
{
    RunningServer server(GetParam(), smallest_with({"-ORBServerId", "nested"}));
    RunningServer other("thread-per-connection");
    const Probe::Target_var to_other = target_in(server, other.reference());
    auto* const activator = new CallsAndHolds(server, to_other.in());
    const PortableServer::AdapterActivator_var owner = activator;
    Octets late_key;
    {
        const PortableServer::POA_var late = activator->make(server.poa());
        const PortableServer::ObjectId_var id = PortableServer::string_to_ObjectId("late");
        const CORBA::Object_var reference =
            late->create_reference_with_id(id.in(), "IDL:Probe/Target:1.0");
        const auto key = reference->_kairos_reference()->object_key();
        late_key.assign(key.begin(), key.end());
        late->destroy(true, true);
    }
    server.poa()->the_activator(activator);
    RawPeer peer = server.connect();
    Event located;
    other.servant().action = [&] {
        server.manager()->hold_requests(false);
        // Where an object is can be asked: when that is answered, the next is being looked at.
        Octets both = WireMessage(giop::MessageType::locate_request)
                          .u32(10)
                          .u16(0)
                          .octets(server.key())
                          .finish();
        const Octets ping = server.ping(2);
        both.insert(both.end(), ping.begin(), ping.end());
        peer.send(both);
        EXPECT_FALSE(peer.read_message().empty());
        located.set();
    };
    peer.send(request(late_key, "ping", 1).finish());
    ASSERT_TRUE(located.wait());
    server.manager()->activate();
    activator->manager->activate();
    std::set<std::uint32_t> answered;
    for (int i = 0; i < 2; ++i)
        answered.insert(ParsedReply(peer.read_message()).reply.request_id);
    EXPECT_EQ(answered, (std::set<std::uint32_t>{1, 2}));
}

/// The same several times over, in requests of which more than one waits at once.
TEST_P(Nested, SeveralClientsWaitAtOnce)
{
    RunningServer server(GetParam(), smallest());
    RunningServer other(GetParam(), smallest());
    const CORBA::Object_var object = server.orb()->string_to_object(other.reference().c_str());
    const Probe::Target_var to_other = Probe::Target::_unchecked_narrow(object);
    server.servant().action = [&] { to_other->ping(); };
    std::vector<std::thread> callers;
    std::atomic<int> done{0};
    for (int i = 0; i < 8; ++i) {
        callers.emplace_back([&] {
            Client client;
            const Probe::Target_var target = client.target(server.reference());
            for (int n = 0; n < 20; ++n) {
                target->act();
                ++done;
            }
        });
    }
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(done, 160);
    EXPECT_EQ(other.servant().calls, 160u);
}

/// A peer that ends its connection while we wait within its request.
TEST_P(Nested, TheCallerLeavesMeanwhile)
{
    RunningServer server(GetParam(), smallest());
    RunningServer other("thread-per-connection");
    Event inside;
    Event go_on;
    other.servant().action = [&] {
        inside.set();
        EXPECT_TRUE(go_on.wait());
    };
    const CORBA::Object_var object = server.orb()->string_to_object(other.reference().c_str());
    const Probe::Target_var to_other = Probe::Target::_unchecked_narrow(object);
    Event outside; // only then the reference may go
    server.servant().action = [&] {
        to_other->act();
        outside.set();
    };
    {
        RawPeer peer = server.connect();
        peer.send(request(server.key(), "act", 1).finish());
        ASSERT_TRUE(inside.wait());
    }
    RawPeer bystander = server.connect();
    bystander.send(server.ping());
    EXPECT_EQ(ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION");
    go_on.set();
    EXPECT_TRUE(outside.wait());
}

/// A server that ends reads no more requests, also not those that one it still serves waits for:
/// they end, so that it can.
TEST_P(Nested, ShuttingDownEndsTheCallBack)
{
    for (const bool is_connected : {true, false}) {
        RunningServer left(GetParam(), smallest(), RunningServer::Start::holding);
        RunningServer right("thread-per-connection", {}, RunningServer::Start::holding);
        const CORBA::Object_var right_object =
            left.orb()->string_to_object(right.reference().c_str());
        const Probe::Target_var to_right = Probe::Target::_unchecked_narrow(right_object);
        const CORBA::Object_var left_object =
            right.orb()->string_to_object(left.reference().c_str());
        const Probe::Target_var to_left = Probe::Target::_unchecked_narrow(left_object);
        Event inside;
        std::string called_back;
        right.servant().action = [&] {
            inside.set();
            while (outcome([&] { (void)left.orb()->work_pending(); }) == "ok")
                std::this_thread::yield();
            called_back = outcome([&] { to_left->ping(); });
        };
        right.servant().note_action = [&] { to_left->ping(); };
        left.servant().action = [&] {
            if (is_connected) to_right->note(1);
            to_right->act();
        };
        left.manager()->activate();
        right.manager()->activate();
        Client client;
        const Probe::Target_var target = client.target(left.reference());
        std::string result;
        std::thread caller([&] { result = outcome([&] { target->act(); }); });
        EXPECT_TRUE(inside.wait());
        left.end();
        caller.join();
        right.end(); // a call back may still be on its way there
        EXPECT_NE(called_back, "ok");
        EXPECT_FALSE(called_back.empty());
    }
}

KAIROS_EVERY_ARCHITECTURE(Nested);

} // namespace
} // namespace kairos::orb_testing
