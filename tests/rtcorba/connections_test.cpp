// SPDX-License-Identifier: Apache-2.0
//
// Private and priority-banded connections (Real-Time CORBA 1.2, 5.13 and 5.14), and what clients
// make of references and servers of requests that are malformed.
#include "kairos/net/loopback_testing.h"
#include "tests/malformed/fake_server.h"
#include "tests/rtcorba/fixture.h"
#include "tests/rtcorba/sockets.h"

#include <netinet/tcp.h>

namespace kairos::rtcorba_testing {
namespace {

using orb_testing::descriptors;
using orb_testing::FakeServer;

constexpr const char* bad_param = "BAD_PARAM 0x0 NO";
constexpr const char* no_band = "INV_POLICY 0x0 NO";

/// The same object, called as these policies want it.
Probe::Target_ptr with(Probe::Target_ptr target, std::initializer_list<CORBA::Policy_ptr> policies)
{
    const CORBA::Object_var object =
        target->_set_policy_overrides(list_of(policies), CORBA::ADD_OVERRIDE);
    return Probe::Target::_unchecked_narrow(object);
}

class Connections : public testing::Test {
  protected:
    World world_;
    Servant& servant_ = world_.make_servant();
    Probe::Target_var target_;

    void serve(std::initializer_list<CORBA::Policy_ptr> policies = {})
    {
        const RTPortableServer::POA_var poa = world_.make_poa("rt", policies);
        const PortableServer::ObjectId_var id = poa->activate_object(&servant_);
        world_.activate();
        target_ = world_.to_client(poa, id);
    }
    /// How many connections a call at this priority makes. Both ends are in this process.
    std::size_t made_by(Probe::Target_ptr target, RTCORBA::Priority priority)
    {
        orb::ThreadStorage::current().priority = priority;
        const std::size_t before = descriptors();
        target->ping();
        return (descriptors() - before) / 2;
    }
    ~Connections() override { orb::ThreadStorage::current().priority.reset(); }
};

TEST_F(Connections, AreSharedByReferencesThatDoNotMind)
{
    serve();
    EXPECT_EQ(made_by(target_, 0), 1u);
    EXPECT_EQ(made_by(target_, 5), 0u);
    const Probe::Target_var other = with(target_, {});
    EXPECT_EQ(made_by(other, 0), 0u);
}

TEST_F(Connections, ArePrivateWhereThatIsWanted)
{
    serve();
    EXPECT_EQ(made_by(target_, 0), 1u);
    const Probe::Target_var one =
        with(target_, {world_.rtorb()->create_private_connection_policy()});
    const Probe::Target_var another =
        with(target_, {world_.rtorb()->create_private_connection_policy()});
    EXPECT_EQ(made_by(one, 0), 1u);
    EXPECT_EQ(made_by(one, 0), 0u);
    EXPECT_EQ(made_by(another, 0), 1u);
    EXPECT_EQ(made_by(target_, 0), 0u);
    EXPECT_EQ(servant_.calls, 5u);
}

TEST_F(Connections, OfBandsAreApart)
{
    serve();
    const Probe::Target_var banded =
        with(target_, {world_.rtorb()->create_priority_banded_connection_policy(
                          bands_of({{10, 19}, {0, 9}, {30, 39}}))});
    EXPECT_EQ(made_by(banded, 5), 1u);
    EXPECT_EQ(made_by(banded, 9), 0u);
    EXPECT_EQ(made_by(banded, 10), 1u);
    EXPECT_EQ(made_by(banded, 19), 0u);
    EXPECT_EQ(made_by(banded, 30), 1u);
    EXPECT_EQ(made_by(banded, 0), 0u);
    for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{20, 29, 40}) {
        orb::ThreadStorage::current().priority = priority;
        EXPECT_EQ(outcome([&] { banded->ping(); }), no_band) << priority;
        CORBA::PolicyList_var in_the_way;
        EXPECT_FALSE(banded->_validate_connection(in_the_way.out()));
        EXPECT_EQ(in_the_way->length(), 1u);
    }
    orb::ThreadStorage::current().priority = orb::Priority{5};
    CORBA::PolicyList_var none;
    EXPECT_TRUE(banded->_validate_connection(none.out()));
    EXPECT_EQ(none->length(), 0u);
}

/// Explicit binding: the connection is there before the first call.
TEST_F(Connections, CanBeMadeAndValidatedBeforehand)
{
    serve();
    const Probe::Target_var banded = with(
        target_,
        {world_.rtorb()->create_priority_banded_connection_policy(bands_of({{0, 9}, {10, 19}}))});
    CORBA::PolicyList_var inconsistent;
    const auto validated_at = [&](RTCORBA::Priority priority) {
        orb::ThreadStorage::current().priority = priority;
        return banded->_validate_connection(inconsistent.out());
    };
    EXPECT_TRUE(validated_at(5));
    EXPECT_EQ(inconsistent->length(), 0u);
    EXPECT_TRUE(validated_at(15));
    EXPECT_EQ(made_by(banded, 5), 0u);
    EXPECT_EQ(made_by(banded, 15), 0u);
    EXPECT_FALSE(validated_at(20));
    ASSERT_EQ(inconsistent->length(), 1u);
    EXPECT_EQ(inconsistent[0]->policy_type(), 45u);
}

TEST_F(Connections, MayHaveBandsBecauseTheServerSaysSo)
{
    serve({world_.rtorb()->create_priority_banded_connection_policy(bands_of({{0, 9}, {10, 19}}))});
    EXPECT_EQ(made_by(target_, 5), 1u);
    EXPECT_EQ(made_by(target_, 15), 1u);
    EXPECT_EQ(made_by(target_, 6), 0u);
    orb::ThreadStorage::current().priority = 20;
    EXPECT_EQ(outcome([&] { target_->ping(); }), no_band);
}

/// What the server declares for the object decides, not the thread's priority.
TEST_F(Connections, OfObjectsWithAPriorityAreThatOnesBands)
{
    serve({world_.server_declared(15),
           world_.rtorb()->create_priority_banded_connection_policy(bands_of({{0, 9}, {10, 19}}))});
    EXPECT_EQ(made_by(target_, 5), 1u);
    EXPECT_EQ(made_by(target_, 15), 0u);
    EXPECT_EQ(made_by(target_, 20), 0u);
}

TEST_F(Connections, HaveNoBandsThatCannotBe)
{
    const auto made = [&](std::initializer_list<RTCORBA::PriorityBand> bands) {
        return outcome([&] {
            const CORBA::Policy_var policy =
                world_.rtorb()->create_priority_banded_connection_policy(bands_of(bands));
        });
    };
    EXPECT_EQ(made({}), bad_param);
    EXPECT_EQ(made({{9, 0}}), bad_param);
    EXPECT_EQ(made({{-1, 0}}), bad_param);
    EXPECT_EQ(made({{0, 9}, {9, 10}}), bad_param);
    EXPECT_EQ(made({{0, 32767}}), "ok");
    CORBA::Any any;
    any <<= bands_of({{1, 2}});
    const CORBA::Policy_var policy = world_.orb()->create_policy(45, any);
    const RTCORBA::PriorityBandedConnectionPolicy_var bands =
        RTCORBA::PriorityBandedConnectionPolicy::_narrow(policy);
    const RTCORBA::PriorityBands_var list = bands->priority_bands();
    ASSERT_EQ(list->length(), 1u);
    EXPECT_EQ(list[0].high, 2);
}

/// Bands and lanes must fit each other.
TEST_F(Connections, OfEachBandHaveALane)
{
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(1);
    lanes[0] = {10, 1, 0};
    const auto pool = world_.rtorb()->create_threadpool_with_lanes(0, lanes, false, false, 0, 0);
    const auto made = [&](const char* name, RTCORBA::PriorityBand band) {
        return outcome([&] {
            const RTPortableServer::POA_var poa = world_.make_poa(
                name, {world_.rtorb()->create_threadpool_policy(pool),
                       world_.rtorb()->create_priority_banded_connection_policy(bands_of({band}))});
        });
    };
    EXPECT_EQ(made("one", {0, 10}), "ok");
    EXPECT_EQ(made("other", {11, 20}), "InvalidPolicy");
}

// --- protocols ---

class Protocols : public Connections {
  protected:
    [[nodiscard]] Ends ends() const
    {
        return Ends(target_->_kairos_reference()->targets().front().endpoint->port());
    }
    [[nodiscard]] RTCORBA::TCPProtocolProperties_ptr unusual()
    {
        return marked(
            world_.rtorb()->create_tcp_protocol_properties(20'000, 30'000, true, true, false));
    }
};

TEST_F(Protocols, HaveProperties)
{
    const RTCORBA::TCPProtocolProperties_var properties = unusual();
    EXPECT_EQ(properties->send_buffer_size(), 20'000);
    EXPECT_EQ(properties->recv_buffer_size(), 30'000);
    EXPECT_TRUE(properties->keep_alive());
    EXPECT_TRUE(properties->dont_route());
    EXPECT_FALSE(properties->no_delay());
    properties->no_delay(true);
    EXPECT_TRUE(properties->no_delay());
    EXPECT_EQ(outcome([&] { properties->send_buffer_size(-1); }), bad_param);
    EXPECT_EQ(outcome([&] {
                  (void)world_.rtorb()->create_tcp_protocol_properties(0, -1, true, true, true);
              }),
              bad_param);
    const RTCORBA::ClientProtocolPolicy_var policy =
        world_.rtorb()->create_client_protocol_policy(tcp_list(properties));
    const RTCORBA::ProtocolList_var list = policy->protocols();
    ASSERT_EQ(list->length(), 1u);
    EXPECT_EQ(policy->policy_type(), 43u);
    EXPECT_EQ(outcome([&] {
                  (void)world_.rtorb()->create_client_protocol_policy(tcp_list(properties, 4711));
              }),
              bad_param);
    EXPECT_EQ(outcome([&] {
                  (void)world_.rtorb()->create_server_protocol_policy(RTCORBA::ProtocolList());
              }),
              bad_param);
}

TEST_F(Protocols, OfClientsAreWhatTheirConnectionsHave)
{
    serve();
    const RTCORBA::TCPProtocolProperties_var properties = unusual();
    const Probe::Target_var target =
        with(target_, {world_.rtorb()->create_client_protocol_policy(tcp_list(properties))});
    EXPECT_EQ(made_by(target, 32767), 1u);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_DONTROUTE), 1);
    EXPECT_EQ(ends().of_client(IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_SNDBUF), 2 * 20'000); // as Linux counts
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_RCVBUF), 2 * 30'000);
    EXPECT_EQ(ends().of_client(IPPROTO_IP, IP_TOS), 46 << 2); // expedited forwarding
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_PRIORITY), 6);
    EXPECT_EQ(made_by(target_, 32767), 1u); // others have nothing of it
    EXPECT_EQ(ends().of_client(IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(ends().of_client(IPPROTO_IP, IP_TOS), 0);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_PRIORITY), 0);
}

/// The POA's references say them; who has a policy of its own heeds that.
TEST_F(Protocols, OfAPoaAreThoseOfClientsThatHaveNone)
{
    const RTCORBA::TCPProtocolProperties_var properties = unusual();
    serve({world_.rtorb()->create_client_protocol_policy(tcp_list(properties))});
    EXPECT_EQ(made_by(target_, 0), 1u);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_DONTROUTE), 1);
    EXPECT_EQ(ends().of_client(IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_SNDBUF), 2 * 20'000);
    EXPECT_EQ(ends().of_server(SOL_SOCKET, SO_KEEPALIVE), 0);
    const RTCORBA::TCPProtocolProperties_var ordinary =
        world_.rtorb()->create_tcp_protocol_properties(0, 0, false, false, true);
    const Probe::Target_var own =
        with(target_, {world_.rtorb()->create_client_protocol_policy(tcp_list(ordinary))});
    EXPECT_EQ(made_by(own, 0), 1u);
    EXPECT_EQ(ends().of_client(SOL_SOCKET, SO_KEEPALIVE), 0);
    EXPECT_EQ(ends().of_client(IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST_F(Protocols, OfServersAreWhatTheirConnectionsHave)
{
    const RTCORBA::TCPProtocolProperties_var properties = unusual();
    serve({world_.rtorb()->create_server_protocol_policy(tcp_list(properties))});
    EXPECT_EQ(made_by(target_, 0), 1u);
    EXPECT_EQ(ends().of_server(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(ends().of_server(SOL_SOCKET, SO_DONTROUTE), 1);
    EXPECT_EQ(ends().of_server(IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(ends().of_server(SOL_SOCKET, SO_SNDBUF), 2 * 20'000);
    // Connections are the ORB's: it is too late now.
    EXPECT_EQ(outcome([&] {
                  (void)world_.make_poa("late", {world_.rtorb()->create_server_protocol_policy(
                                                    tcp_list(properties))});
              }),
              "InvalidPolicy");
}

/// Whatever else it listens at.
TEST(ProtocolsBesideMemory, OfServersAreWhatTheirConnectionsHave)
{
    World world({"-ORBListenEndpoints", "iiop://127.0.0.1:0;shmiop://"});
    const RTCORBA::TCPProtocolProperties_var properties =
        world.rtorb()->create_tcp_protocol_properties(0, 0, true, false, true);
    const RTPortableServer::POA_var poa =
        world.make_poa("rt", {world.rtorb()->create_server_protocol_policy(tcp_list(properties))});
    const PortableServer::ObjectId_var id = poa->activate_object(&world.make_servant());
    const CORBA::Object_var object = poa->id_to_reference(id);
    world.activate();
    Client client({"-ORBPreferLocal", "0"});
    const CORBA::String_var text = world.orb()->object_to_string(object);
    const Probe::Target_var target = client.target(text.in());
    target->ping();
    const auto& targets = target->_kairos_reference()->targets();
    EXPECT_EQ(Ends(targets.front().endpoint->port()).of_server(SOL_SOCKET, SO_KEEPALIVE), 1);
}

/// The network hears of the priority of a lane's connections from the server, too. `level` and
/// `option` are where an address family has the octet.
void expect_priorities_of_lanes(const std::string& endpoint, int level, int option)
{
    World world({"-ORBConcurrency", "reactor-per-priority", "-ORBLanes", "0,16000",
                 "-ORBListenEndpoints", endpoint});
    const RTCORBA::TCPProtocolProperties_var properties =
        marked(world.rtorb()->create_tcp_protocol_properties(0, 0, false, false, true));
    const RTPortableServer::POA_var poa =
        world.make_poa("rt", {world.rtorb()->create_server_protocol_policy(tcp_list(properties))});
    Servant& servant = world.make_servant();
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    world.activate();
    const Probe::Target_var plain = world.to_client(poa, id);
    const Probe::Target_var target =
        with(plain, {world.rtorb()->create_client_protocol_policy(tcp_list(properties))});
    struct Expected {
        RTCORBA::Priority priority;
        orb::NetworkPriority of_client; // the thread's
        orb::NetworkPriority of_server; // the lane's
    };
    in_thread([&] {
        for (const Expected& expected : {Expected{0, {}, {}}, Expected{20'000, {40, 5}, {32, 4}}}) {
            orb::ThreadStorage::current().priority = expected.priority;
            target->ping();
            const auto& at = target->_kairos_reference()->targets_at(expected.priority);
            const Ends ends(at.front().endpoint->port());
            EXPECT_EQ(ends.of_client(level, option), expected.of_client.dscp << 2);
            EXPECT_EQ(ends.of_client(SOL_SOCKET, SO_PRIORITY), expected.of_client.queue);
            EXPECT_EQ(ends.of_server(level, option), expected.of_server.dscp << 2);
            EXPECT_EQ(ends.of_server(SOL_SOCKET, SO_PRIORITY), expected.of_server.queue);
        }
    });
}

TEST(Lanes, SayTheirPriority)
{
    expect_priorities_of_lanes("iiop://127.0.0.1:0", IPPROTO_IP, IP_TOS);
}

TEST(Lanes, SayTheirPriorityOverIpv6)
{
    if (!net::testing::has_ipv6()) GTEST_SKIP() << "this machine has no IPv6 loopback";
    expect_priorities_of_lanes("iiop://[::1]:0", IPPROTO_IPV6, IPV6_TCLASS);
}

// --- where policies of connections may be ---

TEST_F(Connections, MayBeAskedForByTheOrb)
{
    serve();
    const CORBA::PolicyManager_var manager =
        initial<CORBA::PolicyManager>(world_.client_orb(), "ORBPolicyManager");
    manager->set_policy_overrides(list_of({world_.rtorb()->create_private_connection_policy()}),
                                  CORBA::ADD_OVERRIDE);
    const Probe::Target_var other = with(target_, {}); // a reference made from now on
    EXPECT_EQ(made_by(target_, 0), 1u);
    EXPECT_EQ(made_by(other, 0), 1u);
}

TEST_F(Connections, AreNotAThreadsToAskFor)
{
    const CORBA::PolicyCurrent_var current =
        initial<CORBA::PolicyCurrent>(world_.client_orb(), "PolicyCurrent");
    EXPECT_EQ(outcome([&] {
                  current->set_policy_overrides(
                      list_of({world_.rtorb()->create_private_connection_policy()}),
                      CORBA::ADD_OVERRIDE);
              }),
              "NO_PERMISSION 0x0 NO");
}

// --- what goes over the wire ---

/// The first request of a connection says its band; all say the priority.
TEST(Bindings, SayWhatTheyAreFor)
{
    std::vector<std::optional<std::pair<int, int>>> ranges;
    std::vector<std::optional<orb::Priority>> priorities;
    FakeServer server([&](FakeServer& fake) {
        auto peer = fake.accept();
        for (int i = 0; i < 2; ++i) {
            const auto request = peer.read_request();
            priorities.push_back(orb::priority_in(request.request.contexts));
            const auto range = request.request.contexts.find(orb::priority_range_context_id);
            ranges.emplace_back();
            if (range) {
                cdr::Reader reader = cdr::Reader::of_encapsulation(*range);
                const int low = reader.read<std::int16_t>();
                ranges.back() = {low, reader.read<std::int16_t>()};
                EXPECT_TRUE(reader.ok());
            }
            peer.send(orb_testing::reply(request.id(), 0).finish());
        }
    });
    Client client{{"-ORBDebug", "0"}};
    ior::Ior reference = orb_testing::reference_of({ior::encode_iiop(
        {.version = {1, 2},
         .host = "127.0.0.1",
         .port = server.port(),
         .object_key = {std::byte{'k'}},
         .components = {ior::make_policies(
             {.priority_model = ior::PriorityModel{true, 1}, .bands = {{0, 9}, {10, 32767}}})}})});
    const Probe::Target_var target = client.target(ior::to_string(reference));
    in_thread([&] {
        orb::ThreadStorage::current().priority = 77;
        target->ping();
        orb::ThreadStorage::current().priority = 78;
        target->ping();
    });
    server.end();
    EXPECT_EQ(priorities, (std::vector<std::optional<orb::Priority>>{77, 78}));
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges[0], (std::pair{10, 32767}));
    EXPECT_EQ(ranges[1], std::nullopt);
}

/// A reference whose policies are malformed is called as if it had none.
TEST(Bindings, OfMalformedPoliciesAreOrdinary)
{
    std::size_t contexts = 99;
    FakeServer server([&](FakeServer& fake) {
        auto peer = fake.accept();
        const auto request = peer.read_request();
        contexts = request.request.contexts.count();
        peer.send(orb_testing::reply(request.id(), 0).finish());
    });
    ior::TaggedComponent component =
        ior::make_policies({.priority_model = ior::PriorityModel{}, .bands = {}});
    component.data.resize(component.data.size() - 1);
    const ior::Ior reference =
        orb_testing::reference_of({ior::encode_iiop({.version = {1, 2},
                                                     .host = "127.0.0.1",
                                                     .port = server.port(),
                                                     .object_key = {std::byte{'k'}},
                                                     .components = {component}})});
    Client client{{"-ORBDebug", "0"}};
    const Probe::Target_var target = client.target(ior::to_string(reference));
    target->ping();
    server.end();
    EXPECT_EQ(contexts, 0u);
}

/// Threads that share a connection say each its own priority.
TEST(Bindings, MayBeSharedByThreads)
{
    World world;
    Listener listener(world);
    const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world.activate();
    const CORBA::Object_var object = poa->id_to_reference(id);
    const CORBA::String_var text = world.orb()->object_to_string(object);
    Client client{{"-ORBDebug", "0", "-ORBConnection", "leader-followers"}};
    const Probe::Target_var target = client.target(text.in());
    for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{5, 6, 7})
        in_thread([&] {
            orb::ThreadStorage::current().priority = priority;
            target->act();
            EXPECT_EQ(listener.priority, priority);
        });
}

/// Whatever a request says of its priority, it is served: at the server's if that is nonsense.
TEST(Requests, WithMalformedPrioritiesAreServedAtTheServers)
{
    World world;
    Listener listener(world);
    const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world.activate();
    const CORBA::Object_var object = poa->id_to_reference(id);
    const orb::Reference& reference = *object->_kairos_reference();
    const giop::RequestTemplate header(giop::version_1_2, reference.object_key());
    auto peer = orb_testing::RawPeer::connect(reference.targets().front().endpoint->port());
    orb::ContextList contexts;
    orb::append_priority(contexts, 77);
    const Bytes list = contexts.bytes();
    const auto served_at = [&](std::size_t octet, int value) {
        std::vector<std::byte> changed(list.begin(), list.end());
        changed[octet] = static_cast<std::byte>(value);
        std::array<std::byte, 256> message{};
        const giop::Body body{message.data() + message.size(), message.size(), 0};
        peer.send(header.prepend(body, 1, giop::response_flags::sync_target, "act", changed));
        EXPECT_EQ(orb_testing::ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
        return listener.priority.exchange(-1);
    };
    EXPECT_EQ(served_at(13, 0), 77);    // padding: as it was
    EXPECT_EQ(served_at(12, 9), 12);    // no byte order
    EXPECT_EQ(served_at(15, 0xFF), 12); // negative
    EXPECT_EQ(served_at(4, 9), 12);     // something else
}

} // namespace
} // namespace kairos::rtcorba_testing
