// SPDX-License-Identifier: Apache-2.0
//
// Servers that may not have more connections: by the system's limit or by the option's. Those
// there are go on, newcomers are turned away, one line an episode says so, and when some have gone
// it is as before. And those of which one peer may not have more requests that wait.
#include "kairos/orb/orb.h"
#include "kairos/server/serving.h"
#include "tests/malformed/fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace kairos::orb_testing {
namespace {

/// Leaves the process this many descriptors to open.
class FewDescriptors {
  public:
    explicit FewDescriptors(std::size_t left)
    {
        (void)::getrlimit(RLIMIT_NOFILE, &before_);
        // The limit is about numbers: take those below it that are free.
        const int highest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        taken_.push_back(highest);
        rlimit limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(highest) + 1 + left;
        (void)::setrlimit(RLIMIT_NOFILE, &limit);
    }
    ~FewDescriptors()
    {
        (void)::setrlimit(RLIMIT_NOFILE, &before_);
        for (const int descriptor : taken_)
            ::close(descriptor);
    }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

  private:
    rlimit before_{};
    std::vector<int> taken_;
};

bool served(RunningServer& server, RawPeer& peer)
{
    peer.send(server.ping());
    const Octets answer = peer.read_message();
    return answer.size() > giop::header_size;
}

class Exhaustion : public EveryArchitecture {};

TEST_P(Exhaustion, OfDescriptorsIsSaidOnceAnEpisodeAndPasses)
{
    RunningServer server(GetParam());
    RawPeer first = server.connect();
    ASSERT_TRUE(served(server, first));
    const std::size_t before = descriptors();
    for (std::size_t episode = 1; episode <= 2; ++episode) {
        while (descriptors() > before) // those of the last episode are being closed
            std::this_thread::yield();
        std::vector<RawPeer> peers; // have their descriptors before there are few
        for (int i = 0; i < 40; ++i)
            peers.emplace_back(net::Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
        {
            const FewDescriptors few(5);
            const net::Address address = net::Address::loopback_ipv4(server.port());
            std::size_t turned_away = 0;
            for (RawPeer& peer : peers) {
                ASSERT_EQ(
                    ::connect(peer.socket().descriptor(), address.native(), address.native_size()),
                    0);
                turned_away += served(server, peer) ? 0 : 1;
            }
            EXPECT_GT(turned_away, 3u);
            EXPECT_LT(turned_away, peers.size());
            EXPECT_TRUE(served(server, first));
        }
        peers.clear();
        RawPeer later = server.connect();
        EXPECT_TRUE(served(server, later));
        EXPECT_TRUE(served(server, first));
        EXPECT_EQ(LogLines::count("cannot accept connections: Too many open files"), episode);
    }
}

TEST_P(Exhaustion, OfDescriptorsIsTransientForAClient)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "UBSan, which comes along, checks objects with pipes: it needs descriptors";
#endif
    // Nobody accepts yet: who does gives up a descriptor for a moment, which the client would take.
    RunningServer server(GetParam(), {}, RunningServer::Start::held_by_test);
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    {
        const FewDescriptors few(0);
        EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4b520001 NO");
        try {
            target->ping();
        } catch (const CORBA::TRANSIENT& exception) {
            EXPECT_NE(std::string(exception.what()).find("Too many open files"), std::string::npos)
                << exception.what();
        }
    }
    server.start();
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_P(Exhaustion, OfMaxConnectionsTurnsNewcomersAwayInOrder)
{
    RunningServer server(GetParam(), {"-ORBMaxConnections", "3"});
    std::vector<RawPeer> peers;
    for (int i = 0; i < 3; ++i) {
        peers.push_back(server.connect());
        ASSERT_TRUE(served(server, peers.back()));
    }
    {
        RawPeer newcomer = server.connect();
        EXPECT_EQ(control_text(newcomer.read_message()), "CloseConnection 1.0");
        EXPECT_TRUE(newcomer.at_end());
        EXPECT_EQ(LogLines::count(newcomer.address() + " refused: -ORBMaxConnections"), 1u);
    }
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4b520001 NO");
    for (RawPeer& peer : peers)
        EXPECT_TRUE(served(server, peer));
    peers.pop_back();
    std::string result; // soon: the server has to notice that one has gone
    do {
        result = outcome([&] { target->ping(); });
    } while (result == "TRANSIENT 0x4b520001 NO");
    EXPECT_EQ(result, "ok");
}

/// A connection from another address of this host: another peer.
RawPeer connect_from(const char* address, std::uint16_t port)
{
    net::Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in from{};
    from.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, address, &from.sin_addr), 1);
    EXPECT_EQ(::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&from), sizeof from),
              0);
    const net::Address to = net::Address::loopback_ipv4(port);
    EXPECT_EQ(::connect(socket.descriptor(), to.native(), to.native_size()), 0);
    return RawPeer(std::move(socket));
}

/// Whoever has all the connections that a peer may have takes no place from others, and gets places
/// again as its connections end.
TEST_P(Exhaustion, OfOnePeersConnectionsIsItsOwn)
{
    RunningServer server(GetParam(), {"-ORBMaxConnections", "8", "-ORBMaxPeerConnections", "3"});
    std::vector<RawPeer> hostile;
    for (int i = 0; i < 3; ++i) {
        hostile.push_back(connect_from("127.0.0.2", server.port()));
        ASSERT_TRUE(served(server, hostile.back()));
    }
    for (int i = 0; i < 20; ++i) {
        RawPeer another = connect_from("127.0.0.2", server.port());
        EXPECT_EQ(control_text(another.read_message()), "CloseConnection 1.0");
        EXPECT_TRUE(another.at_end());
    }
    EXPECT_GE(LogLines::count(" refused: -ORBMaxPeerConnections reached"), 1u);
    EXPECT_EQ(orb::Serving::of(server.orb()->_kairos_core()).account().figures().refused, 20u);
    std::vector<RawPeer> others;
    for (int i = 0; i < 3; ++i) {
        others.push_back(server.connect());
        EXPECT_TRUE(served(server, others.back()));
    }
    for (RawPeer& peer : hostile)
        EXPECT_TRUE(served(server, peer));
    hostile.pop_back();
    for (bool is_served = false; !is_served;) { // soon: the server has to notice that one has gone
        RawPeer again = connect_from("127.0.0.2", server.port());
        is_served = served(server, again);
    }
}

KAIROS_EVERY_ARCHITECTURE(Exhaustion);

/// Of a server with one thread, which is busy until it is told to go on.
class PeersRequests : public ::testing::TestWithParam<const char*> {
  protected:
    /// `when_full`: block or refuse.
    void start(const char* when_full)
    {
        server_.emplace(GetParam(), std::vector<std::string>{"-ORBThreads", "1", "-ORBQueue", "4",
                                                             "-ORBQueueFull", when_full,
                                                             "-ORBMaxPeerRequests", "2"});
        server_->servant().action = [this] {
            busy_.set();
            EXPECT_TRUE(go_on_.wait());
        };
        hostile_.emplace(connect_from("127.0.0.2", server_->port()));
        hostile_->send(request(server_->key(), "act").finish());
        ASSERT_TRUE(busy_.wait());
    }
    void send_pings(RawPeer& peer, int count)
    {
        Octets many;
        for (int i = 0; i < count; ++i) {
            const Octets one = server_->ping(static_cast<std::uint32_t>(i));
            many.insert(many.end(), one.begin(), one.end());
        }
        peer.send(many);
    }
    /// What comes of the next so many: the same of all.
    static std::string outcomes(RawPeer& peer, int count)
    {
        std::string all;
        for (int i = 0; i < count; ++i) {
            const std::string one = ParsedReply(peer.read_message()).text();
            if (i != 0 && one != all) return all + ", " + one;
            all = one;
        }
        return all;
    }
    [[nodiscard]] std::size_t late()
    {
        return orb::Serving::of(server_->orb()->_kairos_core()).account().figures().late;
    }

    const LogLines log_;
    Event busy_;
    Event go_on_;
    std::optional<RunningServer> server_;
    std::optional<RawPeer> hostile_;
};

TEST_P(PeersRequests, ThatAreTooManyAreRefused)
{
    start("refuse");
    send_pings(*hostile_, 2 + 10);
    const std::string refused = outcomes(*hostile_, 10);
    EXPECT_TRUE(refused.starts_with("TRANSIENT ") && refused.find(',') == std::string::npos)
        << refused;
    RawPeer accomplice = connect_from("127.0.0.2", server_->port());
    send_pings(accomplice, 1);
    EXPECT_EQ(outcomes(accomplice, 1), refused);
    RawPeer other = server_->connect();
    send_pings(other, 2 + 1);
    EXPECT_EQ(outcomes(other, 1), refused); // two of its own wait
    EXPECT_GE(LogLines::count("requests of 127.0.0.2:"), 1u);
    EXPECT_GE(LogLines::count(" are left waiting: -ORBMaxPeerRequests reached"), 2u);
    go_on_.set();
    EXPECT_EQ(outcomes(*hostile_, 3), "NO_EXCEPTION");
    EXPECT_EQ(outcomes(other, 2), "NO_EXCEPTION");
    send_pings(accomplice, 1);
    EXPECT_EQ(outcomes(accomplice, 1), "NO_EXCEPTION");
    EXPECT_EQ(late(), 2u);
}

TEST_P(PeersRequests, ThatAreTooManyAreLeftUnread)
{
    constexpr int many = 100;
    start("block");
    RawPeer accomplice = connect_from("127.0.0.2", server_->port());
    send_pings(*hostile_, many);
    send_pings(accomplice, many);
    while (late() == 0)
        std::this_thread::yield();
    RawPeer other = server_->connect();
    send_pings(other, many);
    go_on_.set();
    EXPECT_EQ(outcomes(other, many), "NO_EXCEPTION");
    EXPECT_EQ(outcomes(accomplice, many), "NO_EXCEPTION");
    EXPECT_EQ(outcomes(*hostile_, 1 + many), "NO_EXCEPTION");
}

INSTANTIATE_TEST_SUITE_P(HandedOver, PeersRequests,
                         ::testing::Values("worker-pool", "filter-chain", "thread-per-object"));

} // namespace
} // namespace kairos::orb_testing
