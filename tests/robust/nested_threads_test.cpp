// SPDX-License-Identifier: Apache-2.0
//
// Servants that call, and are called back before their call returns, in a system that gives no more
// threads: whoever waits serves. However few threads an architecture has: the call back is
// answered, or refused as docs/robustness.md says, everybody else is served, and the end joins
// everything.
#include "tests/faults/faults.h"
#include "tests/malformed/fixture.h"

#include <map>

namespace kairos::orb_testing {
namespace {

net::testing::FaultPlan refusing(net::testing::SystemCall call)
{
    net::testing::FaultPlan plan;
    plan.of(call) = 1000;
    return plan;
}

class NestedWithoutThreads : public EveryArchitecture {
  protected:
    [[nodiscard]] static bool is(std::string_view architecture)
    {
        return architecture == GetParam();
    }
    [[nodiscard]] static bool has_a_thread_for_each_connection()
    {
        return is("thread-per-connection") || is("reactor-per-priority-each");
    }
    /// So many threads where the architecture has them.
    [[nodiscard]] static std::vector<std::string> with_threads(const char* count)
    {
        if (is("reactor-per-priority")) return {"-ORBLanes", std::string("0:") + count};
        if (has_a_thread_for_each_connection() || is("reactor")) return {};
        return {"-ORBThreads", count};
    }
    /// What it is that cannot be served without one more thread.
    [[nodiscard]] static const char* refusal(bool by_a_new_connection)
    {
        if (is("thread-per-request")) return "NO_RESOURCES 0x0 NO";
        if (has_a_thread_for_each_connection() && by_a_new_connection)
            return "TRANSIENT 0x4b520001 NO";
        return "ok";
    }
    /// A server with so many threads and the partner that it calls, which calls it back.
    struct Pair {
        explicit Pair(const char* threads) : server(GetParam(), with_threads(threads), holding)
        {
            server.servant().action = [this] { to_partner->act(); };
            partner.servant().action = [this] { to_server->ping(); };
            partner.servant().note_action = [this] {
                to_server->ping();
                connected.set();
            };
        }
        void activate()
        {
            server.manager()->activate();
            partner.manager()->activate();
        }
        /// The partner has a connection to the server, for the calls back.
        void connect_back(Client& client)
        {
            const Probe::Target_var target = client.target(partner.reference());
            target->note(1);
            EXPECT_TRUE(connected.wait());
        }

        static constexpr auto holding = RunningServer::Start::holding;
        Event connected;
        RunningServer server;
        RunningServer partner{"reactor", {}, holding};
        const Probe::Target_var to_partner = target(server, partner.reference());
        const Probe::Target_var to_server = target(partner, server.reference());
    };
    [[nodiscard]] static Probe::Target_ptr target(RunningServer& caller,
                                                  const std::string& reference)
    {
        const CORBA::Object_var object = caller.orb()->string_to_object(reference.c_str());
        return Probe::Target::_unchecked_narrow(object);
    }
};

/// From the first wait on there are no threads.
TEST_P(NestedWithoutThreads, TheCallBackIsServedByWhoWaits)
{
    for (const bool by_a_new_connection : {false, true}) {
        Pair pair("1");
        std::optional<net::testing::Faults> faults;
        pair.server.servant().action = [&] {
            faults.emplace(refusing(net::testing::SystemCall::thread));
            pair.to_partner->act();
        };
        pair.activate();
        Client client;
        const Probe::Target_var target = client.target(pair.server.reference());
        target->ping();
        if (!by_a_new_connection) pair.connect_back(client);
        EXPECT_EQ(outcome([&] { target->act(); }), refusal(by_a_new_connection));
        faults.reset();
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    }
}

/// All that there are wait at once, and there are others who want to be served.
TEST_P(NestedWithoutThreads, EverybodyWaitsAndEverybodyIsServed)
{
    constexpr int callers = 6;
    constexpr int calls_each = 15;
    Pair pair("2");
    pair.activate();
    Client first;
    pair.connect_back(first);

    std::atomic<int> ready{0};
    Event begin;
    std::mutex mutex;
    std::map<std::string, int> outcomes;
    std::vector<std::thread> threads;
    threads.reserve(callers);
    for (int i = 0; i < callers; ++i)
        threads.emplace_back([&] {
            Client client;
            const Probe::Target_var target = client.target(pair.server.reference());
            target->ping();
            ++ready;
            EXPECT_TRUE(begin.wait());
            for (int n = 0; n < calls_each; ++n) {
                const std::string how = outcome([&] { target->act(); });
                const std::lock_guard lock(mutex);
                ++outcomes[how];
            }
        });
    while (ready != callers)
        std::this_thread::yield();
    {
        const net::testing::Faults faults(refusing(net::testing::SystemCall::thread));
        begin.set();
        for (std::thread& thread : threads)
            thread.join();
    }
    // Where the wait of one is refused, the partner may want another connection for the next.
    const int refused = outcomes[refusal(true)];
    EXPECT_EQ(outcomes["ok"] + (refusal(true) == std::string_view("ok") ? 0 : refused),
              callers * calls_each);
    Client later;
    const Probe::Target_var target = later.target(pair.server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
}

/// Two peers that each have one connection for everything: while a request of the second is served
/// within one of the first, what that waits for comes by the connection of the first.
TEST_P(NestedWithoutThreads, TheCallBackComesByTheConnectionOfAnother)
{
    RunningServer server(GetParam(), with_threads("1"), RunningServer::Start::holding);
    RunningServer other("worker-pool", {}, RunningServer::Start::holding);
    const Probe::Target_var to_other = target(server, other.reference());
    server.servant().action = [&] { to_other->act(); };
    Event inside;
    Event go_on;
    std::optional<RawPeer> first;
    std::atomic<int> calls{0};
    other.servant().action = [&] {
        if (calls++ == 0) {
            inside.set();
            EXPECT_TRUE(go_on.wait());
            return;
        }
        first->send(server.ping(3));
        EXPECT_EQ(ParsedReply(first->read_message()).reply.request_id, 3u);
        go_on.set();
    };
    server.manager()->activate();
    other.manager()->activate();
    first.emplace(server.connect());
    RawPeer second = server.connect();
    for (RawPeer* peer : {&*first, &second}) {
        peer->send(server.ping());
        EXPECT_EQ(ParsedReply(peer->read_message()).text(), "NO_EXCEPTION");
    }
    std::optional<net::testing::Faults> faults;
    if (!is("thread-per-request")) faults.emplace(refusing(net::testing::SystemCall::thread));
    first->send(request(server.key(), "act", 1).finish());
    ASSERT_TRUE(inside.wait());
    second.send(request(server.key(), "act", 2).finish());
    EXPECT_EQ(ParsedReply(second.read_message()).reply.request_id, 2u);
    EXPECT_EQ(ParsedReply(first->read_message()).reply.request_id, 1u);
}

/// A server that ends while its only thread waits, and is called back then.
TEST_P(NestedWithoutThreads, ShuttingDownJoinsEverything)
{
    std::thread([] {}).join(); // ThreadSanitizer adds one of its own with the first
    const std::size_t threads_before = threads();
    {
        Pair pair("1");
        Event inside;
        std::string called_back;
        std::optional<net::testing::Faults> faults;
        pair.server.servant().action = [&] {
            faults.emplace(refusing(net::testing::SystemCall::thread));
            pair.to_partner->act();
        };
        pair.partner.servant().action = [&] {
            inside.set();
            while (outcome([&] { (void)pair.server.orb()->work_pending(); }) == "ok")
                std::this_thread::yield();
            called_back = outcome([&] { pair.to_server->ping(); });
        };
        pair.activate();
        Client client;
        const Probe::Target_var target = client.target(pair.server.reference());
        std::thread caller([&] { (void)outcome([&] { target->act(); }); });
        EXPECT_TRUE(inside.wait());
        pair.server.end();
        caller.join();
        pair.partner.end();
        EXPECT_FALSE(called_back.empty());
        EXPECT_NE(called_back, "ok");
    }
    const auto end = std::chrono::steady_clock::now() + patience;
    while (threads() > threads_before && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    EXPECT_LE(threads(), threads_before);
}

KAIROS_EVERY_ARCHITECTURE(NestedWithoutThreads);

/// Clients that wait to be accepted where nobody can be are not left to wait when the server ends,
/// also not by a Unix socket, which keeps them.
class NobodyAccepts : public EveryArchitecture {};

TEST_P(NobodyAccepts, AndTheEndLeavesNobodyWaiting)
{
    RunningServer server(GetParam(), {"-ORBListenEndpoints", "uiop://"},
                         RunningServer::Start::holding);
    std::string how;
    {
        const net::testing::Faults faults(refusing(net::testing::SystemCall::accept));
        server.manager()->activate();
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        std::thread caller([&] { how = outcome([&] { target->ping(); }); });
        EXPECT_TRUE(LogLines::wait_for("cannot accept connections"));
        server.end();
        caller.join();
    }
    EXPECT_NE(how, "ok");
    EXPECT_EQ(server.servant().calls, 0u);
}

KAIROS_EVERY_ARCHITECTURE(NobodyAccepts);

} // namespace
} // namespace kairos::orb_testing
