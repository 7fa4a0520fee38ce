// SPDX-License-Identifier: Apache-2.0
//
// Peers that reset their connections wherever the protocol is, thousands of them that come at once,
// and threads that the system does not give: what becomes of the call, and that everybody else is
// served meanwhile. docs/robustness.md has the whole list.
#include "kairos/base/tries_testing.h"
#include "tests/faults/faults.h"
#include "tests/malformed/fake_server.h"

namespace kairos::orb_testing {
namespace {

using net::testing::SystemCall;

/// Every call of this kind is refused.
net::testing::FaultPlan refusing(SystemCall call)
{
    net::testing::FaultPlan plan;
    plan.of(call) = 1000;
    return plan;
}

/// Ends the connection as a crash does: the peer sees a reset, and loses what it has not read.
void reset(RawPeer& peer)
{
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(
        ::setsockopt(peer.socket().descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once),
        0);
    peer.close();
}

// --- Resets of clients ---------------------------------------------------------------------------

class ResetByClient : public EveryArchitecture {
  protected:
    ResetByClient() : bystander_(server_->connect()) {}
    [[nodiscard]] static std::unique_ptr<RunningServer> start(Event& inside, Event& go_on)
    {
        auto server = std::make_unique<RunningServer>(GetParam(), std::vector<std::string>{},
                                                      RunningServer::Start::holding);
        server->servant().action = [&] {
            inside.set();
            EXPECT_TRUE(go_on.wait());
        };
        server->manager()->activate();
        return server;
    }
    [[nodiscard]] Bytes key() const { return server_->key_bytes(); }
    /// Another client is served, and the server has not changed its mind about the next.
    void expect_others_served()
    {
        bystander_.send(server_->ping(77));
        EXPECT_EQ(ParsedReply(bystander_.read_message()).text(), "NO_EXCEPTION");
        RawPeer newcomer = server_->connect();
        newcomer.send(server_->ping());
        EXPECT_EQ(ParsedReply(newcomer.read_message()).text(), "NO_EXCEPTION");
    }

    Event inside_;
    Event go_on_;
    std::unique_ptr<RunningServer> server_ = start(inside_, go_on_);
    RawPeer bystander_;
};

TEST_P(ResetByClient, AfterEveryOctetOfARequest)
{
    const Octets message = request(key(), "add").u32(1).u32(2).finish();
    for (std::size_t octets = 0; octets <= message.size(); ++octets) {
        RawPeer peer = server_->connect();
        peer.send(Bytes(message).first(octets));
        reset(peer);
    }
    expect_others_served();
}

TEST_P(ResetByClient, BetweenFragments)
{
    const Octets first = request(key(), "add").u32(1).flag(2).finish();
    const Octets last = WireMessage(giop::MessageType::fragment).u32(1).u32(2).finish();
    for (std::size_t octets = 0; octets < last.size(); ++octets) {
        RawPeer peer = server_->connect();
        peer.send(first);
        peer.send(Bytes(last).first(octets));
        reset(peer);
    }
    expect_others_served();
    EXPECT_EQ(server_->servant().calls, 2u);
}

TEST_P(ResetByClient, AfterControlMessages)
{
    using giop::MessageType;
    const Octets locate =
        WireMessage(MessageType::locate_request).u32(1).u16(0).octets(key()).finish();
    for (const Octets& message : {locate, WireMessage(MessageType::cancel_request).u32(1).finish(),
                                  WireMessage(MessageType::message_error).finish(),
                                  WireMessage(MessageType::close_connection).finish(),
                                  WireMessage(MessageType::reply).u32(1).u32(0).u32(0).finish()}) {
        RawPeer peer = server_->connect();
        peer.send(message);
        reset(peer);
    }
    expect_others_served();
}

TEST_P(ResetByClient, WhileItsRequestIsServed)
{
    RawPeer peer = server_->connect();
    peer.send(request(key(), "act").finish());
    ASSERT_TRUE(inside_.wait());
    reset(peer);
    go_on_.set();
    expect_others_served();
}

TEST_P(ResetByClient, WithinTheReply)
{
    RawPeer peer = server_->connect({.receive_queue_bytes = 4096});
    peer.send(request(key(), "produce").u32(8'000'000).finish());
    EXPECT_EQ(peer.read(20).size(), 20u); // the rest does not fit, so it is still to be sent
    reset(peer);
    expect_others_served();
}

TEST_P(ResetByClient, AfterTheReply)
{
    RawPeer peer = server_->connect();
    peer.send(server_->ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    reset(peer);
    expect_others_served();
}

TEST_P(ResetByClient, WhileItIsHeld)
{
    RawPeer peer = server_->connect();
    peer.send(server_->ping()); // so that it is known
    EXPECT_FALSE(peer.read_message().empty());
    server_->manager()->hold_requests(true);
    peer.send(server_->ping());
    reset(peer);
    server_->manager()->activate();
    expect_others_served();
}

KAIROS_EVERY_ARCHITECTURE(ResetByClient);

// --- Resets of servers ---------------------------------------------------------------------------

class ResetByServer : public testing::TestWithParam<const char*> {
  protected:
    /// How a call ends whose server reads the request, sends so much of the reply and crashes; and
    /// the next, for which it is there again.
    [[nodiscard]] static std::pair<std::string, std::string> end_after(std::size_t octets)
    {
        FakeServer server([octets](FakeServer& fake) {
            {
                FakeServer::Peer peer = fake.accept();
                const Octets answer = reply(peer.read_request().id(), 0).finish();
                peer.send(Bytes(answer).first(octets));
                reset(peer);
            }
            fake.accept().serve_all();
        });
        std::pair<std::string, std::string> ends;
        {
            Client client({"-ORBConnection", GetParam()});
            const Probe::Target_var target = client.target(server.reference());
            ends.first = outcome([&] { target->ping(); });
            ends.second = outcome([&] { target->ping(); });
        }
        server.end();
        EXPECT_EQ(server.requests(), 2); // nothing was sent twice
        return ends;
    }
    LogLines log_;
};

TEST_P(ResetByServer, AfterEveryOctetOfAReplyMayHaveExecutedTheCall)
{
    const std::size_t size = reply(1, 0).finish().size();
    for (std::size_t octets = 0; octets < size; ++octets) {
        const auto [first, second] = end_after(octets);
        EXPECT_EQ(first, "COMM_FAILURE 0x4b520002 MAYBE") << octets;
        EXPECT_EQ(second, "ok") << octets;
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, ResetByServer,
                         testing::Values("non-multiplexed", "leader-followers", "active"),
                         architecture_name);

// --- Crowds --------------------------------------------------------------------------------------

class Crowd : public EveryArchitecture {};

/// As fast as four threads can: about 10,000 a second and more.
TEST_P(Crowd, OfThousandsThatConnectLeavesACallerServed)
{
    constexpr int threads_max = 4;
    constexpr int each = tries(2'000);
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    const std::size_t descriptors_before = descriptors();
    std::atomic<int> running{threads_max};
    std::atomic<int> unserved{0};
    std::vector<std::thread> crowd;
    crowd.reserve(threads_max);
    for (int i = 0; i < threads_max; ++i) {
        crowd.emplace_back([&] {
            for (int n = 0; n < each; ++n) {
                RawPeer peer = server.connect();
                if (n % 50 != 0) continue; // most say nothing
                peer.send(server.ping());
                unserved += ParsedReply(peer.read_message()).text() == "NO_EXCEPTION" ? 0 : 1;
            }
            --running;
        });
    }
    do {
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    } while (running != 0);
    for (std::thread& thread : crowd)
        thread.join();
    EXPECT_EQ(unserved, 0);
    while (descriptors() > descriptors_before) // the last ones' ends are still to be seen
        std::this_thread::yield();
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

KAIROS_EVERY_ARCHITECTURE(Crowd);

// --- No threads ----------------------------------------------------------------------------------

class NoThreads : public EveryArchitecture {
  protected:
    [[nodiscard]] static bool has_none_of_its_own() // to start with
    {
        return GetParam() == std::string_view("reactor");
    }
    [[nodiscard]] static bool starts_some_later()
    {
        const std::string_view architecture = GetParam();
        return has_one_for_each_connection() || architecture == "thread-per-request" ||
               architecture == "thread-per-object";
    }
    [[nodiscard]] static bool has_one_for_each_connection()
    {
        const std::string_view architecture = GetParam();
        return architecture == "thread-per-connection" ||
               architecture == "reactor-per-priority-each";
    }
};

TEST_P(NoThreads, ToBeginWithRefuseToActivateAndGiveTheAddressesBack)
{
    RunningServer server(GetParam(), {}, RunningServer::Start::holding);
    {
        const net::testing::Faults faults(refusing(SystemCall::thread));
        EXPECT_EQ(outcome([&] { server.manager()->activate(); }),
                  has_none_of_its_own() ? "ok" : "NO_RESOURCES 0x0 NO");
    }
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }),
              has_none_of_its_own() ? "ok" : "TRANSIENT 0x4b520001 NO");
}

TEST_P(NoThreads, ForOneMoreRefuseThatOneAlone)
{
    RunningServer server(GetParam());
    RawPeer first = server.connect();
    first.send(server.ping());
    EXPECT_EQ(ParsedReply(first.read_message()).text(), "NO_EXCEPTION");
    std::string refused = "ok";
    {
        const net::testing::Faults faults(refusing(SystemCall::thread));
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        refused = outcome([&] { target->ping(); });
        if (has_one_for_each_connection()) {
            EXPECT_EQ(refused, "TRANSIENT 0x4b520001 NO");
            first.send(server.ping(2));
            EXPECT_EQ(ParsedReply(first.read_message()).text(), "NO_EXCEPTION");
        }
    }
    if (GetParam() == std::string_view("thread-per-request")) {
        EXPECT_EQ(refused, "NO_RESOURCES 0x0 NO");
    } else if (!starts_some_later()) {
        EXPECT_EQ(refused, "ok");
    }
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    first.send(server.ping(3));
    EXPECT_EQ(ParsedReply(first.read_message()).text(), "NO_EXCEPTION");
}

KAIROS_EVERY_ARCHITECTURE(NoThreads);

TEST(NoThreadsForClients, EndTheCallUnsent)
{
    RunningServer server("reactor");
    Client client({"-ORBConnection", "active"});
    const Probe::Target_var target = client.target(server.reference());
    {
        const net::testing::Faults faults(refusing(SystemCall::thread));
        const std::string how = outcome([&] { target->ping(); });
        EXPECT_TRUE(how.ends_with(" NO")) << how;
    }
    EXPECT_EQ(server.servant().calls, 0u);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST(NoPollers, RefuseToStartAndSayWhy)
{
    for (const char* architecture : {"reactor", "leader-followers", "worker-pool"}) {
        const net::testing::Faults faults(refusing(SystemCall::poller));
        const CORBA::ORB_var orb = make_orb(
            {"-ORBConcurrency", architecture, "-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        std::string reason;
        try {
            (void)orb->resolve_initial_references("RootPOA");
        } catch (const CORBA::INITIALIZE& exception) {
            reason = exception.what();
        }
        EXPECT_NE(reason.find("Too many open files"), std::string::npos) << reason;
        orb->destroy();
    }
}

} // namespace
} // namespace kairos::orb_testing
