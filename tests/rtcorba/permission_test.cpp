// SPDX-License-Identifier: Apache-2.0
//
// Where the process may not have real-time priorities: CORBA's are kept, the log says so once, and
// -ORBRealTime required makes it an error. Each test in threads that have lost the right, and all
// that they start.
#include "tests/robust/permission.h"
#include "tests/rtcorba/fixture.h"

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* no_permission = "NO_PERMISSION 0x0 NO";

void without_permission(const std::function<void()>& work)
{
    in_thread([&] {
        orb_testing::give_up_real_time();
        work();
    });
}

TEST(Permission, ThatIsMissingIsSaidOnceAndPrioritiesAreKept)
{
    without_permission([] {
        const LogLines log;
        World world({"-ORBDebug", "1"});
        Listener listener(world);
        const auto pool = world.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
        const RTPortableServer::POA_var poa = world.make_poa("rt", {world.client_propagated(0)});
        const RTPortableServer::POA_var with_pool = world.make_poa(
            "pool", {world.rtorb()->create_threadpool_policy(pool), world.server_declared(300)});
        const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
        Servant& other = world.make_servant();
        RTCORBA::Priority in_pool = -1;
        other.action = [&] { in_pool = world.current()->the_priority(); };
        const PortableServer::ObjectId_var other_id = with_pool->activate_object(&other);
        world.activate();
        const Probe::Target_var target = world.to_client(poa, id);
        const Probe::Target_var pooled = world.to_client(with_pool, other_id);
        for (const RTCORBA::Priority priority :
             std::initializer_list<RTCORBA::Priority>{100, 20'000, 5}) {
            world.current()->the_priority(priority);
            EXPECT_EQ(world.current()->the_priority(), priority);
            target->act();
            EXPECT_EQ(listener.priority, priority);
            EXPECT_EQ(listener.native, 0);
        }
        pooled->act();
        EXPECT_EQ(in_pool, 300);
        EXPECT_EQ(log.count("not scheduled in real time"), 1u);
    });
}

TEST(Permission, ThatIsMissingAndRequiredIsAnError)
{
    without_permission([] {
        World world({"-ORBRealTime", "required"});
        EXPECT_EQ(outcome([&] { world.current()->the_priority(100); }), no_permission);
        EXPECT_EQ(outcome([&] { world.current()->the_priority(0); }), "ok"); // needs none
        EXPECT_EQ(
            outcome([&] { (void)world.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0); }),
            "NO_RESOURCES 0x0 NO");
        EXPECT_EQ(outcome([&] { (void)world.rtorb()->create_threadpool(0, 1, 0, 0, false, 0, 0); }),
                  "ok");
        Listener listener(world);
        const RTPortableServer::POA_var poa = world.make_poa("rt", {world.server_declared(100)});
        const PortableServer::ObjectId_var id = poa->activate_object(&listener.servant);
        world.activate();
        const Probe::Target_var target = world.to_client(poa, id);
        EXPECT_EQ(outcome([&] { target->act(); }), no_permission);
        EXPECT_EQ(listener.priority, -1);
    });
}

} // namespace
} // namespace kairos::rtcorba_testing
