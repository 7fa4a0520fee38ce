// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/faults.h"

#include "kairos/net/alarm.h"
#include "kairos/net/loopback_testing.h"
#include "kairos/net/reactor.h"
#include "kairos/net/resolver.h"
#include "kairos/net/shared_memory.h"
#include "kairos/net/shared_poller.h"
#include "kairos/net/system.h"
#include "kairos/net/thread.h"

#include <array>
#include <thread>
#include <vector>

namespace kairos::net::testing {
namespace {

using Status = IoResult::Status;

std::vector<std::byte> octets(std::size_t size)
{
    std::vector<std::byte> made(size);
    for (std::size_t i = 0; i < size; ++i)
        made[i] = static_cast<std::byte>(i * 7 + i / 256);
    return made;
}

/// The sizes in which a reader gets so many octets that are all there.
std::vector<std::size_t> sizes_read(const FaultPlan& plan, std::size_t size)
{
    const Faults faults(plan);
    auto [client, server] = connected_pair(Address::loopback_ipv4());
    const auto sent = octets(size);
    const IoResult written = server.write_all(Bytes(sent));
    EXPECT_TRUE(written.ok() || plan.breaks != 0);
    server.shutdown_write();
    std::vector<std::size_t> sizes;
    std::vector<std::byte> got(size);
    std::size_t filled = 0;
    while (filled < size) {
        (void)client.wait_readable(std::nullopt);
        const IoResult one = client.read(MutableBytes(got).subspan(filled), ReadFlags::wait_all);
        if (!one.ok()) break;
        sizes.push_back(one.bytes);
        filled += one.bytes;
    }
    got.resize(filled);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
    return sizes;
}

TEST(Faults, CutAStreamWhereTheSeedSays)
{
    const FaultPlan plan{.seed = 7, .cut_every = 100};
    const auto sizes = sizes_read(plan, 10'000);
    EXPECT_GT(sizes.size(), 20u);
    EXPECT_EQ(sizes_read(plan, 10'000), sizes);
    EXPECT_NE(sizes_read({.seed = 8, .cut_every = 100}, 10'000), sizes);
}

TEST(Faults, BreakAtTheSamePlaceAgain)
{
    const auto read_before_end = [](std::uint64_t seed) {
        std::size_t sum = 0;
        for (const std::size_t size :
             sizes_read({.seed = seed, .breaks = 100, .break_within = 5'000}, 10'000))
            sum += size;
        return sum;
    };
    bool has_broken = false;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::size_t first = read_before_end(seed);
        has_broken = has_broken || first < 10'000;
        EXPECT_EQ(read_before_end(seed), first) << seed;
    }
    EXPECT_TRUE(has_broken);
}

TEST(Faults, BrokenConnectionsEndForBoth)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Faults faults({.seed = seed, .breaks = 100, .break_within = 1'000});
        auto [client, server] = connected_pair(Address::loopback_ipv4());
        std::thread peer([&server = server] {
            std::array<std::byte, 10> buffer;
            for (IoResult got; (got = server.read(buffer)).ok();)
                if (!server.write_all(Bytes(buffer).first(got.bytes)).ok()) break;
            server.shutdown_both();
        });
        const auto sent = octets(10);
        std::array<std::byte, 10> buffer;
        IoResult last;
        while ((last = client.write_all(Bytes(sent))).ok() && (last = client.read(buffer)).ok())
            ;
        EXPECT_EQ(last.status, Status::closed) << seed;
        client.shutdown_both();
        EXPECT_EQ(client.write(Bytes(sent)).status, Status::closed);
        peer.join();
        EXPECT_GE(faults.counts().breaks, 1u);
    }
}

// As a server's reactor reads while a worker's reply breaks the connection. Under ThreadSanitizer
// a reset must not look like a descriptor that was made anew beside those who read.
TEST(Faults, BreakByWritingBesideOneWhoReads)
{
    std::uint64_t breaks = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const Faults faults({.seed = seed, .breaks = 100, .break_within = 100});
        auto [client, server] = connected_pair(Address::loopback_ipv4());
        std::atomic<bool> is_reading = false;
        std::thread reader([&client = client, &is_reading] {
            std::array<std::byte, 10> buffer;
            do
                is_reading = true;
            while (client.read(buffer, ReadFlags::do_not_wait).status != Status::closed);
        });
        while (!is_reading)
            std::this_thread::yield();
        const auto sent = octets(10);
        for (int i = 0; i < 20; ++i)
            if (!client.write_all(Bytes(sent)).ok()) break;
        breaks += faults.counts().breaks;
        server.shutdown_both();
        reader.join();
    }
    EXPECT_GT(breaks, 100u);
}

TEST(Faults, StormsAreForThoseWhoDoNotWait)
{
    const Faults faults({.seed = 3, .cut_every = 10, .storms = 100});
    auto [client, server] = connected_pair(Address::loopback_ipv4());
    const auto sent = octets(1'000);
    EXPECT_EQ(server.write_all(Bytes(sent)).bytes, sent.size());
    std::vector<std::byte> got(sent.size());
    std::size_t filled = 0;
    std::size_t refused = 0;
    while (filled < got.size()) {
        ASSERT_TRUE(client.wait_readable(std::nullopt).ok());
        const bool waits = filled >= got.size() / 2;
        const IoResult one = client.read(MutableBytes(got).subspan(filled),
                                         waits ? ReadFlags::none : ReadFlags::do_not_wait);
        EXPECT_TRUE(one.ok() || !waits);
        refused += one.status == Status::would_block ? 1 : 0;
        filled += one.bytes;
    }
    EXPECT_EQ(got, sent);
    EXPECT_GT(refused, 10u);
}

TEST(Faults, EndWhenTheyAreStopped)
{
    Faults faults({.seed = 1, .cut_every = 1});
    auto [client, server] = connected_pair(Address::loopback_ipv4());
    faults.stop();
    const auto sent = octets(5'000);
    EXPECT_EQ(server.write(Bytes(sent)).bytes, sent.size());
    std::vector<std::byte> got(sent.size());
    EXPECT_EQ(client.read(got, ReadFlags::wait_all).bytes, sent.size());
}

/// Octets that come, until none does for a moment or the end.
std::size_t drain(Socket& socket, IoResult& last)
{
    std::array<std::byte, 4096> buffer;
    std::size_t sum = 0;
    while ((last = socket.read(buffer, Deadline::after(std::chrono::milliseconds(5)))).ok())
        sum += last.bytes;
    return sum;
}

// Nobody hears of anything: neither of octets, nor of an end, nor of room.
TEST(Faults, SilenceIsForBothAndForEver)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Faults faults({.seed = seed, .break_within = 1'000, .silences = 100});
        std::pair<Socket, Socket> pair = connected_pair(Address::loopback_ipv4());
        const auto sent = octets(100'000);
        for (Socket* socket : {&pair.first, &pair.second})
            EXPECT_TRUE(socket->write(Bytes(sent), WriteFlags::do_not_wait).ok());
        while (faults.counts().silences == 0)
            std::this_thread::yield();
        // Until the system has no more room.
        while (pair.first.write(Bytes(sent), WriteFlags::do_not_wait).ok())
            ;
        IoResult last;
        const std::size_t to_client = drain(pair.first, last);
        EXPECT_EQ(last.status, Status::would_block);
        pair.first.close();
        const std::size_t to_server = drain(pair.second, last);
        EXPECT_EQ(last.status, Status::would_block);
        EXPECT_LE(std::min(to_client, to_server), 1'000u) << seed;
    }
}

TEST(Faults, SilentConnectionsEndWithThem)
{
    std::optional<Faults> faults;
    faults.emplace(FaultPlan{.seed = 1, .break_within = 1, .silences = 100});
    auto acceptor = must(Acceptor::open(Address::loopback_ipv4()));
    Socket client = must(connect(acceptor.address()));
    auto accepted = acceptor.accept();
    ASSERT_EQ(accepted.status, Acceptor::Status::accepted);
    const auto sent = octets(1'000);
    EXPECT_TRUE(client.write_all(Bytes(sent)).ok());
    faults.reset();
    std::vector<std::byte> got(sent.size());
    IoResult last;
    while ((last = client.read(got)).ok())
        ;
    EXPECT_EQ(last.status, Status::closed);
    while ((last = accepted.socket.read(got)).ok())
        ;
    EXPECT_EQ(last.status, Status::closed);
}

TEST(Faults, PassThroughSharedMemory)
{
    const Faults faults({.seed = 5, .cut_every = 50});
    auto pair = must(socket_pair());
    std::thread server([&socket = pair.second] {
        socket.expect_memory({});
        EXPECT_TRUE(socket.agree({}).ok());
        const auto sent = octets(1'000);
        EXPECT_EQ(socket.write_all(Bytes(sent)).bytes, sent.size());
    });
    ASSERT_TRUE(pair.first.offer_memory({}, {}).ok());
    std::vector<std::byte> got;
    std::array<std::byte, 1'000> buffer;
    while (got.size() < 1'000) {
        const IoResult one = pair.first.read(buffer);
        ASSERT_TRUE(one.ok());
        got.insert(got.end(), buffer.begin(), buffer.begin() + static_cast<long>(one.bytes));
    }
    server.join();
    EXPECT_EQ(got, octets(1'000));
    EXPECT_GT(faults.counts().cuts, 5u);
}

// --- Refusals ------------------------------------------------------------------------------------

FaultPlan refusing(SystemCall call)
{
    FaultPlan plan{.seed = 1};
    plan.of(call) = 1000;
    return plan;
}

TEST(Refusals, AreThoseOfTheSystem)
{
    auto acceptor = must(Acceptor::open(Address::loopback_ipv4(), {.non_blocking = true}));
    const Socket waiting = must(connect(acceptor.address()));
    {
        const Faults faults(refusing(SystemCall::socket));
        EXPECT_EQ(listen(Address::loopback_ipv4()).error().system_errno, EMFILE);
        EXPECT_EQ(connect(acceptor.address()).error().system_errno, EMFILE);
    }
    {
        const Faults faults(refusing(SystemCall::connect));
        EXPECT_EQ(connect(acceptor.address()).error().code, ErrorCode::unreachable);
    }
    {
        const Faults faults(refusing(SystemCall::poller));
        EXPECT_EQ(Reactor::create().error().system_errno, EMFILE);
        EXPECT_EQ(SharedPoller::create().error().system_errno, EMFILE);
        EXPECT_EQ(Alarm::create().error().system_errno, EMFILE);
    }
    {
        const Faults faults(refusing(SystemCall::memory));
        EXPECT_EQ(SharedMemory::make(4096).error().system_errno, ENOMEM);
    }
    {
        const Faults faults(refusing(SystemCall::thread));
        const auto thread = Thread::start({.name = "none"}, [] { FAIL(); });
        EXPECT_EQ(thread.error().system_errno, EAGAIN);
    }
    {
        const Faults faults(refusing(SystemCall::resolve));
        EXPECT_EQ(resolve("localhost", 1).error().code, ErrorCode::unreachable);
        EXPECT_TRUE(resolve("127.0.0.1", 1).ok()); // nobody is asked
    }
    {
        const Faults faults(refusing(SystemCall::scheduling));
        const Scheduling real_time{.policy = SchedulingPolicy::fifo, .priority = 1};
        const auto thread =
            Thread::start({.name = "none", .scheduling = real_time}, [] { FAIL(); });
        EXPECT_EQ(thread.error().system_errno, EPERM);
        EXPECT_EQ(schedule_this_thread(real_time).error().system_errno, EPERM);
        EXPECT_TRUE(schedule_this_thread({}).ok()); // that anybody may
    }
    EXPECT_EQ(acceptor.accept().status, Acceptor::Status::accepted);
}

// Whoever has a time limit does not wait for the answer, who has none gets it when they are
// stopped.
TEST(Faults, NamesAreAnsweredLate)
{
    Faults faults({.seed = 1, .slow_answers = 100, .answer_delay_us = 3'600'000'000});
    const auto late = resolve("localhost", 1, Deadline::after(std::chrono::milliseconds(1)));
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().system_errno, ETIMEDOUT);
    std::thread patient([] { EXPECT_TRUE(resolve("localhost", 1).ok()); });
    while (faults.counts().slow_answers < 2)
        std::this_thread::yield();
    faults.stop();
    patient.join();
}

TEST(Refusals, OfDescriptorsAreGotOverByAcceptors)
{
    auto acceptor = must(Acceptor::open(Address::loopback_ipv4(), {.non_blocking = true}));
    const Socket waiting = must(connect(acceptor.address()));
    FaultPlan plan{.seed = 1};
    plan.of(SystemCall::accept) = 500;
    plan.of(SystemCall::spare) = 500;
    const Faults faults(plan);
    for (int i = 0; i < 100; ++i) {
        const Socket client = must(connect(acceptor.address()));
        Acceptor::Accepted got;
        do {
            got = acceptor.accept();
            ASSERT_NE(got.status, Acceptor::Status::failed) << got.error;
        } while (got.status == Acceptor::Status::exhausted);
        EXPECT_TRUE(got.status == Acceptor::Status::accepted ||
                    got.status == Acceptor::Status::turned_away);
    }
    EXPECT_GT(faults.counts().refusals, 50u);
}

TEST(Refusals, ComeAsOftenAsThePlanSays)
{
    FaultPlan plan{.seed = 9};
    plan.of(SystemCall::socket) = 100;
    const auto error = [] {
        const Socket made(system().socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return made.is_open() ? 0 : errno;
    };
    const auto draw = [&] {
        const Faults faults(plan);
        std::vector<int> drawn;
        drawn.reserve(1000);
        for (int i = 0; i < 1000; ++i)
            drawn.push_back(error());
        EXPECT_TRUE(Alarm::create().ok()); // of which the plan says nothing
        return drawn;
    };
    const auto drawn = draw();
    EXPECT_EQ(draw(), drawn);
    const auto count = std::ranges::count(drawn, EMFILE);
    EXPECT_GT(count, 50);
    EXPECT_LT(count, 200);
    EXPECT_EQ(count + std::ranges::count(drawn, 0), 1000);
    EXPECT_EQ(&system(), &real_system); // with the plan gone
}

} // namespace
} // namespace kairos::net::testing
