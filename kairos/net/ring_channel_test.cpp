// SPDX-License-Identifier: Apache-2.0
//
// Sockets whose bytes go through shared memory: they do what sockets do, and nothing that a peer
// does, dead or hostile, makes them do anything else.
#include "kairos/net/ring_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace kairos;
using namespace kairos::net;
using namespace std::chrono_literals;

using Octets = std::vector<std::byte>;

Octets numbered(std::size_t size)
{
    Octets octets(size);
    for (std::size_t i = 0; i < size; ++i)
        octets[i] = std::byte(i * 7 + i / 251);
    return octets;
}

/// Reads so many octets; fewer if the connection ends before.
Octets read_all(Socket& socket, std::size_t size)
{
    Octets octets(size);
    std::size_t done = 0;
    while (done < size) {
        const IoResult got = socket.read(MutableBytes(octets).subspan(done));
        if (!got.ok()) break;
        done += got.bytes;
    }
    octets.resize(done);
    return octets;
}

std::size_t descriptors()
{
    const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// A client's socket and a server's, without spinning and with it.
class RingChannels : public testing::TestWithParam<std::chrono::microseconds> {
  protected:
    RingChannels()
    {
        auto pair = socket_pair();
        EXPECT_TRUE(pair);
        client = std::move(pair->first);
        server = std::move(pair->second);
        server.expect_memory(GetParam());
        std::thread accepting([this] {
            const auto accepted = server.accept_memory();
            EXPECT_TRUE(accepted) << accepted.error().reason;
        });
        const auto offered = client.offer_memory(GetParam(), Deadline::after(1min));
        EXPECT_TRUE(offered) << offered.error().reason;
        accepting.join();
    }

    Socket client;
    Socket server;
};

TEST_P(RingChannels, BothDirections)
{
    std::thread echo([this] {
        for (;;) {
            std::array<std::byte, 64> buffer;
            const IoResult got = server.read(buffer);
            if (!got.ok()) return;
            EXPECT_TRUE(server.write_all(Bytes(buffer).first(got.bytes)).ok());
        }
    });
    for (std::size_t size = 1; size < 500; ++size) {
        const Octets sent = numbered(size);
        ASSERT_TRUE(client.write_all(sent).ok());
        ASSERT_EQ(read_all(client, size), sent);
    }
    client.close();
    echo.join();
}

TEST_P(RingChannels, MessagesLargerThanTheRing)
{
    const Octets large = numbered(5'000'000);
    std::thread writing([&] { EXPECT_TRUE(server.write_all(Bytes(large)).ok()); });
    EXPECT_EQ(read_all(client, large.size()), large);
    writing.join();
    // Gathered, and with a deadline.
    std::thread reading([&] { EXPECT_EQ(read_all(server, large.size()), large); });
    iovec segments[] = {{const_cast<std::byte*>(large.data()), 10},
                        {const_cast<std::byte*>(large.data()) + 10, large.size() - 10}};
    EXPECT_TRUE(client.write_all(std::span(segments), Deadline::after(1min)).ok());
    reading.join();
}

TEST_P(RingChannels, NothingThereIsSaidAtOnce)
{
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(client.read(buffer, ReadFlags::do_not_wait).status, IoResult::Status::would_block);
    EXPECT_EQ(client.read(buffer, Deadline::after(1ms)).status, IoResult::Status::would_block);
    EXPECT_EQ(client.wait_readable(0ns).status, IoResult::Status::would_block);
    ASSERT_TRUE(server.write_all(as_bytes("abc")).ok());
    EXPECT_TRUE(client.wait_readable(std::nullopt).ok());
    EXPECT_EQ(client.read(buffer, ReadFlags::peek | ReadFlags::do_not_wait).bytes, 3u);
    EXPECT_EQ(client.read(buffer, Deadline::after(1min)).bytes, 3u);
}

TEST_P(RingChannels, AFullRingIsSaidAtOnce)
{
    const Octets large = numbered(RingChannel::capacity + 1);
    EXPECT_EQ(client.write(Bytes(large), WriteFlags::do_not_wait).bytes, RingChannel::capacity);
    EXPECT_EQ(client.write(Bytes(large), WriteFlags::do_not_wait).status,
              IoResult::Status::would_block);
    EXPECT_EQ(client.wait_writable(1ms).status, IoResult::Status::would_block);
    iovec segment{const_cast<std::byte*>(large.data()), large.size()};
    const IoResult late = client.write_all(std::span(&segment, 1), Deadline::after(1ms));
    EXPECT_EQ(late.status, IoResult::Status::would_block);
    EXPECT_EQ(late.bytes, 0u);
    EXPECT_EQ(client.unsent(), std::optional<std::size_t>(RingChannel::capacity));
    EXPECT_EQ(read_all(server, 100).size(), 100u);
    EXPECT_TRUE(client.wait_writable(std::nullopt).ok());
}

TEST_P(RingChannels, TheEndComesAfterWhatWasSent)
{
    ASSERT_TRUE(client.write_all(as_bytes("last words")).ok());
    client.close();
    EXPECT_EQ(read_all(server, 100).size(), 10u);
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(server.read(buffer).status, IoResult::Status::closed);
    EXPECT_EQ(server.write(as_bytes("x")).status, IoResult::Status::closed);
}

TEST_P(RingChannels, TheEndWakesWhoReads)
{
    std::thread reading([this] {
        std::array<std::byte, 4> buffer;
        EXPECT_EQ(server.read(buffer).status, IoResult::Status::closed);
    });
    client.close();
    reading.join();
}

TEST_P(RingChannels, TheEndWakesWhoWrites)
{
    std::thread writing([this] {
        const Octets large = numbered(3 * std::size_t{RingChannel::capacity});
        EXPECT_EQ(server.write_all(Bytes(large)).status, IoResult::Status::closed);
    });
    EXPECT_TRUE(client.wait_readable(std::nullopt).ok());
    client.close();
    writing.join();
}

TEST_P(RingChannels, ShuttingDownWakesTheOwnThreads)
{
    std::thread reading([this] {
        std::array<std::byte, 4> buffer;
        EXPECT_EQ(client.read(buffer).status, IoResult::Status::closed);
    });
    client.shutdown_read();
    reading.join();
    EXPECT_TRUE(client.write_all(as_bytes("still")).ok());
    std::thread writing([this] {
        const Octets large = numbered(3 * std::size_t{RingChannel::capacity});
        EXPECT_EQ(client.write_all(Bytes(large)).status, IoResult::Status::closed);
    });
    client.shutdown_both();
    writing.join();
}

TEST_P(RingChannels, WhoPollsIsWokenAtTheSocket)
{
    for (int i = 0; i < 100; ++i) {
        ASSERT_FALSE(client.prepare_poll());
        std::thread writing([this] { ASSERT_TRUE(server.write_all(as_bytes("x")).ok()); });
        pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
        writing.join();
        EXPECT_TRUE(client.prepare_poll()) << "there is something already";
        EXPECT_EQ(read_all(client, 1).size(), 1u);
    }
    EXPECT_FALSE(client.prepare_poll());
    server.close();
    pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(client.read(buffer).status, IoResult::Status::closed);
}

TEST_P(RingChannels, TheFirstOfSeveralIsFound)
{
    auto other = socket_pair();
    ASSERT_TRUE(other);
    ASSERT_TRUE(server.write_all(as_bytes("x")).ok());
    const std::array<const Socket*, 2> sockets{&other->first, &client};
    wait_any_readable(sockets);
    EXPECT_EQ(read_all(client, 1).size(), 1u);
    std::thread writing([this] { ASSERT_TRUE(server.write_all(as_bytes("y")).ok()); });
    wait_any_readable(sockets);
    EXPECT_EQ(read_all(client, 1).size(), 1u);
    writing.join();
}

std::string spins(const testing::TestParamInfo<std::chrono::microseconds>& tested)
{
    return tested.param == 0us ? "no" : "yes";
}
INSTANTIATE_TEST_SUITE_P(Spinning, RingChannels, testing::Values(0us, 50us), spins);

// --- Peers that die ------------------------------------------------------------------------------

/// A child that has connected, and does what the test says until it is killed.
template <typename Act>
pid_t fork_client(Socket& ours, Act act)
{
    auto pair = socket_pair();
    EXPECT_TRUE(pair);
    const pid_t child = ::fork();
    if (child == 0) {
        pair->second.close();
        if (pair->first.offer_memory({}, {})) act(pair->first);
        ::_exit(1);
    }
    ours = std::move(pair->second);
    pair->first.close();
    ours.expect_memory({});
    EXPECT_TRUE(ours.accept_memory());
    return child;
}

TEST(RingChannelDeath, APeerThatIsKilledInAMessage)
{
    Socket server;
    const pid_t child = fork_client(server, [](Socket& client) {
        (void)client.write_all(as_bytes("the beginning of"));
        for (;;)
            ::pause();
    });
    ASSERT_EQ(read_all(server, 16).size(), 16u);
    std::thread reading([&] {
        std::array<std::byte, 4> buffer;
        EXPECT_EQ(server.read(buffer).status, IoResult::Status::closed);
    });
    ::kill(child, SIGKILL);
    reading.join();
    ::waitpid(child, nullptr, 0);
}

TEST(RingChannelDeath, APeerThatIsKilledWithAFullRing)
{
    Socket server;
    const pid_t child = fork_client(server, [](Socket&) {
        for (;;)
            ::pause();
    });
    std::thread writing([&] {
        EXPECT_EQ(server.write_all(Bytes(numbered(300'000))).status, IoResult::Status::closed);
    });
    ::kill(child, SIGKILL);
    writing.join();
    ::waitpid(child, nullptr, 0);
}

// --- Peers that are hostile ----------------------------------------------------------------------

/// What a client sends to hand over this file.
void hand_over(Socket& socket, std::vector<int> files, std::string_view greeting)
{
    std::array<std::byte, CMSG_SPACE(8 * sizeof(int))> control{};
    iovec text{const_cast<char*>(greeting.data()), greeting.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
        cmsghdr* const part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        std::memcpy(CMSG_DATA(part), files.data(), files.size() * sizeof(int));
    }
    EXPECT_EQ(::sendmsg(socket.descriptor(), &message, 0), static_cast<ssize_t>(greeting.size()));
}

constexpr std::string_view greeting("KRSHM\0\0\1", 8);
constexpr std::size_t memory_size = 2 * (sizeof(RingControl) + std::size_t{RingChannel::capacity});
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

int memory_file(std::size_t size, int sealed)
{
    const int file = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(::ftruncate(file, static_cast<off_t>(size)), 0);
    EXPECT_EQ(::fcntl(file, F_ADD_SEALS, sealed), 0);
    return file;
}

/// Whether a server takes it; and nothing stays open.
bool is_taken(const std::vector<int>& files, std::string_view text)
{
    auto pair = socket_pair();
    EXPECT_TRUE(pair);
    hand_over(pair->first, files, text);
    for (const int file : files)
        ::close(file);
    pair->second.expect_memory({});
    return pair->second.accept_memory().ok();
}

TEST(RingChannelHostile, OnlyWhatIsSealedAndOfTheRightSizeIsTaken)
{
    const std::size_t before = descriptors();
    EXPECT_TRUE(is_taken({memory_file(memory_size, seals)}, greeting));
    EXPECT_FALSE(is_taken({}, greeting));
    EXPECT_FALSE(is_taken({memory_file(memory_size, seals)}, "KRSHM"));
    EXPECT_FALSE(is_taken({memory_file(memory_size, seals)}, "GIOP\1\2\0\0"));
    EXPECT_FALSE(is_taken({memory_file(memory_size, F_SEAL_GROW)}, greeting));
    EXPECT_FALSE(is_taken({memory_file(memory_size, seals | F_SEAL_WRITE)}, greeting));
    EXPECT_FALSE(is_taken({memory_file(memory_size - 1, seals)}, greeting));
    EXPECT_FALSE(is_taken({memory_file(memory_size + 4096, seals)}, greeting));
    EXPECT_FALSE(is_taken({memory_file(0, seals)}, greeting));
    EXPECT_FALSE(is_taken({::open("/dev/zero", O_RDWR | O_CLOEXEC)}, greeting));
    EXPECT_TRUE(is_taken({memory_file(memory_size, seals), memory_file(1, seals)}, greeting));
    EXPECT_EQ(descriptors(), before);
}

TEST(RingChannelHostile, ASilentClientEndsWithItsSocket)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    pair->second.expect_memory({});
    std::thread accepting([&] { EXPECT_FALSE(pair->second.accept_memory()); });
    pair->first.close();
    accepting.join();
}

TEST(RingChannelHostile, ASilentServerIsNotWaitedForLongerThanSaid)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    EXPECT_FALSE(pair->first.offer_memory({}, Deadline::after(1ms)));
    EXPECT_FALSE(pair->first.prepare_poll()) << "it is the socket that it was";
}

TEST(RingChannelHostile, AServerThatSaysSomethingElse)
{
    auto pair = socket_pair();
    ASSERT_TRUE(pair);
    ASSERT_TRUE(pair->second.write_all(as_bytes("GIOP")).ok());
    EXPECT_FALSE(pair->first.offer_memory({}, {}));
}

/// A peer that writes anything into every word while we read and write. What we get is nonsense;
/// but we go on, and when the socket ends so do we.
TEST(RingChannelHostile, RandomWordsNeitherCrashNorHangUs)
{
    for (unsigned seed = 1; seed <= 20; ++seed) {
        auto pair = socket_pair();
        ASSERT_TRUE(pair);
        const int file = memory_file(memory_size, seals);
        hand_over(pair->first, {file}, greeting);
        auto* const words = static_cast<std::atomic<std::uint32_t>*>(
            ::mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        ASSERT_NE(static_cast<void*>(words), MAP_FAILED);
        ::close(file);
        Socket& server = pair->second;
        server.expect_memory({});
        ASSERT_TRUE(server.accept_memory());
        std::thread reading([&] {
            std::array<std::byte, 1000> buffer;
            while (server.read(buffer).ok()) {
            }
        });
        std::thread writing([&] {
            const Octets some = numbered(1000);
            while (server.write(Bytes(some)).ok()) {
            }
        });
        std::mt19937 random(seed);
        // The control words of both rings, small changes and large ones.
        constexpr std::size_t second = (sizeof(RingControl) + RingChannel::capacity) / 4;
        for (int i = 0; i < 3000; ++i) {
            const std::size_t line = random() % 6 * 16 + (random() % 2 == 0 ? 0 : second);
            if (random() % 8 == 0)
                words[line].store(static_cast<std::uint32_t>(random() >> random() % 32),
                                  std::memory_order_relaxed);
            else
                words[line].fetch_add(static_cast<std::uint32_t>(random() % 100),
                                      std::memory_order_relaxed);
        }
        pair->first.close();
        reading.join();
        writing.join();
        ::munmap(words, memory_size);
    }
}

} // namespace
