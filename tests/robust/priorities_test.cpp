// SPDX-License-Identifier: Apache-2.0
//
// Priorities from the client's thread to the server's: reactor-per-priority.
#include "kairos/ior/policies.h"
#include "kairos/net/thread.h"
#include "kairos/orb/thread_storage.h"
#include "tests/malformed/fixture.h"
#include "tests/robust/local.h"
#include "tests/robust/permission.h"

#include <pthread.h>
#include <sched.h>

namespace kairos::orb_testing {
namespace {

using orb::Priority;
using orb::ThreadStorage;

/// The priority of the thread that serves a call, when the calling thread has this one.
class Priorities : public testing::Test {
  protected:
    explicit Priorities()
        : server_("reactor-per-priority",
                  {"-ORBLanes", "0,100,200:2,300:each", "-ORBDebug", "0", "-ORBCollocation", "no"})
    {
        server_.servant().action = [this] {
            served_at_ = ThreadStorage::current().priority.value_or(-1);
        };
    }
    ~Priorities() override { ThreadStorage::current().priority.reset(); }

    Priority served_at(const Probe::Target_var& target, Priority priority)
    {
        ThreadStorage::current().priority = priority;
        target->act();
        return served_at_;
    }

    LogLines log_;
    RunningServer server_;
    Client client_;
    std::atomic<Priority> served_at_{-1};
};

TEST_F(Priorities, OfTheCallerChooseTheLane)
{
    const Probe::Target_var target = client_.target(server_.reference());
    EXPECT_EQ(served_at(target, 0), 0);
    EXPECT_EQ(served_at(target, 99), 0);
    EXPECT_EQ(served_at(target, 100), 100);
    EXPECT_EQ(served_at(target, 199), 100);
    EXPECT_EQ(served_at(target, 200), 200);
    EXPECT_EQ(served_at(target, 299), 200);
    EXPECT_EQ(served_at(target, 300), 300);
    EXPECT_EQ(served_at(target, orb::priority_max), 300);
    EXPECT_EQ(served_at(target, 0), 0);
}

/// A server that says where its lanes are as TAO's do, and serves by the address that a request
/// came to, as they do.
TEST_F(Priorities, ChooseTheAddressThatATaoServerHasForThem)
{
    const auto by_tao = [&](ior::IiopProfile& profile) {
        auto& tagged = component(profile, ior::tag_priority_addresses);
        const auto addresses = ior::decode_priority_addresses(tagged).value();
        std::vector<ior::TaoEndpoint> endpoints;
        for (const ior::PriorityAddress& each : addresses)
            endpoints.push_back({each.priority, each.address});
        tagged = ior::make_tao_endpoints(endpoints);
    };
    const Probe::Target_var target = client_.target(changed(server_.reference(), by_tao));
    for (const auto& [priority, lane] : std::initializer_list<std::pair<Priority, Priority>>{
             {0, 0}, {99, 0}, {100, 100}, {199, 100}, {200, 200}, {32767, 300}, {300, 300}, {1, 0}})
        EXPECT_EQ(served_at(target, priority), lane) << priority;

    // Where the component cannot be read, all go to the address that everybody knows.
    const Probe::Target_var other =
        client_.target(changed(server_.reference(), [&](ior::IiopProfile& profile) {
            by_tao(profile);
            component(profile, ior::tag_tao_endpoints).data.pop_back();
        }));
    for (const Priority priority : std::initializer_list<Priority>{0, 100, 300})
        EXPECT_EQ(served_at(other, priority), 0);

    // An object whose priority the server declares is called there, whoever calls.
    const Probe::Target_var declared =
        client_.target(changed(server_.reference(), [&](ior::IiopProfile& profile) {
            by_tao(profile);
            ior::ExposedPolicies policies;
            policies.priority_model = {.client_propagated = false, .server_priority = 200};
            profile.components.push_back(ior::make_policies(policies));
        }));
    for (const Priority priority : std::initializer_list<Priority>{0, 100, 300})
        EXPECT_EQ(served_at(declared, priority), 200);
}

TEST_F(Priorities, HaveConnectionsOfTheirOwn)
{
    const Probe::Target_var target = client_.target(server_.reference());
    const std::size_t before = descriptors();
    for (const Priority priority : std::initializer_list<Priority>{0, 100, 200, 0, 100, 200})
        (void)served_at(target, priority);
    EXPECT_EQ(descriptors(), before + 6); // both ends of three
}

/// Whoever does not know of priorities finds the first lane.
TEST_F(Priorities, OthersAreServedAtTheLowest)
{
    RawPeer peer = server_.connect();
    peer.send(request(server_.key(), "act").finish());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(served_at_, 0);
}

/// A low request that takes long delays no high one: they share nothing.
TEST_F(Priorities, HighOnesDoNotWaitForLowOnes)
{
    const Probe::Target_var target = client_.target(server_.reference());
    Event low_inside;
    Event high_done;
    server_.servant().action = [&] {
        if (ThreadStorage::current().priority != Priority{0}) return;
        low_inside.set();
        EXPECT_TRUE(high_done.wait());
    };
    std::thread low([&] {
        ThreadStorage::current().priority = 0;
        target->act();
    });
    ASSERT_TRUE(low_inside.wait());
    ThreadStorage::current().priority = 200;
    target->act();
    high_done.set();
    low.join();
}

/// A lane with several threads serves as many requests at once.
TEST_F(Priorities, MayHaveAPool)
{
    const Probe::Target_var target = client_.target(server_.reference());
    std::atomic<int> inside{0};
    Event both;
    server_.servant().action = [&] {
        if (++inside == 2) both.set();
        EXPECT_TRUE(both.wait());
    };
    const auto call = [&] {
        ThreadStorage::current().priority = 200;
        target->act();
    };
    std::thread other(call);
    call();
    other.join();
}

/// As many as there are connections are served at once.
TEST_F(Priorities, MayHaveAThreadForEachConnection)
{
    const Probe::Target_var target = client_.target(server_.reference());
    constexpr int count = 5;
    std::atomic<int> inside{0};
    Event all;
    server_.servant().action = [&] {
        EXPECT_EQ(ThreadStorage::current().priority, Priority{300});
        if (++inside == count) all.set();
        EXPECT_TRUE(all.wait());
    };
    std::vector<std::thread> callers;
    for (int i = 0; i < count; ++i)
        callers.emplace_back([&] {
            ThreadStorage::current().priority = 300;
            target->act();
        });
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(inside, count);
}

/// A server without -ORBLanes, and where it serves.
class DefaultLanes : public testing::Test {
  protected:
    DefaultLanes()
    {
        server_.servant().action = [this] {
            served_at_ = ThreadStorage::current().priority.value_or(-1);
            scheduled_as_ = ::sched_getscheduler(0);
        };
        server_.manager()->activate();
    }

    std::atomic<Priority> served_at_{-1};
    std::atomic<int> scheduled_as_{-1};
    RunningServer server_{"reactor-per-priority",
                          {"-ORBDebug", "0", "-ORBCollocation", "no"},
                          RunningServer::Start::holding};
    Client client_;
};

TEST_F(DefaultLanes, AreOneForOrdinaryThreadsAndOneForRealTime)
{
    const Probe::Target_var target = client_.target(server_.reference());
    for (const auto& [priority, lane] : std::initializer_list<std::pair<Priority, Priority>>{
             {0, 0}, {1, 1}, {334, 1}, {16'384, 1}, {orb::priority_max, 1}, {0, 0}}) {
        ThreadStorage::current().priority = priority;
        target->act();
        EXPECT_EQ(served_at_, lane) << priority;
    }
    ThreadStorage::current().priority.reset();
}

/// The client's thread has said nothing to the ORB: its priority is looked up.
TEST_F(DefaultLanes, ServeThreadsOfRealTimeInRealTime)
{
    bool allowed = false;
    std::thread([&] {
        const net::Scheduling modest{.policy = net::SchedulingPolicy::fifo, .priority = 10};
        allowed = net::schedule_this_thread(modest).ok();
        if (!allowed) return;
        const Probe::Target_var target = client_.target(server_.reference());
        target->act();
    }).join();
    if (!allowed) GTEST_SKIP() << "the process may not have real-time priorities";
    EXPECT_EQ(served_at_, 1);
    EXPECT_EQ(scheduled_as_, SCHED_FIFO);
}

TEST_F(DefaultLanes, ServeOrdinaryThreadsAsSuch)
{
    std::thread([&] {
        const Probe::Target_var target = client_.target(server_.reference());
        target->act();
    }).join();
    EXPECT_EQ(served_at_, 0);
    EXPECT_EQ(scheduled_as_, SCHED_OTHER);
}

/// With the direct mapping 1 is the first of real time, too.
TEST(DirectMapping, HasTheDefaultLanes)
{
    const LogLines log;
    RunningServer server("reactor-per-priority", {"-ORBPriorityMapping", "direct", "-ORBDebug", "0",
                                                  "-ORBCollocation", "no"});
    std::atomic<Priority> served_at{-1};
    server.servant().action = [&] { served_at = ThreadStorage::current().priority.value_or(-1); };
    Client client({"-ORBPriorityMapping", "direct"});
    const Probe::Target_var target = client.target(server.reference());
    for (const auto& [priority, lane] : std::initializer_list<std::pair<Priority, Priority>>{
             {0, 0}, {1, 1}, {50, 1}, {99, 1}, {0, 0}}) {
        ThreadStorage::current().priority = priority;
        target->act();
        EXPECT_EQ(served_at, lane) << priority;
    }
    ThreadStorage::current().priority.reset();
}

TEST(DirectMapping, HasNoLanesAboveTheNativePriorities)
{
    const LogLines log;
    const CORBA::ORB_var orb =
        make_orb({"-ORBConcurrency", "reactor-per-priority", "-ORBPriorityMapping", "direct",
                  "-ORBLanes", "0,100", "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
    try {
        const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
        ADD_FAILURE() << "it serves";
    } catch (const CORBA::SystemException& exception) {
        EXPECT_NE(std::string(exception.what())
                      .find("-ORBLanes: no native priority for 100 in the "
                            "mapping (-ORBPriorityMapping)"),
                  std::string::npos)
            << exception.what();
    }
    orb->destroy();
}

/// Whether the process may have real-time priorities.
bool real_time_is_allowed()
{
    const net::Scheduling least{.policy = net::SchedulingPolicy::fifo, .priority = 1};
    return net::Thread::start({.name = "try", .cpu = {}, .scheduling = least}, [] {}).ok();
}

/// Native priority and policy are both read back from the system: 7 is 7.
TEST(SchedulingPolicy, OfALaneIsThatOfTheOption)
{
    if (!real_time_is_allowed()) GTEST_SKIP() << "the process may not have real-time priorities";
    for (const auto& [name, policy] : {std::pair{"fifo", SCHED_FIFO}, {"rr", SCHED_RR}}) {
        RunningServer server("reactor-per-priority",
                             {"-ORBPriorityMapping", "direct", "-ORBSchedulingPolicy", name,
                              "-ORBLanes", "0,7,8:2,9:each", "-ORBCollocation", "no"});
        std::atomic<int> served_as{-1};
        std::atomic<int> served_at{-1};
        server.servant().action = [&] {
            int scheduled_as = -1;
            sched_param parameters{};
            ::pthread_getschedparam(::pthread_self(), &scheduled_as, &parameters);
            served_as = scheduled_as;
            served_at = parameters.sched_priority;
        };
        Client client({"-ORBPriorityMapping", "direct"});
        const Probe::Target_var target = client.target(server.reference());
        for (const Priority priority : std::initializer_list<Priority>{7, 8, 9, 0}) {
            ThreadStorage::current().priority = priority;
            target->act();
            EXPECT_EQ(served_as, priority == 0 ? SCHED_OTHER : policy) << name;
            EXPECT_EQ(served_at, priority) << name;
        }
        ThreadStorage::current().priority.reset();
    }
}

/// Of those that serve by sockets, and by memory.
TEST(Cpus, OfLanesAreWhereTheyServe)
{
    const LogLines log; // real-time priorities may be refused
    const std::vector<int> all = allowed_cpus();
    ASSERT_FALSE(all.empty());
    const std::vector<int> last{all.back()};
    const std::string at = "@" + std::to_string(all.back());
    for (const char* endpoint : {"iiop://127.0.0.1", "shmiop://"}) {
        RunningServer server("reactor-per-priority",
                             {"-ORBLanes", "0" + at + ",100:2" + at + ",200,300:each" + at,
                              "-ORBCollocation", "no", "-ORBListenEndpoints", endpoint});
        std::mutex mutex;
        std::vector<int> served_on; // guarded by it
        server.servant().action = [&] {
            const std::lock_guard lock(mutex);
            served_on = allowed_cpus();
        };
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        for (const auto& [priority, cpus] :
             std::initializer_list<std::pair<Priority, std::vector<int>>>{
                 {0, last}, {100, last}, {200, all}, {300, last}}) {
            ThreadStorage::current().priority = priority;
            target->act();
            const std::lock_guard lock(mutex);
            EXPECT_EQ(served_on, cpus) << endpoint << ' ' << priority;
        }
        ThreadStorage::current().priority.reset();
    }
}

TEST(RealTime, RefusedIsSaidOnceAndServedAnyway)
{
    std::thread([] {
        give_up_real_time();
        LogLines log;
        RunningServer server("reactor-per-priority", {"-ORBLanes", "0,1,2,3"});
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        ThreadStorage::current().priority = 3;
        target->ping();
        EXPECT_LE(log.count("not scheduled in real time"), 1u); // another test may have seen it
    }).join();
}

TEST(RealTime, RequiredAndRefusedIsAnError)
{
    std::thread([] {
        give_up_real_time();
        const LogLines log;
        const CORBA::ORB_var orb =
            make_orb({"-ORBConcurrency", "reactor-per-priority", "-ORBRealTime", "required",
                      "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        try {
            const CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
            ADD_FAILURE() << "it serves";
        } catch (const CORBA::SystemException& exception) {
            EXPECT_NE(std::string(exception.what()).find("-ORBRealTime required"),
                      std::string::npos)
                << exception.what();
        }
        orb->destroy();
    }).join();
}

TEST(LinearMapping, IsMonotonicAndComesBack)
{
    const orb::LinearPriorityMapping mapping;
    int last = -1;
    for (int priority = 0; priority <= orb::priority_max; ++priority) {
        int native = -1;
        ASSERT_TRUE(mapping.to_native(static_cast<Priority>(priority), native));
        ASSERT_GE(native, last);
        ASSERT_LE(native, orb::native_priority_max);
        ASSERT_EQ(native == 0, priority == 0);
        last = native;
    }
    EXPECT_EQ(last, orb::native_priority_max);
    for (int native = 0; native <= orb::native_priority_max; ++native) {
        Priority priority = -1;
        int again = -1;
        ASSERT_TRUE(mapping.to_corba(native, priority));
        ASSERT_TRUE(mapping.to_native(priority, again));
        EXPECT_EQ(again, native);
    }
    int native = 0;
    Priority priority = 0;
    EXPECT_FALSE(mapping.to_native(-1, native));
    EXPECT_FALSE(mapping.to_corba(100, priority));
    EXPECT_FALSE(mapping.to_corba(-1, priority));
}

TEST(DirectMapping, KnowsTheNativePrioritiesOnly)
{
    const orb::DirectPriorityMapping mapping;
    int native = -1;
    Priority priority = -1;
    for (int same = 0; same <= orb::native_priority_max; ++same) {
        ASSERT_TRUE(mapping.to_native(static_cast<Priority>(same), native));
        EXPECT_EQ(native, same);
        ASSERT_TRUE(mapping.to_corba(same, priority));
        EXPECT_EQ(priority, same);
    }
    EXPECT_FALSE(mapping.to_native(-1, native));
    EXPECT_FALSE(mapping.to_native(100, native));
    EXPECT_FALSE(mapping.to_corba(-1, priority));
    EXPECT_FALSE(mapping.to_corba(100, priority));
}

} // namespace
} // namespace kairos::orb_testing
