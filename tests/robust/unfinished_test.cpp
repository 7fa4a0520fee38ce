// SPDX-License-Identifier: Apache-2.0
//
// Peers that begin a message and do not send the rest of it (-ORBReceiveTimeout): they are told to
// go, in every architecture and over every transport, and nobody else is. Nothing here waits for a
// time: a peer whose message is late is the clock of the others.
#include "kairos/server/receive_limit.h"
#include "tests/robust/local.h"

#include <poll.h>
#include <set>

namespace kairos::orb_testing {
namespace {

using namespace std::chrono_literals;

const Arguments soon{"-ORBReceiveTimeout", "50"};
constexpr const char* late = " closed: ";

Arguments operator+(Arguments left, const Arguments& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Octets half_of(const Octets& message)
{
    return {message.begin(), message.begin() + static_cast<std::ptrdiff_t>(message.size() / 2)};
}

void expect_served(const RunningServer& server, RawPeer& peer)
{
    peer.send(server.ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
}

void expect_told_to_go(RawPeer& peer, const char* how = "CloseConnection 1.2")
{
    EXPECT_EQ(control_text(peer.read_message()), how);
    EXPECT_TRUE(peer.at_end());
}

/// One half message later.
void let_time_pass(const RunningServer& server)
{
    RawPeer clock = server.connect();
    clock.send(half_of(server.ping()));
    expect_told_to_go(clock);
}

/// What a peer may have begun.
struct Beginning {
    const char* name;
    Octets (*octets)(const RunningServer& server);
    const char* answer = "CloseConnection 1.2";
};

Octets first_fragment(const RunningServer& server)
{
    return request(server.key(), "ping", 1).flag(2).finish();
}

const Beginning beginnings[] = {
    {"one octet", [](const RunningServer&) { return Octets{std::byte{'G'}}; },
     "CloseConnection 1.0"},
    {"half a header",
     [](const RunningServer& server) {
         Octets message = server.ping();
         message.resize(giop::header_size / 2);
         return message;
     },
     "CloseConnection 1.0"},
    {"a header",
     [](const RunningServer& server) {
         Octets message = server.ping();
         message.resize(giop::header_size);
         return message;
     }},
    {"half a request", [](const RunningServer& server) { return half_of(server.ping()); }},
    {"much of a large one",
     [](const RunningServer& server) {
         Octets message = request(server.key(), "count_octets").u32(1 << 20).finish(1 << 20);
         message.resize(message.size() + 100'000);
         return message;
     }},
    {"a first fragment", first_fragment},
    {"a fragment and a half",
     [](const RunningServer& server) {
         Octets message = first_fragment(server);
         const Octets half = half_of(server.ping(2));
         message.insert(message.end(), half.begin(), half.end());
         return message;
     }},
};

class Unfinished : public EveryArchitecture {};

TEST_P(Unfinished, MessagesEndTheirConnectionsOnly)
{
    RunningServer server(GetParam(), soon);
    RawPeer bystander = server.connect();
    expect_served(server, bystander);
    std::vector<RawPeer> peers;
    for (const Beginning& beginning : beginnings) {
        peers.push_back(server.connect());
        peers.back().send(beginning.octets(server));
    }
    for (std::size_t i = 0; i < peers.size(); ++i) {
        SCOPED_TRACE(beginnings[i].name);
        expect_served(server, bystander);
        const std::string address = peers[i].address();
        expect_told_to_go(peers[i], beginnings[i].answer);
        EXPECT_EQ(LogLines::count(address + late), 1u);
    }
    expect_served(server, bystander);
    EXPECT_EQ(LogLines::count(""), std::size(beginnings));
}

TEST_P(Unfinished, AfterOthersThatWereServed)
{
    RunningServer server(GetParam(), soon);
    RawPeer peer = server.connect();
    for (int i = 0; i < 3; ++i)
        expect_served(server, peer);
    Octets octets = server.ping(7);
    const Octets half = half_of(server.ping(8));
    octets.insert(octets.end(), half.begin(), half.end());
    peer.send(octets);
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 7u);
    expect_told_to_go(peer);
    EXPECT_EQ(server.servant().calls, 4u);
}

TEST_P(Unfinished, WhoHasBegunNothingMayBeSilent)
{
    RunningServer server(GetParam(), soon);
    RawPeer never_spoke = server.connect();
    RawPeer spoke = server.connect();
    expect_served(server, spoke);
    RawPeer in_two_parts = server.connect();
    const Octets ping = server.ping();
    in_two_parts.send(half_of(ping));
    in_two_parts.send(Bytes(ping).subspan(ping.size() / 2));
    EXPECT_EQ(ParsedReply(in_two_parts.read_message()).text(), "NO_EXCEPTION");
    for (int i = 0; i < 3; ++i)
        let_time_pass(server);
    expect_served(server, never_spoke);
    expect_served(server, spoke);
    expect_served(server, in_two_parts);
    EXPECT_EQ(LogLines::count(late), 3u);
}

/// Its rest takes longer than the limit, but it goes on all the time.
TEST_P(Unfinished, ASlowPeerIsWaitedFor)
{
    RunningServer server(GetParam(), {"-ORBReceiveTimeout", "600"});
    RawPeer slow = server.connect();
    const Octets octets(std::size_t{4} << 20);
    const Octets message = request(server.key(), "count_octets").octets(octets).finish();
    std::size_t sent = 500;
    slow.send(Bytes(message).first(sent));
    for (int i = 0; i < 2; ++i) {
        RawPeer clock = server.connect();
        clock.send(half_of(server.ping()));
        while (!clock.socket().wait_readable(20ms).ok()) {
            const std::size_t size = orb::ReceiveLimit::progress_min;
            slow.send(Bytes(message).subspan(sent, size));
            sent += size;
        }
        expect_told_to_go(clock);
    }
    slow.send(Bytes(message).subspan(sent));
    EXPECT_EQ(ParsedReply(slow.read_message()).text(), "NO_EXCEPTION");
}

TEST_P(Unfinished, DrippingDoesNotHelp)
{
    RunningServer server(GetParam(), soon);
    RawPeer peer = server.connect();
    const std::string address = peer.address();
    Octets message = request(server.key(), "count_octets").u32(1 << 20).finish(1 << 20);
    message.resize(orb::ReceiveLimit::progress_min - 1);
    std::size_t sent = 0;
    for (; sent < message.size() && !peer.socket().wait_readable(2ms).ok(); ++sent)
        peer.send(Bytes(message).subspan(sent, 1));
    EXPECT_LT(sent, message.size());
    EXPECT_TRUE(LogLines::wait_for(address + late));
}

/// Other messages are served all the while, but that one stays incomplete.
TEST_P(Unfinished, AFragmentedOneBetweenOthers)
{
    RunningServer server(GetParam(), soon);
    RawPeer peer = server.connect();
    const std::string address = peer.address();
    peer.send(first_fragment(server));
    std::uint32_t id = 2;
    const auto until = Deadline::after(patience);
    for (; LogLines::count(address + late) == 0 && !until.has_passed(); ++id) {
        peer.send(server.ping(id));
        const Octets answer = peer.read_message();
        if (answer.size() > giop::header_size) {
            EXPECT_EQ(ParsedReply(answer).reply.request_id, id);
        }
    }
    EXPECT_EQ(LogLines::count(address + late), 1u);
    EXPECT_GT(id, 3u);
}

TEST_P(Unfinished, MayTakeForEverWithoutALimit)
{
    RunningServer server(GetParam(), {"-ORBReceiveTimeout", "0"});
    RawPeer peer = server.connect();
    const Octets ping = server.ping();
    peer.send(half_of(ping));
    const RunningServer with_limit(GetParam(), soon);
    for (int i = 0; i < 3; ++i)
        let_time_pass(with_limit);
    peer.send(Bytes(ping).subspan(ping.size() / 2));
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
}

TEST_P(Unfinished, GiveTheirPlacesBack)
{
    RunningServer server(GetParam(), soon + Arguments{"-ORBMaxConnections", "1"});
    const std::size_t threads_before = threads();
    for (int i = 0; i < 3; ++i) {
        const auto until = Deadline::after(patience);
        Octets answer;
        for (bool placed = false; !placed && !until.has_passed();) {
            RawPeer peer = server.connect();
            peer.send(half_of(server.ping()));
            answer = peer.read_message();
            // 1.0: there was no place yet, as the log says, for it was not read.
            placed = control_text(answer) == "CloseConnection 1.2";
        }
        EXPECT_EQ(control_text(answer), "CloseConnection 1.2");
    }
    EXPECT_EQ(LogLines::count(late), 3u);
    const auto until = Deadline::after(patience);
    while (threads() > threads_before && !until.has_passed())
        std::this_thread::yield();
    EXPECT_LE(threads(), threads_before);
}

TEST_P(Unfinished, OfAPeerThatDoesNotReadEither)
{
    RunningServer server(GetParam(), soon);
    RawPeer bystander = server.connect();
    expect_served(server, bystander);
    {
        RawPeer peer = server.connect();
        const std::string address = peer.address();
        Octets octets = request(server.key(), "produce").u32(10'000).finish();
        const Octets half = half_of(server.ping());
        octets.insert(octets.end(), half.begin(), half.end());
        peer.send(octets);
        EXPECT_TRUE(LogLines::wait_for(address + late));
    }
    expect_served(server, bystander);
}

KAIROS_EVERY_ARCHITECTURE(Unfinished);

// --- While a request of the connection is served -------------------------------------------------

/// Those that read on, or serve others, meanwhile.
class WhileServing : public EveryArchitecture {};

TEST_P(WhileServing, TheReplyIsNotLost)
{
    RunningServer server(GetParam(), soon);
    Event go_on;
    server.servant().action = [&] { EXPECT_TRUE(go_on.wait()); };
    RawPeer peer = server.connect();
    Octets octets = request(server.key(), "act", 5).finish();
    const Octets half = half_of(server.ping(6));
    octets.insert(octets.end(), half.begin(), half.end());
    peer.send(octets);
    for (int i = 0; i < 3; ++i)
        let_time_pass(server);
    go_on.set();
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 5u);
    expect_told_to_go(peer);
}

/// What came while nobody read is not late.
TEST_P(WhileServing, TheRestMayComeMeanwhile)
{
    RunningServer server(GetParam(), soon);
    Event go_on;
    server.servant().action = [&] { EXPECT_TRUE(go_on.wait()); };
    RawPeer peer = server.connect();
    Octets octets = request(server.key(), "act", 5).finish();
    const Octets ping = server.ping(6);
    const Octets half = half_of(ping);
    octets.insert(octets.end(), half.begin(), half.end());
    peer.send(octets);
    peer.send(Bytes(ping).subspan(half.size()));
    for (int i = 0; i < 3; ++i)
        let_time_pass(server);
    go_on.set();
    std::set<std::uint32_t> answered{ParsedReply(peer.read_message()).reply.request_id};
    answered.insert(ParsedReply(peer.read_message()).reply.request_id);
    EXPECT_EQ(answered, (std::set<std::uint32_t>{5, 6}));
    EXPECT_EQ(LogLines::count(peer.address() + late), 0u);
}

INSTANTIATE_TEST_SUITE_P(Architectures, WhileServing,
                         ::testing::Values("thread-per-connection", "leader-followers",
                                           "worker-pool", "thread-per-request", "thread-per-object",
                                           "filter-chain"),
                         architecture_name);

// --- Other transports ----------------------------------------------------------------------------

class UnfinishedLocal : public EveryArchitecture {
  protected:
    static RawPeer connect(const RunningServer& server)
    {
        const auto path = net::Address::unix_path(local_path(server.reference()));
        return RawPeer(net::connect(path.value()).value());
    }
    static RawPeer connect_memory(const RunningServer& server)
    {
        RawPeer peer = connect(server);
        EXPECT_TRUE(peer.socket().offer_memory(0us, Deadline::after(patience)));
        return peer;
    }
};

TEST_P(UnfinishedLocal, MessagesOverUnixSockets)
{
    RunningServer server(GetParam(), soon + Arguments{"-ORBListenEndpoints", "uiop://"});
    RawPeer bystander = connect(server);
    expect_served(server, bystander);
    RawPeer peer = connect(server);
    peer.send(half_of(server.ping()));
    expect_told_to_go(peer);
    EXPECT_EQ(LogLines::count(late), 1u);
    expect_served(server, bystander);
}

class UnfinishedMemory : public UnfinishedLocal {
  protected:
    RunningServer server_{GetParam(), soon + Arguments{"-ORBListenEndpoints", "shmiop://"}};
};

TEST_P(UnfinishedMemory, MessagesEndTheirConnectionsOnly)
{
    RawPeer bystander = connect_memory(server_);
    expect_served(server_, bystander);
    for (const Beginning& beginning : beginnings) {
        SCOPED_TRACE(beginning.name);
        LogLines::forget();
        RawPeer peer = connect_memory(server_);
        peer.send(beginning.octets(server_));
        expect_told_to_go(peer, beginning.answer);
        EXPECT_EQ(LogLines::count(late), 1u);
        expect_served(server_, bystander);
    }
}

TEST_P(UnfinishedMemory, HandoversEnd)
{
    RawPeer bystander = connect_memory(server_);
    expect_served(server_, bystander);
    RawPeer silent = connect(server_);
    EXPECT_TRUE(silent.at_end());
    EXPECT_EQ(LogLines::count("refused: nothing was agreed within -ORBReceiveTimeout"), 1u);
    expect_served(server_, bystander);
}

TEST_P(UnfinishedMemory, DrippingDoesNotHelp)
{
    RawPeer peer = connect_memory(server_);
    Octets message = request(server_.key(), "count_octets").u32(1 << 20).finish(1 << 20);
    message.resize(orb::ReceiveLimit::progress_min - 1);
    std::size_t sent = 0;
    for (; sent < message.size() && !peer.socket().wait_readable(2ms).ok(); ++sent)
        peer.send(Bytes(message).subspan(sent, 1));
    EXPECT_LT(sent, message.size());
    EXPECT_TRUE(LogLines::wait_for(late));
}

KAIROS_EVERY_ARCHITECTURE(UnfinishedLocal);
INSTANTIATE_TEST_SUITE_P(Architectures, UnfinishedMemory,
                         ::testing::Values("thread-per-connection", "reactor",
                                           "reactor-per-priority", "leader-followers",
                                           "worker-pool"),
                         architecture_name);

// --- Other threads -------------------------------------------------------------------------------

/// Who spins looks at its socket by other means.
TEST(UnfinishedSpinning, EndsTheConnection)
{
    const LogLines log;
    RunningServer server("thread-per-connection", soon + Arguments{"-ORBSpin", "50"});
    let_time_pass(server);
}

/// The program's own loop polls one descriptor, which tells of the time as well.
TEST(UnfinishedForeignLoop, EndsTheConnection)
{
    const LogLines log;
    RunningServer server("reactor", soon, RunningServer::Start::held_by_test);
    server.manager()->activate();
    std::atomic<bool> done{false};
    server.servant().action = [&done] { done = true; };
    std::thread peers([&] {
        RawPeer bystander = server.connect();
        expect_served(server, bystander);
        let_time_pass(server);
        expect_served(server, bystander);
        bystander.send(request(server.key(), "act").finish());
        EXPECT_EQ(ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION");
    });
    pollfd watched{.fd = server.orb()->_kairos_descriptor(), .events = POLLIN, .revents = 0};
    while (!done)
        if (::poll(&watched, 1, -1) == 1) server.orb()->perform_work();
    peers.join();
}

/// A reactor that the test turns, and a peer of it that leaves a reply unread at first.
class TakenJustWhenLate {
  public:
    TakenJustWhenLate() { server_.manager()->activate(); }

    /// How much the system takes for a peer that does not read.
    std::size_t room()
    {
        RawPeer peer = ask(32 << 20);
        return drain(peer);
    }
    /// The server has seen that the peer is behind, and then was not turned until that is late.
    /// False if it was late before, on a machine that is busy.
    bool let_be_late(RawPeer& peer)
    {
        std::atomic<bool> looked{false};
        {
            std::jthread passing([&] {
                let_time_pass(clock_);
                let_time_pass(clock_);
                looked = true;
            });
            while (!looked)
                turn();
        }
        for (int i = 0; i < 5; ++i)
            let_time_pass(clock_);
        return LogLines::count(peer.address() + late) == 0;
    }
    /// Begins to be sent.
    RawPeer ask(std::uint32_t size)
    {
        RawPeer peer = server_.connect();
        peer.send(request(server_.key(), "produce").u32(size).finish());
        while (!peer.socket().wait_readable(0ns).ok())
            turn();
        return peer;
    }
    /// What is there, without the server.
    static std::size_t drain(RawPeer& peer)
    {
        std::vector<std::byte> space(1 << 20);
        for (std::size_t all = 0;;) {
            const auto got = peer.socket().read(space, net::ReadFlags::do_not_wait);
            if (!got.ok() || got.bytes == 0) return all;
            all += got.bytes;
        }
    }
    void turn()
    {
        pollfd watched{.fd = server_.orb()->_kairos_descriptor(), .events = POLLIN, .revents = 0};
        if (::poll(&watched, 1, 1) == 1) server_.orb()->perform_work();
    }
    [[nodiscard]] const RunningServer& server() const { return server_; }

  private:
    const LogLines log_;
    RunningServer clock_{"reactor", {"-ORBReceiveTimeout", "100"}};
    RunningServer server_{
        "reactor", {"-ORBReceiveTimeout", "400"}, RunningServer::Start::held_by_test};
};

/// Takes all just when the server is about to call it late: then it has not been, and is read on.
TEST(UnfinishedForeignLoop, WhoTakesItsReplyJustWhenItIsLateGoesOn)
{
    TakenJustWhenLate scene;
    const auto size = static_cast<std::uint32_t>(scene.room() / 4 * 5);
    const auto until = Deadline::after(patience);
    for (;;) {
        ASSERT_FALSE(until.has_passed()) << "the machine is too busy";
        RawPeer peer = scene.ask(size);
        if (!scene.let_be_late(peer)) continue;
        // Behind GIOP's header the reply's, and a length: 12, 12 and 4 octets.
        const std::size_t whole = size + 28;
        std::size_t taken = scene.drain(peer);
        ASSERT_LT(taken, whole); // the rest is the server's to send
        const auto all = Deadline::after(patience);
        while (taken < whole && !all.has_passed()) {
            scene.turn();
            taken += scene.drain(peer);
        }
        EXPECT_EQ(taken, whole);
        peer.send(scene.server().ping());
        const auto served = Deadline::after(patience);
        while (!peer.socket().wait_readable(0ns).ok() && !served.has_passed())
            scene.turn();
        ASSERT_TRUE(peer.socket().wait_readable(0ns).ok()) << "it is not read any more";
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
        EXPECT_EQ(LogLines::count(peer.address() + late), 0u);
        return;
    }
}

} // namespace
} // namespace kairos::orb_testing
