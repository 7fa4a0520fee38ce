// SPDX-License-Identifier: Apache-2.0
//
// Gateways: references lead through them wherever they are in a message, and back to where they
// came from; exceptions, oneways, contexts and large bodies pass; what nobody knows is refused, and
// targets that are not there, or do not answer, are told of.
#include "fixture.h"

#include "kairos/corba/Messaging.h"
#include "kairos/corba/ior_table.h"

#include <thread>

namespace kairos::gateway_testing {
namespace {

using orb_testing::Octets;
using orb_testing::ParsedReply;
using orb_testing::RawPeer;

constexpr const char* no_interface = "INTF_REPOS 0x4f4d0002 NO";
constexpr const char* no_operation = "BAD_OPERATION 0x4f4d0002 NO";
constexpr const char* no_object = "OBJECT_NOT_EXIST 0x4f4d0001 NO";
constexpr const char* malformed = "MARSHAL 0x4b520005 NO";
constexpr const char* unlisted = "UNKNOWN 0x4f4d0001 YES";

std::string name_of(Passing::Peer_ptr peer)
{
    const CORBA::String_var name = peer->name();
    return name.in();
}

/// A World whose client has an object, too.
class Gateways : public ::testing::Test {
  protected:
    orb_testing::LogLines log_;    // before any server
    Servant callback_{"callback"}; // the World's client lets go of it
    World world_;
    const Passing::Peer_var back_ = world_.client.activate(&callback_);
};

// --- references ----------------------------------------------------------------------------------

TEST_F(Gateways, ReferencesLeadThroughBothWays)
{
    EXPECT_EQ("target", name_of(world_.peer.in()));
    EXPECT_STREQ("callback", CORBA::String_var(world_.peer->call_back(back_.in())).in());
    EXPECT_EQ(world_.gateway_port, world_.servant.last_port)
        << "the client's, as the server has it";

    const Passing::Peer_var same = world_.peer->same(back_.in());
    EXPECT_TRUE(same->_is_equivalent(back_.in())) << "what comes back is what was sent";
    const Passing::Peer_var own = world_.peer->same(world_.peer.in());
    EXPECT_EQ(port_of(world_.own.in()), world_.servant.last_port) << "the server has its own";
    EXPECT_TRUE(own->_is_equivalent(world_.peer.in()));
}

TEST_F(Gateways, NilStaysNil)
{
    const Passing::Peer_var same = world_.peer->same(Passing::Peer::_nil());
    EXPECT_TRUE(CORBA::is_nil(same.in()));
}

TEST_F(Gateways, ReferencesAreFoundWhereverTheyAre)
{
    Passing::Held held;
    held.name = "held";
    held.one = Passing::Peer::_duplicate(back_.in());
    held.anything <<= back_.in();
    Passing::Peers_var all = new Passing::Peers;
    all->length(1);
    (*all)[0] = Passing::Peer::_duplicate(back_.in());
    CORBA::Object_var other;
    const Passing::Held_var result = world_.peer->hold(held, all.inout(), other.out());
    EXPECT_EQ(world_.gateway_port, world_.servant.last_port);
    EXPECT_STREQ("held", result->name.in());
    EXPECT_TRUE(result->one->_is_equivalent(back_.in()));
    Passing::Peer_ptr inside = nullptr;
    ASSERT_TRUE(result->anything >>= inside);
    EXPECT_TRUE(inside->_is_equivalent(back_.in()));
    ASSERT_EQ(2u, all->length());
    EXPECT_TRUE((*all)[0]->_is_equivalent(back_.in()));
    EXPECT_TRUE((*all)[1]->_is_equivalent(back_.in()));
    EXPECT_TRUE(other->_is_equivalent(back_.in()));

    Passing::Either either;
    either.one(back_.in());
    const Passing::Either_var chosen = world_.peer->choose(either);
    EXPECT_EQ(world_.gateway_port, world_.servant.last_port);
    EXPECT_TRUE(chosen->one()->_is_equivalent(back_.in()));
}

TEST_F(Gateways, ValuesKeepTheirTypesAndWhatTheyShare)
{
    for (const CORBA::ORB_ptr orb : {world_.server.orb(), world_.client.orb()}) {
        const CORBA::ValueFactoryBase_var base = new Passing::Link_init;
        const CORBA::ValueFactoryBase_var derived = new Passing::LongLink_init;
        CORBA::ValueFactoryBase_var former =
            orb->register_value_factory(Passing::Link::_kairos_id, base.in());
        former = orb->register_value_factory(Passing::LongLink::_kairos_id, derived.in());
    }
    const Passing::LongLink_var last = new OBV_Passing::LongLink(back_.in(), nullptr, "last");
    const Passing::Link_var first = new OBV_Passing::Link(back_.in(), last.in());
    const Passing::Link_var result = world_.peer->share(first.in(), last.in());
    EXPECT_TRUE(world_.servant.shared) << "one value in two parameters";
    EXPECT_EQ(world_.gateway_port, world_.servant.last_port);
    EXPECT_TRUE(result->one()->_is_equivalent(back_.in()));
    auto* const derived = dynamic_cast<Passing::LongLink*>(result->next());
    ASSERT_NE(nullptr, derived) << "a value of a derived type stays one";
    EXPECT_STREQ("last", derived->name());
}

TEST_F(Gateways, AnysPassWithWhatIsInThem)
{
    CORBA::Any inner;
    inner <<= back_.in();
    CORBA::Any outer;
    outer <<= inner;
    const CORBA::Any_var result = world_.peer->pass(outer);
    const CORBA::Any* found = nullptr;
    ASSERT_TRUE(result.in() >>= found);
    Passing::Peer_ptr peer = nullptr;
    ASSERT_TRUE(*found >>= peer);
    EXPECT_TRUE(peer->_is_equivalent(back_.in()));
}

TEST_F(Gateways, TheTargetAnswersWhatEveryObjectHas)
{
    EXPECT_TRUE(world_.peer->_is_a(Passing::Peer::_kairos_id));
    EXPECT_TRUE(world_.peer->_is_a("IDL:kairos.test/Passing/Peer:1.0"));
    EXPECT_FALSE(world_.peer->_is_a("IDL:Other:1.0"));
    EXPECT_FALSE(world_.peer->_non_existent());
    EXPECT_STREQ(Passing::Peer::_kairos_id, CORBA::String_var(world_.peer->_repository_id()).in());
    EXPECT_EQ(0, world_.known.asked) << "without an interface";
}

// --- what else passes ----------------------------------------------------------------------------

TEST_F(Gateways, ExceptionsPass)
{
    try {
        world_.peer->complain("why");
        FAIL();
    } catch (const Passing::Plain& plain) {
        EXPECT_STREQ("why", plain.why.in());
    }
    EXPECT_EQ("NO_RESOURCES 0x2a MAYBE", outcome([&] { world_.peer->fail(); }));
}

TEST_F(Gateways, ExceptionsThatNoRaisesClauseNames)
{
    // What is in them might be anything, such as a reference.
    EXPECT_EQ(unlisted, outcome([&] { world_.peer->lose(back_.in()); }));
    world_.known.knows_exceptions = true;
    try {
        world_.peer->lose(back_.in());
        FAIL();
    } catch (const Passing::Lost& lost) {
        EXPECT_TRUE(lost.one->_is_equivalent(back_.in()));
        EXPECT_STREQ("lost", lost.why.in());
    }
}

TEST_F(Gateways, OnewaysPassWithEveryScope)
{
    CORBA::Long number = 0;
    for (const Messaging::SyncScope scope :
         {Messaging::SYNC_NONE, Messaging::SYNC_WITH_TRANSPORT, Messaging::SYNC_WITH_SERVER,
          Messaging::SYNC_WITH_TARGET}) {
        CORBA::Any value;
        value <<= scope;
        CORBA::PolicyList policies(1);
        policies.length(1);
        policies[0] = world_.client.orb()->create_policy(Messaging::SYNC_SCOPE_POLICY_TYPE, value);
        const CORBA::Object_var object =
            world_.peer->_set_policy_overrides(policies, CORBA::SET_OVERRIDE);
        const Passing::Peer_var peer = Passing::Peer::_unchecked_narrow(object.in());
        peer->note(++number);
        EXPECT_TRUE(world_.servant.wait_for_note(number)) << "scope " << scope;
    }
}

TEST_F(Gateways, ContextsPass)
{
    CORBA::Context_var context;
    world_.client.orb()->get_default_context(context.out());
    CORBA::Any user;
    user <<= "ada";
    context->set_one_value("user", user);
    EXPECT_STREQ("ada", CORBA::String_var(world_.peer->asked(context.in())).in());
}

TEST_F(Gateways, BodiesOfEverySizePassWhole)
{
    for (const CORBA::ULong size : {0u, 1u, 7u, 8192u, 100'000u, 3'000'000u}) {
        Passing::Octets octets;
        octets.length(size);
        for (CORBA::ULong i = 0; i < size; ++i)
            octets[i] = static_cast<CORBA::Octet>(i * 7);
        const Passing::Octets_var same = world_.peer->echo(octets);
        ASSERT_EQ(size, same->length());
        EXPECT_TRUE(
            std::equal(octets.get_buffer(), octets.get_buffer() + size, same->get_buffer()));
    }
}

/// A request to the gateway's object, in bytes.
ParsedReply answer_to(World& world, const std::function<void(orb_testing::WireMessage&)>& arguments,
                      const char* operation, bool little_endian, giop::Version version)
{
    const auto ior = ior::from_string(world.reference);
    const auto profile = ior::decode_iiop(ior->profiles[0].data);
    auto message =
        orb_testing::request(profile->object_key, operation, 1, version, true, little_endian);
    arguments(message);
    RawPeer peer = RawPeer::connect(world.gateway_port);
    peer.send(message.finish());
    return ParsedReply(peer.read_message());
}

TEST_F(Gateways, EitherByteOrderAndEveryVersionPass)
{
    for (const bool little_endian : {false, true}) {
        for (const giop::Version version :
             {giop::version_1_0, giop::version_1_1, giop::version_1_2}) {
            const ParsedReply reply = answer_to(
                world_,
                [](orb_testing::WireMessage& message) {
                    message.u16(2).align(8).u32(0).u32(0).u32(0).u32(0); // 2, 0.0, 0
                },
                "count", little_endian, version);
            cdr::Reader body = reply.reply.body;
            ASSERT_EQ(giop::describe(giop::ReplyStatus::no_exception), reply.text());
            EXPECT_EQ(2.0, body.read<double>());
        }
    }
}

TEST_F(Gateways, MalformedBodiesAreRefused)
{
    const auto refused = [&](const char* operation, Octets body) {
        return answer_to(
                   world_,
                   [&](orb_testing::WireMessage& message) {
                       if (!body.empty()) message.align(8).raw(Bytes(body));
                   },
                   operation, native_little_endian, giop::version_1_2)
            .text();
    };
    EXPECT_EQ(malformed, refused("same", Octets(5, std::byte{0xFF}))) << "by the gateway";
    EXPECT_EQ(malformed, refused("echo", Octets(5, std::byte{0xFF}))) << "by the target";
    EXPECT_EQ("target", name_of(world_.peer.in()));
}

// --- what does not -------------------------------------------------------------------------------

TEST_F(Gateways, WhatNobodyKnowsIsRefused)
{
    const CORBA::Request_var request = world_.peer->_request("nothing");
    EXPECT_EQ(no_operation, outcome([&] { request->invoke(); }));

    world_.known.knows_interface = false;
    const Passing::Peer_var other = [&] {
        Passing::Peer_var own = world_.server.activate(&callback_);
        const Passing::Peer_var target = world_.middle.peer(world_.server.text(own.in()));
        const CORBA::Object_var published = world_.gateway->publish(target.in());
        return world_.client.peer(world_.middle.text(published.in()));
    }();
    EXPECT_EQ(no_interface, outcome([&] { (void)name_of(other.in()); }));
    EXPECT_TRUE(orb_testing::LogLines::wait_for("gateway: nobody knows the interface"));
    world_.known.knows_interface = true;
    EXPECT_EQ("callback", name_of(other.in())) << "who knows later is asked again";
}

TEST(Gateway, PassesWhatNobodyKnowsWhereItIsToldTo)
{
    Servant callback("callback");
    World world({.passes_unknown = true});
    world.known.knows_interface = false;
    const Passing::Peer_var back = world.client.activate(&callback);
    EXPECT_EQ("target", name_of(world.peer.in()));
    const Passing::Peer_var same = world.peer->same(back.in());
    EXPECT_EQ(port_of(back.in()), world.servant.last_port) << "references lead past the gateway";
    EXPECT_THROW(world.peer->complain("why"), Passing::Plain);
}

TEST_F(Gateways, ReferencesOfStrangersOpenNothing)
{
    auto forged = *ior::from_string(world_.reference);
    auto profile = *ior::decode_iiop(forged.profiles[0].data);
    profile.object_key.back() ^= std::byte{1};
    const auto message = orb_testing::request(profile.object_key, "_get_name");
    RawPeer peer = RawPeer::connect(world_.gateway_port);
    peer.send(message.finish());
    EXPECT_EQ(no_object, ParsedReply(peer.read_message()).text());
}

TEST(Gateway, TargetThatDoesNotAnswerIsGivenUp)
{
    World world({.timeout = std::chrono::milliseconds(50)});
    EXPECT_EQ("TIMEOUT 0x4b520010 MAYBE", outcome([&] { world.peer->stay(); }));
    world.servant.release();
    World patient;
    patient.servant.release();
    EXPECT_EQ("ok", outcome([&] { patient.peer->stay(); }));
}

/// Binds the servant's object to a name, for corbaloc.
void bind(Serving& server, PortableServer::Servant servant)
{
    const Passing::Peer_var own = server.activate(servant);
    const CORBA::Object_var object = server.orb()->resolve_initial_references("IORTable");
    const IORTable::Table_var table = IORTable::Table::_narrow(object.in());
    table->bind("Peer", server.text(own.in()).c_str());
}

TEST(Gateway, FollowsTargetsThatMoveAndComeBack)
{
    Known known;
    Serving middle({});
    Serving client({});
    gateway::Gateway gateway(middle.orb(), known);
    Servant servant("first");
    Passing::Peer_var peer;
    const orb_testing::HeldPorts port(1);
    {
        Serving server({}, port.endpoint());
        bind(server, &servant);
        const std::string url = "corbaloc::127.0.0.1:" + std::to_string(port.port()) + "/Peer";
        const Passing::Peer_var target = middle.peer(url);
        const CORBA::Object_var published = gateway.publish(target.in());
        peer = client.peer(middle.text(published.in()));
        EXPECT_EQ("first", name_of(peer.in())) << "by a LOCATION_FORWARD of the target's";
    }
    const std::string gone = outcome([&] { (void)name_of(peer.in()); });
    EXPECT_TRUE(gone.starts_with("TRANSIENT ") || gone.starts_with("COMM_FAILURE ")) << gone;
    Servant again("again");
    Serving server({}, port.endpoint());
    bind(server, &again);
    EXPECT_EQ("again", name_of(peer.in()));
}

TEST(Gateway, IsABridgeBetweenSocketsOfDifferentKinds)
{
    World world({},
                {.gateway = {"-ORBPreferLocal", "0"},
                 .server_endpoint = "uiop://@kairos-gateway-test-" + std::to_string(::getpid())});
    EXPECT_EQ("target", name_of(world.peer.in()));
}

/// What a server lends is copied where it is read, also where nobody knows what it is.
TEST(Gateway, PassesWhatComesThroughSharedMemory)
{
    World world({.passes_unknown = true},
                {.gateway = {"-ORBPreferLocal", "0"}, .server_endpoint = "shmiop://"});
    world.known.knows_interface = false;
    Passing::Octets octets;
    octets.length(200'000);
    for (CORBA::ULong i = 0; i < octets.length(); ++i)
        octets[i] = static_cast<CORBA::Octet>(i * 7);
    const Passing::Octets_var same = world.peer->echo(octets);
    ASSERT_EQ(octets.length(), same->length());
    EXPECT_TRUE(
        std::equal(octets.get_buffer(), octets.get_buffer() + octets.length(), same->get_buffer()));
}

TEST(Gateway, ReferencesWithASecretLastLongerThanIt)
{
    const gateway::Options options{.secret = as_bytes("a secret of some length")};
    World world(options);
    EXPECT_EQ("target", name_of(world.peer.in()));
    world.gateway.reset();
    EXPECT_NE("ok", outcome([&] { (void)name_of(world.peer.in()); }));
    world.gateway.emplace(world.middle.orb(), world.known, options);
    EXPECT_EQ("target", name_of(world.peer.in()));
}

TEST(Gateway, ForgetsTargetsAndFindsThemAgain)
{
    Servant callback("callback");
    World world({.targets_max = 1});
    const Passing::Peer_var back = world.client.activate(&callback);
    for (int i = 0; i < 3; ++i) {
        EXPECT_STREQ("callback", CORBA::String_var(world.peer->call_back(back.in())).in());
        EXPECT_EQ("target", name_of(world.peer.in()));
    }
    EXPECT_GT(world.known.asked, 2);
}

TEST(Gateway, TakesSoManyReferencesInAMessage)
{
    World world({.references_max = 3});
    Passing::Held held;
    held.one = Passing::Peer::_duplicate(world.peer.in());
    held.anything <<= world.peer.in();
    for (const CORBA::ULong count : {1u, 2u}) {
        Passing::Peers all;
        all.length(count);
        for (CORBA::ULong i = 0; i < count; ++i)
            all[i] = Passing::Peer::_duplicate(world.peer.in());
        CORBA::Object_var other;
        const std::string result =
            outcome([&] { delete world.peer->hold(held, all, other.out()); });
        // Three there and five back; four there.
        EXPECT_EQ(count == 1 ? "IMP_LIMIT 0x0 YES" : "IMP_LIMIT 0x0 NO", result);
    }
    const CORBA::Object_var same = world.peer->same(world.peer.in());
    EXPECT_FALSE(CORBA::is_nil(same.in()));
}

// --- many at once --------------------------------------------------------------------------------

TEST_F(Gateways, ManyThreadsCallThroughOne)
{
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            const Passing::Peer_var peer = world_.client.peer(world_.reference);
            for (int j = 0; j < 50; ++j) {
                const Passing::Peer_var same = peer->same(back_.in());
                const bool is_same = same->_is_equivalent(back_.in());
                const CORBA::String_var name = peer->call_back(back_.in());
                peer->note(i * 50 + j);
                if (is_same && std::string(name.in()) == "callback") ++good;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(8 * 50, good);
}

} // namespace
} // namespace kairos::gateway_testing
