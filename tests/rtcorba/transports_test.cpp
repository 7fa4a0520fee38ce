// SPDX-License-Identifier: Apache-2.0
//
// Thread pools serve what comes by any transport: shared memory, and one that shakes hands and
// changes every octet, as they serve TCP, with the priorities of their lanes.
#include "tests/rtcorba/fixture.h"

#include "tests/robust/local.h"
#include "tests/robust/xor_transport.h"

#include "kairos/net/connector.h"

#include <set>
#include <thread>

namespace kairos::rtcorba_testing {
namespace {

using orb_testing::Arguments;

/// What is listened at, and the architecture, if one is chosen.
struct Way {
    const char* scheme;
    const char* architecture;
};

class PoolTransports : public testing::TestWithParam<Way> {
  protected:
    PoolTransports()
    {
        static constexpr orb_testing::XorTransport transport;
        static const bool added = orb::add_transport(transport).ok();
        EXPECT_TRUE(added);
    }
    [[nodiscard]] static Arguments options(const Arguments& more = {})
    {
        // TCP beside it leads nowhere: references say another port.
        Arguments all{"-ORBListenEndpoints",
                      std::string(GetParam().scheme) + "://;iiop://127.0.0.1:0"};
        if (GetParam().architecture != nullptr)
            all.insert(all.end(), {"-ORBConcurrency", GetParam().architecture});
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] std::string reference(World& world, RTPortableServer::POA_ptr poa,
                                        Servant& servant) const
    {
        const PortableServer::ObjectId_var id = poa->activate_object(&servant);
        const CORBA::Object_var object = poa->id_to_reference(id);
        const CORBA::String_var text = world.orb()->object_to_string(object);
        return orb_testing::with_port(text.in(), dead_.port());
    }
    orb_testing::DeadPort dead_;
};

TEST_P(PoolTransports, LanesServeAtTheirPriorities)
{
    World world(options());
    RTCORBA::ThreadpoolLanes lanes;
    lanes.length(2);
    lanes[0] = {0, 2, 0};
    lanes[1] = {100, 1, 1};
    const RTCORBA::ThreadpoolId pool =
        world.rtorb()->create_threadpool_with_lanes(0, lanes, false, false, 0, 0);
    const RTPortableServer::POA_var poa = world.make_poa(
        "pool", {world.rtorb()->create_threadpool_policy(pool), world.client_propagated(0)});
    Listener listener(world);
    const std::string text = reference(world, poa, listener.servant);
    world.activate();
    Client client;
    const Probe::Target_var target = client.target(text);
    // So often that a lane would read a socket itself.
    for (int i = 0; i < 20; ++i)
        for (const RTCORBA::Priority priority : std::initializer_list<RTCORBA::Priority>{0, 100})
            in_thread([&] {
                orb::ThreadStorage::current().priority = priority;
                target->act();
                EXPECT_EQ(listener.priority, priority);
            });
    for (int i = 0; i < 40; ++i)
        target->act();
    EXPECT_EQ(listener.priority, 0);
}

TEST_P(PoolTransports, CarryMuchForManyClients)
{
    World world(options());
    const RTCORBA::ThreadpoolId pool = world.rtorb()->create_threadpool(0, 3, 0, 10, false, 0, 0);
    const RTPortableServer::POA_var poa =
        world.make_poa("pool", {world.rtorb()->create_threadpool_policy(pool)});
    const std::string text = reference(world, poa, world.make_servant());
    world.activate();
    std::vector<std::thread> callers;
    for (const Arguments& of_client : std::vector<Arguments>{
             {}, {}, {"-ORBConnection", "leader-followers"}, {"-ORBConnection", "active"}})
        callers.emplace_back([&text, of_client] {
            Client client(of_client);
            const Probe::Target_var target = client.target(text);
            Probe::Octets octets;
            octets.length(300'000);
            for (int i = 0; i < 20; ++i) {
                target->ping();
                EXPECT_EQ(target->count_octets(octets), octets.length());
                const Probe::Octets_var produced = target->produce(octets.length());
                EXPECT_EQ(produced->length(), octets.length());
            }
        });
    for (std::thread& caller : callers)
        caller.join();
}

TEST_P(PoolTransports, WhoNeverAgreesIsCutOff)
{
    const LogLines log;
    World world(options({"-ORBReceiveTimeout", "50", "-ORBDebug", "1"}));
    const RTCORBA::ThreadpoolId pool = world.rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
    const RTPortableServer::POA_var poa =
        world.make_poa("pool", {world.rtorb()->create_threadpool_policy(pool)});
    const std::string text = reference(world, poa, world.make_servant());
    world.activate();
    const auto path = net::Address::unix_path(orb_testing::local_path(text)).value();
    orb_testing::RawPeer silent(net::connect(path).value());
    EXPECT_TRUE(silent.at_end());
    EXPECT_EQ(LogLines::count("refused: nothing was agreed within -ORBReceiveTimeout"), 1u);
    Client client;
    const Probe::Target_var target = client.target(text);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_P(PoolTransports, EndWithTheirServer)
{
    const auto world = std::make_unique<World>(options());
    const RTCORBA::ThreadpoolId pool = world->rtorb()->create_threadpool(0, 1, 0, 10, false, 0, 0);
    const RTPortableServer::POA_var poa =
        world->make_poa("pool", {world->rtorb()->create_threadpool_policy(pool)});
    Servant& servant = world->make_servant();
    Event inside;
    Event go_on;
    servant.action = [&] {
        inside.set();
        EXPECT_TRUE(go_on.wait());
    };
    const std::string text = reference(*world, poa, servant);
    world->activate();
    Client client;
    const Probe::Target_var target = client.target(text);
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); });
    EXPECT_TRUE(inside.wait());
    world->orb()->shutdown(false);
    go_on.set();
    world->orb()->destroy();
    calling.join();
    EXPECT_TRUE(outcome([&] { target->ping(); }).starts_with("TRANSIENT"));
}

INSTANTIATE_TEST_SUITE_P(Ways, PoolTransports,
                         testing::Values(Way{"shmiop", nullptr}, Way{"xoriop", nullptr},
                                         Way{"shmiop", "worker-pool"}, Way{"xoriop", "worker-pool"},
                                         Way{"shmiop", "reactor-per-priority"},
                                         Way{"xoriop", "reactor-per-priority"},
                                         Way{"shmiop", "thread-per-object"}),
                         [](const auto& parameter) {
                             std::string name = parameter.param.scheme;
                             if (parameter.param.architecture != nullptr)
                                 name += "_" + std::string(parameter.param.architecture);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

} // namespace
} // namespace kairos::rtcorba_testing
