// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a server that was told no -ORBConcurrency and whose program makes thread pools
// with lanes: each lane has an address and a thread that reads, so that no high request waits for a
// low one to be read.
#include "kairos/datagrams/datagrams.h"
#include "kairos/ior/component.h"
#include "kairos/orb/hooks.h"
#include "kairos/server/serving.h"
#include "tests/robust/local.h"
#include "tests/robust/was_read.h"
#include "tests/rtcorba/sockets.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kairos::rtcorba_testing {
namespace {

using orb_testing::ParsedReply;
using orb_testing::RawPeer;

constexpr RTCORBA::Priority low = 100;
constexpr RTCORBA::Priority middle = 200;
constexpr RTCORBA::Priority high = 300;

RTCORBA::ThreadpoolId make_pool(World& world, std::initializer_list<RTCORBA::Priority> priorities)
{
    RTCORBA::ThreadpoolLanes lanes;
    for (const RTCORBA::Priority priority : priorities) {
        lanes.length(lanes.length() + 1);
        lanes[lanes.length() - 1] = {priority, 1, 0};
    }
    return world.rtorb()->create_threadpool_with_lanes(0, lanes, false, false, 0, 0);
}

/// What a reference says of which priority goes where.
std::map<RTCORBA::Priority, ior::Address> addresses(CORBA::Object_ptr object)
{
    std::map<RTCORBA::Priority, ior::Address> found;
    const auto targets = ior::targets(object->_kairos_reference()->ior());
    const auto* component =
        ior::find(targets.front().profile->components, ior::tag_priority_addresses);
    if (component == nullptr) return found;
    for (const ior::PriorityAddress& each :
         ior::decode_priority_addresses(*component).value_or(std::vector<ior::PriorityAddress>{}))
        found.emplace(each.priority, each.address);
    return found;
}

/// The one that clients of other ORBs know.
ior::Address first_address(CORBA::Object_ptr object)
{
    const auto targets = ior::targets(object->_kairos_reference()->ior());
    return {targets.front().profile->host, targets.front().profile->port};
}

/// A world with an object in a POA of a pool.
class PoolsWithLanes : public testing::Test {
  protected:
    void serve(World& world, RTCORBA::ThreadpoolId pool)
    {
        poa_ = world.make_poa(
            "pool", {world.rtorb()->create_threadpool_policy(pool), world.client_propagated(low)});
        listener_.emplace(world);
        id_ = poa_->activate_object(&listener_->servant);
        object_ = poa_->id_to_reference(id_);
        target_ = world.to_client(object_);
    }
    /// The priority at which a call of this one was served.
    RTCORBA::Priority served_at(World& world, RTCORBA::Priority priority)
    {
        in_thread([&] {
            world.current()->the_priority(priority);
            target_->act();
        });
        return listener_->priority;
    }

    LogLines log_;
    std::optional<Listener> listener_;
    RTPortableServer::POA_var poa_;
    PortableServer::ObjectId_var id_;
    CORBA::Object_var object_;
    Probe::Target_var target_;
};

TEST_F(PoolsWithLanes, HaveAnAddressForEachLane)
{
    World world;
    serve(world, make_pool(world, {low, high}));
    world.activate();
    const auto by_priority = addresses(object_);
    ASSERT_EQ(by_priority.size(), 2u);
    EXPECT_EQ(by_priority.at(low), first_address(object_));
    EXPECT_NE(by_priority.at(high), first_address(object_));
    for (const RTCORBA::Priority priority : {low, high, RTCORBA::Priority{0}})
        EXPECT_EQ(served_at(world, priority), priority);
}

TEST_F(PoolsWithLanes, HaveThoseOfAllPools)
{
    World world;
    const CORBA::Object_var before = world.root()->create_reference(target_id);
    (void)world.rtorb()->create_threadpool(0, 1, 0, 7, false, 0, 0); // its priority is no lane
    EXPECT_TRUE(addresses(object_ = world.root()->create_reference(target_id)).empty());
    (void)make_pool(world, {low, high});
    const CORBA::Object_var between = world.root()->create_reference(target_id);
    serve(world, make_pool(world, {middle, high, 50}));
    world.activate();
    const auto by_priority = addresses(object_);
    ASSERT_EQ(by_priority.size(), 4u);
    EXPECT_TRUE(by_priority.contains(50));
    for (const auto& [priority, address] : addresses(between))
        EXPECT_EQ(by_priority.at(priority), address) << priority;
    EXPECT_EQ(first_address(before), by_priority.at(low)); // its listener was there first
    for (const RTCORBA::Priority priority : {low, middle, high, RTCORBA::Priority{0}})
        EXPECT_EQ(served_at(world, priority), priority);
}

TEST_F(PoolsWithLanes, MayComeBeforeTheServerListens)
{
    RTCORBA::ThreadpoolId pool = 0;
    World world({}, [&pool](World& before) { pool = make_pool(before, {low, high}); });
    serve(world, pool);
    world.activate();
    EXPECT_EQ(addresses(object_).size(), 2u);
    EXPECT_EQ(served_at(world, high), high);
}

TEST_F(PoolsWithLanes, KeepTheReferencesThatThereAre)
{
    World world;
    Servant& plain = world.make_servant();
    const PortableServer::ObjectId_var id = world.root()->activate_object(&plain);
    const Probe::Target_var before = world.to_client(world.root(), id);
    serve(world, make_pool(world, {low, high}));
    world.activate();
    before->ping();
    EXPECT_EQ(plain.calls, 1u);
    EXPECT_EQ(served_at(world, high), high);
}

/// As clients do that know of no priorities.
TEST_F(PoolsWithLanes, ServeOthersAtTheFirstAddress)
{
    World world;
    serve(world, make_pool(world, {low, high}));
    world.activate();
    RawPeer peer = RawPeer::connect(first_address(object_).port);
    const auto& key = object_->_kairos_reference()->object_key();
    peer.send(orb_testing::request({key.begin(), key.end()}, "act").finish());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(listener_->priority, low); // of requests that say none
}

/// Holds the thread up that accepts a connection at the port.
class HoldingHooks final : public orb::Hooks {
  public:
    struct Shared {
        std::atomic<std::uint16_t> port{0};
        Event held;
        Event let_go;
    };
    explicit HoldingHooks(Shared& shared) : shared_(shared) {}
    void on_socket(net::Socket& socket, Kind kind) noexcept override
    {
        const auto address = socket.local_address();
        if (kind != Kind::accepted || !address || address->port() != shared_.port) return;
        shared_.held.set();
        EXPECT_TRUE(shared_.let_go.wait());
    }

  private:
    Shared& shared_;
};

/// The thread that reads for the low lane is busy, and whoever is high does not notice.
TEST_F(PoolsWithLanes, ReadTheHighWhileTheLowCannotBeRead)
{
    HoldingHooks::Shared shared;
    World world({}, [&shared](World& before) {
        before.orb()->_kairos_set_hooks(std::make_unique<HoldingHooks>(shared));
    });
    serve(world, make_pool(world, {low, high}));
    world.activate();
    shared.port = addresses(object_).at(low).port;
    std::thread caller([&] {
        world.current()->the_priority(low);
        target_->ping();
    });
    ASSERT_TRUE(shared.held.wait());
    EXPECT_EQ(served_at(world, high), high);
    EXPECT_EQ(listener_->servant.calls, 1u); // not the low one
    shared.let_go.set();
    caller.join();
    EXPECT_EQ(listener_->servant.calls, 2u);
}

/// Each lane reads for itself, and what all of them have to be served has one limit: where a
/// request of one lane waits for that of another to be served, it goes on then.
TEST_F(PoolsWithLanes, HaveRoomForLargeRequestsTogether)
{
    constexpr std::size_t limit = std::size_t{8} << 20;
    World world({"-ORBMemory", std::to_string(limit)});
    serve(world, make_pool(world, {low, high}));
    world.activate();
    Event busy;
    Event go_on;
    listener_->servant.action = [&] {
        busy.set();
        EXPECT_TRUE(go_on.wait());
    };
    const auto& octets = object_->_kairos_reference()->object_key();
    const orb_testing::Octets key(octets.begin(), octets.end());
    const auto by_lane = addresses(object_);
    // Of requests that say no priority the low lane's only thread serves all.
    RawPeer first = RawPeer::connect(by_lane.at(low).port);
    first.send(orb_testing::request(key, "act").finish());
    ASSERT_TRUE(busy.wait());
    const orb_testing::Octets large = orb_testing::request(key, "count_octets")
                                          .octets(orb_testing::Octets(limit / 10 * 3))
                                          .finish(); // two are more than may wait
    std::vector<RawPeer> peers;
    for (const RTCORBA::Priority lane : {low, high}) {
        const std::uint16_t port = by_lane.at(lane).port;
        peers.push_back(RawPeer::connect(port));
        peers.back().send(large);
        while (!orb_testing::was_read(port, peers.back()))
            std::this_thread::yield();
        // Whoever has read it has also found it a place, or none, when it answers somebody else.
        RawPeer other = RawPeer::connect(port);
        other.send(orb_testing::WireMessage(giop::MessageType::locate_request)
                       .u32(1)
                       .u16(0)
                       .octets(key)
                       .finish());
        EXPECT_FALSE(other.read_message().empty());
    }
    const auto queued = [&] {
        return orb::Serving::of(world.orb()->_kairos_core()).account().figures().queued;
    };
    EXPECT_GE(queued(), limit / 10 * 3);
    EXPECT_LE(queued(), limit / 2) << "the other one waits";
    go_on.set();
    for (RawPeer& each : peers)
        EXPECT_EQ(ParsedReply(each.read_message()).text(), "NO_EXCEPTION");
}

/// By one address for all: what is for a high lane does not wait for what a low one does.
TEST_F(PoolsWithLanes, ServeOnewaysInDatagramsToo)
{
    std::map<RTCORBA::Priority, Event> served;
    Event busy;
    Event go_on;
    World world({"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://127.0.0.1:0"});
    serve(world, make_pool(world, {low, high}));
    const CORBA::Object_var object = datagrams::oneways(target_);
    const Probe::Target_var there = Probe::Target::_unchecked_narrow(object);
    for (const RTCORBA::Priority priority : {low, middle, high})
        (void)served[priority];
    listener_->servant.note_action = [&] {
        const RTCORBA::Priority priority = world.current()->the_priority();
        if (priority == low) {
            busy.set();
            EXPECT_TRUE(go_on.wait());
        }
        served.at(priority).set();
    };
    world.activate(); // from here on it is called
    const auto note = [&](RTCORBA::Priority priority) {
        in_thread([&] {
            world.current()->the_priority(priority);
            there->note(1);
        });
    };
    note(low);
    ASSERT_TRUE(busy.wait());
    note(high);
    EXPECT_TRUE(served.at(high).wait());
    note(middle); // which the low lane serves, when it can
    note(high);
    while (listener_->servant.calls != 3)
        std::this_thread::yield();
    go_on.set();
    EXPECT_TRUE(served.at(low).wait());
    EXPECT_TRUE(served.at(middle).wait());
}

/// And the high lane is served all the same.
TEST_F(PoolsWithLanes, DropOnewaysInDatagramsOfWhichTooManyWait)
{
    Event go_on;
    std::atomic<bool> is_served{false};
    World world({"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://127.0.0.1:0"});
    serve(world, make_pool(world, {low, high}));
    const CORBA::Object_var object = datagrams::oneways(target_);
    const Probe::Target_var there = Probe::Target::_unchecked_narrow(object);
    listener_->servant.note_action = [&] {
        if (world.current()->the_priority() == high)
            is_served = true;
        else
            EXPECT_TRUE(go_on.wait());
    };
    world.activate(); // from here on it is called
    const std::uint64_t before = datagrams::figures().dropped;
    while (datagrams::figures().dropped == before)
        there->note(1);
    // One that was lost behind the others is sent again.
    in_thread([&] {
        world.current()->the_priority(high);
        while (!is_served)
            there->note(2);
    });
    go_on.set();
}

/// A server ends while a lane is busy and others of its requests wait.
TEST_F(PoolsWithLanes, EndWithOnewaysInDatagramsThatWait)
{
    Event busy;
    Event go_on;
    World world({"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://127.0.0.1:0"});
    serve(world, make_pool(world, {low, high}));
    const CORBA::Object_var object = datagrams::oneways(target_);
    const Probe::Target_var there = Probe::Target::_unchecked_narrow(object);
    listener_->servant.note_action = [&] {
        busy.set();
        EXPECT_TRUE(go_on.wait());
    };
    world.activate(); // from here on it is called
    for (int i = 0; i < 5; ++i)
        there->note(i);
    ASSERT_TRUE(busy.wait());
    std::thread ending([&] { world.orb()->shutdown(true); });
    go_on.set();
    ending.join();
    EXPECT_GE(listener_->servant.calls, 1u);
}

#ifndef __SANITIZE_THREAD__ // which does not like what is left of threads
/// Nobody waits there for threads that are the parent's.
TEST_F(PoolsWithLanes, EndInAChildThatHasNoneOfTheirThreads)
{
    Event served;
    World world({"-ORBListenEndpoints", "iiop://127.0.0.1:0;diop://127.0.0.1:0"});
    serve(world, make_pool(world, {low, high}));
    world.activate();
    const CORBA::Object_var object = datagrams::oneways(target_);
    const Probe::Target_var there = Probe::Target::_unchecked_narrow(object);
    listener_->servant.note_action = [&] { served.set(); };
    there->note(1);
    ASSERT_TRUE(served.wait());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::alarm(60); // or the test would wait for one that hangs
        world.orb()->destroy();
        ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}
#endif

TEST_F(PoolsWithLanes, ChangeNothingThatWasChosen)
{
    World world({"-ORBConcurrency", "worker-pool"});
    serve(world, make_pool(world, {low, high}));
    world.activate();
    EXPECT_TRUE(addresses(object_).empty());
    EXPECT_EQ(served_at(world, high), high);
}

TEST_F(PoolsWithLanes, ChangeNothingOnceTheServerHasBegun)
{
    World world;
    (void)world.rtorb()->create_threadpool(0, 1, 0, low, false, 0, 0);
    world.activate();
    serve(world, make_pool(world, {low, high}));
    EXPECT_TRUE(addresses(object_).empty());
    EXPECT_EQ(served_at(world, high), high);
}

TEST_F(PoolsWithLanes, HaveUnixSocketsForEachToo)
{
    World world({"-ORBListenEndpoints", "uiop://"});
    serve(world, make_pool(world, {low, high}));
    world.activate();
    for (const RTCORBA::Priority priority : {low, high})
        EXPECT_EQ(served_at(world, priority), priority);
}

/// One thread reads for all, and the log says why.
TEST_F(PoolsWithLanes, GoOnWithoutLanesThatTheServerCannotListenFor)
{
    const std::string path = orb_testing::own_path();
    const std::string next = path + ".1"; // the second lane's
    ASSERT_EQ(::mkdir(next.c_str(), 0700), 0);
    World world({"-ORBListenEndpoints", "uiop://" + path, "-ORBDebug", "1"});
    serve(world, make_pool(world, {low, high}));
    EXPECT_EQ(::rmdir(next.c_str()), 0);
    EXPECT_EQ(LogLines::count("not read by threads of their own"), 1u);
    world.activate();
    for (const RTCORBA::Priority priority : {low, high})
        EXPECT_EQ(served_at(world, priority), priority);
}

/// The ORB's properties of connections are those of lanes that come later, too.
TEST_F(PoolsWithLanes, HaveThePropertiesOfTheOrbsConnections)
{
    World world;
    const RTCORBA::TCPProtocolProperties_var properties =
        world.rtorb()->create_tcp_protocol_properties(0, 0, true, false, true);
    world.give_orb({world.rtorb()->create_server_protocol_policy(tcp_list(properties))});
    serve(world, make_pool(world, {low, high}));
    world.activate();
    for (const RTCORBA::Priority priority : {low, high}) {
        in_thread([&] { // whose connection this is
            world.current()->the_priority(priority);
            target_->ping();
            const Ends ends(addresses(object_).at(priority).port);
            EXPECT_EQ(ends.of_server(SOL_SOCKET, SO_KEEPALIVE), 1);
        });
    }
}

} // namespace
} // namespace kairos::rtcorba_testing
