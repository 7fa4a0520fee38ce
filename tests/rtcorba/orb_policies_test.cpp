// SPDX-License-Identifier: Apache-2.0
//
// Policies of object adapters that the ORB has: what POAs get that do not state their own
// (Real-Time CORBA 1.2, 5.7, 5.12 and 5.15).
#include "tests/rtcorba/fixture.h"
#include "tests/rtcorba/sockets.h"

#include <netinet/tcp.h>

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* inv_policy = "INV_POLICY 0x0 NO";
constexpr const char* no_permission = "NO_PERMISSION 0x0 NO";

using Indices = std::vector<int>;

/// Which policies of a list the ORB does not take.
Indices refused_by_orb(World& world, std::initializer_list<CORBA::Policy_ptr> policies)
{
    Indices indices;
    try {
        world.give_orb(policies);
    } catch (const CORBA::InvalidPolicies& refused) {
        for (const CORBA::UShort index : refused.indices)
            indices.push_back(index);
    }
    return indices;
}

/// Which policy of a list create_POA does not take; -1 if it takes all.
int refused_by_poa(World& world, std::initializer_list<CORBA::Policy_ptr> policies)
{
    try {
        const RTPortableServer::POA_var poa = world.make_poa("refused", policies);
        poa->destroy(false, true);
    } catch (const PortableServer::POA::InvalidPolicy& refused) {
        return refused.index;
    }
    return -1;
}

/// What references say of the objects of a POA.
std::optional<ior::PriorityModel> model_of(RTPortableServer::POA_ptr poa)
{
    const CORBA::Object_var object = poa->create_reference(target_id);
    return exposed(object).priority_model;
}

/// At which priority an object of this POA serves a client's thread of priority 7.
RTCORBA::Priority served_at(World& world, RTPortableServer::POA_ptr poa)
{
    Listener listener(world);
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world.activate();
    const Probe::Target_var target = world.to_client(poa, id);
    in_thread([&] {
        orb::ThreadStorage::current().priority = RTCORBA::Priority{7};
        target->act();
    });
    poa->deactivate_object(id);
    return listener.priority;
}

RTCORBA::ThreadpoolId make_pool(World& world, RTCORBA::Priority priority)
{
    return world.rtorb()->create_threadpool(0, 1, 0, priority, false, 0, 0);
}

RTCORBA::ThreadpoolId make_pool_with_lane(World& world, RTCORBA::Priority priority)
{
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(1);
    lanes[0] = {priority, 1, 0};
    return world.rtorb()->create_threadpool_with_lanes(0, lanes, false, false, 0, 0);
}

RTCORBA::ThreadpoolPolicy_ptr policy_of(World& world, RTCORBA::ThreadpoolId pool)
{
    return world.rtorb()->create_threadpool_policy(pool);
}

void take_back_all(World& world)
{
    const CORBA::PolicyManager_var manager =
        initial<CORBA::PolicyManager>(world.orb(), "ORBPolicyManager");
    manager->set_policy_overrides(CORBA::PolicyList(), CORBA::SET_OVERRIDE);
}

// --- priority models ---

TEST(OrbPolicies, GivePoasTheirPriorityModel)
{
    World world;
    const RTPortableServer::POA_var earlier = world.make_poa("earlier", {});
    world.give_orb({world.server_declared(40)});
    const RTPortableServer::POA_var poa = world.make_poa("poa", {});
    const RTPortableServer::POA_var other = world.make_poa("other", {world.client_propagated(3)});
    EXPECT_EQ(model_of(earlier), std::nullopt);
    EXPECT_EQ(model_of(poa), (ior::PriorityModel{false, 40}));
    EXPECT_EQ(model_of(other), (ior::PriorityModel{true, 3}));
    EXPECT_EQ(served_at(world, poa), 40);
    EXPECT_EQ(served_at(world, other), 7);
    world.give_orb({world.client_propagated(5)}); // from now on
    const RTPortableServer::POA_var later = world.make_poa("later", {});
    EXPECT_EQ(model_of(later), (ior::PriorityModel{true, 5}));
    EXPECT_EQ(model_of(poa), (ior::PriorityModel{false, 40}));
    take_back_all(world);
    const RTPortableServer::POA_var last = world.make_poa("last", {});
    EXPECT_EQ(model_of(last), std::nullopt);
}

/// Children do not inherit from their parents, but from the ORB.
TEST(OrbPolicies, GiveChildrenOfChildrenTheSame)
{
    World world;
    world.give_orb({world.server_declared(40)});
    const RTPortableServer::POA_var parent = world.make_poa("parent", {world.server_declared(9)});
    const PortableServer::POA_var made =
        parent->create_POA("child", PortableServer::POAManager::_nil(), CORBA::PolicyList());
    const RTPortableServer::POA_var child = RTPortableServer::POA::_narrow(made);
    EXPECT_EQ(model_of(child), (ior::PriorityModel{false, 40}));
    const PortableServer::ObjectId_var id =
        child->activate_object_with_priority(&world.make_servant(), 50);
    const CORBA::Object_var object = child->id_to_reference(id);
    EXPECT_EQ(exposed(object).priority_model, (ior::PriorityModel{false, 50}));
}

TEST(OrbPolicies, AreOfNoOtherOrb)
{
    World world;
    world.give_orb({world.server_declared(40)});
    World other;
    const RTPortableServer::POA_var poa = other.make_poa("poa", {});
    EXPECT_EQ(model_of(poa), std::nullopt);
}

// --- the RootPOA ---

TEST(OrbPolicies, AreTheRootPoasIfTheyWereThereBeforeIt)
{
    World world({}, [](World& before) {
        before.give_orb(
            {before.server_declared(40), policy_of(before, make_pool_with_lane(before, 40))});
    });
    EXPECT_EQ(model_of(world.root()), (ior::PriorityModel{false, 40}));
    EXPECT_EQ(served_at(world, world.root()), 40);
    Servant& servant = world.make_servant();
    const CORBA::Object_var implicit = world.root()->servant_to_reference(&servant);
    EXPECT_EQ(exposed(implicit).priority_model, (ior::PriorityModel{false, 40}));
}

TEST(OrbPolicies, AreNotTheRootPoasIfItWasThereBeforeThem)
{
    World world;
    world.give_orb({world.server_declared(40)});
    EXPECT_EQ(model_of(world.root()), std::nullopt);
    EXPECT_EQ(model_of(RTPortableServer::POA_var(world.make_poa("poa", {}))),
              (ior::PriorityModel{false, 40}));
}

TEST(OrbPolicies, ThatCannotBeAnyMoreLeaveNoRootPoa)
{
    std::string ended;
    World world({}, [&](World& before) {
        const auto pool = make_pool(before, 10);
        before.give_orb({policy_of(before, pool)});
        before.rtorb()->destroy_threadpool(pool);
        ended = outcome([&] {
            const CORBA::Object_var root = before.orb()->resolve_initial_references("RootPOA");
        });
        take_back_all(before);
    });
    EXPECT_EQ(ended, inv_policy);
    EXPECT_EQ(model_of(world.root()), std::nullopt); // it could be made after that
}

// --- thread pools ---

/// Those of no priority model have the pool's default priority.
TEST(OrbPolicies, GivePoasTheirThreads)
{
    World world;
    const auto pool = make_pool(world, 11);
    const auto other = make_pool(world, 22);
    world.give_orb({policy_of(world, pool)});
    const RTPortableServer::POA_var poa = world.make_poa("poa", {});
    const RTPortableServer::POA_var stated = world.make_poa("stated", {policy_of(world, other)});
    EXPECT_EQ(served_at(world, poa), 11);
    EXPECT_EQ(served_at(world, stated), 22);
    EXPECT_EQ(outcome([&] { world.rtorb()->destroy_threadpool(pool); }), "BAD_INV_ORDER 0x0 NO");
}

/// The ORB's policy keeps no pool: who makes a POA without one afterwards is told.
TEST(OrbPolicies, OfPoolsThatAreDestroyedServeNoPoa)
{
    World world;
    const auto pool = make_pool(world, 11);
    world.give_orb({policy_of(world, pool)});
    world.rtorb()->destroy_threadpool(pool);
    EXPECT_EQ(outcome([&] { (void)world.make_poa("poa", {}); }), inv_policy);
    const auto other = make_pool(world, 22);
    const RTPortableServer::POA_var stated = world.make_poa("stated", {policy_of(world, other)});
    EXPECT_EQ(served_at(world, stated), 22);
    world.give_orb({world.client_propagated(3)}); // others can be set all the same
    world.give_orb({policy_of(world, other)});
    const RTPortableServer::POA_var poa = world.make_poa("poa", {});
    EXPECT_EQ(served_at(world, poa), 7);
}

// --- contradictions ---

TEST(OrbPolicies, ThatNoPoaCanHaveAreNotTaken)
{
    World world;
    World other;
    EXPECT_EQ(refused_by_orb(world, {world.server_declared(1), policy_of(world, 4711)}),
              (Indices{1}));
    EXPECT_EQ(refused_by_orb(world, {policy_of(other, make_pool(other, 1))}), (Indices{0}));
    const auto pool = make_pool_with_lane(world, 10);
    // Neither alone is wrong.
    EXPECT_EQ(refused_by_orb(world, {world.server_declared(11), policy_of(world, pool)}),
              (Indices{0, 1}));
    EXPECT_EQ(model_of(RTPortableServer::POA_var(world.make_poa("unchanged", {}))), std::nullopt);
    EXPECT_EQ(refused_by_orb(world, {policy_of(world, pool)}), (Indices{}));
    EXPECT_EQ(refused_by_orb(world, {world.server_declared(11)}), (Indices{0}));
    EXPECT_EQ(refused_by_orb(world, {world.server_declared(10)}), (Indices{}));
    EXPECT_EQ(model_of(RTPortableServer::POA_var(world.make_poa("changed", {}))),
              (ior::PriorityModel{false, 10}));
}

TEST(OrbPolicies, ThatContradictThePoasOwnAreItsFault)
{
    World world;
    world.give_orb({policy_of(world, make_pool_with_lane(world, 10))});
    const auto user_ids = [&] {
        return world.root()->create_id_assignment_policy(PortableServer::USER_ID);
    };
    EXPECT_EQ(refused_by_poa(world, {user_ids(), world.server_declared(11)}), 1);
    EXPECT_EQ(refused_by_poa(world, {user_ids(), world.server_declared(10)}), -1);
    EXPECT_EQ(refused_by_poa(
                  world, {world.root()->create_thread_policy(PortableServer::MAIN_THREAD_MODEL)}),
              0);
    RTCORBA::PriorityBands bands;
    bands.length(1);
    bands[0] = {20, 30};
    EXPECT_EQ(
        refused_by_poa(world, {world.client_propagated(25), user_ids(),
                               world.rtorb()->create_priority_banded_connection_policy(bands)}),
        2);
}

// --- protocols ---

/// Nagle's algorithm is on where no_delay is false.
CORBA::Policy_ptr delaying(World& world)
{
    const RTCORBA::TCPProtocolProperties_var properties =
        world.rtorb()->create_tcp_protocol_properties(0, 0, true, false, false);
    return world.rtorb()->create_server_protocol_policy(tcp_list(properties));
}

/// The end of the server of a new connection to an object of the RootPOA.
std::pair<int, int> delay_and_keep_alive(World& world)
{
    const PortableServer::ObjectId_var id = world.root()->activate_object(&world.make_servant());
    world.activate();
    const Probe::Target_var target = world.to_client(world.root(), id);
    target->ping();
    const Ends ends(target->_kairos_reference()->targets().front().endpoint->port());
    return {ends.of_server(IPPROTO_TCP, TCP_NODELAY), ends.of_server(SOL_SOCKET, SO_KEEPALIVE)};
}

TEST(OrbPolicies, OfProtocolsAreAboutTheOrbsConnections)
{
    World plain;
    EXPECT_EQ(delay_and_keep_alive(plain), (std::pair{1, 0}));
    World world;
    world.give_orb({delaying(world)}); // the RootPOA is there, but the ORB does not serve
    EXPECT_EQ(delay_and_keep_alive(world), (std::pair{0, 1}));
    const RTPortableServer::POA_var poa = world.make_poa("poa", {}); // it asks for nothing
    EXPECT_EQ(refused_by_orb(world, {world.server_declared(1), delaying(world)}), (Indices{1}));
    EXPECT_EQ(model_of(RTPortableServer::POA_var(world.make_poa("unchanged", {}))), std::nullopt);
}

TEST(OrbPolicies, OfProtocolsMayBeThereBeforeTheOrbListens)
{
    World world({}, [](World& before) { before.give_orb({delaying(before)}); });
    EXPECT_EQ(delay_and_keep_alive(world), (std::pair{0, 1}));
}

// --- who has them ---

TEST(OrbPolicies, AreTheOrbsAndNotItsReferences)
{
    World world;
    world.give_orb({world.server_declared(40)});
    const CORBA::PolicyManager_var manager =
        initial<CORBA::PolicyManager>(world.orb(), "ORBPolicyManager");
    CORBA::PolicyTypeSeq types;
    types.length(1);
    types[0] = RTCORBA::PRIORITY_MODEL_POLICY_TYPE;
    const CORBA::PolicyList_var list = manager->get_policy_overrides(types);
    ASSERT_EQ(list->length(), 1u);
    const RTCORBA::PriorityModelPolicy_var model = RTCORBA::PriorityModelPolicy::_narrow(list[0u]);
    EXPECT_EQ(model->server_priority(), 40);
    const CORBA::Object_var object = world.root()->create_reference(target_id);
    const CORBA::Policy_var of_client = object->_get_client_policy(types[0]);
    EXPECT_TRUE(CORBA::is_nil(of_client));
    EXPECT_EQ(outcome([&] { const CORBA::Policy_var policy = object->_get_policy(types[0]); }),
              inv_policy);
}

/// Of the POA's other policies the ORB has none.
TEST(OrbPolicies, AreOnlyThoseOfRealTimeCorba)
{
    World world;
    EXPECT_EQ(outcome([&] {
                  world.give_orb(
                      {world.root()->create_lifespan_policy(PortableServer::PERSISTENT)});
              }),
              no_permission);
    EXPECT_EQ(outcome([&] {
                  world.give_orb({corba::create_demultiplexing_policy(poa::IdStrategy::active)});
              }),
              no_permission);
}

} // namespace
} // namespace kairos::rtcorba_testing
