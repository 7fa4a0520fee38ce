// SPDX-License-Identifier: Apache-2.0
//
// Priority models from end to end, objects with priorities of their own, and priority transforms
// (Real-Time CORBA 1.2, 5.6 and 5.7).
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* bad_param = "BAD_PARAM 0x0 NO";
constexpr const char* bad_order = "BAD_INV_ORDER 0x4f4d0012 NO";
constexpr const char* no_object = "OBJECT_NOT_EXIST 0x4f4d0001 NO";

TEST(PriorityModelPolicy, SaysWhatItWasMadeOf)
{
    World world;
    const RTCORBA::PriorityModelPolicy_var declared = world.server_declared(77);
    EXPECT_EQ(declared->policy_type(), 40u);
    EXPECT_EQ(declared->priority_model(), RTCORBA::SERVER_DECLARED);
    EXPECT_EQ(declared->server_priority(), 77);
    const CORBA::Policy_var copy = declared->copy();
    const RTCORBA::PriorityModelPolicy_var same = RTCORBA::PriorityModelPolicy::_narrow(copy);
    EXPECT_EQ(same->server_priority(), 77);
    EXPECT_EQ(outcome([&] { (void)world.server_declared(-1); }), bad_param);
    CORBA::Any value;
    value <<= RTCORBA::CLIENT_PROPAGATED;
    const CORBA::Policy_var made = world.orb()->create_policy(40, value);
    const RTCORBA::PriorityModelPolicy_var model = RTCORBA::PriorityModelPolicy::_narrow(made);
    EXPECT_EQ(model->priority_model(), RTCORBA::CLIENT_PROPAGATED);
    value <<= "no priority";
    EXPECT_EQ(outcome([&] { (void)world.orb()->create_policy(40, value); }), "PolicyError");
}

TEST(PriorityModelPolicy, IsInReferences)
{
    World world;
    Servant& servant = world.make_servant();
    const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    EXPECT_EQ(exposed(object).priority_model, (ior::PriorityModel{true, 12}));
    const PortableServer::ObjectId_var plain = world.root()->activate_object(&servant);
    const CORBA::Object_var other = world.root()->id_to_reference(plain);
    EXPECT_TRUE(exposed(other).is_empty());
}

/// With every architecture whose threads the priorities concern.
/// What `object` says of it to its clients.
template <typename P>
typename P::_var_type policy_of(CORBA::Object_ptr object, CORBA::PolicyType type)
{
    const CORBA::Policy_var policy = object->_get_policy(type);
    EXPECT_EQ(policy->policy_type(), type);
    typename P::_var_type found = P::_narrow(policy);
    EXPECT_FALSE(CORBA::is_nil(found.in()));
    return found;
}

/// Clients see what the server has decided, unless they have a policy of the type themselves.
TEST(PoliciesOfReferences, AreWhatClientsGetThatHaveNone)
{
    constexpr auto model_type = RTCORBA::PRIORITY_MODEL_POLICY_TYPE;
    constexpr auto bands_type = RTCORBA::PRIORITY_BANDED_CONNECTION_POLICY_TYPE;
    constexpr auto protocol_type = RTCORBA::CLIENT_PROTOCOL_POLICY_TYPE;
    World world;
    RTCORBA::ProtocolList protocols;
    protocols.length(1);
    protocols[0].protocol_type = ior::tag_internet_iop;
    protocols[0].transport_protocol_properties =
        world.rtorb()->create_tcp_protocol_properties(1'000, 2'000, true, false, false);
    const RTPortableServer::POA_var poa = world.make_poa(
        "all",
        {world.server_declared(12),
         world.rtorb()->create_priority_banded_connection_policy(bands_of({{0, 9}, {10, 99}})),
         world.rtorb()->create_client_protocol_policy(protocols)});
    const CORBA::Object_var object = poa->create_reference_with_priority(target_id, 34);
    const Probe::Target_var target = world.to_client(object);
    const auto model = policy_of<RTCORBA::PriorityModelPolicy>(target, model_type);
    EXPECT_EQ(model->priority_model(), RTCORBA::SERVER_DECLARED);
    EXPECT_EQ(model->server_priority(), 34);
    const auto bands = policy_of<RTCORBA::PriorityBandedConnectionPolicy>(target, bands_type);
    const RTCORBA::PriorityBands_var list = bands->priority_bands();
    ASSERT_EQ(list->length(), 2u);
    EXPECT_EQ(list[1].low, 10);
    EXPECT_EQ(list[1].high, 99);
    const auto protocol = policy_of<RTCORBA::ClientProtocolPolicy>(target, protocol_type);
    const RTCORBA::ProtocolList_var iiop = protocol->protocols();
    ASSERT_EQ(iiop->length(), 1u);
    const auto tcp =
        narrowed<RTCORBA::TCPProtocolProperties>(iiop[0].transport_protocol_properties.in());
    EXPECT_EQ(tcp->send_buffer_size(), 1'000);
    EXPECT_EQ(tcp->recv_buffer_size(), 2'000);
    EXPECT_TRUE(tcp->keep_alive());
    EXPECT_FALSE(tcp->no_delay());

    const CORBA::Policy_var none = target->_get_client_policy(bands_type);
    EXPECT_TRUE(CORBA::is_nil(none.in()));
    const CORBA::Object_var overridden = target->_set_policy_overrides(
        list_of({world.rtorb()->create_priority_banded_connection_policy(bands_of({{5, 50}}))}),
        CORBA::ADD_OVERRIDE);
    const auto own = policy_of<RTCORBA::PriorityBandedConnectionPolicy>(overridden, bands_type);
    const RTCORBA::PriorityBands_var of_client = own->priority_bands();
    ASSERT_EQ(of_client->length(), 1u);
    EXPECT_EQ(of_client[0].high, 50);

    const CORBA::Object_var other = world.root()->create_reference(target_id);
    const Probe::Target_var plain = world.to_client(other);
    for (const CORBA::PolicyType type : {model_type, bands_type, protocol_type})
        EXPECT_EQ(outcome([&] { const CORBA::Policy_var policy = plain->_get_policy(type); }),
                  "INV_POLICY 0x0 NO");
}

class EachArchitecture : public testing::TestWithParam<const char*> {
  protected:
    World world_{{"-ORBConcurrency", GetParam()}};
    Listener listener_{world_};
    std::thread runner_;

    void start()
    {
        world_.activate();
        runner_ = std::thread([this] {
            try {
                world_.orb()->run();
            } catch (const CORBA::BAD_INV_ORDER&) { // shut down before
            }
        });
    }
    ~EachArchitecture() override
    {
        world_.orb()->shutdown(true);
        runner_.join();
    }
};

TEST_P(EachArchitecture, ServesAtTheClientsPriority)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener_.servant);
    const Probe::Target_var target = world_.to_client(poa, id);
    const CORBA::Object_var local = poa->id_to_reference(id);
    const Probe::Target_var local_target = Probe::Target::_narrow(local);
    start();
    for (const RTCORBA::Priority priority :
         std::initializer_list<RTCORBA::Priority>{100, 32767, 0, 5}) {
        in_thread([&] {
            world_.current()->the_priority(priority);
            target->act();
            EXPECT_EQ(listener_.priority, priority);
            EXPECT_EQ(listener_.native, native_of(priority));
            local_target->act();
            EXPECT_EQ(listener_.priority, priority);
            EXPECT_EQ(world_.current()->the_priority(), priority);
        });
    }
}

TEST_P(EachArchitecture, ServesAtThePriorityThatIsDeclared)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener_.servant);
    const Probe::Target_var target = world_.to_client(poa, id);
    start();
    for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{100, 32767}) {
        in_thread([&] {
            world_.current()->the_priority(priority);
            target->act();
            EXPECT_EQ(listener_.priority, 200);
            EXPECT_EQ(listener_.native, native_of(200));
            EXPECT_EQ(world_.current()->the_priority(), priority);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(PriorityModels, EachArchitecture,
                         testing::Values("thread-per-connection", "reactor", "reactor-per-priority",
                                         "leader-followers", "worker-pool", "thread-per-request",
                                         "thread-per-object", "filter-chain"),
                         orb_testing::architecture_name);

/// Of threads of the ORB that have their priority for one request, and of threads of a pool.
TEST(SchedulingPolicies, OfServantsAreThatOfTheOption)
{
    if (!real_time_is_allowed()) GTEST_SKIP() << "the process may not have real-time priorities";
    for (const auto& [name, policy] : {std::pair{"fifo", SCHED_FIFO}, {"rr", SCHED_RR}}) {
        World world(
            {"-ORBSchedulingPolicy", name, "-ORBConcurrency", "worker-pool", "-ORBThreads", "1"});
        Servant& servant = world.make_servant();
        std::atomic<int> served_as{-1};
        std::atomic<int> native{-1};
        servant.action = [&] {
            served_as = native_policy();
            native = native_priority();
        };
        const auto pool = world.rtorb()->create_threadpool(0, 1, 0, 300, false, 0, 0);
        const RTPortableServer::POA_var declared =
            world.make_poa("declared", {world.server_declared(200)});
        const RTPortableServer::POA_var pooled =
            world.make_poa("pooled", {world.rtorb()->create_threadpool_policy(pool)});
        const PortableServer::ObjectId_var declared_id = declared->activate_object(&servant);
        const PortableServer::ObjectId_var pooled_id = pooled->activate_object(&servant);
        const PortableServer::ObjectId_var plain_id = world.root()->activate_object(&servant);
        world.activate();
        const Probe::Target_var at_200 = world.to_client(declared, declared_id);
        const Probe::Target_var at_300 = world.to_client(pooled, pooled_id);
        const Probe::Target_var plain = world.to_client(world.root(), plain_id);
        at_200->act();
        EXPECT_EQ(served_as, policy) << name;
        EXPECT_EQ(native, native_of(200));
        at_300->act();
        EXPECT_EQ(served_as, policy) << name;
        EXPECT_EQ(native, native_of(300));
        plain->act(); // by the first thread again
        EXPECT_EQ(served_as, SCHED_OTHER) << name;
    }
}

/// A server that serves by threads of its own.
class PriorityModels : public testing::Test {
  protected:
    World world_;
    Listener listener_{world_};

    Probe::Target_ptr active(RTPortableServer::POA_ptr poa)
    {
        const PortableServer::ObjectId_var id = poa->activate_object(&listener_.servant);
        world_.activate();
        return world_.to_client(poa, id);
    }
};

TEST_F(PriorityModels, ThreadsHaveTheirOwnPriorityAgainAfterARequest)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const Probe::Target_var target = active(poa);
    Servant& plain = world_.make_servant();
    std::optional<RTCORBA::Priority> left;
    int native = -1;
    plain.action = [&] {
        left = orb::ThreadStorage::current().priority;
        native = native_priority();
    };
    const PortableServer::ObjectId_var id = world_.root()->activate_object(&plain);
    const CORBA::Object_var object = world_.root()->id_to_reference(id);
    const Probe::Target_var plain_target = world_.to_client(object);
    target->act();
    plain_target->act(); // on the same connection, by the same thread
    EXPECT_EQ(left, std::nullopt);
    EXPECT_EQ(native, 0);
}

TEST_F(PriorityModels, WhatAServantSetsLastsAsLongAsTheRequest)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const Probe::Target_var target = active(poa);
    RTCORBA::Priority before = -1;
    listener_.servant.action = [&] {
        before = world_.current()->the_priority();
        world_.current()->the_priority(300);
    };
    target->act();
    EXPECT_EQ(before, 200);
    target->act();
    EXPECT_EQ(before, 200);
}

/// A client of another vendor's that does not know of priorities.
TEST_F(PriorityModels, AClientThatSaysNoPriorityIsServedAtTheServers)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.client_propagated(12)});
    const Probe::Target_var target = active(poa);
    const orb::Reference& reference = *target->_kairos_reference();
    auto peer = orb_testing::RawPeer::connect(reference.targets().front().endpoint->port());
    peer.send(orb_testing::request(reference.object_key(), "act").finish());
    EXPECT_EQ(orb_testing::ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(listener_.priority, 12);
}

TEST_F(PriorityModels, ForwardedCallsPropagateToo)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&listener_.servant);
    world_.activate();
    const CORBA::Object_var object = poa->id_to_reference(id);
    // The IOR is lost on the way, so the client learns of the model by the forward only.
    class Forwarder final : public PortableServer::ServantLocator {
      public:
        explicit Forwarder(CORBA::Object_ptr to) : to_(CORBA::Object::_duplicate(to)) {}
        PortableServer::Servant preinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr,
                                          const char*, Cookie&) override
        {
            throw PortableServer::ForwardRequest(to_);
        }
        void postinvoke(const PortableServer::ObjectId&, PortableServer::POA_ptr, const char*,
                        Cookie, PortableServer::Servant) override
        {
        }

      private:
        const CORBA::Object_var to_;
    };
    const RTPortableServer::POA_var elsewhere = world_.make_poa(
        "elsewhere",
        {world_.root()->create_servant_retention_policy(PortableServer::NON_RETAIN),
         world_.root()->create_request_processing_policy(PortableServer::USE_SERVANT_MANAGER)});
    const PortableServer::ServantLocator_var locator = new Forwarder(object);
    elsewhere->set_servant_manager(locator);
    const CORBA::Object_var there = elsewhere->create_reference(target_id);
    const Probe::Target_var target = world_.to_client(there);
    in_thread([&] {
        world_.current()->the_priority(77);
        target->act();
        EXPECT_EQ(listener_.priority, 77);
    });
}

// --- objects with priorities of their own ---

TEST_F(PriorityModels, ObjectsMayHavePrioritiesOfTheirOwn)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const PortableServer::ObjectId_var id =
        poa->activate_object_with_priority(&listener_.servant, 300);
    world_.activate();
    const CORBA::Object_var object = poa->id_to_reference(id);
    EXPECT_EQ(exposed(object).priority_model, (ior::PriorityModel{false, 300}));
    const Probe::Target_var target = world_.to_client(object);
    target->act();
    EXPECT_EQ(listener_.priority, 300);
    EXPECT_EQ(listener_.native, native_of(300));
    const PortableServer::ObjectId_var back = poa->reference_to_id(object);
    EXPECT_EQ(text_of(back), text_of(id));
    poa->deactivate_object(id);
    EXPECT_EQ(outcome([&] { target->act(); }), no_object);
}

TEST_F(PriorityModels, ReferencesMayHaveThemBeforeTheirObjectsAreActive)
{
    const RTPortableServer::POA_var poa = world_.make_poa(
        "rt", {world_.server_declared(200),
               world_.root()->create_id_assignment_policy(PortableServer::USER_ID)});
    const auto id = id_of("sensor");
    const CORBA::Object_var object = poa->create_reference_with_id_and_priority(id, target_id, 300);
    const Probe::Target_var target = world_.to_client(object);
    world_.activate();
    EXPECT_EQ(outcome([&] { target->act(); }), no_object);
    EXPECT_EQ(
        outcome([&] { poa->activate_object_with_id_and_priority(id, &listener_.servant, 301); }),
        bad_order);
    EXPECT_EQ(outcome([&] { (void)poa->create_reference_with_id_and_priority(id, target_id, 1); }),
              bad_order);
    poa->activate_object_with_id_and_priority(id, &listener_.servant, 300);
    target->act();
    EXPECT_EQ(listener_.priority, 300);
    EXPECT_EQ(
        outcome([&] { poa->activate_object_with_id_and_priority(id, &listener_.servant, 300); }),
        "ObjectAlreadyActive");
}

TEST_F(PriorityModels, ReferencesWithThemMayHaveIdsOfTheSystem)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const CORBA::Object_var object = poa->create_reference_with_priority(target_id, 400);
    const PortableServer::ObjectId_var id = poa->reference_to_id(object);
    poa->activate_object_with_id(id, &listener_.servant);
    world_.activate();
    const Probe::Target_var target = world_.to_client(object);
    target->act();
    EXPECT_EQ(listener_.priority, 400);
}

TEST_F(PriorityModels, OtherPoasHaveNoSuchObjects)
{
    const auto id = id_of("x");
    for (const RTPortableServer::POA_var& poa :
         {RTPortableServer::POA_var(RTPortableServer::POA::_duplicate(world_.root())),
          RTPortableServer::POA_var(
              world_.make_poa("propagated", {world_.client_propagated(1)}))}) {
        const auto refused = [&](auto call) { EXPECT_EQ(outcome(call), "WrongPolicy"); };
        refused([&] { (void)poa->create_reference_with_priority(target_id, 1); });
        refused([&] { (void)poa->create_reference_with_id_and_priority(id, target_id, 1); });
        refused([&] { (void)poa->activate_object_with_priority(&listener_.servant, 1); });
        refused([&] { poa->activate_object_with_id_and_priority(id, &listener_.servant, 1); });
    }
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    EXPECT_EQ(outcome([&] { (void)poa->create_reference_with_priority(target_id, -1); }),
              bad_param);
    EXPECT_EQ(outcome([&] { (void)poa->activate_object_with_priority(nullptr, 1); }), bad_param);
    EXPECT_EQ(outcome([&] { (void)poa->create_reference_with_priority(nullptr, 1); }), bad_param);
}

/// Nobody gets a priority by writing it into a key.
TEST_F(PriorityModels, ForgedPrioritiesAreOfNoObject)
{
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.server_declared(200)});
    const PortableServer::ObjectId_var id =
        poa->activate_object_with_priority(&listener_.servant, 300);
    world_.activate();
    const CORBA::Object_var object = poa->id_to_reference(id);
    const orb::Reference& reference = *object->_kairos_reference();
    auto peer = orb_testing::RawPeer::connect(reference.targets().front().endpoint->port());
    const auto act = [&](int priority) {
        orb_testing::Octets key(reference.object_key().begin(), reference.object_key().end());
        const std::size_t at = key.size() - id->length() - 2;
        key[at] = static_cast<std::byte>(priority >> 8);
        key[at + 1] = static_cast<std::byte>(priority);
        listener_.priority = -1;
        peer.send(orb_testing::request(key, "act").finish());
        return orb_testing::ParsedReply(peer.read_message()).text();
    };
    EXPECT_EQ(act(300), "NO_EXCEPTION");
    EXPECT_EQ(listener_.priority, 300);
    EXPECT_EQ(act(200), "NO_EXCEPTION"); // some object has it
    for (const int forged : {0, 299, 32767, 0xFFFF}) {
        EXPECT_EQ(act(forged), "OBJECT_NOT_EXIST 0x4f4d0002 NO") << forged;
        EXPECT_EQ(listener_.priority, -1);
    }
}

/// A reference from an earlier run of the server says the priority; the server need not remember.
TEST(PersistentObjects, KeepTheirPriorityInTheirReferences)
{
    std::string text;
    std::uint16_t port = 0;
    const auto make_poa = [](World& world) {
        return world.make_poa("lasting",
                              {world.server_declared(200),
                               world.root()->create_lifespan_policy(PortableServer::PERSISTENT),
                               world.root()->create_id_assignment_policy(PortableServer::USER_ID)});
    };
    {
        World first;
        const RTPortableServer::POA_var poa = make_poa(first);
        const CORBA::Object_var object =
            poa->create_reference_with_id_and_priority(id_of("sensor"), target_id, 300);
        const CORBA::String_var written = first.orb()->object_to_string(object);
        text = written.in();
        port = object->_kairos_reference()->targets().front().endpoint->port();
    }
    // What a client knows of it, sent to another run.
    World second;
    Listener listener(second);
    const RTPortableServer::POA_var poa = make_poa(second);
    poa->activate_object_with_id(id_of("sensor"), &listener.servant);
    const CORBA::Object_var of_second = poa->id_to_reference(id_of("sensor"));
    second.activate();
    auto reference = ior::from_string(text);
    ASSERT_TRUE(reference.ok());
    const auto profile = ior::decode_iiop(reference->profiles.front().data);
    ASSERT_TRUE(profile.ok());
    auto peer = orb_testing::RawPeer::connect(
        of_second->_kairos_reference()->targets().front().endpoint->port());
    peer.send(orb_testing::request(profile->object_key, "act").finish());
    EXPECT_EQ(orb_testing::ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(listener.priority, 300);
    const Probe::Target_var target = second.to_client(of_second);
    target->act();
    EXPECT_EQ(listener.priority, 200); // declared by nobody in this run
    EXPECT_NE(port, 0);
}

// --- transforms ---

class PlusOne final : public RTCORBA::PriorityTransform {
  public:
    CORBA::Boolean inbound(RTCORBA::Priority& priority,
                           const PortableServer::ObjectId& oid) override
    {
        inbound_id = oid.length();
        ++priority;
        return priority < 1000;
    }
    CORBA::Boolean outbound(RTCORBA::Priority& priority, const PortableServer::ObjectId&) override
    {
        priority = static_cast<RTCORBA::Priority>(priority + 10);
        return true;
    }
    std::atomic<CORBA::ULong> inbound_id{0};
};

TEST_F(PriorityModels, TransformsChangeThemOnTheirWay)
{
    const RTCORBA::PriorityTransformManager_var manager =
        initial<RTCORBA::PriorityTransformManager>(world_.orb(), "PriorityTransformManager");
    EXPECT_EQ(manager->transform(), nullptr);
    auto* plus_one = new PlusOne;
    manager->transform(plus_one);
    EXPECT_EQ(manager->transform(), plus_one);
    const RTPortableServer::POA_var poa = world_.make_poa(
        "rt", {world_.client_propagated(12),
               world_.root()->create_id_assignment_policy(PortableServer::USER_ID)});
    Servant& first = world_.make_servant();
    RTCORBA::Priority at_first = -1;
    poa->activate_object_with_id(id_of("first"), &first);
    world_.activate();
    first.action = [&] { at_first = world_.current()->the_priority(); };
    const Probe::Target_var target = world_.to_client(poa, id_of("first"));
    in_thread([&] {
        world_.current()->the_priority(50);
        target->act();
        EXPECT_EQ(at_first, 51);
        EXPECT_EQ(plus_one->inbound_id, 5u);
        world_.current()->the_priority(999);
        EXPECT_EQ(outcome([&] { target->act(); }), "DATA_CONVERSION 0x0 NO");
    });
    manager->transform(nullptr);
    in_thread([&] {
        world_.current()->the_priority(999);
        target->act();
        EXPECT_EQ(at_first, 999);
    });
}

/// A servant's own calls: what they say is changed once more.
TEST(PriorityTransforms, AreAppliedToOnwardCalls)
{
    World end;
    Listener listener(end);
    const RTPortableServer::POA_var end_poa = end.make_poa("rt", {end.client_propagated(12)});
    const PortableServer::ObjectId_var end_id = end_poa->activate_object(&listener.servant);
    end.activate();
    const CORBA::Object_var end_object = end_poa->id_to_reference(end_id);
    const CORBA::String_var text = end.orb()->object_to_string(end_object);

    World middle;
    const RTCORBA::PriorityTransformManager_var manager =
        initial<RTCORBA::PriorityTransformManager>(middle.orb(), "PriorityTransformManager");
    manager->transform(new PlusOne);
    const CORBA::Object_var onward_object = middle.orb()->string_to_object(text);
    const Probe::Target_var onward = Probe::Target::_unchecked_narrow(onward_object);
    Servant& servant = middle.make_servant();
    servant.action = [&] { onward->act(); };
    const RTPortableServer::POA_var poa = middle.make_poa("rt", {middle.client_propagated(12)});
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    middle.activate();
    const Probe::Target_var target = middle.to_client(poa, id);
    in_thread([&] {
        middle.current()->the_priority(50);
        target->act();
        EXPECT_EQ(listener.priority, 61); // 50, + 1 into the middle, + 10 out of it
        onward->act();                    // outside of a request
        EXPECT_EQ(listener.priority, 50);
    });
}

} // namespace
} // namespace kairos::rtcorba_testing
