// SPDX-License-Identifier: Apache-2.0
//
// What Real-Time CORBA 1.2 does not let a program or a client have, and with which exception.
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* bad_param = "BAD_PARAM 0x0 NO";
constexpr const char* bad_order = "BAD_INV_ORDER 0x4f4d0012 NO";
constexpr const char* no_mapping = "DATA_CONVERSION 0x4f4d0002 NO";
constexpr const char* no_transform = "DATA_CONVERSION 0x0 NO";

class Refusals : public testing::Test {
  protected:
    World world_;

    /// Which policy of the list create_POA would not have.
    [[nodiscard]] int refused_policy(std::initializer_list<CORBA::Policy_ptr> policies)
    {
        try {
            const RTPortableServer::POA_var poa = world_.make_poa("refused", policies);
            poa->destroy(false, true);
        } catch (const PortableServer::POA::InvalidPolicy& refused) {
            return refused.index;
        }
        return -1;
    }
    [[nodiscard]] RTCORBA::ThreadpoolPolicy_ptr pool_policy(RTCORBA::ThreadpoolId id)
    {
        return world_.rtorb()->create_threadpool_policy(id);
    }
    [[nodiscard]] RTCORBA::PriorityBandedConnectionPolicy_ptr
    bands(std::initializer_list<RTCORBA::PriorityBand> list)
    {
        return world_.rtorb()->create_priority_banded_connection_policy(bands_of(list));
    }
};

// --- policies ---

/// Clients cannot override what servers say (CORBA 3.3 part 1, 8.3 and 8.9).
TEST_F(Refusals, PoliciesOfObjectAdaptersOverrideNothing)
{
    RTCORBA::ProtocolList tcp;
    tcp.length(1);
    tcp[0].protocol_type = ior::tag_internet_iop;
    const CORBA::Policy_var of_adapters[] = {
        world_.server_declared(1), pool_policy(1),
        world_.rtorb()->create_server_protocol_policy(tcp),
        world_.root()->create_thread_policy(PortableServer::SINGLE_THREAD_MODEL)};
    const PortableServer::ObjectId_var id = world_.root()->activate_object(&world_.make_servant());
    const Probe::Target_var target = world_.to_client(world_.root(), id);
    const CORBA::PolicyManager_var of_orb =
        initial<CORBA::PolicyManager>(world_.client_orb(), "ORBPolicyManager");
    const CORBA::PolicyCurrent_var of_thread =
        initial<CORBA::PolicyCurrent>(world_.client_orb(), "PolicyCurrent");
    for (const CORBA::Policy_var& policy : of_adapters) {
        const auto list = list_of({CORBA::Policy::_duplicate(policy.in())});
        const auto refused = [&](auto call) {
            EXPECT_EQ(outcome(call), "NO_PERMISSION 0x0 NO") << policy->policy_type();
        };
        refused([&] {
            const CORBA::Object_var other =
                target->_set_policy_overrides(list, CORBA::ADD_OVERRIDE);
        });
        refused([&] { of_thread->set_policy_overrides(list, CORBA::ADD_OVERRIDE); });
        // Those of Real-Time CORBA can be the ORB's: orb_policies_test.cpp.
        if (policy->policy_type() == PortableServer::THREAD_POLICY_ID)
            refused([&] { of_orb->set_policy_overrides(list, CORBA::ADD_OVERRIDE); });
    }
}

TEST_F(Refusals, ThreadPoolsThatAreNotThereServeNoPoa)
{
    EXPECT_EQ(refused_policy({world_.client_propagated(0), pool_policy(4711)}), 1);
    const auto pool = world_.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
    const RTCORBA::ThreadpoolPolicy_var policy = pool_policy(pool);
    EXPECT_EQ(policy->threadpool(), pool);
    EXPECT_EQ(refused_policy({CORBA::Policy::_duplicate(policy.in())}), -1);
    world_.rtorb()->destroy_threadpool(pool);
    EXPECT_EQ(refused_policy({CORBA::Policy::_duplicate(policy.in())}), 0);
}

/// Another ORB's pool is none of this one's, though it be there.
TEST_F(Refusals, ThreadPoolsOfOtherOrbsServeNoPoa)
{
    (void)world_.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
    World other;
    const auto pool = other.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
    EXPECT_EQ(refused_policy({other.rtorb()->create_threadpool_policy(pool)}), 0);
}

/// Nobody could call an object whose priority is in no band of its connections.
TEST_F(Refusals, DeclaredPrioritiesAreInABand)
{
    EXPECT_EQ(refused_policy({world_.server_declared(25), bands({{0, 9}, {10, 19}})}), 0);
    EXPECT_EQ(refused_policy({bands({{0, 9}, {10, 19}}), world_.server_declared(19)}), -1);
    EXPECT_EQ(refused_policy({bands({{0, 9}}), world_.client_propagated(25)}), -1);
    const RTPortableServer::POA_var poa =
        world_.make_poa("banded", {world_.server_declared(15), bands({{0, 9}, {15, 19}})});
    Servant& servant = world_.make_servant();
    for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{10, 20}) {
        EXPECT_EQ(outcome([&] {
                      const CORBA::Object_var made =
                          poa->create_reference_with_priority(target_id, priority);
                  }),
                  bad_param);
        EXPECT_EQ(outcome([&] {
                      const PortableServer::ObjectId_var id =
                          poa->activate_object_with_priority(&servant, priority);
                  }),
                  bad_param);
    }
    const PortableServer::ObjectId_var id = poa->activate_object_with_priority(&servant, 19);
}

// --- objects ---

/// One that is active without a priority of its own has the POA's.
TEST_F(Refusals, ObjectsHaveOnePriority)
{
    const RTPortableServer::POA_var poa = world_.make_poa(
        "rt", {world_.server_declared(200),
               world_.root()->create_id_assignment_policy(PortableServer::USER_ID)});
    const auto id = id_of("valve");
    const auto reference_at = [&](RTCORBA::Priority priority) {
        return outcome([&] {
            const CORBA::Object_var made =
                poa->create_reference_with_id_and_priority(id, target_id, priority);
        });
    };
    Servant& servant = world_.make_servant();
    poa->activate_object_with_id(id, &servant);
    EXPECT_EQ(reference_at(300), bad_order);
    EXPECT_EQ(reference_at(200), "ok");
    EXPECT_EQ(outcome([&] {
                  poa->activate_object_with_id_and_priority(id, &world_.make_servant(), 300);
              }),
              bad_order);
    EXPECT_EQ(outcome([&] {
                  poa->activate_object_with_id_and_priority(id, &world_.make_servant(), 200);
              }),
              "ObjectAlreadyActive");
}

/// What a reference says stays true though its object could not be activated.
TEST_F(Refusals, OfActivationsLeaveReferencesAsTheyWere)
{
    const RTPortableServer::POA_var poa = world_.make_poa(
        "rt", {world_.server_declared(200),
               world_.root()->create_id_assignment_policy(PortableServer::USER_ID)});
    Servant& busy = world_.make_servant();
    poa->activate_object_with_id(id_of("other"), &busy);
    const CORBA::Object_var object =
        poa->create_reference_with_id_and_priority(id_of("valve"), target_id, 300);
    EXPECT_EQ(
        outcome([&] { poa->activate_object_with_id_and_priority(id_of("valve"), &busy, 300); }),
        "ServantAlreadyActive");
    EXPECT_EQ(outcome([&] { poa->activate_object_with_id_and_priority(id_of("new"), &busy, 300); }),
              "ServantAlreadyActive");
    Listener listener(world_);
    poa->activate_object_with_id(id_of("valve"), &listener.servant);
    Listener of_new(world_);
    poa->activate_object_with_id(id_of("new"), &of_new.servant);
    world_.activate();
    const Probe::Target_var valve = world_.to_client(object);
    valve->act();
    EXPECT_EQ(listener.priority, 300);
    const Probe::Target_var of_id = world_.to_client(poa, id_of("valve"));
    of_id->act();
    EXPECT_EQ(listener.priority, 300);
    const Probe::Target_var next = world_.to_client(poa, id_of("new"));
    next->act();
    EXPECT_EQ(of_new.priority, 200);
}

// --- priorities that are none here ---

TEST_F(Refusals, PrioritiesThatTheMappingDoesNotKnow)
{
    const RTCORBA::PriorityMappingManager_var manager =
        initial<RTCORBA::PriorityMappingManager>(world_.orb(), "PriorityMappingManager");
    manager->mapping(new Ten);
    EXPECT_EQ(outcome([&] { (void)world_.rtorb()->create_threadpool(0, 1, 0, 9, false, 0, 0); }),
              no_mapping);
    EXPECT_EQ(outcome([&] { (void)world_.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0); }),
              "ok");
    Listener listener(world_);
    const RTPortableServer::POA_var propagated =
        world_.make_poa("propagated", {world_.client_propagated(12)});
    const PortableServer::ObjectId_var id = propagated->activate_object(&listener.servant);
    const Probe::Target_var target = world_.to_client(propagated, id);
    const RTPortableServer::POA_var declared =
        world_.make_poa("declared", {world_.server_declared(30)});
    const PortableServer::ObjectId_var too_high = declared->activate_object(&world_.make_servant());
    const Probe::Target_var never = world_.to_client(declared, too_high);
    world_.activate();
    in_thread([&] {
        orb::ThreadStorage::current().priority = orb::Priority{20};
        EXPECT_EQ(outcome([&] { target->act(); }), no_mapping);
        orb::ThreadStorage::current().priority = orb::Priority{19};
        target->act();
        EXPECT_EQ(listener.priority, 19);
        EXPECT_EQ(outcome([&] { never->ping(); }), no_mapping);
    });
}

/// Refuses in one direction what is at least a limit, or makes it no priority of CORBA's.
class Limiting final : public RTCORBA::PriorityTransform {
  public:
    CORBA::Boolean inbound(RTCORBA::Priority& priority, const PortableServer::ObjectId&) override
    {
        if (priority == 500) priority = -1;
        if (priority == 30) ++priority; // that of the server
        return priority < 1000;
    }
    CORBA::Boolean outbound(RTCORBA::Priority& priority, const PortableServer::ObjectId&) override
    {
        if (priority == 50) priority = -1;
        return priority < 100;
    }
};

TEST_F(Refusals, PrioritiesThatTheTransformDoesNotLetPass)
{
    Listener end(world_);
    const RTPortableServer::POA_var poa = world_.make_poa("rt", {world_.client_propagated(12)});
    const PortableServer::ObjectId_var end_id = poa->activate_object(&end.servant);
    const CORBA::Object_var end_object = poa->id_to_reference(end_id);
    const CORBA::String_var text = world_.orb()->object_to_string(end_object);
    World middle;
    const RTCORBA::PriorityTransformManager_var manager =
        initial<RTCORBA::PriorityTransformManager>(middle.orb(), "PriorityTransformManager");
    manager->transform(new Limiting);
    const CORBA::Object_var onward_object = middle.orb()->string_to_object(text);
    const Probe::Target_var onward = Probe::Target::_unchecked_narrow(onward_object);
    std::string ended;
    Servant& calling = middle.make_servant();
    calling.action = [&] { ended = outcome([&] { onward->act(); }); };
    const RTPortableServer::POA_var middle_poa =
        middle.make_poa("rt", {middle.client_propagated(12)});
    const PortableServer::ObjectId_var id = middle_poa->activate_object(&calling);
    const Probe::Target_var target = middle.to_client(middle_poa, id);
    Listener declared(middle);
    const RTPortableServer::POA_var declaring =
        middle.make_poa("declared", {middle.server_declared(30)});
    const PortableServer::ObjectId_var declared_id = declaring->activate_object(&declared.servant);
    const Probe::Target_var of_server = middle.to_client(declaring, declared_id);
    world_.activate();
    middle.activate();
    in_thread([&] {
        const auto act_at = [&](orb::Priority priority) {
            orb::ThreadStorage::current().priority = priority;
            return outcome([&] { target->act(); });
        };
        EXPECT_EQ(act_at(1000), no_transform);
        EXPECT_EQ(act_at(500), no_transform);
        EXPECT_EQ(act_at(100), "ok");
        EXPECT_EQ(ended, no_transform);
        EXPECT_EQ(act_at(50), "ok");
        EXPECT_EQ(ended, no_transform);
        EXPECT_EQ(act_at(99), "ok");
        EXPECT_EQ(ended, "ok");
        EXPECT_EQ(end.priority, 99);
        of_server->act(); // what the server declares is changed, too
        EXPECT_EQ(declared.priority, 31);
    });
}

// --- threads of lanes ---

/// A servant may leave its lane's priority; the thread has it again for the next request.
TEST_F(Refusals, DoNotConcernPrioritiesThatServantsSet)
{
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(2);
    lanes[0] = {10, 1, 0};
    lanes[1] = {20, 1, 0};
    const auto pool = world_.rtorb()->create_threadpool_with_lanes(0, lanes, false, false, 0, 0);
    const RTPortableServer::POA_var poa =
        world_.make_poa("pool", {pool_policy(pool), world_.server_declared(20)});
    Servant& servant = world_.make_servant();
    std::atomic<RTCORBA::Priority> before{-1};
    std::atomic<RTCORBA::Priority> after{-1};
    servant.action = [&] {
        before = world_.current()->the_priority();
        world_.current()->the_priority(15);
        after = world_.current()->the_priority();
        EXPECT_EQ(outcome([&] { world_.current()->the_priority(-1); }), bad_param);
    };
    const PortableServer::ObjectId_var id = poa->activate_object(&servant);
    world_.activate();
    const Probe::Target_var target = world_.to_client(poa, id);
    for (int i = 0; i < 2; ++i) {
        target->act();
        EXPECT_EQ(before.exchange(-1), 20);
        EXPECT_EQ(after.exchange(-1), 15);
    }
}

// --- mutexes ---

/// Who waits for so long gets the mutex as soon as it is free.
TEST_F(Refusals, OfMutexesEndWhenTheyAreFree)
{
    const RTCORBA::Mutex_var mutex = world_.rtorb()->create_mutex();
    Event asked;
    std::atomic<int> shared{0}; // ThreadSanitizer does not know that kind of lock
    mutex->lock();
    std::thread other([&] {
        EXPECT_FALSE(mutex->try_lock(0));
        asked.set();
        EXPECT_TRUE(mutex->try_lock(TimeBase::TimeT{600'000'000})); // 60 s
        EXPECT_EQ(shared, 1);
        mutex->unlock();
    });
    ASSERT_TRUE(asked.wait());
    shared = 1;
    mutex->unlock();
    other.join();
    world_.rtorb()->destroy_mutex(mutex);
    EXPECT_EQ(outcome([&] { world_.rtorb()->destroy_mutex(RTCORBA::Mutex::_nil()); }), bad_param);
}

} // namespace
} // namespace kairos::rtcorba_testing
