// SPDX-License-Identifier: Apache-2.0
//
// A server that ends while its servant waits for a call that leads back to it by the very
// connection of the request, from a peer without time limits: what comes there is answered, so that
// the servant's call ends, and the server. In every architecture, and however it comes.
#include "tests/robust/local.h"
#include "tests/robust/nested.h"

namespace kairos::orb_testing {
namespace {

constexpr auto holding = RunningServer::Start::holding;

class NestedShutdown : public SmallestServers {
  protected:
    static bool is(std::string_view architecture) { return architecture == GetParam(); }
    /// Whether the thread that waits reads by itself, and looks whether it is to end only later.
    static bool is_reactor() { return is("reactor") || is("reactor-per-priority"); }

    /// A server whose servant calls a partner, who calls it back.
    struct Called {
        explicit Called(const std::vector<std::string>& options = {})
            : server(GetParam(), smallest_with(options), holding)
        {
            server.servant().action = [this] { to_partner->act(); };
        }
        void activate()
        {
            server.manager()->activate();
            partner.manager()->activate();
        }
        /// Until everybody would be told so.
        void wait_for_the_end()
        {
            while (outcome([&] { (void)server.orb()->work_pending(); }) == "ok")
                std::this_thread::yield();
        }
        RunningServer server;
        RunningServer partner{"thread-per-connection", {}, holding};
        const Probe::Target_var to_partner = target_in(server, partner.reference());
    };

    static void expect_refusal(RawPeer& peer, std::uint32_t id)
    {
        const ParsedReply refusal(peer.read_message());
        EXPECT_EQ(refusal.reply.request_id, id);
        const std::string text = refusal.text();
        EXPECT_TRUE(text == "TRANSIENT 0x4f4d0001 NO" || text == "OBJ_ADAPTER 0x4f4d0001 NO")
            << text;
    }
    static void expect_end(RawPeer& peer, std::uint32_t id)
    {
        const ParsedReply last(peer.read_message());
        EXPECT_EQ(last.reply.request_id, id);
        EXPECT_EQ(last.text(), "NO_EXCEPTION");
        EXPECT_EQ(control_text(peer.read_message()), "CloseConnection 1.2");
        EXPECT_TRUE(peer.at_end());
    }

    /// A peer that `connect` makes, of which a part of a request comes before the end.
    static void expect_all_refused(Called& called, const std::function<RawPeer()>& connect)
    {
        std::optional<RawPeer> peer;
        std::optional<RawPeer> idle;
        Event called_by_peer; // else both would send at the same time
        Event inside;
        called.partner.servant().action = [&] {
            EXPECT_TRUE(called_by_peer.wait());
            const Octets second = called.server.ping(3);
            peer->send(Bytes(second).first(20));
            inside.set();
            called.wait_for_the_end();
            if (!is_reactor()) {
                EXPECT_EQ(control_text(idle->read_message()), "CloseConnection 1.2");
            }
            peer->send(Bytes(second).subspan(20));
            expect_refusal(*peer, 3);
            Octets two = called.server.ping(4);
            const Octets other = called.server.ping(5);
            two.insert(two.end(), other.begin(), other.end());
            peer->send(two);
            expect_refusal(*peer, 4);
            expect_refusal(*peer, 5);
        };
        called.activate();
        peer.emplace(connect());
        idle.emplace(connect());
        for (RawPeer* each : {&*peer, &*idle}) {
            each->send(called.server.ping(1));
            EXPECT_EQ(ParsedReply(each->read_message()).text(), "NO_EXCEPTION");
        }
        peer->send(request(called.server.key(), "act", 2).finish());
        called_by_peer.set();
        EXPECT_TRUE(inside.wait());
        called.server.end();
        expect_end(*peer, 2);
        EXPECT_EQ(called.server.servant().calls, 3u);
    }
};

TEST_P(NestedShutdown, WhatComesAfterwardsIsRefused)
{
    Called called;
    expect_all_refused(called, [&] { return called.server.connect(); });
}

TEST_P(NestedShutdown, WhatComesBySharedMemoryIsRefused)
{
    Called called({"-ORBListenEndpoints", "shmiop://"});
    const DeadPort dead;
    const auto address =
        net::Address::unix_path(local_path(with_port(called.server.reference(), dead.port())));
    ASSERT_TRUE(address);
    expect_all_refused(called, [&] {
        net::Socket socket = net::connect(*address).value();
        EXPECT_TRUE(socket.offer_memory({}, Deadline::after(patience)));
        return RawPeer(std::move(socket));
    });
}

/// What waits for a thread, and what there is no place for.
TEST_P(NestedShutdown, WhatWaitsIsRefused)
{
    Called called;
    Event noted, go_on, inside;
    called.server.servant().note_action = [&] {
        noted.set();
        EXPECT_TRUE(go_on.wait());
    };
    std::optional<RawPeer> peer;
    called.partner.servant().action = [&] {
        RawPeer other = called.server.connect();
        other.send(
            request(called.server.key(), "note", 1, giop::version_1_2, false).u32(1).finish());
        EXPECT_TRUE(noted.wait());
        for (const std::uint32_t id : {3u, 4u, 5u})
            peer->send(called.server.ping(id));
        inside.set();
        called.wait_for_the_end();
        go_on.set();
        std::array<std::uint32_t, 3> ids{};
        for (std::uint32_t& id : ids) {
            const ParsedReply answer(peer->read_message());
            id = answer.reply.request_id;
            EXPECT_NE(answer.text(), "no reply");
        }
        std::ranges::sort(ids);
        EXPECT_EQ(ids, (std::array{3u, 4u, 5u}));
    };
    called.activate();
    peer.emplace(called.server.connect());
    peer->send(request(called.server.key(), "act", 2).finish());
    EXPECT_TRUE(inside.wait());
    called.server.end();
    expect_end(*peer, 2);
}

/// Threads of a client with one connection for all of them: what one asks for, another waits for.
TEST_P(NestedShutdown, ThreadsThatShareAConnectionEnd)
{
    for (const char* connection : {"leader-followers", "active"}) {
        Called called;
        Client client({"-ORBConnection", connection});
        const Probe::Target_var target = client.target(called.server.reference());
        Event inside;
        std::string called_back;
        called.partner.servant().action = [&] {
            inside.set();
            called.wait_for_the_end();
            // Not in the thread of an upcall, whose calls share nothing.
            std::thread([&] { called_back = outcome([&] { target->ping(); }); }).join();
        };
        called.activate();
        target->ping();
        std::string result;
        std::thread caller([&] { result = outcome([&] { target->act(); }); });
        EXPECT_TRUE(inside.wait());
        called.server.end();
        caller.join();
        EXPECT_EQ(result, "ok");
        EXPECT_TRUE(called_back == "TRANSIENT 0x4f4d0001 NO" ||
                    called_back == "OBJ_ADAPTER 0x4f4d0001 NO")
            << called_back;
    }
}

/// From within the upcall that then waits.
TEST_P(NestedShutdown, BegunInTheUpcallItself)
{
    Called called;
    std::optional<RawPeer> peer;
    Event refused;
    Client other_orb; // that of the server calls nobody any more
    const Probe::Target_var to_partner = other_orb.target(called.partner.reference());
    called.partner.servant().action = [&] {
        peer->send(called.server.ping(3));
        expect_refusal(*peer, 3);
        refused.set();
    };
    called.server.servant().action = [&] {
        called.server.orb()->shutdown(false);
        to_partner->act();
    };
    called.activate();
    peer.emplace(called.server.connect());
    peer->send(request(called.server.key(), "act", 2).finish());
    EXPECT_TRUE(refused.wait());
    called.server.end();
    expect_end(*peer, 2);
}

KAIROS_EVERY_ARCHITECTURE(NestedShutdown);

} // namespace
} // namespace kairos::orb_testing
