// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/socket.h"

#include "kairos/net/loopback_testing.h"
#include "kairos/net/thread.h"

#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <numeric>
#include <pthread.h>
#include <set>
#include <signal.h>
#include <string>
#include <vector>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;
using testing::connected_pair;
using testing::family_name;
using testing::must;
using Status = IoResult::Status;

class SocketTest : public testing::LoopbackTest {};
KAIROS_OVER_LOOPBACK(SocketTest);

iovec segment(std::string& text) { return {.iov_base = text.data(), .iov_len = text.size()}; }

std::vector<std::byte> numbered_bytes(std::size_t size)
{
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
    return bytes;
}

int int_option(const Socket& socket, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(socket.descriptor(), level, name, &value, &size), 0);
    return value;
}

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

TEST_P(SocketTest, ReadingMayBeLimitedAndFreedAgain)
{
    auto [client, server] = connected_pair(loopback());
    std::array<std::byte, 8> buffer;
    server.limit_reading(1500us);
    EXPECT_EQ(server.read(buffer).status, Status::would_block);
    EXPECT_TRUE(client.write(as_bytes("hello")).ok());
    EXPECT_EQ(server.read(buffer).bytes, 5u);
    EXPECT_EQ(server.read(buffer).status, Status::would_block);
    server.limit_reading(0us);
    timeval limit{.tv_sec = 1, .tv_usec = 1};
    socklen_t size = sizeof limit;
    EXPECT_EQ(::getsockopt(server.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, &size), 0);
    EXPECT_EQ(limit.tv_sec, 0);
    EXPECT_EQ(limit.tv_usec, 0);
}

TEST_P(SocketTest, BytesArriveAndTheEndIsSeen)
{
    auto [client, server] = connected_pair(loopback());
    const IoResult written = client.write(as_bytes("question"));
    EXPECT_TRUE(written.ok());
    EXPECT_EQ(written.bytes, 8u);

    std::array<std::byte, 64> buffer;
    IoResult got = server.read(std::span(buffer).first(8), ReadFlags::wait_all);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(as_text(std::span(buffer).first(got.bytes)), "question");

    client.close();
    EXPECT_EQ(server.read(buffer).status, Status::closed);
    EXPECT_EQ(server.read(buffer).error, 0);
}

TEST_P(SocketTest, AddressesOfBothEndsMatch)
{
    auto [client, server] = connected_pair(loopback());
    EXPECT_EQ(*client.local_address(), *server.peer_address());
    EXPECT_EQ(*server.local_address(), *client.peer_address());
    EXPECT_EQ((*client.peer_address()).with_port(0), loopback());
}

TEST_P(SocketTest, OptionsAreSetOnBothEnds)
{
    const SocketOptions options{
        .send_queue_bytes = 16384, .receive_queue_bytes = 8192, .keep_alive = true};
    auto [client, server] = connected_pair(loopback(), options);
    for (const Socket* socket : {&client, &server}) {
        // Linux doubles what it is asked for, to account for its own bookkeeping.
        EXPECT_EQ(int_option(*socket, SOL_SOCKET, SO_SNDBUF), 2 * 16384);
        EXPECT_EQ(int_option(*socket, SOL_SOCKET, SO_RCVBUF), 2 * 8192);
        EXPECT_NE(int_option(*socket, IPPROTO_TCP, TCP_NODELAY), 0);
        EXPECT_NE(int_option(*socket, SOL_SOCKET, SO_KEEPALIVE), 0);
        EXPECT_NE(::fcntl(socket->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
    }
    if (loopback().is_ip()) { // loopback's segments would be 64 K
        EXPECT_LE(int_option(client, IPPROTO_TCP, TCP_MAXSEG), 8192 / 2);
        EXPECT_LE(int_option(server, IPPROTO_TCP, TCP_MAXSEG), 8192 / 2);
    }
    auto [plain_client, plain_server] = connected_pair(loopback(), {.no_delay = false});
    for (const Socket* socket : {&plain_client, &plain_server}) {
        EXPECT_EQ(int_option(*socket, IPPROTO_TCP, TCP_NODELAY), 0);
        EXPECT_EQ(int_option(*socket, SOL_SOCKET, SO_KEEPALIVE), 0);
    }
}

/// What routers and the queues of this machine go by.
TEST_P(SocketTest, PrioritiesAreSetOnBothEnds)
{
    auto [client, server] = connected_pair(loopback(), {.priority = 6, .dscp = 46});
    const bool is_ipv6 = loopback().family() == Address::Family::ipv6;
    for (const Socket* socket : {&client, &server}) {
        EXPECT_EQ(int_option(*socket, SOL_SOCKET, SO_PRIORITY), 6);
        EXPECT_EQ(is_ipv6 ? int_option(*socket, IPPROTO_IPV6, IPV6_TCLASS)
                          : int_option(*socket, IPPROTO_IP, IP_TOS),
                  46 << 2);
    }
}

TEST_P(SocketTest, ResetIsClosedWithTheSystemsReason)
{
    auto [client, server] = connected_pair(loopback());
    const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(client.descriptor(), SOL_SOCKET, SO_LINGER, &abort_on_close,
                           sizeof abort_on_close),
              0);
    client.close();
    ASSERT_TRUE(server.wait_readable(std::nullopt).ok());
    std::array<std::byte, 8> buffer;
    const IoResult reset = server.read(buffer);
    EXPECT_EQ(reset.status, Status::closed);
    EXPECT_EQ(reset.error, ECONNRESET);
    // Must not raise SIGPIPE, which would end this program.
    EXPECT_EQ(server.write(as_bytes("anybody there")).status, Status::closed);
    iovec segments[] = {{.iov_base = buffer.data(), .iov_len = buffer.size()}};
    EXPECT_EQ(server.write_all(segments, buffer.size()).status, Status::closed);
}

TEST_P(SocketTest, ListeningOnATakenPortNamesAddressAndReason)
{
    const Socket first = must(listen(loopback()));
    const Address taken = *first.local_address();
    const auto second = listen(taken);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().system_errno, EADDRINUSE);
    EXPECT_NE(second.error().reason.find(taken.to_text()), std::string::npos);
    EXPECT_NE(second.error().reason.find(std::strerror(EADDRINUSE)), std::string::npos);
}

TEST(Socket, Ipv6ListenerLeavesIpv4AloneUnlessAsked)
{
    if (!testing::has_ipv6()) GTEST_SKIP() << "this machine has no IPv6 loopback";
    const Socket both = must(listen(Address::any_ipv6(), {.ipv6_only = false}));
    const std::uint16_t port = (*both.local_address()).port();
    Socket client = must(connect(Address::loopback_ipv4(port)));
    auto acceptor = must(Acceptor::adopt(Socket(::dup(both.descriptor())), {}));
    const auto accepted = acceptor.accept();
    ASSERT_EQ(accepted.status, Acceptor::Status::accepted);
    EXPECT_EQ(accepted.peer.unmapped(), *client.local_address());

    const Socket only = must(listen(Address::any_ipv6()));
    EXPECT_NE(int_option(only, IPPROTO_IPV6, IPV6_V6ONLY), 0);
}

TEST(Socket, OwnsItsDescriptor)
{
    auto [left, right] = must(socket_pair());
    const int number = left.descriptor();
    Socket moved = std::move(left);
    EXPECT_FALSE(left.is_open());
    EXPECT_EQ(moved.descriptor(), number);
    moved = std::move(right); // closes what it had
    EXPECT_FALSE(is_open(number));
    const int kept = moved.release();
    moved.close();
    EXPECT_TRUE(is_open(kept));
    Socket(kept).close();
    EXPECT_FALSE(is_open(kept));
}

TEST(Socket, ReadFlags)
{
    auto [left, right] = must(socket_pair());
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(right.read(buffer, ReadFlags::do_not_wait).status, Status::would_block);
    EXPECT_TRUE(right.read({}).ok()); // an empty buffer is no end of the connection
    ASSERT_TRUE(left.write(as_bytes("abc")).ok());
    EXPECT_EQ(right.read(buffer, ReadFlags::peek | ReadFlags::do_not_wait).bytes, 3u);
    EXPECT_EQ(right.read(buffer).bytes, 3u);
    left.shutdown_write();
    EXPECT_EQ(right.read(buffer, ReadFlags::do_not_wait).status, Status::closed);
}

TEST(Socket, OperationsOnAnEmptySocketFailAsValues)
{
    Socket empty;
    std::array<std::byte, 8> buffer;
    EXPECT_EQ(empty.read(buffer).status, Status::failed);
    EXPECT_EQ(empty.write(as_bytes("x")).error, EBADF);
    EXPECT_FALSE(empty.local_address());
    EXPECT_FALSE(empty.peer_address());
    EXPECT_FALSE(empty.set_non_blocking(true));
    EXPECT_FALSE(listen(Address()));
}

TEST(Socket, WaitEndsWithTheTimeOrTheEvent)
{
    auto [left, right] = must(socket_pair());
    EXPECT_EQ(right.wait_readable(0ns).status, Status::would_block);
    EXPECT_EQ(right.wait_readable(1ms).status, Status::would_block);
    EXPECT_TRUE(right.wait_writable(std::chrono::nanoseconds::max()).ok());
    ASSERT_TRUE(left.write(as_bytes("x")).ok());
    EXPECT_TRUE(right.wait_readable(std::nullopt).ok());
    EXPECT_TRUE(right.wait_readable(-1ns).ok());
}

TEST(Segments, DroppingCountsAcrossSegments)
{
    std::string texts[] = {"", "abc", "", "de"};
    std::array<iovec, 4> segments;
    std::transform(std::begin(texts), std::end(texts), segments.begin(), segment);

    auto left = drop_front(segments, 0);
    EXPECT_EQ(left.size(), 3u); // empty ones at the front are gone
    left = drop_front(left, 2);
    ASSERT_EQ(left.size(), 3u);
    EXPECT_EQ(std::string_view(static_cast<char*>(left[0].iov_base), left[0].iov_len), "c");
    left = drop_front(left, 1);
    ASSERT_EQ(left.size(), 1u);
    left = drop_front(left, 2);
    EXPECT_TRUE(left.empty());
    for (const iovec& each : segments)
        EXPECT_EQ(each.iov_len, 0u);
}

TEST(WriteAll, GathersSegmentsInOrder)
{
    auto [left, right] = must(socket_pair());
    std::string texts[] = {"one ", "", "two ", "three"};
    std::array<iovec, 4> segments;
    std::transform(std::begin(texts), std::end(texts), segments.begin(), segment);
    const IoResult written = left.write_all(segments, 13);
    EXPECT_TRUE(written.ok());
    EXPECT_EQ(written.bytes, 13u);
    std::array<std::byte, 32> buffer;
    const IoResult got = right.read(buffer);
    EXPECT_EQ(as_text(std::span(buffer).first(got.bytes)), "one two three");
    EXPECT_EQ(left.write_all(std::span<iovec>(), 0).bytes, 0u);
}

// A non-blocking socket stops in the middle of a segment; the same segments continue there.
TEST_P(SocketTest, WriteAllContinuesAfterPartialWrites)
{
    auto [client, server] =
        connected_pair(loopback(), {.send_queue_bytes = 8192, .receive_queue_bytes = 8192});
    ASSERT_TRUE(client.set_non_blocking(true));
    std::vector<std::byte> sent = numbered_bytes(1'000'003);
    std::vector<iovec> segments;
    for (std::size_t offset = 0; offset < sent.size();) {
        const std::size_t size = std::min(sent.size() - offset, 1 + offset % 70'000);
        segments.push_back({.iov_base = sent.data() + offset, .iov_len = size});
        offset += size;
    }
    std::vector<std::byte> received;
    std::vector<std::byte> buffer(65536);
    std::size_t written = 0;
    std::size_t stops = 0;
    while (received.size() < sent.size()) {
        IoResult result;
        if (written < sent.size()) result = client.write_all(segments, sent.size() - written);
        written += result.bytes;
        ASSERT_TRUE(result.ok() || result.status == Status::would_block);
        stops += result.ok() ? 0 : 1;
        ASSERT_TRUE(server.wait_readable(std::nullopt).ok());
        const IoResult got = server.read(buffer, ReadFlags::do_not_wait);
        ASSERT_TRUE(got.ok());
        received.insert(received.end(), buffer.begin(),
                        buffer.begin() + static_cast<std::ptrdiff_t>(got.bytes));
    }
    EXPECT_GT(stops, 0u);
    EXPECT_EQ(written, sent.size());
    EXPECT_EQ(received, sent);
}

// More segments than one sendmsg takes.
TEST(WriteAll, TakesMoreSegmentsThanTheSystem)
{
    auto [left, right] = must(socket_pair());
    std::vector<std::byte> sent = numbered_bytes(3000);
    std::vector<iovec> segments;
    for (std::byte& each : sent)
        segments.push_back({.iov_base = &each, .iov_len = 1});
    ASSERT_EQ(left.write_all(segments, sent.size()).bytes, sent.size());
    std::vector<std::byte> received(sent.size());
    ASSERT_EQ(right.read(received, ReadFlags::wait_all).bytes, sent.size());
    EXPECT_EQ(received, sent);
}

TEST(WriteAll, ReportsWhatWentOutBeforeThePeerLeft)
{
    auto [left, right] = must(socket_pair());
    ASSERT_TRUE(left.set_non_blocking(true));
    const std::vector<std::byte> data = numbered_bytes(4 << 20);
    const IoResult first = left.write_all(Bytes(data));
    EXPECT_EQ(first.status, Status::would_block);
    EXPECT_GT(first.bytes, 0u);
    EXPECT_LT(first.bytes, data.size());
    right.close();
    const IoResult second = left.write_all(Bytes(data).subspan(first.bytes));
    EXPECT_EQ(second.status, Status::closed);
    EXPECT_EQ(second.bytes, 0u);
}

TEST_P(SocketTest, BlockingWriterAndReaderMoveMegabytes)
{
    auto [client, server] = connected_pair(loopback());
    const std::vector<std::byte> sent = numbered_bytes(4 << 20);
    std::vector<std::byte> received(sent.size());
    {
        Thread reader = must(Thread::start({.name = "reader"}, [&, &server = server] {
            EXPECT_EQ(server.read(received, ReadFlags::wait_all).bytes, received.size());
        }));
        EXPECT_EQ(client.write_all(Bytes(sent)).bytes, sent.size());
    }
    EXPECT_EQ(received, sent);
}

// Whether or not the thread has reached read() already: it must come back.
/// A thread that fills the queue whenever there is room leaves it as full as it was.
TEST_P(SocketTest, WhereSendingIsStuckChangesWithWhatThePeerTakes)
{
    const SocketOptions small{.send_queue_bytes = 65536, .receive_queue_bytes = 65536};
    auto [writer, reader] = connected_pair(loopback(), small);
    ASSERT_TRUE(writer.set_non_blocking(true).ok());
    EXPECT_EQ(writer.stuck_at(), std::nullopt);
    std::vector<std::byte> octets(1 << 20);
    const auto fill = [&, &into = writer] {
        while (into.write(octets).ok()) {
        }
    };
    fill();
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 20; ++i) {
        const auto at = writer.stuck_at();
        ASSERT_TRUE(at);
        EXPECT_TRUE(seen.insert(*at).second) << *at;
        for (std::size_t taken = 0; taken < std::size_t{256} << 10;) {
            const IoResult got = reader.read(octets, Deadline::after(std::chrono::seconds(30)));
            ASSERT_TRUE(got.ok());
            taken += got.bytes;
            fill();
        }
    }
}

TEST_P(SocketTest, ShutdownReleasesABlockedReader)
{
    auto [client, server] = connected_pair(loopback());
    IoResult result;
    {
        Thread reader = must(Thread::start({.name = "reader"}, [&, &server = server] {
            std::array<std::byte, 8> buffer;
            result = server.read(buffer);
        }));
        server.shutdown_read();
    }
    EXPECT_EQ(result.status, Status::closed);
    client.shutdown_both();
}

std::atomic<int> signals_seen{0};

// A read that a signal interrupts goes on reading.
TEST(Socket, SignalsDoNotEndARead)
{
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_seen; }; // and no SA_RESTART
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    signals_seen = 0;
    auto [left, right] = must(socket_pair());
    IoResult result;
    std::array<std::byte, 8> buffer;
    {
        std::atomic<bool> is_running{false};
        Thread reader = must(Thread::start({.name = "reader"}, [&, &right = right] {
            is_running = true;
            is_running.notify_one();
            result = right.read(buffer);
        }));
        is_running.wait(false);
        // Many: the first ones may come before the thread is inside read(), and ThreadSanitizer
        // may keep one back until the next.
        while (signals_seen < 50) {
            ASSERT_EQ(::pthread_kill(reader.native_handle(), SIGUSR1), 0);
            ::sched_yield();
        }
        ASSERT_TRUE(left.write(as_bytes("calm")).ok());
    }
    EXPECT_EQ(result.bytes, 4u);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

} // namespace
} // namespace kairos::net
