// SPDX-License-Identifier: Apache-2.0
//
// RTCosScheduling (Real-Time CORBA 1.2, the Scheduling Service): names of an analysis become the
// priorities of threads, POAs and objects.
#include "kairos/rtscheduling/schedulers.h"
#include "kairos/scheduler/service.h"
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

using namespace std::chrono_literals;
using rtscheduling::Schedule;
using sched::OperationSet;

constexpr const char* bad_param = "BAD_PARAM 0x0 NO";

/// Rate-monotonic: control before guide before log. Whoever waits for `filter` is guide.
OperationSet operations()
{
    OperationSet set;
    const auto add = [&set](const char* name, sched::Time period) {
        const auto added = set.add({.name = name, .worst_case_time = 1ms, .period = period});
        EXPECT_TRUE(added.ok());
        return added.value();
    };
    (void)add("Flight::control", 20ms);
    const auto guide = add("Flight::guide", 100ms);
    (void)add("Journal::log", 1s);
    const auto filter = add("Tracks::filter", 0ms);
    EXPECT_TRUE(set.add_dependency(guide, {.callee = filter}).ok());
    return set;
}

Schedule schedule_of(CORBA::ORB_ptr orb)
{
    const OperationSet set = operations();
    const auto analysis = sched::analyse(set, {.policy = sched::Policy::rms});
    EXPECT_TRUE(analysis.ok());
    return Schedule::of(orb, set, analysis.value());
}

RTCORBA::Priority corba_priority(int native)
{
    RTCORBA::Priority priority = -1;
    EXPECT_TRUE(orb::LinearPriorityMapping().to_corba(native, priority));
    return priority;
}

const RTCORBA::Priority urgent = corba_priority(99);
const RTCORBA::Priority middle = corba_priority(98);
const RTCORBA::Priority slow = corba_priority(97);

TEST(Schedules, AreWhatTheAnalysisSays)
{
    World world;
    const Schedule schedule = schedule_of(world.orb());
    EXPECT_EQ(schedule.activity("Flight::control"), urgent);
    EXPECT_EQ(schedule.activity("Flight::guide"), middle);
    EXPECT_EQ(schedule.activity("Journal::log"), slow);
    EXPECT_EQ(schedule.activity("Tracks::filter"), middle);
    EXPECT_FALSE(schedule.activity("Flight"));
    EXPECT_FALSE(schedule.activity(""));
    EXPECT_EQ(schedule.priorities(), (std::vector{slow, middle, urgent}));
}

TEST(Schedules, GiveObjectsTheHighestOfTheirOperations)
{
    World world;
    Schedule schedule = schedule_of(world.orb());
    EXPECT_EQ(schedule.object("Flight"), urgent);
    EXPECT_EQ(schedule.object("Flight::guide"), middle);
    EXPECT_EQ(schedule.object("Journal"), slow);
    EXPECT_FALSE(schedule.object("Fli"));
    EXPECT_FALSE(schedule.object("Flight::"));
    schedule.set("Flight", 7);
    EXPECT_EQ(schedule.object("Flight"), 7);
    EXPECT_EQ(outcome([&] { schedule.set("none", -1); }), bad_param);
}

TEST(Schedules, CanBeAskedOfASchedulingService)
{
    World world;
    const scheduler::SchedulingService service(world.orb(), sched::Policy::rms, operations());
    const KairosScheduler::Scheduler_var reference = service.reference();
    const Schedule schedule = Schedule::of(world.orb(), reference.in());
    EXPECT_EQ(schedule.activity("Flight::control"), urgent);
    EXPECT_EQ(schedule.activity("Tracks::filter"), middle);
    EXPECT_EQ(schedule.priorities(), (std::vector{slow, middle, urgent}));
}

TEST(Schedules, NeedAServiceThatCanComputeOne)
{
    World world;
    OperationSet cycle = operations();
    EXPECT_TRUE(cycle.add_dependency(3, {.callee = 1}).ok());
    const scheduler::SchedulingService service(world.orb(), sched::Policy::rms, cycle);
    const KairosScheduler::Scheduler_var reference = service.reference();
    EXPECT_EQ(outcome([&] { (void)Schedule::of(world.orb(), reference.in()); }),
              "NO_RESOURCES 0x0 NO");
    EXPECT_EQ(outcome([&] { (void)Schedule::of(world.orb(), RtecScheduler::Scheduler::_nil()); }),
              bad_param);
    EXPECT_EQ(outcome([&] { (void)Schedule::of(CORBA::ORB::_nil(), reference.in()); }), bad_param);
}

TEST(Schedules, NeedPrioritiesThatTheMappingKnows)
{
    World world;
    const auto managers =
        initial<RTCORBA::PriorityMappingManager>(world.orb(), "PriorityMappingManager");
    const RTCORBA::PriorityMappingManager_var manager = managers;
    manager->mapping(new Ten);
    EXPECT_EQ(outcome([&] { (void)schedule_of(world.orb()); }), "DATA_CONVERSION 0x4f4d0002 NO");
}

// --- ClientScheduler -----------------------------------------------------------------------------

TEST(ClientScheduler, GivesTheThreadThePriorityOfItsActivity)
{
    World world;
    const RTCosScheduling::ClientScheduler_var scheduler =
        rtscheduling::make_client_scheduler(world.orb(), schedule_of(world.orb()));
    in_thread([&] {
        scheduler->schedule_activity("Journal::log");
        EXPECT_EQ(world.current()->the_priority(), slow);
        EXPECT_EQ(native_priority(), native_of(slow));
        scheduler->schedule_activity("Flight::control");
        EXPECT_EQ(world.current()->the_priority(), urgent);
        EXPECT_EQ(native_priority(), native_of(urgent));
    });
}

TEST(ClientScheduler, LeavesTheThreadAsItIsForNamesThatItDoesNotKnow)
{
    World world;
    const RTCosScheduling::ClientScheduler_var scheduler =
        rtscheduling::make_client_scheduler(world.orb(), schedule_of(world.orb()));
    in_thread([&] {
        scheduler->schedule_activity("Journal::log");
        for (const char* name : {"journal::log", "Journal", "", "Journal::log "})
            EXPECT_THROW(scheduler->schedule_activity(name), RTCosScheduling::UnknownName) << name;
        EXPECT_EQ(outcome([&] { scheduler->schedule_activity(nullptr); }), bad_param);
        EXPECT_EQ(world.current()->the_priority(), slow);
    });
    EXPECT_EQ(
        outcome([] { (void)rtscheduling::make_client_scheduler(CORBA::ORB::_nil(), Schedule()); }),
        bad_param);
}

// --- ServerScheduler -----------------------------------------------------------------------------

class ServerScheduler : public testing::Test {
  protected:
    [[nodiscard]] RTPortableServer::POA_ptr make_poa(const char* name)
    {
        const PortableServer::POAManager_var manager = world_.root()->the_POAManager();
        const PortableServer::POA_var poa =
            scheduler_->create_POA(world_.root(), name, manager, CORBA::PolicyList());
        return RTPortableServer::POA::_narrow(poa);
    }
    /// At which priority a call is served that says none.
    [[nodiscard]] RTCORBA::Priority served_at(Listener& listener, Probe::Target_ptr target)
    {
        in_thread([&] { target->act(); });
        EXPECT_EQ(listener.native, native_of(listener.priority));
        return listener.priority;
    }

    World world_;
    RTCosScheduling::ServerScheduler_var scheduler_ =
        rtscheduling::make_server_scheduler(world_.orb(), schedule_of(world_.orb()));
};

TEST_F(ServerScheduler, ServesObjectsAtThePrioritiesOfTheirNames)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    Listener flight(world_);
    Listener journal(world_);
    Listener other(world_);
    std::vector<Probe::Target_var> targets;
    for (Listener* listener : {&flight, &journal, &other}) {
        const PortableServer::ObjectId_var id = poa->activate_object(&listener->servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        if (listener == &flight) scheduler_->schedule_object(object, "Flight");
        if (listener == &journal) scheduler_->schedule_object(object, "Journal::log");
        targets.emplace_back(world_.to_client(poa, id)); // made afterwards
    }
    world_.activate();
    EXPECT_EQ(served_at(flight, targets[0]), urgent);
    EXPECT_EQ(served_at(journal, targets[1]), slow);
    EXPECT_EQ(served_at(other, targets[2]), slow); // the lowest of the schedule
    EXPECT_EQ(exposed(targets[0]).priority_model->server_priority, urgent);
    EXPECT_EQ(exposed(targets[2]).priority_model->server_priority, slow);
}

TEST_F(ServerScheduler, SchedulesWhatReferencesOfBeforeLeadTo)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    Listener listener(world_);
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const Probe::Target_var before = world_.to_client(object);
    const Probe::Target_var local = Probe::Target::_narrow(object);
    world_.activate();
    EXPECT_EQ(served_at(listener, before), slow);
    scheduler_->schedule_object(object, "Flight::guide");
    EXPECT_EQ(served_at(listener, before), middle);
    EXPECT_EQ(served_at(listener, local), middle);
    scheduler_->schedule_object(object, "Flight"); // again, otherwise
    EXPECT_EQ(served_at(listener, before), urgent);
}

TEST_F(ServerScheduler, SchedulesObjectsThatAreNotActiveYet)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    Listener listener(world_);
    const CORBA::Object_var object = poa->create_reference(target_id);
    scheduler_->schedule_object(object, "Flight");
    const PortableServer::ObjectId_var id = poa->reference_to_id(object);
    poa->activate_object_with_id(id, &listener.servant);
    world_.activate();
    const Probe::Target_var target = world_.to_client(object);
    EXPECT_EQ(served_at(listener, target), urgent);
}

TEST_F(ServerScheduler, ThreadsOfThePoolServe)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    Listener listener(world_);
    std::atomic<bool> is_pools{false};
    const auto listen = listener.servant.action;
    listener.servant.action = [&] {
        char name[16] = {};
        ::pthread_getname_np(::pthread_self(), name, sizeof name);
        is_pools = std::string_view(name).starts_with("kairos-rt-");
        listen();
    };
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    world_.activate();
    const Probe::Target_var target = world_.to_client(poa, id);
    EXPECT_EQ(served_at(listener, target), slow);
    EXPECT_TRUE(is_pools);
}

TEST_F(ServerScheduler, KeepsPoliciesThatAreNotOfRealTime)
{
    const PortableServer::POAManager_var manager = world_.root()->the_POAManager();
    const PortableServer::POA_var poa = scheduler_->create_POA(
        world_.root(), "named", manager,
        list_of({world_.root()->create_id_assignment_policy(PortableServer::USER_ID)}));
    Listener listener(world_);
    poa->activate_object_with_id(id_of("flight"), &listener.servant);
    const CORBA::Object_var object = poa->id_to_reference(id_of("flight"));
    scheduler_->schedule_object(object, "Flight");
    world_.activate();
    const Probe::Target_var target = world_.to_client(object);
    EXPECT_EQ(served_at(listener, target), urgent);
}

/// The index that create_POA names, or -1.
int refused_index(RTCosScheduling::ServerScheduler_ptr scheduler, World& world,
                  std::initializer_list<CORBA::Policy_ptr> policies)
{
    const PortableServer::POAManager_var manager = world.root()->the_POAManager();
    try {
        const PortableServer::POA_var poa =
            scheduler->create_POA(world.root(), "refused", manager, list_of(policies));
        poa->destroy(true, true);
    } catch (const PortableServer::POA::InvalidPolicy& invalid) {
        return invalid.index;
    }
    return -1;
}

TEST_F(ServerScheduler, RefusesPoliciesThatContradictTheSchedule)
{
    const auto named = [this] {
        return world_.root()->create_id_assignment_policy(PortableServer::USER_ID);
    };
    EXPECT_EQ(refused_index(scheduler_, world_, {named()}), -1);
    EXPECT_EQ(refused_index(scheduler_, world_, {world_.server_declared(slow)}), 0);
    EXPECT_EQ(refused_index(scheduler_, world_, {named(), world_.client_propagated(0)}), 1);
    EXPECT_EQ(
        refused_index(scheduler_, world_, {named(), world_.rtorb()->create_threadpool_policy(1)}),
        1);
    // What create_POA itself refuses, as it counts.
    EXPECT_EQ(refused_index(scheduler_, world_, {named(), named()}), 1);
    EXPECT_EQ(refused_index(scheduler_, world_, {named(), CORBA::Policy::_nil()}), 1);
    EXPECT_EQ(refused_index(scheduler_, world_,
                            {named(), world_.root()->create_thread_policy(
                                          PortableServer::MAIN_THREAD_MODEL)}),
              1);
    EXPECT_EQ(refused_index(
                  scheduler_, world_,
                  {world_.rtorb()->create_priority_banded_connection_policy(bands_of({{0, 10}}))}),
              0); // no lane has its objects
}

TEST_F(ServerScheduler, MakesEachPoaOnce)
{
    const RTPortableServer::POA_var poa = make_poa("once");
    EXPECT_THROW((void)make_poa("once"), PortableServer::POA::AdapterAlreadyExists);
    const PortableServer::POA_var child =
        scheduler_->create_POA(poa, "once", PortableServer::POAManager::_nil(), {});
    EXPECT_FALSE(CORBA::is_nil(child));
}

TEST_F(ServerScheduler, WantsArguments)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    const CORBA::Object_var object = poa->create_reference(target_id);
    const auto create = [&](PortableServer::POA_ptr parent, const char* name) {
        return outcome([&] {
            const PortableServer::POA_var made =
                scheduler_->create_POA(parent, name, PortableServer::POAManager::_nil(), {});
        });
    };
    EXPECT_EQ(create(PortableServer::POA::_nil(), "x"), bad_param);
    EXPECT_EQ(create(poa, nullptr), bad_param);
    EXPECT_EQ(outcome([&] { scheduler_->schedule_object(CORBA::Object::_nil(), "Flight"); }),
              bad_param);
    EXPECT_EQ(outcome([&] { scheduler_->schedule_object(object, nullptr); }), bad_param);
    EXPECT_EQ(
        outcome([&] { (void)rtscheduling::make_server_scheduler(CORBA::ORB::_nil(), Schedule()); }),
        bad_param);
    EXPECT_EQ(outcome([&] { (void)rtscheduling::make_server_scheduler(world_.orb(), Schedule()); }),
              bad_param);
}

TEST_F(ServerScheduler, SchedulesNamesAndObjectsThatItKnows)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    const CORBA::Object_var object = poa->create_reference(target_id);
    EXPECT_THROW(scheduler_->schedule_object(object, "flight"), RTCosScheduling::UnknownName);
    EXPECT_THROW(scheduler_->schedule_object(object, ""), RTCosScheduling::UnknownName);
    const CORBA::Object_var others = world_.root()->create_reference(target_id);
    EXPECT_EQ(outcome([&] { scheduler_->schedule_object(others, "Flight"); }), bad_param);
    EXPECT_EQ(outcome([&] { scheduler_->schedule_object(world_.current(), "Flight"); }), bad_param);
    poa->destroy(true, true);
    EXPECT_EQ(outcome([&] { scheduler_->schedule_object(object, "Flight"); }), bad_param);
}

TEST_F(ServerScheduler, BelongsBeforeTheOrbServes)
{
    World world;
    world.activate();
    EXPECT_EQ(outcome([&] {
                  (void)rtscheduling::make_server_scheduler(world.orb(), schedule_of(world.orb()));
              }),
              "BAD_INV_ORDER 0x0 NO");
}

/// Requests look the priorities up while the program changes them.
TEST_F(ServerScheduler, SchedulesWhileItIsCalled)
{
    const RTPortableServer::POA_var poa = make_poa("scheduled");
    Listener listener(world_);
    const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
    const CORBA::Object_var object = poa->id_to_reference(id);
    const Probe::Target_var target = world_.to_client(object);
    world_.activate();
    std::atomic<bool> done{false};
    std::thread caller([&] {
        while (!done)
            target->act();
    });
    std::vector<CORBA::Object_var> others;
    for (int i = 0; i < 300; ++i) {
        others.emplace_back(poa->create_reference(target_id));
        scheduler_->schedule_object(others.back(), "Flight");
        scheduler_->schedule_object(object, i % 2 == 0 ? "Flight" : "Journal");
    }
    done = true;
    caller.join();
    EXPECT_EQ(served_at(listener, target), slow);
}

} // namespace
} // namespace kairos::rtcorba_testing
