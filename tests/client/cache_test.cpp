// SPDX-License-Identifier: Apache-2.0
//
// How many connections a client has, and for how long: what is closed for another, what is closed
// because nobody uses it, and that neither costs a call.
#include "tests/client/policies.h"

#include "kairos/client/shared_connections.h"

namespace kairos::orb_testing {
namespace {

using Peer = FakeServer::Peer;

constexpr const char* no_place = "TRANSIENT 0x4b520001 NO";

class Cache : public testing::TestWithParam<const char*> {
  protected:
    static std::vector<std::string> options(std::vector<std::string> more)
    {
        more.insert(more.end(), {"-ORBConnection", GetParam()});
        return more;
    }
    static std::string ping(Probe::Target_ptr target)
    {
        return outcome([&] { target->ping(); });
    }
    /// Serves one request on each of so many connections, which the client closes in order.
    void serve_and_see_the_end(FakeServer& fake, int connections)
    {
        for (int i = 0; i < connections; ++i) {
            Peer peer = fake.accept();
            peer.serve_one();
            EXPECT_EQ(control_text(peer.read_message()), "CloseConnection 1.2");
            EXPECT_TRUE(peer.at_end());
            ++ends_seen_;
        }
    }
    /// Until the clock that says when connections were used has moved on: it is a coarse one.
    static void wait_for_clock()
    {
        const auto before = coarse_now();
        while (coarse_now() == before)
            std::this_thread::yield();
    }
    std::atomic<int> ends_seen_{0};
    LogLines log_;
};

TEST_P(Cache, ClosesWhatNobodyUsesThoughNobodyCalls)
{
    FakeServer server([this](FakeServer& fake) { serve_and_see_the_end(fake, 3); });
    Client client(options({"-ORBClientIdle", "20"}));
    const Probe::Target_var target = client.target(server.reference());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(ping(target), "ok");
        while (ends_seen_ == i)
            std::this_thread::yield();
    }
    server.end();
    EXPECT_EQ(server.connections(), 3);
}

TEST_P(Cache, SaysNothingToPeersThatMayNotBeTold)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest request = peer.read_request();
        peer.send(reply(request.id(), 0, giop::version_1_0).finish());
        EXPECT_TRUE(peer.at_end());
    });
    Client client(options({"-ORBClientIdle", "20", "-ORBGIOPVersion", "1.0"}));
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(ping(target), "ok");
    server.end();
}

TEST_P(Cache, LeavesAConnectionInUseAlone)
{
    Event other_closed;
    FakeServer idle([&](FakeServer& fake) {
        serve_and_see_the_end(fake, 1);
        other_closed.set();
    });
    FakeServer busy([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest request = peer.read_request();
        EXPECT_TRUE(other_closed.wait()); // which was used later than this
        peer.send(reply(request.id(), 0).finish());
    });
    Client client(options({"-ORBClientIdle", "20"}));
    const Probe::Target_var to_idle = client.target(idle.reference());
    const Probe::Target_var to_busy = client.target(busy.reference());
    std::thread other([&] { EXPECT_EQ(ping(to_busy), "ok"); });
    while (busy.requests() == 0)
        std::this_thread::yield();
    EXPECT_EQ(ping(to_idle), "ok");
    other.join();
    idle.end();
    busy.end();
}

TEST_P(Cache, ClosesTheOneUsedLeastRecentlyForAnother)
{
    FakeServer first([this](FakeServer& fake) {
        serve_and_see_the_end(fake, 1);
        fake.accept().serve_all();
    });
    FakeServer second([this](FakeServer& fake) { serve_and_see_the_end(fake, 1); });
    FakeServer third([](FakeServer& fake) { fake.accept().serve_all(); });
    {
        Client client(options({"-ORBMaxClientConnections", "2"}));
        const Probe::Target_var to_first = client.target(first.reference());
        const Probe::Target_var to_second = client.target(second.reference());
        const Probe::Target_var to_third = client.target(third.reference());
        EXPECT_EQ(ping(to_first), "ok");
        wait_for_clock();
        EXPECT_EQ(ping(to_second), "ok");
        wait_for_clock();
        EXPECT_EQ(ping(to_third), "ok"); // instead of the first
        EXPECT_EQ(ping(to_first), "ok"); // instead of the second
        EXPECT_EQ(ping(to_third), "ok");
    }
    first.end();
    second.end();
    third.end();
    EXPECT_EQ(first.connections(), 2);
    EXPECT_EQ(third.connections(), 1);
}

TEST_P(Cache, RefusesOneMoreWhenAllAreInUse)
{
    Event refused;
    const auto wait = [&](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest request = peer.read_request();
        EXPECT_TRUE(refused.wait());
        peer.send(reply(request.id(), 0).finish());
        while (!peer.read_message().empty()) { // a CloseConnection, perhaps
        }
    };
    FakeServer first(wait);
    FakeServer second(wait);
    RunningServer third("thread-per-connection");
    {
        Client client(options({"-ORBMaxClientConnections", "2"}));
        const Probe::Target_var to_first = client.target(first.reference());
        const Probe::Target_var to_second = client.target(second.reference());
        const Probe::Target_var to_third = client.target(third.reference());
        std::thread one([&] { EXPECT_EQ(ping(to_first), "ok"); });
        std::thread other([&] { EXPECT_EQ(ping(to_second), "ok"); });
        while (first.requests() + second.requests() < 2)
            std::this_thread::yield();
        EXPECT_EQ(ping(to_third), no_place);
        refused.set();
        one.join();
        other.join();
        EXPECT_EQ(ping(to_third), "ok");
    }
    first.end();
    second.end();
}

// --- that no reference leads to any more ---------------------------------------------------------

/// Of every thread that has called, though none calls any more; and later references to the same
/// server get connections of their own.
TEST_P(Cache, ClosesWhatNoReferenceLeadsTo)
{
    FakeServer server([this](FakeServer& fake) { serve_and_see_the_end(fake, 3); });
    FakeServer kept([](FakeServer& fake) { fake.accept().serve_all(); });
    {
        Client client(options({"-ORBClientUnused", "20"}));
        const Probe::Target_var to_kept = client.target(kept.reference());
        EXPECT_EQ(ping(to_kept), "ok");
        for (int i = 0; i < 3; ++i) {
            Probe::Target_var target = client.target(server.reference());
            Event called;
            Event closed;
            std::thread other([&] {
                EXPECT_EQ(ping(target), "ok");
                called.set();
                EXPECT_TRUE(closed.wait()); // it is there, and so is what it keeps
            });
            EXPECT_TRUE(called.wait());
            Probe::Target_var second = target;
            target = Probe::Target::_nil();
            EXPECT_EQ(ends_seen_, i); // another reference leads there still
            second = Probe::Target::_nil();
            while (ends_seen_ == i)
                std::this_thread::yield();
            closed.set();
            other.join();
        }
        EXPECT_EQ(ping(to_kept), "ok");
    }
    server.end();
    kept.end();
    EXPECT_EQ(kept.connections(), 1);
}

TEST_P(Cache, KeepsConnectionsForTheNextReferenceForAWhile)
{
    FakeServer server([](FakeServer& fake) { fake.accept().serve_all(); });
    {
        Client client(options({}));
        for (int i = 0; i < 3; ++i) {
            const Probe::Target_var target = client.target(server.reference());
            EXPECT_EQ(ping(target), "ok");
        }
    }
    server.end();
    EXPECT_EQ(server.connections(), 1);
}

/// References come and go at any moment, and no call notices.
TEST_P(Cache, ClosesNothingThatACallUses)
{
    RunningServer server("worker-pool");
    Client client(options({"-ORBClientUnused", "1"}));
    const std::string reference = server.reference();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 30; ++round) {
                const Probe::Target_var target = client.target(reference);
                for (int ticks = 0; ticks < round % 4; ++ticks)
                    wait_for_clock();
                if (const auto ended = ping(target); ended != "ok" && ++wrong == 1)
                    ADD_FAILURE() << ended;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

// --- made early ----------------------------------------------------------------------------------

TEST_P(Cache, HasTheConnectionsOfUrlsBeforeTheFirstCall)
{
    Event connected;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        connected.set();
        peer.serve_all();
    });
    {
        Client client(options({"-ORBBindEarly", "1"}));
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_TRUE(connected.wait());
        EXPECT_EQ(ping(target), "ok");
    }
    server.end();
    EXPECT_EQ(server.connections(), 1);
}

TEST_P(Cache, LeavesItToTheFirstCallToSayThatNobodyIsThere)
{
    Client client(options({"-ORBBindEarly", "1"}));
    const Probe::Target_var target =
        client.target(ior::to_string(reference_of({profile_at(dead_port())})));
    EXPECT_EQ(ping(target), "TRANSIENT 0x4b520001 NO");
}

// --- in use --------------------------------------------------------------------------------------

/// Threads whose connections are closed at any moment, and who do not notice.
TEST_P(Cache, CostsNoCall)
{
    RunningServer server("worker-pool");
    Client client(options({"-ORBClientIdle", "1", "-ORBMaxClientConnections", "3"}));
    const Probe::Target_var target = client.target(server.reference());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 30; ++round) {
                for (int ticks = 0; ticks < round % 3; ++ticks)
                    wait_for_clock(); // idle
                if (const auto ended = ping(target); ended != "ok" && ++wrong == 1)
                    ADD_FAILURE() << ended;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Cache,
                         testing::Values("non-multiplexed", "leader-followers", "active"),
                         architecture_name);

} // namespace
} // namespace kairos::orb_testing
