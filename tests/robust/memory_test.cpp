// SPDX-License-Identifier: Apache-2.0
//
// Servers that clients on their host reach by shared memory: beside every architecture, in and
// after calls of every kind, and with peers that die or do not keep to the rules.
#include "tests/robust/local.h"

#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"
#include "kairos/orb/thread_storage.h"

namespace kairos::orb_testing {
namespace {

using namespace std::chrono_literals;
using orb::Priority;
using orb::ThreadStorage;

class Memory : public EveryArchitecture {
  protected:
    static Arguments options() { return {"-ORBDebug", "0", "-ORBListenEndpoints", "shmiop://"}; }
    DeadPort dead_;
};

TEST_P(Memory, CallsOfEverySize)
{
    RunningServer server(GetParam(), options());
    expect_calls_of_every_size(server, with_port(server.reference(), dead_.port()));
}

TEST_P(Memory, ManyClientsAtOnceSomeOfWhichSpin)
{
    RunningServer server(GetParam(), options());
    std::vector<Arguments> clients;
    for (int i = 0; i < 8; ++i)
        clients.push_back({"-ORBSpin", i % 2 == 0 ? "0" : "20"});
    expect_many_clients(server, with_port(server.reference(), dead_.port()), clients);
}

/// Calls that come by sockets and lead to others by memory, and the other way round.
TEST_P(Memory, PartnersCallEachOtherBack)
{
    std::atomic<int> left_to_do{0};
    std::atomic<unsigned> way_back{0};
    RunningServer left(GetParam(), options(), RunningServer::Start::holding);
    RunningServer right(GetParam(), options(), RunningServer::Start::holding);
    const auto target_in = [&](RunningServer& from, const std::string& reference) {
        const CORBA::Object_var object = from.orb()->string_to_object(reference.c_str());
        return Probe::Target::_unchecked_narrow(object);
    };
    const std::array<std::string, 2> ways{
        with_port(left.reference(), dead_.port()),
        with_local(left.reference(), [](ior::LocalAddresses& local) { local.addresses.clear(); })};
    const Probe::Target_var to_right = target_in(left, with_port(right.reference(), dead_.port()));
    const std::array<Probe::Target_var, 2> to_left{target_in(right, ways[0]),
                                                   target_in(right, ways[1])};
    left.servant().action = [&] {
        if (left_to_do-- > 0) to_right->act();
    };
    right.servant().action = [&] { to_left.at(way_back)->act(); };
    left.manager()->activate();
    right.manager()->activate();
    for (way_back = 0; way_back < to_left.size(); ++way_back) {
        for (const std::string& first : ways) {
            left_to_do = 4;
            const std::uint64_t before = left.servant().calls;
            Client client;
            const Probe::Target_var target = client.target(first);
            target->act();
            EXPECT_EQ(left.servant().calls, before + 5);
        }
    }
}

TEST_P(Memory, TheFileGoesWithTheServerAndTheClientLearnsIt)
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

TEST_P(Memory, HeldRequestsAreServedLater)
{
    RunningServer server(GetParam(), options(), RunningServer::Start::holding);
    Client client;
    const Probe::Target_var target = client.target(with_port(server.reference(), dead_.port()));
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->ping(); }), "ok"); });
    server.manager()->activate();
    calling.join();
    EXPECT_EQ(server.servant().calls, 1u);
}

TEST_P(Memory, ShuttingDownAnswersTheRequestInProgress)
{
    RunningServer server(GetParam(), options());
    Event inside;
    Event go_on;
    server.servant().action = [&] {
        inside.set();
        EXPECT_TRUE(go_on.wait());
    };
    Client client;
    const Probe::Target_var target = client.target(with_port(server.reference(), dead_.port()));
    std::thread calling([&] { EXPECT_EQ(outcome([&] { target->act(); }), "ok"); });
    ASSERT_TRUE(inside.wait());
    server.orb()->shutdown(false);
    go_on.set();
    server.end();
    calling.join();
}

KAIROS_EVERY_ARCHITECTURE(Memory);

// --- Peers ---------------------------------------------------------------------------------------

class MemoryPeer : public testing::Test {
  protected:
    /// A client's end, to be used as a raw socket.
    [[nodiscard]] RawPeer connect()
    {
        auto socket = net::connect(address_);
        if (!socket || !socket->offer_memory(0us, Deadline::after(patience)))
            throw std::runtime_error("no connection");
        return RawPeer(std::move(socket).value());
    }
    void expect_served()
    {
        RawPeer bystander = connect();
        bystander.send(server_.ping());
        EXPECT_EQ(ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION");
    }

    LogLines log_;
    DeadPort dead_;
    RunningServer server_{"thread-per-connection", {"-ORBListenEndpoints", "shmiop://"}};
    const std::string reference_ = with_port(server_.reference(), dead_.port());
    const net::Address address_ = net::Address::unix_path(local_path(server_.reference())).value();
};

TEST_F(MemoryPeer, SendsNonsense)
{
    RawPeer peer = connect();
    peer.send(as_bytes("this is not GIOP"));
    EXPECT_TRUE(LogLines::wait_for("malformed message from unix:process"));
    EXPECT_EQ(peer.read_message().size(), giop::header_size); // MessageError
    EXPECT_TRUE(peer.at_end());
    expect_served();
}

TEST_F(MemoryPeer, EndsWithinAMessage)
{
    {
        RawPeer peer = connect();
        const Octets message = server_.ping();
        peer.send(Bytes(message).first(message.size() / 2));
    }
    EXPECT_TRUE(LogLines::wait_for("the connection ended within a message"));
    expect_served();
}

TEST_F(MemoryPeer, SpeaksWithoutMemory)
{
    auto socket = net::connect(address_);
    ASSERT_TRUE(socket);
    RawPeer peer(std::move(socket).value());
    peer.send(server_.ping());
    EXPECT_TRUE(LogLines::wait_for("refused: no shared memory came"));
    EXPECT_TRUE(peer.at_end());
    expect_served();
}

TEST_F(MemoryPeer, SendsMoreThanTheLimit)
{
    RawPeer peer = connect();
    Octets message = server_.ping();
    // The size in the header: 256 MiB and a little.
    const std::uint32_t size = (std::uint32_t{256} << 20) + 1;
    std::memcpy(message.data() + 8, &size, sizeof size);
    peer.send(message);
    EXPECT_TRUE(LogLines::wait_for("malformed message from unix:process"));
    expect_served();
}

TEST_F(MemoryPeer, OfTheClientDiesBeforeItAnswers)
{
    const std::string path = own_path();
    auto acceptor = net::Acceptor::open(net::Address::unix_path(path).value());
    ASSERT_TRUE(acceptor);
    std::thread dying([&] {
        auto accepted = acceptor->accept();
        accepted.socket.expect_memory(0us);
        EXPECT_TRUE(accepted.socket.agree({}));
        std::array<std::byte, 8> some;
        EXPECT_TRUE(accepted.socket.read(some).ok());
        acceptor->shut_down();
    });
    const std::string reference =
        with_local(reference_, [&](ior::LocalAddresses& local) { local.addresses[0].path = path; });
    Client client({"-ORBDebug", "0"});
    const Probe::Target_var target = client.target(reference);
    const std::string first = outcome([&] { target->ping(); });
    dying.join();
    EXPECT_TRUE(first.starts_with("COMM_FAILURE")) << first;
    EXPECT_TRUE(first.ends_with("MAYBE")) << first;
    EXPECT_TRUE(outcome([&] { target->ping(); }).starts_with("TRANSIENT"));
}

TEST_F(MemoryPeer, AnswersTooLate)
{
    Event go_on;
    server_.servant().action = [&] { EXPECT_TRUE(go_on.wait()); };
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(reference_);
    EXPECT_TRUE(outcome([&] { target->act(); }).starts_with("TIMEOUT"));
    go_on.set(); // for those that follow, too
    Client patient;
    const Probe::Target_var again = patient.target(reference_);
    EXPECT_EQ(outcome([&] { again->act(); }), "ok");
    server_.end(); // the first call's servant may not be through with the event yet
}

// --- Which way -----------------------------------------------------------------------------------

TEST_F(MemoryPeer, WithoutRoomForAnotherClientsGoByTcp)
{
    RunningServer full("thread-per-connection", {"-ORBDebug", "0", "-ORBMaxConnections", "1",
                                                 "-ORBListenEndpoints", "shmiop://"});
    Client first;
    const Probe::Target_var target = first.target(with_port(full.reference(), dead_.port()));
    target->ping();
    Client second;
    const Probe::Target_var other = second.target(full.reference());
    EXPECT_EQ(outcome([&] { other->ping(); }), "ok");
    EXPECT_EQ(full.servant().calls, 2u);
}

/// Each connection of memory has a thread there, and a socket has none: that tells.
TEST_F(MemoryPeer, ClientsThatShareConnectionsGoBySocketsFirst)
{
    RunningServer both("reactor", {"-ORBDebug", "0", "-ORBListenEndpoints", "shmiop://;uiop://"});
    const std::string reference = with_port(both.reference(), dead_.port());
    Client client({"-ORBConnection", "leader-followers"});
    const Probe::Target_var target = client.target(reference);
    const std::size_t before = threads();
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    EXPECT_EQ(threads(), before);
}

TEST_F(MemoryPeer, ClientsThatShareConnectionsReachWhatHasNothingElse)
{
    for (const char* architecture : {"thread-per-connection", "worker-pool"})
        for (const char* connection : {"leader-followers", "active"}) {
            RunningServer only(architecture,
                               {"-ORBDebug", "0", "-ORBListenEndpoints", "shmiop://"});
            const std::string reference = with_port(only.reference(), dead_.port());
            expect_calls_of_every_size(only, reference, {"-ORBConnection", connection});
            const std::size_t before = only.servant().calls;
            Client client({"-ORBConnection", connection});
            const Probe::Target_var target = client.target(reference);
            std::vector<std::thread> callers;
            for (int i = 0; i < 4; ++i)
                callers.emplace_back([&] {
                    Probe::Octets octets;
                    octets.length(200'000);
                    for (int n = 0; n < 10; ++n)
                        EXPECT_EQ(target->count_octets(octets), octets.length());
                });
            for (std::thread& caller : callers)
                caller.join();
            EXPECT_EQ(only.servant().calls - before, 40u);
        }
}

TEST(OnlyMemory, IsReachedByOurClients)
{
    const OnlyLocal server({"-ORBDebug", "0", "-ORBListenEndpoints", "shmiop://"});
    for (const char* preferred : {"0", "1"}) {
        Client client({"-ORBDebug", "0", "-ORBPreferLocal", preferred});
        const Probe::Target_var target = client.target(server.text());
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    }
}

// --- Lanes ---------------------------------------------------------------------------------------

/// Each has memory of its own, whatever serves its sockets.
class LanesOfMemory : public testing::Test {
  protected:
    LanesOfMemory()
    {
        server_.servant().action = [this] {
            served_at_ = ThreadStorage::current().priority.value_or(-1);
        };
        server_.manager()->activate();
    }
    ~LanesOfMemory() override { ThreadStorage::current().priority.reset(); }

    /// The priority of the thread that serves a call, when the calling thread has this one.
    Priority served_at(const Probe::Target_var& target, Priority priority)
    {
        ThreadStorage::current().priority = priority;
        target->act();
        return served_at_;
    }

    LogLines log_; // real-time priorities may be refused
    std::atomic<Priority> served_at_{-1};
    RunningServer server_{"reactor-per-priority",
                          {"-ORBLanes", "0,100,200:2,300:each", "-ORBDebug", "0", "-ORBCollocation",
                           "no", "-ORBListenEndpoints", "shmiop://"},
                          RunningServer::Start::holding};
    Client client_;
    Probe::Target_var target_ = client_.target(with_port(server_.reference(), 0)); // no TCP
};

TEST_F(LanesOfMemory, AreChosenByTheCallersPriority)
{
    std::vector<Priority> said;
    (void)with_local(server_.reference(), [&](ior::LocalAddresses& local) {
        for (const ior::LocalAddress& each : local.addresses) {
            EXPECT_EQ(each.transport, ior::LocalAddress::Transport::shared_memory);
            said.push_back(each.priority);
        }
    });
    EXPECT_EQ(said, (std::vector<Priority>{0, 100, 200, 300}));
    for (const auto& [priority, lane] : std::initializer_list<std::pair<Priority, Priority>>{
             {0, 0}, {99, 0}, {100, 100}, {250, 200}, {300, 300}, {orb::priority_max, 300}, {0, 0}})
        EXPECT_EQ(served_at(target_, priority), lane) << priority;
}

} // namespace
} // namespace kairos::orb_testing
