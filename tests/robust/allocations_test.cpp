// SPDX-License-Identifier: Apache-2.0
//
// Memory that is refused: every single allocation that a server makes while it accepts, reads,
// serves, answers, refuses, logs and closes fails once, in every architecture. Whatever becomes of
// the connection that it was for, the server goes on, and serves who was connected before and who
// comes afterwards.
#include "kairos/base/heap_testing.h"
#include "tests/malformed/fixture.h"

namespace kairos::orb_testing {
namespace {

namespace heap = heap_testing;

/// So many are more than any of this needs.
constexpr std::uint64_t allocations_max = 5000;

class Allocations : public EveryArchitecture {
  protected:
    static void SetUpTestSuite() { heap::is_spared = true; } // the test's own
};

/// Whatever the answer is, or the end of the connection: it comes.
void ask(RawPeer& peer, const Octets& octets)
{
    peer.send(octets);
    (void)peer.read_message();
}

void live(const RunningServer& server, const Octets& large, const Octets& malformed)
{
    {
        RawPeer peer = server.connect();
        ask(peer, server.ping(1));
        ask(peer, large);
        ask(peer, request(server.key(), "produce", 3).u32(300'000).finish());
        ask(peer, malformed);
        ask(peer, server.ping(5));
    }
    {
        RawPeer peer = server.connect();
        ask(peer, Octets(100, std::byte{'x'}));
    }
    {
        RawPeer peer = server.connect();
        Octets half = server.ping();
        half.resize(half.size() / 2);
        peer.send(half);
        peer.half_close();
        (void)peer.read_message();
    }
}

TEST_P(Allocations, EachOfThemFailsAndTheServerGoesOn)
{
    RunningServer server(GetParam());
    WireMessage message = request(server.key(), "count_octets", 2);
    message.u32(300'000);
    const std::size_t whole = message.finish().size() + 300'000;
    Octets large = message.finish(static_cast<std::uint32_t>(whole - giop::header_size));
    large.resize(whole);
    const Octets malformed = request(server.key(), "echo", 4).u32(1'000'000).finish();
    RawPeer bystander = server.connect();
    ask(bystander, server.ping());
    live(server, large, malformed);
    std::uint64_t failed = 0;
    for (std::uint64_t n = 1; n < allocations_max; ++n) {
        heap::has_failed = false;
        heap::allocations_until_failure = n;
        live(server, large, malformed);
        const bool has_failed = heap::has_failed;
        heap::allocations_until_failure = 0;
        bystander.send(server.ping());
        ASSERT_EQ(ParsedReply(bystander.read_message()).text(), "NO_EXCEPTION") << n;
        RawPeer newcomer = server.connect();
        newcomer.send(server.ping());
        ASSERT_EQ(ParsedReply(newcomer.read_message()).text(), "NO_EXCEPTION") << n;
        if (!has_failed) break;
        ++failed;
    }
    EXPECT_GE(failed, 5u);
    EXPECT_LT(failed, allocations_max - 1);
}

KAIROS_EVERY_ARCHITECTURE(Allocations);

} // namespace
} // namespace kairos::orb_testing
