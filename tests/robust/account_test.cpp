// SPDX-License-Identifier: Apache-2.0
//
// What a server keeps for its peers has a limit for all of them together (-ORBMemory), and who does
// not take what it is sent is not waited for: in every architecture, while somebody else is served.
#include "kairos/base/heap_testing.h"
#include "kairos/orb/orb.h"
#include "kairos/server/dispatcher.h"
#include "kairos/server/serving.h"
#include "tests/robust/was_read.h"

#include <array>
#include <span>
#include <vector>

namespace kairos::orb_testing {
namespace {

namespace heap = heap_testing;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t limit = 16 * mib;
const std::vector<std::string> limited{"-ORBMemory", std::to_string(limit), "-ORBSendQueue",
                                       "65536"};

orb::Account::Figures figures(RunningServer& server)
{
    return orb::Serving::of(server.orb()->_kairos_core()).account().figures();
}

/// Whoever was cut off gives its memory back, soon.
void expect_held_at_most(std::size_t octets)
{
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (heap::held > octets && std::chrono::steady_clock::now() < give_up)
        std::this_thread::yield();
    EXPECT_LE(heap::held, octets);
}

/// With so many octets of argument.
Octets large_request(const RunningServer& server, std::size_t size, std::uint32_t id = 1)
{
    WireMessage message = request(server.key(), "count_octets", id);
    message.u32(static_cast<std::uint32_t>(size));
    const std::size_t whole = message.finish().size() + size;
    Octets octets = message.finish(static_cast<std::uint32_t>(whole - giop::header_size));
    octets.resize(whole);
    return octets;
}

/// Sends as much as the server takes, if it is cut off meanwhile.
void send_part(RawPeer& peer, Bytes octets) { (void)peer.socket().write_all(octets); }

class EveryServersAccount : public EveryArchitecture {};

TEST_P(EveryServersAccount, RepliesThatNobodyTakes)
{
    RunningServer server(GetParam(), limited);
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(target->add(1, 1), 2);
    const std::size_t before = heap::held;
    const Octets large = request(server.key(), "produce").u32(2 * mib).finish();
    std::vector<RawPeer> peers;
    for (int i = 0; i < 40; ++i) {
        peers.push_back(server.connect({.receive_queue_bytes = 65536}));
        peers.back().send(large);
        EXPECT_EQ(target->add(i, 1), i + 1);
        // Some of the reply is there: so it was made, and lies somewhere.
        EXPECT_EQ(peers.back().read(giop::header_size).size(), giop::header_size);
    }
    EXPECT_GT(figures(server).cut_off, 0u);
    EXPECT_LE(figures(server).held, limit);
    // The reply that is just being made may lie there twice.
    expect_held_at_most(before + limit + 4 * mib);
    // The one that came last was not cut off.
    Octets rest = peers.back().read(2 * mib);
    EXPECT_EQ(rest.size(), 2 * mib);
    EXPECT_EQ(target->add(1, 2), 3);
}

TEST_P(EveryServersAccount, MessagesThatAreNeverWhole)
{
    RunningServer server(GetParam(), limited);
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(target->add(1, 1), 2);
    const Octets whole = large_request(server, 8 * mib);
    const std::size_t before = heap::held;
    const Bytes half = Bytes(whole).first(4 * mib);
    std::vector<RawPeer> peers;
    for (int i = 0; i < 10; ++i) {
        peers.push_back(server.connect());
        send_part(peers.back(), half);
        while (!was_read(server, peers.back())) // or it would go on later than who comes next
            std::this_thread::yield();
        EXPECT_EQ(target->add(i, 1), i + 1);
    }
    // Who goes on may go on.
    send_part(peers.back(), Bytes(whole).subspan(half.size()));
    EXPECT_EQ(ParsedReply(peers.back().read_message()).text(), "NO_EXCEPTION");
    const auto end = figures(server);
    EXPECT_GE(end.cut_off, 6u);
    EXPECT_LE(end.held_most, limit + mib);
    // Room for what is announced and does not come is not touched: it costs no memory.
    expect_held_at_most(before + 2 * limit + 4 * mib);
    // Nothing of their messages was executed, and they are told so.
    EXPECT_EQ(control_text(peers.front().read_message()), "CloseConnection 1.2");
    EXPECT_TRUE(peers.front().at_end());
    peers.clear();
    expect_held_at_most(before + mib);
}

TEST_P(EveryServersAccount, RequestsThatWaitToBeServed)
{
    RunningServer server(GetParam(), limited);
    Event go_on;
    server.servant().action = [&] { EXPECT_TRUE(go_on.wait()); };
    const Octets act = request(server.key(), "act", 1).finish();
    const Octets large = large_request(server, mib, 2);
    const std::size_t before = heap::held;
    std::vector<RawPeer> peers;
    constexpr int count = 6;
    for (int i = 0; i < count; ++i) {
        peers.push_back(server.connect());
        send_part(peers.back(), act);
        for (int j = 0; j < 3; ++j) // the socket's queue takes some of that, and no more
            (void)peers.back().socket().write(large, net::WriteFlags::do_not_wait);
    }
    expect_held_at_most(before + limit + 4 * mib + count * large.size());
    EXPECT_LE(figures(server).held, limit);
    go_on.set();
    // All are served: there is room for what one of each holds, beside what is queued.
    for (RawPeer& peer : peers)
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_EQ(figures(server).cut_off, 0u);
}

TEST_P(EveryServersAccount, WhoTakesNothingIsNotWaitedFor)
{
    RunningServer server(GetParam(), {"-ORBReceiveTimeout", "50", "-ORBSendQueue", "65536"});
    RawPeer peer = server.connect({.receive_queue_bytes = 65536});
    RawPeer other = server.connect();
    peer.send(request(server.key(), "produce").u32(8 * mib).finish());
    EXPECT_TRUE(
        LogLines::wait_for(peer.address() + " closed: what it was sent was not taken within"));
    EXPECT_LT(peer.read(8 * mib).size(), 8 * mib);
    other.send(server.ping());
    EXPECT_EQ(ParsedReply(other.read_message()).text(), "NO_EXCEPTION");
}

TEST_P(EveryServersAccount, IdleConnectionsKeepLittle)
{
    // A quarter of the limit may be kept for the next message, of all of them.
    RunningServer server(GetParam(), {"-ORBMemory", std::to_string(4 * mib)});
    const Octets message = large_request(server, 500'000);
    const Octets reply = request(server.key(), "produce").u32(500'000).finish();
    const std::size_t before = heap::held;
    std::vector<RawPeer> peers;
    for (int i = 0; i < 30; ++i) {
        peers.push_back(server.connect());
        for (const Octets* each : {static_cast<const Octets*>(&message), &reply}) {
            peers.back().send(*each);
            EXPECT_EQ(ParsedReply(peers.back().read_message()).text(), "NO_EXCEPTION");
        }
    }
    // Pools keep a request and a reply for each thread.
    expect_held_at_most(before + mib + 30 * 40'000 + limits::threads * 2 * mib);
    EXPECT_EQ(figures(server).cut_off, 0u);
}

KAIROS_EVERY_ARCHITECTURE(EveryServersAccount);

// --- By itself -----------------------------------------------------------------------------------

/// A connection, as far as the account knows.
struct Holder {
    Holder(orb::Account& account, const std::string& host)
        : pair(net::socket_pair().value()),
          share(account, pair.first, net::Address::parse(host, 1).value())
    {
    }
    std::pair<net::Socket, net::Socket> pair;
    orb::Account::Share share;
};

TEST(Account, TheHostThatHoldsMostGivesUpWhatHasNotGoneOnForLongest)
{
    orb::Account account(10 * mib, 0x9e3779b97f4a7c15); // by which these hosts share no place
    Holder one(account, "192.0.2.1");
    Holder two(account, "192.0.2.1");
    Holder three(account, "192.0.2.1");
    Holder other(account, "192.0.2.77");
    EXPECT_TRUE(other.share.hold(4 * mib)); // the largest, and the oldest
    EXPECT_TRUE(one.share.hold(2 * mib));
    EXPECT_TRUE(two.share.hold(2 * mib));
    EXPECT_TRUE(three.share.hold(mib));
    EXPECT_TRUE(one.share.hold(2 * mib + 65536)); // goes on
    EXPECT_FALSE(two.share.was_cut_off());
    EXPECT_TRUE(three.share.hold(2 * mib));
    EXPECT_TRUE(two.share.was_cut_off());
    EXPECT_FALSE(two.share.hold(3 * mib)); // it hears of it
    EXPECT_FALSE(one.share.was_cut_off() || three.share.was_cut_off() || other.share.was_cut_off());
    std::byte octet;
    EXPECT_EQ(two.pair.first.read({&octet, 1}, net::ReadFlags::do_not_wait).status,
              net::IoResult::Status::closed);
    EXPECT_EQ(account.figures().cut_off, 1u);
    EXPECT_EQ(account.figures().held, 8 * mib + 65536);
}

/// However many there are, and whatever their addresses: each has its own.
TEST(Account, ConnectionsOfOnePeerAreCountedForNoOther)
{
    orb::Account account(mib);
    net::Socket socket;
    std::vector<net::Address> peers;
    for (int i = 0; i < 2000; ++i) {
        const std::string last = std::to_string(i / 250) + "." + std::to_string(i % 250);
        peers.push_back(net::Address::parse("10.0." + last, 1).value());
    }
    for (int i = 0; i < 256; ++i) { // all that one household may have
        char text[64];
        std::snprintf(text, sizeof text, "2001:db8:0:12%02x::1", static_cast<unsigned>(i));
        peers.push_back(net::Address::parse(text, 1).value());
    }
    std::vector<std::unique_ptr<orb::Account::Share>> shares;
    for (const net::Address& peer : peers) {
        EXPECT_TRUE(account.has_place_for(peer, 1)) << peer.to_text();
        shares.push_back(std::make_unique<orb::Account::Share>(account, socket, peer));
    }
    EXPECT_EQ(account.figures().refused, 0u);
    for (const net::Address& peer : peers)
        EXPECT_FALSE(account.has_place_for(peer, 1)) << peer.to_text();
    EXPECT_EQ(account.figures().refused, peers.size());
    EXPECT_FALSE(account.has_place_for(net::Address::parse("2001:db8:0:1200::2", 1).value(), 1));
    shares.clear();
    EXPECT_TRUE(account.has_place_for(peers.front(), 1));
    EXPECT_TRUE(account.has_place_for(peers.back(), 1));
}

TEST(Account, ConnectionsThatWeHaveMadeArePeersNot)
{
    orb::Account account(mib);
    const net::Address peer = net::Address::parse("192.0.2.1", 1).value();
    Holder accepted(account, "192.0.2.1");
    {
        Holder made(account, "192.0.2.1");
        EXPECT_FALSE(account.has_place_for(peer, 2));
        made.share.is_ours();
        EXPECT_TRUE(account.has_place_for(peer, 2));
        EXPECT_FALSE(account.has_place_for(peer, 1));
    }
    EXPECT_FALSE(account.has_place_for(peer, 1));
}

TEST(Account, WhatIsSmallIsNotCounted)
{
    orb::Account account(mib);
    Holder holder(account, "192.0.2.1");
    EXPECT_TRUE(holder.share.hold(orb::Account::free_octets));
    EXPECT_EQ(account.figures().held, 0u);
    EXPECT_TRUE(holder.share.hold(orb::Account::free_octets + 1));
    EXPECT_EQ(account.figures().held, 2 * orb::Account::free_octets);
}

class CountingSource final : public orb::RequestSource {
  public:
    void on_space() noexcept override { ++told; }
    int told = 0;
};

TEST(Account, RequestsAreQueuedUpToHalfOfIt)
{
    orb::Account account(10 * mib);
    CountingSource source;
    EXPECT_TRUE(account.queue(8 * mib, source)); // one always
    EXPECT_FALSE(account.queue(mib, source));
    EXPECT_TRUE(account.queue(100, source)); // not counted
    EXPECT_EQ(source.told, 0);
    account.unqueue(8 * mib);
    EXPECT_EQ(source.told, 1);
    EXPECT_TRUE(account.queue(3 * mib, source));
    EXPECT_TRUE(account.queue(2 * mib, source));
    EXPECT_EQ(account.figures().queued, 5 * mib);
    account.unqueue(2 * mib);
    EXPECT_EQ(source.told, 1); // it waits for nothing
}

/// What one lane waits for, another has.
TEST(Account, AllSourcesAreToldThatWait)
{
    orb::Account account(10 * mib);
    std::array<CountingSource, 4> sources;
    EXPECT_TRUE(account.queue(4 * mib, sources[0]));
    for (int again = 0; again < 2; ++again)
        for (CountingSource& each : std::span(sources).subspan(1))
            EXPECT_FALSE(account.queue(2 * mib, each));
    account.forget(sources[0]);
    account.forget(sources[2]);
    account.unqueue(4 * mib);
    std::vector<int> told;
    for (const CountingSource& each : sources)
        told.push_back(each.told);
    EXPECT_EQ(told, (std::vector<int>{0, 1, 0, 1}));
}

TEST(Account, WhoeverGoesGivesItsShareBack)
{
    orb::Account account(10 * mib);
    {
        Holder holder(account, "2001:db8::1");
        EXPECT_TRUE(holder.share.hold(3 * mib));
        EXPECT_TRUE(holder.share.hold_replies(2 * mib));
        EXPECT_EQ(account.figures().held, 5 * mib);
        EXPECT_FALSE(holder.share.may_keep());
        // It is all of one host, and all of one connection.
        EXPECT_FALSE(holder.share.hold_replies(9 * mib));
        EXPECT_EQ(account.figures().held, 0u);
    }
    EXPECT_EQ(account.figures().held, 0u);
    EXPECT_EQ(account.figures().held_most, 5 * mib);
}

} // namespace
} // namespace kairos::orb_testing
