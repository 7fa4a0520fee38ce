// SPDX-License-Identifier: Apache-2.0
//
// Clients that hand a server for shared memory something else: it ends their connections, says so
// once, keeps nothing of theirs, and goes on serving others.
#include "tests/robust/local.h"

#include "kairos/net/connector.h"
#include "kairos/net/handover_testing.h"

namespace kairos::orb_testing {
namespace {

using namespace std::chrono_literals;
using net::hand_over;
using net::memory_file;
using net::memory_seals;
using net::ring_memory_size;

/// What a client sends before it stops, and perhaps closes.
struct Handover {
    std::string name;
    std::vector<std::function<int()>> files;
    std::string octets = std::string(net::handover_greeting);
    bool closes = false;
};

int right() { return memory_file(ring_memory_size, memory_seals); }

std::vector<Handover> handovers()
{
    return {
        {"TooShort", {[] { return memory_file(ring_memory_size - 4096, memory_seals); }}},
        {"TooLong", {[] { return memory_file(ring_memory_size + 4096, memory_seals); }}},
        {"Empty", {[] { return memory_file(0, memory_seals); }}},
        {"NotSealed", {[] { return memory_file(ring_memory_size, 0); }}},
        {"NotSealedAgainstShrinking", {[] { return memory_file(ring_memory_size, F_SEAL_GROW); }}},
        {"SealedAgainstSeals",
         {[] { return memory_file(ring_memory_size, memory_seals | F_SEAL_SEAL); }}},
        {"SealedAgainstWriting",
         {[] { return memory_file(ring_memory_size, memory_seals | F_SEAL_WRITE); }}},
        {"ADevice", {[] { return ::open("/dev/zero", O_RDWR | O_CLOEXEC); }}},
        {"ADirectory", {[] { return ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }}},
        {"ASocket", {[] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }}},
        {"TwoDescriptors", {right, right}},
        {"MoreThanThereIsRoomFor", std::vector<std::function<int()>>(30, right)},
        {"NoDescriptor", {}},
        {"AnotherVersion", {right}, {"KRSHM\0\0\1", 8}},
        {"AnotherGreeting", {right}, {"GIOP\1\2\0\0", 8}},
        {"HalfAGreeting", {right}, "KRSH"},
        {"HalfAGreetingAndTheEnd", {right}, "KRSH", true},
        {"OnlyTheEnd", {}, "", true},
    };
}

class HandoverServer : public testing::Test {
  protected:
    [[nodiscard]] net::Socket connect() { return net::connect(address_).value(); }
    /// Waits until what others give back is given back.
    static bool becomes(std::size_t count)
    {
        const auto until = Deadline::after(patience);
        while (descriptors() != count && !until.has_passed())
            std::this_thread::yield();
        return descriptors() == count;
    }
    void expect_served(RawPeer& peer)
    {
        peer.send(server_.ping());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    }

    LogLines log_;
    RunningServer server_{"thread-per-connection", {"-ORBListenEndpoints", "shmiop://"}};
    const net::Address address_ = net::Address::unix_path(local_path(server_.reference())).value();
};

class MalformedHandover : public HandoverServer, public testing::WithParamInterface<Handover> {};

TEST_P(MalformedHandover, EndsThatConnectionOnly)
{
    net::Socket others = connect();
    ASSERT_TRUE(others.offer_memory(0us, Deadline::after(patience)));
    RawPeer bystander(std::move(others));
    expect_served(bystander);
    const std::size_t before = descriptors();
    constexpr std::size_t times = 3;
    for (std::size_t i = 1; i <= times; ++i) {
        RawPeer peer(connect());
        std::vector<net::Socket> files; // not sockets, but owned and closed alike
        std::vector<int> numbers;
        for (const auto& make : GetParam().files)
            numbers.push_back(files.emplace_back(make()).descriptor());
        const std::string& octets = GetParam().octets;
        if (!octets.empty()) {
            ASSERT_EQ(hand_over(peer.socket(), numbers, octets), std::ssize(octets));
        }
        if (GetParam().closes) peer.half_close();
        EXPECT_TRUE(peer.at_end());
    }
    EXPECT_TRUE(becomes(before));
    EXPECT_EQ(LogLines::count("refused: "), times);
    EXPECT_EQ(LogLines::count(""), times);
    expect_served(bystander);
    net::Socket next = connect();
    EXPECT_TRUE(next.offer_memory(0us, Deadline::after(patience)));
}

INSTANTIATE_TEST_SUITE_P(Handovers, MalformedHandover, testing::ValuesIn(handovers()),
                         [](const auto& tested) { return tested.param.name; });

/// Whoever has not handed anything over yet does not keep a server from ending.
TEST_F(HandoverServer, EndsAlthoughAClientIsSilent)
{
    RawPeer silent(connect());
    net::Socket next = connect(); // accepted in this order
    ASSERT_TRUE(next.offer_memory(0us, Deadline::after(patience)));
    server_.end();
    EXPECT_TRUE(silent.at_end());
}

} // namespace
} // namespace kairos::orb_testing
