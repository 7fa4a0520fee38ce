// SPDX-License-Identifier: Apache-2.0
//
// RTCORBA::Current, priority mappings and mutexes (Real-Time CORBA 1.2, 5.4, 5.5 and 5.11).
#include "tests/rtcorba/fixture.h"

#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>

namespace kairos::rtcorba_testing {
namespace {

constexpr const char* not_set = "INITIALIZE 0x0 NO";
constexpr const char* bad_priority = "BAD_PARAM 0x0 NO";
constexpr const char* no_mapping = "DATA_CONVERSION 0x4f4d0002 NO";
constexpr const char* bad_order = "BAD_INV_ORDER 0x0 NO";

TEST(RtOrb, IsAnInitialReferenceLikeItsFellows)
{
    World world;
    const CORBA::ORB::ObjectIdList_var names = world.orb()->list_initial_services();
    for (const char* name :
         {"RTORB", "RTCurrent", "PriorityMappingManager", "PriorityTransformManager"}) {
        bool listed = false;
        for (CORBA::ULong i = 0; i < names->length(); ++i)
            listed = listed || std::string_view(names[i]) == name;
        EXPECT_TRUE(listed) << name;
        EXPECT_EQ(outcome([&] { world.orb()->register_initial_reference(name, world.root()); }),
                  "InvalidName");
    }
    EXPECT_TRUE(world.rtorb()->_is_a("IDL:omg.org/RTCORBA/RTORB:1.0"));
    EXPECT_TRUE(world.current()->_is_a("IDL:omg.org/CORBA/Current:1.0"));
    EXPECT_TRUE(world.root()->_is_a("IDL:omg.org/PortableServer/POA:1.0"));
}

TEST(Current, HasNoPriorityBeforeOneIsSet)
{
    World world;
    in_thread([&] {
        EXPECT_EQ(outcome([&] { (void)world.current()->the_priority(); }), not_set);
        world.current()->the_priority(5);
        EXPECT_EQ(world.current()->the_priority(), 5);
    });
}

TEST(Current, SchedulesTheThread)
{
    World world;
    in_thread([&] {
        for (const RTCORBA::Priority priority :
             std::initializer_list<RTCORBA::Priority>{1, 100, 32767, 16000, 0}) {
            world.current()->the_priority(priority);
            EXPECT_EQ(world.current()->the_priority(), priority);
            EXPECT_EQ(native_priority(), native_of(priority));
        }
    });
}

TEST(Current, SchedulesAsTheOptionSays)
{
    if (!real_time_is_allowed()) GTEST_SKIP() << "the process may not have real-time priorities";
    for (const auto& [name, policy] : {std::pair{"fifo", SCHED_FIFO}, {"rr", SCHED_RR}}) {
        World world({"-ORBSchedulingPolicy", name});
        in_thread([&, expected = policy] {
            world.current()->the_priority(100);
            EXPECT_EQ(native_policy(), expected);
            EXPECT_EQ(native_priority(), native_of(100));
            world.current()->the_priority(0);
            EXPECT_EQ(native_policy(), SCHED_OTHER);
        });
    }
}

TEST(Current, IsEachThreadsOwn)
{
    World world;
    in_thread([&] {
        world.current()->the_priority(7);
        in_thread([&] {
            EXPECT_EQ(outcome([&] { (void)world.current()->the_priority(); }), not_set);
            world.current()->the_priority(9);
        });
        EXPECT_EQ(world.current()->the_priority(), 7);
        world.current()->the_priority(0);
    });
}

TEST(Current, RefusesWhatIsNoPriority)
{
    World world;
    in_thread([&] {
        world.current()->the_priority(3);
        EXPECT_EQ(outcome([&] { world.current()->the_priority(-1); }), bad_priority);
        EXPECT_EQ(world.current()->the_priority(), 3);
    });
}

TEST(PriorityMappings, OfProgramsReplaceTheOrbs)
{
    World world;
    const RTCORBA::PriorityMappingManager_var manager =
        initial<RTCORBA::PriorityMappingManager>(world.orb(), "PriorityMappingManager");
    RTCORBA::NativePriority native = -1;
    EXPECT_TRUE(manager->mapping()->to_native(32767, native));
    EXPECT_EQ(native, 99);
    RTCORBA::Priority priority = -1;
    EXPECT_TRUE(manager->mapping()->to_CORBA(99, priority));
    EXPECT_EQ(priority, 32767);
    EXPECT_EQ(outcome([&] { manager->mapping(nullptr); }), bad_priority);

    auto* ten = new Ten;
    manager->mapping(ten);
    EXPECT_EQ(manager->mapping(), ten);
    in_thread([&] {
        EXPECT_EQ(outcome([&] { world.current()->the_priority(9); }), no_mapping);
        EXPECT_EQ(outcome([&] { world.current()->the_priority(20); }), no_mapping);
        EXPECT_EQ(outcome([&] { (void)world.current()->the_priority(); }), not_set);
        world.current()->the_priority(12);
        EXPECT_EQ(native_priority(), real_time_is_allowed() ? 3 : 0);
    });
}

/// Nor does it change them to ask for the mapping.
TEST(PriorityMappings, AreTheNativePrioritiesWhereTheOptionSaysSo)
{
    World world({"-ORBPriorityMapping", "direct"});
    const auto expect_direct = [&] {
        in_thread([&] {
            EXPECT_EQ(outcome([&] { world.current()->the_priority(100); }), no_mapping);
            world.current()->the_priority(42);
            EXPECT_EQ(native_priority(), real_time_is_allowed() ? 42 : 0);
        });
    };
    expect_direct();
    const RTCORBA::PriorityMappingManager_var manager =
        initial<RTCORBA::PriorityMappingManager>(world.orb(), "PriorityMappingManager");
    RTCORBA::PriorityMapping* const mapping = manager->mapping();
    RTCORBA::NativePriority native = -1;
    RTCORBA::Priority priority = -1;
    for (const int same : {0, 1, 42, 99}) {
        EXPECT_TRUE(mapping->to_native(static_cast<RTCORBA::Priority>(same), native));
        EXPECT_EQ(native, same);
        EXPECT_TRUE(mapping->to_CORBA(static_cast<RTCORBA::NativePriority>(same), priority));
        EXPECT_EQ(priority, same);
    }
    EXPECT_FALSE(mapping->to_native(100, native));
    EXPECT_FALSE(mapping->to_CORBA(100, priority));
    EXPECT_EQ(manager->mapping(), mapping);
    expect_direct();
}

/// The policy is not the mapping's to say.
TEST(PriorityMappings, OfProgramsAreScheduledAsTheOptionSays)
{
    if (!real_time_is_allowed()) GTEST_SKIP() << "the process may not have real-time priorities";
    World world({"-ORBSchedulingPolicy", "rr"});
    const RTCORBA::PriorityMappingManager_var manager =
        initial<RTCORBA::PriorityMappingManager>(world.orb(), "PriorityMappingManager");
    manager->mapping(new Ten);
    in_thread([&] {
        world.current()->the_priority(12);
        EXPECT_EQ(native_policy(), SCHED_RR);
        EXPECT_EQ(native_priority(), 3);
    });
}

TEST(Mutexes, HaveOneOwner)
{
    World world;
    const RTCORBA::Mutex_var mutex = world.rtorb()->create_mutex();
    mutex->lock();
    in_thread([&] {
        EXPECT_FALSE(mutex->try_lock(0));
        EXPECT_FALSE(mutex->try_lock(10'000)); // 1 ms
        EXPECT_EQ(outcome([&] { mutex->unlock(); }), bad_order);
    });
    EXPECT_EQ(outcome([&] { mutex->lock(); }), bad_order);
    EXPECT_EQ(outcome([&] { (void)mutex->try_lock(0); }), bad_order);
    mutex->unlock();
    EXPECT_EQ(outcome([&] { mutex->unlock(); }), bad_order);
    in_thread([&] {
        EXPECT_TRUE(mutex->try_lock(0));
        mutex->unlock();
        EXPECT_TRUE(mutex->try_lock(~TimeBase::TimeT{0}));
        mutex->unlock();
    });
    world.rtorb()->destroy_mutex(mutex);
}

TEST(Mutexes, PassFromThreadToThread)
{
    World world;
    const RTCORBA::Mutex_var mutex = world.rtorb()->create_mutex();
    Event locked;
    int shared = 0;
    mutex->lock();
    std::thread other([&] {
        locked.set();
        mutex->lock();
        EXPECT_EQ(shared, 1);
        mutex->unlock();
    });
    ASSERT_TRUE(locked.wait());
    shared = 1;
    mutex->unlock();
    other.join();
}

/// At which the system runs a thread of this process at present: -1 - n for n in real time.
long effective_priority(long thread)
{
    std::FILE* file =
        std::fopen(("/proc/self/task/" + std::to_string(thread) + "/stat").c_str(), "r");
    long priority = 99;
    // Fields 3 to 17 lie between the name, which is in brackets, and the priority.
    const bool read =
        file != nullptr &&
        std::fscanf(file,
                    "%*d (%*[^)]) %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                    "%*s %*s %ld",
                    &priority) == 1;
    if (file != nullptr) std::fclose(file);
    return read ? priority : 99;
}

TEST(Mutexes, LendTheirOwnerThePriorityOfWhoeverWaits)
{
    if (!real_time_is_allowed()) GTEST_SKIP() << "the process may not have real-time priorities";
    World world;
    const RTCORBA::Mutex_var mutex = world.rtorb()->create_mutex();
    in_thread([&] {
        world.current()->the_priority(1); // native 1
        const long owner = ::syscall(SYS_gettid);
        mutex->lock();
        std::thread high([&] {
            world.current()->the_priority(16'384); // native 50
            mutex->lock();
            mutex->unlock();
        });
        const auto end = std::chrono::steady_clock::now() + orb_testing::patience;
        while (effective_priority(owner) != -51 && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        EXPECT_EQ(effective_priority(owner), -51);
        mutex->unlock();
        high.join();
        EXPECT_EQ(effective_priority(owner), -2);
    });
}

TEST(Mutexes, WithANameAreFoundByIt)
{
    World world;
    const auto rtorb = narrowed<KairosRealTime::RTORB>(world.rtorb());
    CORBA::Boolean created = false;
    EXPECT_EQ(outcome([&] { (void)rtorb->open_named_mutex("one"); }), "MutexNotFound");
    const RTCORBA::Mutex_var one = rtorb->create_named_mutex("one", created);
    EXPECT_TRUE(created);
    const RTCORBA::Mutex_var again = rtorb->create_named_mutex("one", created);
    EXPECT_FALSE(created);
    const RTCORBA::Mutex_var opened = rtorb->open_named_mutex("one");
    EXPECT_EQ(one.in(), again.in());
    EXPECT_EQ(one.in(), opened.in());
    const RTCORBA::Mutex_var other = rtorb->create_named_mutex("other", created);
    EXPECT_TRUE(created);
    EXPECT_NE(one.in(), other.in());
    rtorb->destroy_mutex(one);
    EXPECT_EQ(outcome([&] { (void)rtorb->open_named_mutex("one"); }), "MutexNotFound");
    rtorb->destroy_mutex(other);
}

} // namespace
} // namespace kairos::rtcorba_testing
