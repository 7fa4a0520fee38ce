// SPDX-License-Identifier: Apache-2.0
//
// The Scheduling Service as its clients meet it, over loopback: every operation, what is refused,
// and clients at once.
#include "kairos/scheduler/service.h"

#include "kairos/corba/CORBA.h"
#include "kairos/ior/object_url.h"
#include "kairos/scheduler/servant.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace kairos;
using namespace RtecScheduler;
using KairosScheduler::ResponseList_var;
using scheduler::SchedulingService;

constexpr CORBA::Long ms = 10'000; // in units of 100 ns

CORBA::ORB_ptr make_orb(std::vector<std::string> options)
{
    static int count = 0;
    options.insert(options.begin(), {"test", "-ORBDebug", "0"});
    std::vector<char*> argv;
    for (std::string& option : options)
        argv.push_back(option.data());
    int argc = static_cast<int>(argv.size());
    return CORBA::ORB_init(argc, argv.data(), ("scheduler " + std::to_string(++count)).c_str());
}

/// A service in an ORB of its own, and a client in another.
class Scheduling : public testing::Test {
  protected:
    void start(sched::Policy policy = sched::Policy::rms, sched::OperationSet set = {})
    {
        service_.emplace(server_.in(), policy, std::move(set));
        const KairosScheduler::Scheduler_var local = service_->reference();
        const CORBA::String_var text = server_->object_to_string(local.in());
        const CORBA::Object_var object = client_->string_to_object(text.in());
        scheduler_ = KairosScheduler::Scheduler::_narrow(object.in());
    }
    void TearDown() override
    {
        scheduler_ = KairosScheduler::Scheduler::_nil();
        service_.reset();
        client_->destroy();
        server_->destroy();
    }

    handle_t create(const char* name, CORBA::Long period, CORBA::Long time,
                    Criticality_t criticality = MEDIUM_CRITICALITY)
    {
        const handle_t handle = scheduler_->create(name);
        scheduler_->set(handle, criticality, static_cast<Time>(time), 0, 0, period,
                        MEDIUM_IMPORTANCE, 0, 1, OPERATION);
        return handle;
    }

    /// The anomalies, as "severity description".
    std::vector<std::string> compute(CORBA::Long minimum = 1, CORBA::Long maximum = 99)
    {
        Scheduling_Anomaly_Set_var anomalies;
        scheduler_->compute_scheduling(minimum, maximum, infos_.out(), configs_.out(),
                                       anomalies.out());
        std::vector<std::string> result;
        for (CORBA::ULong i = 0; i < anomalies->length(); ++i)
            result.push_back(std::to_string(anomalies[i].severity) + ' ' +
                             anomalies[i].description.in());
        return result;
    }

    /// "os.sub.level" as the service says it.
    std::string priority_of(handle_t handle)
    {
        OS_Priority os = -1;
        Preemption_Subpriority_t sub = -1;
        Preemption_Priority_t level = -1;
        scheduler_->priority(handle, os, sub, level);
        return std::to_string(os) + '.' + std::to_string(sub) + '.' + std::to_string(level);
    }

    CORBA::ORB_var server_ = make_orb({"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    CORBA::ORB_var client_ = make_orb({});
    std::optional<SchedulingService> service_;
    KairosScheduler::Scheduler_var scheduler_;
    RT_Info_Set_var infos_;
    Config_Info_Set_var configs_;
};

using Strings = std::vector<std::string>;

TEST_F(Scheduling, OperationsAreCreatedFoundAndDescribed)
{
    start();
    const handle_t navigate = scheduler_->create("navigate");
    const handle_t log = scheduler_->create("log");
    EXPECT_EQ(navigate, 1);
    EXPECT_EQ(log, 2);
    EXPECT_THROW((void)scheduler_->create("log"), DUPLICATE_NAME);
    EXPECT_EQ(scheduler_->lookup("log"), log);
    EXPECT_EQ(scheduler_->lookup("nobody"), -1);
    scheduler_->set(navigate, HIGH_CRITICALITY, 20, 10, 5, 1000, VERY_LOW_IMPORTANCE, 7, 3,
                    OPERATION);
    scheduler_->add_dependency(navigate, log, 4, ONE_WAY_CALL);
    const RT_Info_var info = scheduler_->get(navigate);
    EXPECT_STREQ(info->entry_point, "navigate");
    EXPECT_EQ(info->handle, navigate);
    EXPECT_EQ(info->worst_case_execution_time, 20u);
    EXPECT_EQ(info->typical_execution_time, 10u);
    EXPECT_EQ(info->cached_execution_time, 5u);
    EXPECT_EQ(info->period, 1000);
    EXPECT_EQ(info->criticality, HIGH_CRITICALITY);
    EXPECT_EQ(info->importance, VERY_LOW_IMPORTANCE);
    EXPECT_EQ(info->quantum, 7u);
    EXPECT_EQ(info->threads, 3);
    EXPECT_EQ(info->priority, 0);
    ASSERT_EQ(info->dependencies.length(), 1u);
    EXPECT_EQ(info->dependencies[0].rt_info, log);
    EXPECT_EQ(info->dependencies[0].number_of_calls, 4);
    EXPECT_EQ(info->dependencies[0].dependency_type, ONE_WAY_CALL);
}

/// A24: whoever asks again makes nobody compute again.
TEST(SchedulingServant, ComputesOnceForASetThatDoesNotChange)
{
    const PortableServer::Servant_var<scheduler::Servant> servant =
        new scheduler::Servant(sched::Policy::rms, {});
    const auto compute = [&](CORBA::Long maximum) {
        RT_Info_Set_var infos;
        Config_Info_Set_var configs;
        Scheduling_Anomaly_Set_var anomalies;
        servant->compute_scheduling(1, maximum, infos.out(), configs.out(), anomalies.out());
        return infos->length();
    };
    EXPECT_THROW((void)compute(99), TASK_COUNT_MISMATCH);
    const handle_t first = servant->create("first");
    servant->set(first, MEDIUM_CRITICALITY, 10, 0, 0, 1000, MEDIUM_IMPORTANCE, 0, 1, OPERATION);
    EXPECT_EQ(compute(99), 1u);
    EXPECT_EQ(compute(99), 1u);
    EXPECT_EQ(servant->computed(), 1u);
    (void)compute(50);
    EXPECT_EQ(servant->computed(), 2u);
    servant->set_deadline(first, 900, 0);
    EXPECT_EQ(compute(50), 1u);
    EXPECT_EQ(servant->computed(), 3u);
    OS_Priority os = 0;
    Preemption_Subpriority_t sub = 0;
    Preemption_Priority_t level = 0;
    servant->priority(first, os, sub, level);
    EXPECT_EQ(os, 50);
}

/// A24: 2,000 operations near full load, which exact analysis would take long for.
TEST(SchedulingServant, OneQuestionIsBounded)
{
    const PortableServer::Servant_var<scheduler::Servant> servant =
        new scheduler::Servant(sched::Policy::rms, {});
    for (int i = 0; i < 2000; ++i) {
        const handle_t handle = servant->create(("o" + std::to_string(i)).c_str());
        const auto period = static_cast<CORBA::Long>(10'000'019 + 7919 * i);
        servant->set(handle, MEDIUM_CRITICALITY, static_cast<Time>(period / 2001), 0, 0, period,
                     MEDIUM_IMPORTANCE, 0, 1, OPERATION);
    }
    RT_Info_Set_var infos;
    Config_Info_Set_var configs;
    Scheduling_Anomaly_Set_var anomalies;
    servant->compute_scheduling(1, 2000, infos.out(), configs.out(), anomalies.out());
    EXPECT_EQ(infos->length(), 2000u);
    EXPECT_GT(anomalies->length(), 0u); // what was left open is said
}

// Burns and Wellings's set A: two of three meet their deadlines.
TEST_F(Scheduling, PrioritiesAndResponsesAreComputed)
{
    start();
    const handle_t a = create("a", 50 * ms, 12 * ms);
    const handle_t b = create("b", 40 * ms, 10 * ms);
    const handle_t c = create("c", 30 * ms, 10 * ms);
    EXPECT_EQ(compute(), (Strings{"1 'a' misses its deadline by 2 ms"}));
    EXPECT_EQ(priority_of(c), "99.0.0");
    EXPECT_EQ(priority_of(b), "98.0.1");
    EXPECT_EQ(priority_of(a), "97.0.2");
    EXPECT_EQ(scheduler_->last_scheduled_priority(), 2);
    ASSERT_EQ(infos_->length(), 3u);
    EXPECT_EQ(infos_[0].priority, 97);
    EXPECT_EQ(infos_[0].preemption_priority, 2);
    ASSERT_EQ(configs_->length(), 3u);
    EXPECT_EQ(configs_[1].thread_priority, 98);
    EXPECT_EQ(configs_[1].dispatching_type, STATIC_DISPATCHING);
    const ResponseList_var responses = scheduler_->responses();
    ASSERT_EQ(responses->length(), 3u);
    EXPECT_EQ(responses[2].handle, a);
    EXPECT_EQ(responses[2].worst_response_ns, 52'000'000);
    EXPECT_EQ(responses[2].deadline_ns, 50'000'000u);
    EXPECT_EQ(responses[2].how, KairosScheduler::misses);
    EXPECT_EQ(responses[0].how, KairosScheduler::meets);
    scheduler_->set_deadline(a, 52 * ms, 0);
    EXPECT_EQ(compute(), Strings{});
    scheduler_->set_deadline(a, 52 * ms, 1);
    EXPECT_EQ(compute().size(), 1u);
}

TEST_F(Scheduling, WhatIsCalledTakesOverThePriority)
{
    start();
    const handle_t caller = create("caller", 10 * ms, ms);
    const handle_t slow = create("slow", 90 * ms, ms);
    const handle_t called = create("called", 0, ms);
    scheduler_->add_dependency(slow, called, 1, TWO_WAY_CALL);
    scheduler_->add_dependency(caller, called, 2, TWO_WAY_CALL);
    EXPECT_EQ(compute(), Strings{});
    EXPECT_EQ(priority_of(called), priority_of(caller));
    const ResponseList_var responses = scheduler_->responses();
    ASSERT_EQ(responses->length(), 2u); // it is no task of its own
    EXPECT_EQ(responses[0].execution_ns, 3'000'000u);
}

TEST_F(Scheduling, EveryChangeTakesTheScheduleBack)
{
    start();
    const handle_t a = create("a", 50 * ms, 12 * ms);
    const auto is_scheduled = [&] {
        try {
            (void)priority_of(a);
            return true;
        } catch (const NOT_SCHEDULED&) {
            return false;
        }
    };
    EXPECT_FALSE(is_scheduled());
    EXPECT_THROW((void)scheduler_->last_scheduled_priority(), NOT_SCHEDULED);
    EXPECT_THROW((void)ResponseList_var(scheduler_->responses()), NOT_SCHEDULED);
    (void)compute();
    EXPECT_TRUE(is_scheduled());
    const handle_t b = create("b", 50 * ms, 12 * ms);
    EXPECT_FALSE(is_scheduled());
    (void)compute();
    scheduler_->add_dependency(a, b, 1, TWO_WAY_CALL);
    EXPECT_FALSE(is_scheduled());
    (void)compute();
    scheduler_->set_deadline(b, 0, 5);
    EXPECT_FALSE(is_scheduled());
}

TEST_F(Scheduling, UnknownThingsAreRefused)
{
    start();
    const handle_t a = create("a", 50 * ms, 12 * ms);
    OS_Priority os = 0;
    Preemption_Priority_t level = 0;
    Preemption_Subpriority_t sub = 0;
    Dispatching_Type_t type = STATIC_DISPATCHING;
    for (const handle_t unknown : {0, -1, 2, 2147483647}) {
        EXPECT_THROW((void)RT_Info_var(scheduler_->get(unknown)), UNKNOWN_TASK);
        EXPECT_THROW(scheduler_->priority(unknown, os, sub, level), UNKNOWN_TASK);
        EXPECT_THROW(scheduler_->add_dependency(a, unknown, 1, TWO_WAY_CALL), UNKNOWN_TASK);
        EXPECT_THROW(scheduler_->set_deadline(unknown, 0, 0), UNKNOWN_TASK);
    }
    EXPECT_THROW(scheduler_->entry_point_priority("nobody", os, sub, level), UNKNOWN_TASK);
    EXPECT_THROW(scheduler_->dispatch_configuration(0, os, type), NOT_SCHEDULED);
    (void)compute();
    scheduler_->entry_point_priority("a", os, sub, level);
    EXPECT_EQ(os, 99);
    scheduler_->dispatch_configuration(0, os, type);
    EXPECT_THROW(scheduler_->dispatch_configuration(1, os, type), UNKNOWN_PRIORITY_LEVEL);
    EXPECT_THROW(scheduler_->dispatch_configuration(-1, os, type), UNKNOWN_PRIORITY_LEVEL);
}

TEST_F(Scheduling, WrongValuesAreRefusedAndChangeNothing)
{
    start();
    const handle_t a = create("a", 50 * ms, 12 * ms);
    const auto set = [&](Time worst, Time typical, CORBA::Long period, CORBA::Long threads,
                         Info_Type_t type) {
        scheduler_->set(a, LOW_CRITICALITY, worst, typical, 0, period, LOW_IMPORTANCE, 0, threads,
                        type);
    };
    EXPECT_THROW(set(1, 2, 5, 1, OPERATION), CORBA::BAD_PARAM);
    EXPECT_THROW(set(~Time{0}, 0, 5, 1, OPERATION), CORBA::BAD_PARAM);
    EXPECT_THROW(set(1, 0, -5, 1, OPERATION), CORBA::BAD_PARAM);
    EXPECT_THROW(set(1, 0, 5, -1, OPERATION), CORBA::BAD_PARAM);
    EXPECT_THROW(set(1, 0, 5, 10'001, OPERATION), CORBA::IMP_LIMIT);
    EXPECT_THROW(set(1, 0, 5, 1, CONJUNCTION), CORBA::NO_IMPLEMENT);
    EXPECT_THROW((void)scheduler_->create(""), CORBA::BAD_PARAM);
    EXPECT_THROW((void)scheduler_->create(std::string(1025, 'x').c_str()), CORBA::IMP_LIMIT);
    EXPECT_THROW(scheduler_->add_dependency(a, a, 0, TWO_WAY_CALL), CORBA::BAD_PARAM);
    EXPECT_THROW(scheduler_->add_dependency(a, a, 1'000'001, TWO_WAY_CALL), CORBA::IMP_LIMIT);
    EXPECT_THROW((void)compute(-2147483647 - 1, 0), CORBA::BAD_PARAM);
    const RT_Info_var info = scheduler_->get(a);
    EXPECT_EQ(info->period, 50 * ms);
    EXPECT_EQ(info->criticality, MEDIUM_CRITICALITY);
    EXPECT_EQ(compute(), Strings{});
}

TEST_F(Scheduling, SetsThatCannotBeScheduledAreReported)
{
    start();
    EXPECT_THROW((void)compute(), TASK_COUNT_MISMATCH);
    const handle_t a = create("a", 50 * ms, 12 * ms);
    scheduler_->add_dependency(a, a, 1, TWO_WAY_CALL);
    EXPECT_EQ(compute(), (Strings{"0 operations call each other in a cycle: a -> a"}));
    EXPECT_EQ(configs_->length(), 0u);
    EXPECT_EQ(infos_->length(), 1u);
    EXPECT_THROW((void)priority_of(a), NOT_SCHEDULED);
}

TEST_F(Scheduling, TooMuchWorkIsAnExceptionExceptForMuf)
{
    start();
    create("a", 10 * ms, 6 * ms);
    create("b", 10 * ms, 5 * ms);
    EXPECT_THROW((void)compute(), UTILIZATION_BOUND_EXCEEDED);
    EXPECT_THROW((void)priority_of(1), NOT_SCHEDULED);
}

TEST_F(Scheduling, MufKeepsWhatIsCritical)
{
    start(sched::Policy::muf);
    const handle_t a = create("a", 10 * ms, 6 * ms, VERY_HIGH_CRITICALITY);
    create("b", 10 * ms, 5 * ms, LOW_CRITICALITY);
    EXPECT_EQ(compute(), (Strings{"1 'b' is not guaranteed to meet its deadline"}));
    EXPECT_EQ(configs_[0].dispatching_type, LAXITY_DISPATCHING);
    EXPECT_EQ(priority_of(a), "99.0.0");
}

TEST_F(Scheduling, PrioritiesMayBeFewOrTheOtherWayRound)
{
    start();
    const handle_t a = create("a", 10 * ms, ms);
    const handle_t b = create("b", 20 * ms, ms);
    EXPECT_EQ(compute(5, 5),
              (Strings{"2 too few priorities: these share one and do not preempt each other: "
                       "'a' 'b'"}));
    EXPECT_EQ(priority_of(b), "5.1.0");
    EXPECT_EQ(compute(255, 10), Strings{}); // smaller is more urgent
    EXPECT_EQ(priority_of(a), "10.0.0");
    EXPECT_EQ(priority_of(b), "11.0.1");
}

TEST_F(Scheduling, BeginsWithWhatItIsGivenAndIsFoundByItsName)
{
    sched::OperationSet set;
    ASSERT_TRUE(set.add({.name = "given",
                         .worst_case_time = std::chrono::milliseconds(1),
                         .period = std::chrono::milliseconds(5)})
                    .ok());
    start(sched::Policy::edf, std::move(set));
    const KairosScheduler::Scheduler_var local = service_->reference();
    const CORBA::String_var text = server_->object_to_string(local.in());
    const auto address = ior::targets(ior::from_string(text.in()).value()).front().address;
    const std::string url =
        "corbaloc::127.0.0.1:" + std::to_string(address.port) + "/ScheduleService";
    const CORBA::Object_var object = client_->string_to_object(url.c_str());
    const Scheduler_var found = Scheduler::_narrow(object.in());
    ASSERT_FALSE(CORBA::is_nil(found.in()));
    EXPECT_EQ(found->lookup("given"), 1);
    EXPECT_EQ(compute(), Strings{});
    EXPECT_EQ(configs_[0].dispatching_type, DEADLINE_DISPATCHING);
}

TEST_F(Scheduling, ClientsMayComeAtOnce)
{
    start();
    std::atomic<int> created{0};
    {
        std::vector<std::jthread> clients;
        for (int client = 0; client < 4; ++client)
            clients.emplace_back([&, client] {
                for (int i = 0; i < 25; ++i) {
                    const std::string name = std::to_string(client) + "." + std::to_string(i);
                    create(name.c_str(), 1000 * ms, 1);
                    ++created;
                    RT_Info_Set_var infos;
                    Config_Info_Set_var configs;
                    Scheduling_Anomaly_Set_var anomalies;
                    try {
                        scheduler_->compute_scheduling(1, 99, infos.out(), configs.out(),
                                                       anomalies.out());
                        (void)scheduler_->last_scheduled_priority();
                    } catch (const NOT_SCHEDULED&) {
                        // Another client has changed the set.
                    }
                }
            });
    }
    EXPECT_EQ(created, 100);
    (void)compute();
    EXPECT_EQ(infos_->length(), 100u);
}

} // namespace
