// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"

#include "kairos/net/loopback_testing.h"
#include "kairos/net/thread.h"

#include <array>
#include <fcntl.h>
#include <fstream>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace kairos::net {
namespace {

using namespace std::chrono_literals;
using testing::family_name;
using testing::must;
using testing::run_in_child;
using Status = Acceptor::Status;

#define CHILD_EXPECT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
            return 1;                                                                              \
        }                                                                                          \
    } while (false)

class ConnectionTest : public testing::LoopbackTest {};
KAIROS_OVER_LOOPBACK(ConnectionTest);

/// An address where nobody listens: bound, so that nobody else gets it, but not listening.
struct DeadEnd {
    explicit DeadEnd(const Address& loopback)
        : socket(::socket(loopback.native_family(), SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        EXPECT_EQ(::bind(socket.descriptor(), loopback.native(), loopback.native_size()), 0);
        address = *socket.local_address();
    }
    Socket socket;
    Address address;
};

/// A listener that accepts nothing more: further connection requests are ignored.
struct FullListener {
    explicit FullListener(const Address& where) : socket(must(listen(where, {}, 0)))
    {
        address = *socket.local_address();
        for (int i = 0; i < 8; ++i) {
            auto next = connect(address, {}, 20ms);
            if (!next) return;
            waiting.push_back(std::move(*next));
        }
        ADD_FAILURE() << "the backlog never filled";
    }
    Socket socket;
    Address address;
    std::vector<Socket> waiting;
};

/// A unix-domain address of this process alone that leaves no file behind.
Address abstract_address(std::string_view name)
{
    return *Address::unix_path("@kairos-test-" + std::to_string(::getpid()) + "-" +
                               std::string(name));
}

bool is_non_blocking(const Socket& socket)
{
    return (::fcntl(socket.descriptor(), F_GETFL) & O_NONBLOCK) != 0;
}

TEST_P(ConnectionTest, ConnectsWithAndWithoutTimeout)
{
    auto acceptor = must(Acceptor::open(loopback()));
    for (const std::optional<std::chrono::nanoseconds> timeout :
         {std::optional<std::chrono::nanoseconds>(),
          std::optional<std::chrono::nanoseconds>(1min)}) {
        const Socket client = must(connect(acceptor.address(), {}, timeout));
        EXPECT_FALSE(is_non_blocking(client));
        const auto accepted = acceptor.accept();
        ASSERT_EQ(accepted.status, Status::accepted);
        EXPECT_EQ(accepted.peer, *client.local_address());
        EXPECT_FALSE(is_non_blocking(accepted.socket));
    }
}

TEST_P(ConnectionTest, ClosedPortIsRefusedByName)
{
    const DeadEnd dead_end(loopback());
    for (const std::optional<std::chrono::nanoseconds> timeout :
         {std::optional<std::chrono::nanoseconds>(),
          std::optional<std::chrono::nanoseconds>(1min)}) {
        const auto socket = connect(dead_end.address, {}, timeout);
        ASSERT_FALSE(socket);
        EXPECT_EQ(socket.error().code, ErrorCode::unreachable);
        EXPECT_EQ(socket.error().system_errno, ECONNREFUSED);
        EXPECT_NE(socket.error().reason.find(dead_end.address.to_text()), std::string::npos);
    }
}

TEST_P(ConnectionTest, UnansweredConnectTimesOut)
{
    const FullListener full(loopback());
    const auto socket = connect(full.address, {}, 5ms);
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code, ErrorCode::unreachable);
    EXPECT_EQ(socket.error().system_errno, ETIMEDOUT);
}

TEST(UnixConnection, ConnectsRefusesAndTimesOut)
{
    auto acceptor = must(Acceptor::open(abstract_address("server")));
    Socket client = must(connect(acceptor.address(), {}, 1min));
    auto accepted = acceptor.accept();
    ASSERT_EQ(accepted.status, Status::accepted);
    EXPECT_EQ(accepted.peer.to_text(), "unix:process " + std::to_string(::getpid()) + ", user " +
                                           std::to_string(::geteuid()));
    ASSERT_TRUE(client.write(as_bytes("x")).ok());
    std::array<std::byte, 2> buffer;
    EXPECT_EQ(accepted.socket.read(buffer).bytes, 1u);

    const auto refused = connect(abstract_address("nobody"), {}, 1min);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().system_errno, ECONNREFUSED);

    const FullListener full(abstract_address("busy"));
    const auto late = connect(full.address, {}, 5ms);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().system_errno, ETIMEDOUT);
}

TEST_P(ConnectionTest, ConnectAnyTakesTheFirstThatAnswers)
{
    const DeadEnd refusing(loopback());
    const FullListener silent(loopback());
    auto acceptor = must(Acceptor::open(loopback()));
    const Address addresses[] = {refusing.address, silent.address, acceptor.address()};
    const Socket client = must(connect_any(addresses, {}, 1s));
    EXPECT_EQ(*client.peer_address(), acceptor.address());

    const auto nobody = connect_any(std::span(addresses).first(2), {}, 10ms);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::unreachable);
    EXPECT_EQ(nobody.error().system_errno, ETIMEDOUT);
    for (const Address& address : std::span(addresses).first(2))
        EXPECT_NE(nobody.error().reason.find(address.to_text()), std::string::npos);
    EXPECT_FALSE(connect_any({}));
}

constexpr int not_permitted = 77;

/// In a network of its own, where the only local port that the system can choose is the one that is
/// connected to.
int connect_to_the_only_port()
{
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return not_permitted;
    const Socket any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    request.ifr_name[0] = 'l';
    request.ifr_name[1] = 'o';
    request.ifr_flags = IFF_UP;
    if (::ioctl(any.descriptor(), SIOCSIFFLAGS, &request) != 0) return not_permitted;
    std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
    range << "40000 40000" << std::endl;
    if (!range) return not_permitted;

    const auto socket = connect(Address::loopback_ipv4(40000), {}, 1min);
    CHILD_EXPECT(!socket);
    CHILD_EXPECT(socket.error().system_errno == ECONNREFUSED);
    return 0;
}

TEST(Connector, IsNotConnectedToItself)
{
    const int status = run_in_child([] { return connect_to_the_only_port(); });
    if (status == not_permitted) GTEST_SKIP() << "this process may not make a network of its own";
    EXPECT_EQ(status, 0);
}

TEST_P(ConnectionTest, NonBlockingAcceptorSaysWouldBlock)
{
    auto acceptor = must(Acceptor::open(loopback(), {.non_blocking = true}));
    EXPECT_EQ(acceptor.accept().status, Status::would_block);
    const Socket client = must(connect(acceptor.address()));
    const auto accepted = acceptor.accept();
    ASSERT_EQ(accepted.status, Status::accepted);
    EXPECT_TRUE(is_non_blocking(accepted.socket));
    EXPECT_NE(::fcntl(accepted.socket.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_EQ(acceptor.accept().status, Status::would_block);
}

TEST_P(ConnectionTest, ShutDownReleasesABlockedAcceptor)
{
    auto acceptor = must(Acceptor::open(loopback()));
    Status status = Status::failed;
    {
        Thread thread =
            must(Thread::start({.name = "acceptor"}, [&] { status = acceptor.accept().status; }));
        acceptor.shut_down();
    }
    EXPECT_EQ(status, Status::closed);
    EXPECT_EQ(acceptor.accept().status, Status::closed);
}

TEST_P(ConnectionTest, ConnectionsResetWhileWaitingDoNotHarm)
{
    auto acceptor = must(Acceptor::open(loopback()));
    {
        const Socket hasty = must(connect(acceptor.address()));
        const linger abort_on_close{.l_onoff = 1, .l_linger = 0};
        ASSERT_EQ(::setsockopt(hasty.descriptor(), SOL_SOCKET, SO_LINGER, &abort_on_close,
                               sizeof abort_on_close),
                  0);
    }
    const Socket client = must(connect(acceptor.address()));
    // Linux hands out the reset connection too; its first read tells.
    auto accepted = acceptor.accept();
    ASSERT_EQ(accepted.status, Status::accepted);
    if (accepted.peer != *client.local_address()) {
        std::array<std::byte, 1> buffer;
        EXPECT_EQ(accepted.socket.read(buffer).status, IoResult::Status::closed);
        accepted = acceptor.accept();
    }
    EXPECT_EQ(accepted.peer, *client.local_address());
}

TEST(Acceptor, AdoptRefusesWhatIsNoSocket)
{
    EXPECT_FALSE(Acceptor::adopt(Socket(), {}));
    EXPECT_FALSE(Acceptor::adopt(Socket(::open("/dev/null", O_RDONLY | O_CLOEXEC)), {}));
}

/// Leaves this process exactly `count` free descriptors.
std::vector<Socket> use_up_descriptors(std::size_t count)
{
    std::vector<Socket> used;
    for (;;) {
        const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (next < 0) break;
        used.emplace_back(next);
    }
    used.resize(used.size() - count);
    return used;
}

bool is_closed_by_peer(Socket& socket)
{
    std::array<std::byte, 1> buffer;
    return socket.read(buffer).status == IoResult::Status::closed;
}

int exhaust_descriptors(const Address& loopback, bool non_blocking)
{
    const rlimit limit{.rlim_cur = 64, .rlim_max = 64};
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    auto acceptor = must(Acceptor::open(loopback, {.non_blocking = non_blocking}));
    std::vector<Socket> clients;
    for (int i = 0; i < 5; ++i)
        clients.push_back(must(connect(acceptor.address())));

    auto served = acceptor.accept();
    CHILD_EXPECT(served.status == Status::accepted);
    std::vector<Socket> used = use_up_descriptors(0);
    for (std::size_t i = 1; i <= 2; ++i) {
        const auto result = acceptor.accept();
        CHILD_EXPECT(result.status == Status::turned_away);
        CHILD_EXPECT(result.error == EMFILE);
        CHILD_EXPECT(result.first_of_episode == (i == 1));
        CHILD_EXPECT(is_closed_by_peer(clients[i]));
    }
    // What it has, it keeps serving.
    std::array<std::byte, 4> buffer;
    CHILD_EXPECT(clients[0].write(as_bytes("ping")).ok());
    CHILD_EXPECT(served.socket.read(buffer).bytes == 4);

    used.pop_back();
    auto late = acceptor.accept();
    CHILD_EXPECT(late.status == Status::accepted);
    CHILD_EXPECT(late.peer == *clients[3].local_address());
    // Again without descriptors: a new episode.
    const auto next = acceptor.accept();
    CHILD_EXPECT(next.status == Status::turned_away && next.first_of_episode);
    CHILD_EXPECT(!non_blocking || acceptor.accept().status == Status::would_block);
    return 0;
}

TEST_P(ConnectionTest, ExhaustedDescriptorsTurnNewcomersAway)
{
    EXPECT_EQ(run_in_child([&] { return exhaust_descriptors(loopback(), false); }), 0);
    EXPECT_EQ(run_in_child([&] { return exhaust_descriptors(loopback(), true); }), 0);
}

/// A blocking acceptor has given up its spare descriptor and waits; before anybody comes, others
/// are given back. The newcomer may then stay.
int recover_while_waiting()
{
    const rlimit limit{.rlim_cur = 64, .rlim_max = 64};
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    // The two lowest free numbers will be the listener's and its spare descriptor's.
    const int listening = ::dup(STDERR_FILENO);
    const int spare = ::dup(STDERR_FILENO);
    ::close(spare);
    ::close(listening);
    auto acceptor = must(Acceptor::open(Address::loopback_ipv4()));
    CHILD_EXPECT(acceptor.descriptor() == listening && ::fcntl(spare, F_GETFD) >= 0);
    std::vector<Socket> used = use_up_descriptors(0);
    Acceptor::Accepted result;
    {
        Thread thread = must(Thread::start({}, [&] { result = acceptor.accept(); }));
        while (::fcntl(spare, F_GETFD) >= 0)
            ::sched_yield();
        used.resize(used.size() - 2);
        const Socket client = must(connect(acceptor.address()));
        thread.join();
    }
    CHILD_EXPECT(result.status == Status::accepted);
    return 0;
}

TEST(Acceptor, NewcomerStaysWhenADescriptorCameFreeMeanwhile)
{
    EXPECT_EQ(run_in_child([] { return recover_while_waiting(); }), 0);
}

/// The limit is lowered below what is open: the spare descriptor cannot be had again.
int lose_spare_descriptor()
{
    auto acceptor = must(Acceptor::open(Address::loopback_ipv4(), {.non_blocking = true}));
    const Socket first = must(connect(acceptor.address()));
    const Socket second = must(connect(acceptor.address()));
    rlimit limit{};
    CHILD_EXPECT(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit low{.rlim_cur = 0, .rlim_max = limit.rlim_max};
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    const auto result = acceptor.accept();
    CHILD_EXPECT(result.status == Status::exhausted && result.first_of_episode);
    const auto again = acceptor.accept();
    CHILD_EXPECT(again.status == Status::exhausted && !again.first_of_episode);
    CHILD_EXPECT(again.error == EMFILE);
    CHILD_EXPECT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_EXPECT(acceptor.accept().status == Status::accepted);
    CHILD_EXPECT(acceptor.accept().status == Status::accepted);
    return 0;
}

TEST(Acceptor, SurvivesTheLossOfItsSpareDescriptor)
{
    EXPECT_EQ(run_in_child([] { return lose_spare_descriptor(); }), 0);
}

} // namespace
} // namespace kairos::net
