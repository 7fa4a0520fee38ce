// SPDX-License-Identifier: Apache-2.0
//
// Sockets whose bytes go through shared memory: they do what sockets do, also when the peer dies.
// Hostile ones: ring_hostile_test.cpp.
#include "kairos/net/ring_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
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
            const auto accepted = server.agree({});
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

TEST_P(RingChannels, WritingCanBeLimited)
{
    server.limit_writing(20ms);
    const Octets much = numbered(std::size_t{4} << 20);
    const IoResult stuck = server.write_all(much);
    EXPECT_EQ(stuck.status, IoResult::Status::would_block);
    EXPECT_LT(stuck.bytes, much.size());
    EXPECT_EQ(read_all(client, stuck.bytes),
              Octets(much.begin(), much.begin() + static_cast<std::ptrdiff_t>(stuck.bytes)));
    // Who is read goes on, however slowly.
    server.limit_writing(1min);
    std::thread reading([&] { EXPECT_EQ(read_all(client, much.size()), much); });
    EXPECT_TRUE(server.write_all(much).ok());
    reading.join();
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
        ASSERT_EQ(client.prepare_poll(Interest::readable), Interest::readable);
        std::thread writing([this] { ASSERT_TRUE(server.write_all(as_bytes("x")).ok()); });
        pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
        writing.join();
        EXPECT_EQ(client.prepare_poll(Interest::readable), Interest::none) << "there is something";
        EXPECT_EQ(read_all(client, 1).size(), 1u);
    }
    EXPECT_EQ(client.prepare_poll(Interest::readable), Interest::readable);
    server.close();
    pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(client.read(buffer).status, IoResult::Status::closed);
}

TEST_P(RingChannels, WhoPollsForRoomIsWokenAtTheSocket)
{
    for (int i = 0; i < 100; ++i) {
        const Octets large = numbered(RingChannel::capacity + 1);
        const IoResult some = client.write(Bytes(large), WriteFlags::do_not_wait);
        EXPECT_EQ(some.bytes, RingChannel::capacity);
        ASSERT_EQ(client.prepare_poll(Interest::writable), Interest::readable);
        std::thread reading([this] { EXPECT_EQ(read_all(server, 4).size(), 4u); });
        pollfd knocked{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&knocked, 1, 60'000), 1);
        reading.join();
        EXPECT_EQ(client.prepare_poll(Interest::writable), Interest::none) << "there is room";
        EXPECT_TRUE(client.write_all(Bytes(large).subspan(some.bytes)).ok());
        EXPECT_EQ(read_all(server, large.size() - 4).size(), large.size() - 4);
        EXPECT_EQ(client.prepare_poll(Interest::readable), Interest::readable);
    }
    EXPECT_EQ(client.prepare_poll(Interest::writable), Interest::none);
}

/// Who knows that no more is to be read does not hear of it again and again.
TEST_P(RingChannels, WhoShutReadingMayStillPoll)
{
    client.shutdown_read();
    std::array<std::byte, 4> buffer;
    EXPECT_EQ(client.read(buffer).status, IoResult::Status::closed);
    ASSERT_EQ(client.prepare_poll(Interest::readable), Interest::readable);
    std::thread writing([this] { ASSERT_TRUE(server.write_all(as_bytes("more")).ok()); });
    pollfd readable{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
    writing.join();
    EXPECT_EQ(client.prepare_poll(Interest::readable), Interest::none);
    EXPECT_EQ(client.read(buffer).bytes, 4u);
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

// --- Large blocks --------------------------------------------------------------------------------

constexpr std::size_t block_memory = std::size_t{1} << 20; // seven units for each direction

/// Takes blocks as whoever reads messages does, as long as it may.
class Taker final : public BlockTaker {
  public:
    [[nodiscard]] bool take(Bytes its_block,
                            std::shared_ptr<const void> its_lease) noexcept override
    {
        if (!takes) return false;
        block = its_block;
        lease = std::move(its_lease);
        return true;
    }

    bool takes = true;
    Bytes block;
    std::shared_ptr<const void> lease;
};

std::array<iovec, 3> segments_of(const Octets& front, Bytes block, const Octets& tail)
{
    return {iovec{const_cast<std::byte*>(front.data()), front.size()},
            iovec{const_cast<std::byte*>(block.data()), block.size()},
            iovec{const_cast<std::byte*>(tail.data()), tail.size()}};
}

/// With room for blocks at both ends, or as much as they say.
class Blocks : public testing::Test {
  protected:
    void connect(std::size_t offered = block_memory, std::size_t taken = block_memory)
    {
        auto pair = socket_pair();
        ASSERT_TRUE(pair);
        client = std::move(pair->first);
        server = std::move(pair->second);
        server.expect_memory({}, taken);
        std::thread accepting([this] { EXPECT_TRUE(server.agree({})); });
        EXPECT_TRUE(client.offer_memory({}, Deadline::after(1min), offered));
        accepting.join();
    }
    /// Whether octets that the ring has no room for are taken at once.
    bool takes_at_once(Socket& socket, Bytes octets)
    {
        return socket.write(octets, WriteFlags::do_not_wait).bytes == octets.size();
    }

    Socket client;
    Socket server;
};

TEST_F(Blocks, ComeInTheOrderOfTheStream)
{
    connect();
    const Octets front = numbered(100);
    const Octets block = numbered(200'001);
    const Octets tail = numbered(70);
    Octets all = front;
    all.insert(all.end(), block.begin(), block.end());
    all.insert(all.end(), tail.begin(), tail.end());
    for (Socket* const from : {&client, &server}) {
        Socket& to = from == &client ? server : client;
        for (int i = 0; i < 50; ++i) {
            const auto segments = segments_of(front, block, tail);
            // Without anybody who reads: the ring has no room for it.
            ASSERT_EQ(from->write(std::span(segments), WriteFlags::do_not_wait).bytes, all.size());
            ASSERT_EQ(read_all(to, all.size()), all);
        }
    }
}

TEST_F(Blocks, SeveralAreThereAtTheSameTime)
{
    connect();
    const Octets one = numbered(BlockMemory::block_min + 1);
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(takes_at_once(client, one)) << i;
    EXPECT_EQ(client.write(Bytes(one), WriteFlags::do_not_wait).bytes, RingChannel::capacity)
        << "none is free: it goes through the ring";
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(read_all(server, one.size()), one) << i;
    EXPECT_EQ(read_all(server, RingChannel::capacity).size(), RingChannel::capacity);
    EXPECT_TRUE(takes_at_once(client, one));
    EXPECT_EQ(read_all(server, one.size()), one);
}

TEST_F(Blocks, WhatHasNoRoomInTheMemoryComesInPieces)
{
    connect();
    const Octets large = numbered(5'000'000);
    std::thread writing([&] { EXPECT_TRUE(client.write_all(Bytes(large)).ok()); });
    EXPECT_EQ(read_all(server, large.size()), large);
    writing.join();
}

TEST_F(Blocks, WakeWhoSleepsAndWhoPolls)
{
    connect();
    const Octets block = numbered(100'000);
    for (int i = 0; i < 50; ++i) {
        std::thread writing([&] { EXPECT_TRUE(client.write_all(Bytes(block)).ok()); });
        ASSERT_EQ(read_all(server, block.size()), block);
        writing.join();
        ASSERT_EQ(server.prepare_poll(Interest::readable), Interest::readable);
        std::thread polled([&] { EXPECT_TRUE(client.write_all(Bytes(block)).ok()); });
        pollfd readable{.fd = server.descriptor(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&readable, 1, 60'000), 1);
        polled.join();
        EXPECT_EQ(server.prepare_poll(Interest::readable), Interest::none);
        std::array<std::byte, 4> peeked;
        EXPECT_EQ(server.read(peeked, ReadFlags::peek).bytes, peeked.size());
        ASSERT_EQ(read_all(server, block.size()), block);
    }
}

TEST_F(Blocks, StayWithWhoTakesThem)
{
    connect();
    Taker taker;
    server.offer_blocks(&taker);
    const Octets first = numbered(150'000);
    ASSERT_TRUE(takes_at_once(client, first));
    std::array<std::byte, 4> small;
    EXPECT_EQ(server.read(small).bytes, first.size()) << "however small the buffer is";
    const Bytes taken = taker.block;
    const auto kept = std::exchange(taker.lease, nullptr);
    for (int i = 0; i < 20; ++i) { // others are written elsewhere
        ASSERT_TRUE(takes_at_once(client, numbered(140'000 + static_cast<std::size_t>(i))));
        ASSERT_TRUE(server.read(small).ok());
        EXPECT_NE(taker.block.data(), taken.data());
        taker.lease.reset();
    }
    EXPECT_TRUE(std::ranges::equal(taken, first));
    taker.takes = false;
    ASSERT_TRUE(takes_at_once(client, first));
    EXPECT_EQ(read_all(server, 10).size(), 10u);
    EXPECT_EQ(client.loan(100'000), nullptr) << "it is still being read, and the first is kept";
    Octets rest = read_all(server, first.size() - 10);
    EXPECT_TRUE(std::ranges::equal(rest, Bytes(first).subspan(10)))
        << "who does not take it has it copied";
    EXPECT_NE(client.loan(100'000), nullptr);
    client.close();
    server.close();
    EXPECT_TRUE(std::ranges::equal(taken, first)) << "it outlives the connection";
}

TEST_F(Blocks, OnLoanAreNotCopied)
{
    connect();
    Taker taker;
    server.offer_blocks(&taker);
    constexpr std::size_t size = 150'000;
    auto loan = client.loan(size);
    ASSERT_NE(loan, nullptr);
    std::array<std::byte, 4> small;
    for (int i = 1; i < 100; ++i) { // whoever has it may write it again and again
        std::fill_n(loan.get(), size, std::byte(i));
        ASSERT_TRUE(takes_at_once(client, Bytes(loan.get(), size)));
        ASSERT_EQ(server.read(small).bytes, size);
        ASSERT_EQ(taker.block.back(), std::byte(i));
        loan.get()[size - 1] = std::byte{0};
        EXPECT_EQ(taker.block.back(), std::byte{0}) << "it is the same memory";
        taker.lease.reset();
    }
    EXPECT_EQ(client.loan(size * 10), nullptr);
    EXPECT_EQ(client.loan(1000), nullptr);
    const auto other = client.loan(size); // of three units, as that; one is left
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(client.loan(size), nullptr);
    loan.reset();
    EXPECT_NE(client.loan(size), nullptr) << "it has come back";
}

/// A loan that is given up while the peer still looks at it is not given to others.
TEST_F(Blocks, OnLoanComeBackFromBothEnds)
{
    connect();
    Taker taker;
    server.offer_blocks(&taker);
    constexpr std::size_t size = 400'000; // all there is
    auto loan = client.loan(size);
    ASSERT_NE(loan, nullptr);
    ASSERT_TRUE(takes_at_once(client, Bytes(loan.get(), size)));
    std::array<std::byte, 4> small;
    ASSERT_EQ(server.read(small).bytes, size);
    loan.reset();
    EXPECT_EQ(client.loan(size), nullptr);
    taker.lease.reset();
    loan = client.loan(size);
    ASSERT_NE(loan, nullptr);
    client.close();
    std::fill_n(loan.get(), size, std::byte{1}); // it outlives the connection
    EXPECT_EQ(loan.get()[size - 1], std::byte{1});
}

TEST_F(Blocks, AreThereIfBothEndsHaveThemOnly)
{
    const Octets large = numbered(RingChannel::capacity + 1);
    for (const auto& [offered, taken] :
         {std::pair{block_memory, std::size_t{0}}, std::pair{block_memory, block_memory - 1},
          std::pair{std::size_t{0}, block_memory}, std::pair{std::size_t{1000}, block_memory}}) {
        connect(offered, taken);
        EXPECT_FALSE(takes_at_once(client, large)) << offered << ' ' << taken;
        EXPECT_EQ(client.loan(large.size()), nullptr);
        EXPECT_EQ(read_all(server, RingChannel::capacity).size(), RingChannel::capacity);
    }
}

// --- Peers that die ------------------------------------------------------------------------------

/// A child that has connected, and does what the test says until it is killed.
template <typename Act>
pid_t fork_client(Socket& ours, Act act, std::size_t loans = 0)
{
    auto pair = socket_pair();
    EXPECT_TRUE(pair);
    const pid_t child = ::fork();
    if (child == 0) {
        pair->second.close();
        if (pair->first.offer_memory({}, {}, loans)) act(pair->first);
        ::_exit(1);
    }
    ours = std::move(pair->second);
    pair->first.close();
    ours.expect_memory({}, loans);
    EXPECT_TRUE(ours.agree({}));
    return child;
}

/// Trying would end the process, by a signal.
TEST(RingMemory, IsNoMoreThanTheProcessMayMake)
{
    constexpr std::size_t more = std::size_t{32} << 20;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit limit = before;
    const auto made_within = [&](std::size_t octets) {
        limit.rlim_cur = octets;
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
        auto made = SharedMemory::make(10'000, more);
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        return made;
    };
    const auto without = made_within(more);
    ASSERT_TRUE(without) << without.error().reason;
    EXPECT_EQ(without->size(), 10'000u);
    EXPECT_TRUE(without->more().empty());
    EXPECT_FALSE(made_within(9'999));
    const auto all = made_within(more + SharedMemory::more_grain);
    ASSERT_TRUE(all) << all.error().reason;
    EXPECT_EQ(all->more().size(), more);
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

TEST(RingChannelDeath, APeerThatIsKilledWhileItsBlockIsLent)
{
    Socket server;
    const pid_t child = fork_client(
        server,
        [](Socket& client) {
            (void)client.write_all(Bytes(numbered(200'000)));
            for (;;)
                ::pause();
        },
        block_memory);
    Taker taker;
    server.offer_blocks(&taker);
    std::array<std::byte, 4> buffer;
    ASSERT_EQ(server.read(buffer).bytes, 200'000u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(server.read(buffer).status, IoResult::Status::closed);
    EXPECT_TRUE(std::ranges::equal(taker.block, numbered(200'000)));
    EXPECT_EQ(server.write(Bytes(numbered(100'000))).status, IoResult::Status::closed);
}

} // namespace
