// SPDX-License-Identifier: Apache-2.0
//
// Servers with many connections and many calls: memory, descriptors and threads stay what they
// were, and a peer that is slow, or comes and goes, costs nobody else anything. Full size (a
// million calls to a server of every architecture) with KAIROS_TEST_SIZE=full in the environment.
#include "kairos/base/heap_testing.h"
#include "kairos/client/client.h"
#include "kairos/orb/orb.h"
#include "tests/malformed/fixture.h"

#include <sys/resource.h>

namespace kairos::orb_testing {
namespace {

namespace heap = heap_testing;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t fewer_calls = 10'000; // they cost ten times the time
constexpr bool sanitized = true;
#else
constexpr std::size_t fewer_calls = 40'000;
constexpr bool sanitized = false;
#endif

/// Calls to a server: most to the two that everybody begins with.
std::size_t call_count(std::string_view architecture)
{
    const char* size = std::getenv("KAIROS_TEST_SIZE");
    const bool full = size != nullptr && std::string_view(size) == "full";
    const bool usual = architecture == "thread-per-connection" || architecture == "reactor";
    if (full) return 1'000'000;
    return usual && !sanitized ? 250'000 : fewer_calls;
}

/// Raises the limit as far as permitted; how many connections then fit, both ends being ours.
std::size_t connections_possible(std::size_t wanted)
{
    rlimit limit{};
    (void)::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t possible =
        std::min<std::size_t>(wanted, (std::max<std::size_t>(limit.rlim_cur, 164) - 100) / 2);
    if (possible < wanted)
        std::printf("scaled down: %zu connections instead of %zu\n", possible, wanted);
    return possible;
}

class Load : public EveryArchitecture {
  protected:
    static bool hands_over()
    {
        const std::string_view architecture = GetParam();
        return architecture == "worker-pool" || architecture == "filter-chain" ||
               architecture == "thread-per-request" || architecture == "thread-per-object";
    }
};

TEST_P(Load, ThousandConnectionsAndAllTheirCallsInFlatMemory)
{
    RunningServer server(GetParam());
    const std::size_t connections = connections_possible(1000);
    const std::size_t rounds = call_count(GetParam()) / connections;
    const Octets ping = server.ping();
    const Octets sum = request(server.key(), "add").u32(1).u32(2).finish();
    std::vector<RawPeer> peers;
    for (std::size_t i = 0; i < connections; ++i)
        peers.push_back(server.connect());
    Octets answer(200);
    const auto round = [&] {
        // Every connection has a request on its way before the first answer is looked at.
        for (std::size_t i = 0; i < peers.size(); ++i)
            (void)peers[i].socket().write_all(i % 2 == 0 ? ping : sum);
        for (RawPeer& peer : peers)
            ASSERT_TRUE(peer.socket().read(answer).ok());
    };
    round();
    round();
    const std::size_t held = heap::held;
    heap::highest = held;
    for (std::size_t i = 2; i < rounds; ++i) {
        round();
        if (HasFatalFailure()) return;
    }
    EXPECT_EQ(server.servant().calls, rounds * connections);
    // Where requests are handed over, each that is under way at the same time has memory; and in
    // a pool not every thread has had its turn by now.
    const std::size_t under_way = hands_over() ? connections * 2048
                                  : GetParam() == std::string_view("leader-followers") ? 1 << 20
                                                                                       : 0;
    EXPECT_LE(heap::held, held + under_way);
    EXPECT_LE(heap::highest, held + under_way) << "allocated and given back";
}

TEST_P(Load, ConnectionsThatComeAndGoLeaveNothing)
{
    RunningServer server(GetParam());
    const std::size_t threads_max = threads() + limits::threads;
    const auto come_and_go = [&](int i) {
        RawPeer peer = server.connect();
        if (i % 3 == 0) return; // says nothing
        peer.send(i % 3 == 1 ? server.ping() : Octets(20));
        (void)peer.read_message();
    };
    for (int i = 0; i < 50; ++i)
        come_and_go(i);
    const std::size_t descriptors_before = descriptors();
    for (int i = 0; i < 5000; ++i)
        come_and_go(i);
    // Those that ended last may be about to. Whoever is served now came after them all.
    while (descriptors() > descriptors_before + 1 || threads() > threads_max)
        std::this_thread::yield();
    EXPECT_LE(threads(), threads_max);
}

TEST_P(Load, ClientsThatComeAndGoLeaveNothing)
{
    RunningServer server(GetParam());
    const std::size_t descriptors_before = descriptors();
    for (int i = 0; i < 200; ++i) {
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(target->add(i, 1), i + 1);
    }
    while (descriptors() > descriptors_before + 1)
        std::this_thread::yield();
}

TEST_P(Load, ASlowReaderDelaysNobodyAndItsRequestsWait)
{
    RunningServer server(GetParam(), {"-ORBSendQueue", "65536"});
    RawPeer slow = server.connect({.receive_queue_bytes = 65536});
    constexpr std::uint32_t size = 100'000;
    const Octets large = request(server.key(), "produce").u32(size).finish();
    // In one piece, so that the server has all of them at once.
    Octets many;
    for (int i = 0; i < 100; ++i)
        many.insert(many.end(), large.begin(), large.end());
    heap::highest = heap::held.load();
    const std::size_t before = heap::held;
    slow.send(many);
    RawPeer other = server.connect();
    for (std::uint32_t id = 0; id < 1000; ++id) {
        other.send(server.ping(id));
        ASSERT_EQ(ParsedReply(other.read_message()).reply.request_id, id);
    }
    // What the slow one does not take is not made: a few replies, not a hundred.
    EXPECT_LT(heap::highest - before, 20 * size);
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(slow.read_message().size(), giop::header_size + 12 + 4 + size);
}

TEST_P(Load, LargeMessagesDoNotKeepTheirMemory)
{
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    const auto exchange = [&](CORBA::ULong size) {
        Probe::Octets octets;
        octets.length(size);
        EXPECT_EQ(target->count_octets(octets), size);
        Probe::Strings strings;
        strings.length(1);
        strings[0] = std::string(size, 's').c_str();
        EXPECT_EQ(target->count_strings(strings), 1u);
        const CORBA::String_var echo = target->echo(std::string(size, 'e').c_str());
        const Probe::Octets_var produced = target->produce(size);
        EXPECT_EQ(produced->length(), size);
    };
    exchange(100);
    const std::size_t held = heap::held;
    exchange(20'000'000);
    exchange(100); // buffers are given back by the next message
    exchange(100);
    EXPECT_LT(heap::held, held + (std::size_t{4} << 20));
}

TEST_P(Load, ManyThreadsCallAndGetTheirOwnAnswers)
{
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 8; ++caller) {
        callers.emplace_back([&, caller] {
            for (int i = 0; i < 500; ++i)
                EXPECT_EQ(target->add(caller * 1000, i), caller * 1000 + i);
        });
    }
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(server.servant().calls, 8u * 500u);
    EXPECT_EQ(orb::Client::of(client.orb()->_kairos_core()).connections().count(),
              0u); // went with them
}

KAIROS_EVERY_ARCHITECTURE(Load);

} // namespace
} // namespace kairos::orb_testing
