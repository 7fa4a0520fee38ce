// SPDX-License-Identifier: Apache-2.0
//
// Servers that clients on their host reach by a Unix socket: with every architecture, with TCP to
// fall back on and without, and with references that somebody has changed on the way.
#include "tests/robust/local.h"

#include "kairos/net/connector.h"
#include "kairos/orb/thread_storage.h"

#include <random>

namespace kairos::orb_testing {
namespace {

// --- Every architecture --------------------------------------------------------------------------

class Local : public EveryArchitecture {
  protected:
    static Arguments options() { return {"-ORBDebug", "0", "-ORBListenEndpoints", "uiop://"}; }
    DeadPort dead_;
};

TEST_P(Local, CallsOfEverySizeGoByTheSocket)
{
    RunningServer server(GetParam(), options());
    expect_calls_of_every_size(server, with_port(server.reference(), dead_.port()));
}

TEST_P(Local, ManyClientsAtOnce)
{
    RunningServer server(GetParam(), options());
    expect_many_clients(server, with_port(server.reference(), dead_.port()),
                        std::vector<Arguments>(8));
}

TEST_P(Local, PartnersCallEachOtherBack)
{
    RunningServer left(GetParam(), options());
    RunningServer right(GetParam(), options());
    expect_partners_call_back(left, with_port(left.reference(), dead_.port()), right,
                              with_port(right.reference(), dead_.port()));
}

TEST_P(Local, TheFileGoesWithTheServerAndTheClientLearnsIt)
{
    RunningServer server(GetParam(), options());
    const std::string path = local_path(server.reference());
    EXPECT_TRUE(exists(path));
    Client client;
    const Probe::Target_var target = client.target(with_port(server.reference(), dead_.port()));
    target->ping();
    server.end();
    EXPECT_FALSE(exists(path));
    EXPECT_TRUE(outcome([&] { target->ping(); }).starts_with("TRANSIENT"));
}

TEST_P(Local, AMalformedMessageIsRefusedAndItsSenderNamed)
{
    RunningServer server(GetParam(), {"-ORBListenEndpoints", "uiop://"});
    const auto address = net::Address::unix_path(local_path(server.reference())).value();
    RawPeer peer(net::connect(address).value());
    peer.send(as_bytes("this is not GIOP"));
    EXPECT_TRUE(LogLines::wait_for("malformed message from unix:process " +
                                   std::to_string(::getpid()) + ", user " +
                                   std::to_string(::geteuid())));
    RawPeer bystander(net::connect(address).value());
    bystander.send(server.ping());
    EXPECT_EQ(ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION");
}

KAIROS_EVERY_ARCHITECTURE(Local);

// --- Which way -----------------------------------------------------------------------------------

class LocalWay : public testing::Test {
  protected:
    static std::string ping(const std::string& reference, Arguments options = {})
    {
        options.insert(options.end(), {"-ORBDebug", "0"});
        Client client(std::move(options));
        const Probe::Target_var target = client.target(reference);
        return outcome([&] { target->ping(); });
    }

    LogLines log_;
    DeadPort dead_;
    RunningServer server_{"thread-per-connection", {"-ORBListenEndpoints", "uiop://"}};
    const std::string only_local_ = with_port(server_.reference(), dead_.port());
};

TEST_F(LocalWay, ByTheSocketUnlessTold)
{
    EXPECT_EQ(ping(only_local_), "ok");
    EXPECT_TRUE(ping(only_local_, {"-ORBPreferLocal", "0"}).starts_with("TRANSIENT"));
    EXPECT_EQ(ping(server_.reference(), {"-ORBPreferLocal", "0"}), "ok");
}

TEST_F(LocalWay, ByTcpWhenTheServerOfTheFileIsGone)
{
    const std::string path = own_path();
    {
        const auto leftover = net::listen(net::Address::unix_path(path).value());
        ASSERT_TRUE(leftover);
    }
    EXPECT_TRUE(exists(path));
    for (const std::string& gone : {path, path + "-never", std::string("@kairos-nobody")}) {
        const std::string reference =
            with_local(server_.reference(),
                       [&](ior::LocalAddresses& local) { local.addresses[0].path = gone; });
        EXPECT_EQ(ping(reference), "ok") << gone;
        EXPECT_TRUE(ping(with_port(reference, dead_.port())).starts_with("TRANSIENT"));
    }
    ::unlink(path.c_str());
}

TEST_F(LocalWay, ByTcpFromAnotherHost)
{
    const std::string reference =
        with_local(server_.reference(), [](ior::LocalAddresses& local) { local.host[1] ^= 1; });
    EXPECT_EQ(ping(reference), "ok");
    EXPECT_TRUE(ping(with_port(reference, dead_.port())).starts_with("TRANSIENT"));
    EXPECT_TRUE(ping(with_port(reference, 0)).starts_with("TRANSIENT"));
}

TEST_F(LocalWay, TransportsNotKnownArePassedOver)
{
    const std::string reference = with_local(server_.reference(), [](ior::LocalAddresses& local) {
        auto unknown = local.addresses[0];
        unknown.transport = ior::LocalAddress::Transport{200};
        unknown.path = "/nowhere";
        local.addresses.insert(local.addresses.begin(), unknown);
    });
    EXPECT_EQ(ping(with_port(reference, dead_.port())), "ok");
}

TEST_F(LocalWay, WhatSomebodyWroteIntoTheComponentIsNeverFatal)
{
    std::mt19937 random(20261122);
    for (int i = 0; i < 300; ++i) {
        const std::string reference = changed(server_.reference(), [&](ior::IiopProfile& profile) {
            auto& data = component(profile, ior::tag_local_addresses).data;
            if (i % 3 == 0) data.resize(random() % (data.size() + 1));
            for (int n = i % 4; n > 0 && !data.empty(); --n)
                data[random() % data.size()] = std::byte(random());
        });
        EXPECT_EQ(ping(reference), "ok");
    }
}

TEST_F(LocalWay, TooManyAddressesAreNone)
{
    const std::string reference = with_local(only_local_, [](ior::LocalAddresses& local) {
        local.addresses.resize(limits::local_addresses_max + 1, local.addresses[0]);
    });
    EXPECT_TRUE(ping(reference).starts_with("TRANSIENT"));
}

/// Each lane has a socket of its own.
TEST(LocalLanes, OfTheCallerAreFoundByTheSocketToo)
{
    const std::string path = own_path();
    RunningServer server("reactor-per-priority", {"-ORBLanes", "0,100,200:2", "-ORBDebug", "0",
                                                  "-ORBListenEndpoints", "uiop://" + path});
    for (const char* suffix : {"", ".1", ".2"})
        EXPECT_TRUE(exists(path + suffix));
    std::atomic<orb::Priority> served_at{-1};
    server.servant().action = [&] {
        served_at = orb::ThreadStorage::current().priority.value_or(-1);
    };
    Client client;
    const auto at = [&](const Probe::Target_var& target, orb::Priority priority) {
        orb::ThreadStorage::current().priority = priority;
        target->act();
        orb::ThreadStorage::current().priority.reset();
        return served_at.load();
    };
    // With dead addresses for TCP, and with none.
    const DeadPort dead;
    const std::string dead_tcp = changed(server.reference(), [&](ior::IiopProfile& profile) {
        auto& tagged = component(profile, ior::tag_priority_addresses);
        auto addresses = ior::decode_priority_addresses(tagged).value();
        for (auto& each : addresses)
            each.address.port = dead.port();
        tagged = ior::make_priority_addresses(addresses);
        profile.port = dead.port();
    });
    for (const std::string& reference : {dead_tcp, with_port(server.reference(), 0)}) {
        const Probe::Target_var target = client.target(reference);
        EXPECT_EQ(at(target, 0), 0);
        EXPECT_EQ(at(target, 150), 100);
        EXPECT_EQ(at(target, 200), 200);
    }
    server.end();
    for (const char* suffix : {"", ".1", ".2"})
        EXPECT_FALSE(exists(path + suffix));
}

// --- Without TCP ---------------------------------------------------------------------------------

TEST(OnlyLocal, IsReachedByOurClients)
{
    for (const std::string& endpoint : {"uiop://" + own_path(), std::string("uiop://"),
                                        "uiop://@kairos-test-" + std::to_string(::getpid())}) {
        OnlyLocal server({"-ORBDebug", "0", "-ORBListenEndpoints", endpoint});
        // To others, a server that has no address in the clear.
        const auto reference = ior::from_string(server.text()).value();
        EXPECT_TRUE(ior::targets(reference).empty());
        EXPECT_EQ(ior::decode_iiop(reference.profiles.at(0).data).value().port, 0);
        for (const char* preferred : {"0", "1"}) {
            Client client({"-ORBDebug", "0", "-ORBPreferLocal", preferred});
            const Probe::Target_var target = client.target(server.text());
            EXPECT_EQ(outcome([&] { target->ping(); }), "ok") << endpoint;
        }
    }
}

TEST(OnlyLocal, ObjectsOfDifferentServersAreNotEquivalent)
{
    const OnlyLocal first({"-ORBDebug", "0", "-ORBListenEndpoints", "uiop://"});
    const OnlyLocal second({"-ORBDebug", "0", "-ORBListenEndpoints", "uiop://"});
    Client client;
    const Probe::Target_var one = client.target(first.text());
    const Probe::Target_var other = client.target(second.text());
    const Probe::Target_var again = client.target(first.text());
    EXPECT_FALSE(one->_is_equivalent(other));
    EXPECT_TRUE(one->_is_equivalent(again));
}

TEST(OnlyLocal, OwnObjectsAreOwn)
{
    OnlyLocal server({"-ORBDebug", "0", "-ORBListenEndpoints", "uiop://"});
    EXPECT_TRUE(server.object()->_kairos_reference()->is_local());
}

TEST(OnlyLocal, IsSaidToWhoAsks)
{
    const LogLines log;
    const std::string path = own_path();
    const OnlyLocal server({"-ORBDebug", "1", "-ORBListenEndpoints", "uiop://" + path});
    EXPECT_EQ(LogLines::count("published in references: unix:" + path), 1u);
}

TEST(OnlyLocal, IsRefusedWhereReferencesHaveNoPlaceForIt)
{
    const std::string reason =
        complaint({"-ORBListenEndpoints", "uiop://", "-ORBGIOPVersion", "1.0"});
    EXPECT_NE(reason.find("-ORBListenEndpoints without iiop:// contradicts -ORBGIOPVersion 1.0"),
              std::string::npos)
        << reason;
}

TEST(OnlyLocal, APathThatSomebodyServesIsRefused)
{
    const Arguments options{"-ORBListenEndpoints", "uiop://" + own_path()};
    const OnlyLocal server(options);
    const std::string reason = complaint(options);
    EXPECT_NE(reason.find(options[0] + " " + options[1]), std::string::npos) << reason;
    EXPECT_NE(reason.find("Address already in use"), std::string::npos) << reason;
}

} // namespace
} // namespace kairos::orb_testing
