// SPDX-License-Identifier: Apache-2.0
//
// Connections that a client's threads share: replies find their callers in whatever order they
// come, time limits are each caller's own, and what ends a connection is told to all. The peers are
// scripts, and servers of every kind.
#include "tests/client/policies.h"

#include "kairos/client/client.h"
#include "kairos/corba/request.h"
#include "kairos/giop/control.h"
#include "kairos/orb/orb.h"

#include <random>

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;
using Peer = FakeServer::Peer;

constexpr const char* lost = "COMM_FAILURE 0x4b520002 MAYBE";
constexpr milliseconds soon{20};

/// Callers with a thread each: under sanitizers each costs many times the time or the memory.
#if defined(__SANITIZE_THREAD__)
constexpr int thousands = 200;
#elif defined(__SANITIZE_ADDRESS__)
constexpr int thousands = 500;
#else
constexpr int thousands = 2'000;
#endif

[[nodiscard]] std::size_t shared_connections(CORBA::ORB_ptr orb)
{
    return orb::Client::of(orb->_kairos_core()).shared_connections().count();
}
[[nodiscard]] std::size_t own_connections(CORBA::ORB_ptr orb)
{
    return orb::Client::of(orb->_kairos_core()).connections().count();
}

/// What `add` is asked, and answers.
[[nodiscard]] Octets sum(const ReceivedRequest& received)
{
    cdr::Reader body = received.request.body;
    const auto left = body.read<std::uint32_t>();
    const auto right = body.read<std::uint32_t>();
    return reply(received.id(), 0).u32(left + right).finish();
}

/// Threads that each make one call, and what those ended with.
class Callers {
  public:
    template <typename Call>
    Callers(int count, Call call)
    {
        outcomes_.resize(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this, call, i] {
                outcomes_[static_cast<std::size_t>(i)] = outcome([&] { call(i); });
            });
    }
    ~Callers() { join(); }
    Callers(const Callers&) = delete;
    Callers& operator=(const Callers&) = delete;

    void join()
    {
        for (std::thread& thread : threads_)
            if (thread.joinable()) thread.join();
    }
    void expect_all(std::string_view expected)
    {
        join();
        for (const std::string& each : outcomes_)
            EXPECT_EQ(each, expected);
    }

  private:
    std::vector<std::string> outcomes_;
    std::vector<std::thread> threads_;
};

class Connections : public testing::TestWithParam<const char*> {
  protected:
    static std::vector<std::string> options(std::vector<std::string> more = {})
    {
        more.insert(more.end(), {"-ORBConnection", GetParam()});
        return more;
    }
    static std::string ping(Probe::Target_ptr target)
    {
        return outcome([&] { target->ping(); });
    }
    LogLines log_;
};

TEST_P(Connections, AreOneForAllThreads)
{
    RunningServer server("worker-pool");
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers callers(64, [&](int caller) {
        for (int i = 0; i < 50; ++i)
            EXPECT_EQ(target->add(caller * 1000, i), caller * 1000 + i);
    });
    callers.expect_all("ok");
    EXPECT_EQ(shared_connections(client.orb()), 1u);
    EXPECT_EQ(own_connections(client.orb()), 0u);
}

TEST_P(Connections, GiveRepliesToTheirCallersInAnyOrder)
{
    constexpr int count = 64;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        std::vector<Octets> answers;
        for (int i = 0; i < count; ++i)
            answers.push_back(sum(peer.read_request()));
        for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer)
            peer.send(*answer);
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers callers(count,
                    [&](int caller) { EXPECT_EQ(target->add(caller, 1000), caller + 1000); });
    callers.expect_all("ok");
}

/// Thousands of calls are pending on one connection before the first is answered.
TEST_P(Connections, GiveThousandsOfRepliesToTheirCallers)
{
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        std::vector<Octets> answers;
        for (int i = 0; i < thousands; ++i) {
            const ReceivedRequest received = peer.read_request();
            if (received.bytes.empty()) return; // those who wait are told
            answers.push_back(sum(received));
        }
        std::ranges::shuffle(answers, std::mt19937(thousands));
        for (const Octets& answer : answers)
            peer.send(answer);
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers callers(thousands, [&](int caller) {
        EXPECT_EQ(target->add(caller * 1000, caller), caller * 1001);
    });
    callers.expect_all("ok");
    server.end();
    EXPECT_EQ(server.requests(), thousands);
    EXPECT_EQ(server.connections(), 1);
}

TEST_P(Connections, GiveRepliesThatComeInOnePieceToAll)
{
    constexpr int count = 16;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        Octets all;
        for (int i = 0; i < count; ++i) {
            const Octets answer = sum(peer.read_request());
            all.insert(all.begin(), answer.begin(), answer.end());
        }
        peer.send(all);
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers callers(count, [&](int caller) { EXPECT_EQ(target->add(caller, 7), caller + 7); });
    callers.expect_all("ok");
}

TEST_P(Connections, CarryLargeMessagesAndFragmentsOfEveryVersion)
{
    RunningServer server("worker-pool", {"-ORBFragmentSize", "1000"});
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        Client client(options({"-ORBGIOPVersion", version, "-ORBFragmentSize", "256"}));
        const Probe::Target_var target = client.target(server.reference());
        Callers callers(6, [&](int caller) {
            const auto size = static_cast<CORBA::ULong>(100'000 * caller + caller);
            Probe::Octets octets;
            octets.length(size);
            EXPECT_EQ(target->count_octets(octets), size);
            const Probe::Octets_var produced = target->produce(size);
            EXPECT_EQ(produced->length(), size);
            const std::string text(size, 'x');
            const CORBA::String_var echoed = target->echo(text.c_str());
            EXPECT_EQ(text, echoed.in());
        });
        callers.expect_all("ok");
    }
}

TEST_P(Connections, CarryOneways)
{
    RunningServer server("reactor");
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers callers(8, [&](int) {
        for (CORBA::Long i = 0; i < 100; ++i)
            target->note(i);
        target->ping(); // one thread's requests are in order on a connection
    });
    callers.expect_all("ok");
    EXPECT_EQ(server.servant().calls, 808u);
    EXPECT_EQ(shared_connections(client.orb()), 1u);
}

TEST_P(Connections, CarryLocateRequestsAndStayForCalls)
{
    RunningServer server("reactor");
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_TRUE(target->_validate_connection());
    EXPECT_EQ(ping(target), "ok");
    EXPECT_EQ(shared_connections(client.orb()), 1u);
    EXPECT_EQ(own_connections(client.orb()), 0u);
}

TEST_P(Connections, OfDeferredCallsAreTheirOwn)
{
    RunningServer server("reactor");
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(ping(target), "ok");
    const CORBA::Request_var request = target->_request("ping");
    request->send_deferred();
    request->get_response();
    EXPECT_EQ(server.servant().calls, 2u);
    EXPECT_EQ(shared_connections(client.orb()), 1u);
    EXPECT_EQ(own_connections(client.orb()), 1u);
}

/// A thread that waits within an upcall must serve meanwhile.
TEST_P(Connections, OfUpcallsAreTheirOwn)
{
    RunningServer partner("thread-per-connection");
    RunningServer server("reactor", options());
    const CORBA::Object_var object = server.orb()->string_to_object(partner.reference().c_str());
    const Probe::Target_var to_partner = Probe::Target::_unchecked_narrow(object);
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    partner.servant().action = [&] { target->ping(); }; // while the reactor's thread waits for it
    server.servant().action = [&] { to_partner->act(); };
    EXPECT_EQ(outcome([&] { target->act(); }), "ok");
    EXPECT_EQ(own_connections(server.orb()), 1u);
    EXPECT_EQ(shared_connections(server.orb()), 0u);
}

// --- time limits ---------------------------------------------------------------------------------

/// One of two callers has a limit, the first to call or the second: with leader-followers the first
/// reads.
class Limits : public Connections {
  protected:
    void test(bool first_is_limited)
    {
        Event first_sent;
        Event timed_out;
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            const Octets first = sum(peer.read_request());
            first_sent.set();
            const Octets second = sum(peer.read_request());
            EXPECT_TRUE(timed_out.wait());
            peer.send(first);
            peer.send(second);
            peer.serve_one();
        });
        Client client(options());
        const Probe::Target_var patient = client.target(server.reference());
        const Probe::Target_var hasty = with(patient, round_trip(client.orb(), milliseconds(200)));
        const auto call = [&](bool limited) {
            if (limited) {
                EXPECT_EQ(outcome_once_sent([&] { (void)hasty->add(1, 2); }), no_reply);
                timed_out.set();
            } else {
                EXPECT_EQ(patient->add(3, 4), 7);
            }
        };
        Callers first(1, [&](int) { call(first_is_limited); });
        EXPECT_TRUE(first_sent.wait());
        call(!first_is_limited);
        first.expect_all("ok");
        EXPECT_EQ(ping(patient), "ok");
        server.end();
        EXPECT_EQ(server.connections(), 1);
    }
};

TEST_P(Limits, OfWhoReadsLeaveTheOthersTheirReplies) { test(true); }
TEST_P(Limits, OfWhoWaitsLeaveTheOthersTheirReplies) { test(false); }

TEST_P(Limits, LeaveAPartlySentRequestToGoOut)
{
    Event timed_out;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        EXPECT_TRUE(timed_out.wait());
        (void)peer.read_request();
        peer.serve_one();
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
    Probe::Octets octets;
    octets.length(32u << 20); // more than the kernel keeps for anybody
    EXPECT_EQ(outcome_once_sent([&] { (void)limited->count_octets(octets); }), no_reply);
    EXPECT_EQ(ping(limited), not_sent); // it waits behind the other
    timed_out.set();
    EXPECT_EQ(ping(target), "ok");
    server.end();
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(server.requests(), 2);
}

/// Replies that nobody waits for any more, and that nobody ever waited for.
TEST_P(Limits, DropRepliesThatAreNobodys)
{
    Event timed_out;
    std::uint32_t late_id = 0;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest late = peer.read_request();
        late_id = late.id();
        EXPECT_TRUE(timed_out.wait());
        const ReceivedRequest next = peer.read_request();
        peer.send(reply(0xFFFF'FFFF, 0).finish());
        peer.send(sum(late));
        peer.send(sum(late));
        peer.send(WireMessage(giop::MessageType::locate_reply).u32(next.id()).u32(1).finish());
        peer.send(sum(next));
        peer.send(sum(next));
        peer.serve_one();
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
    EXPECT_EQ(outcome_once_sent([&] { (void)limited->add(1, 2); }), no_reply);
    timed_out.set();
    EXPECT_EQ(target->add(20, 3), 23);
    EXPECT_EQ(ping(target), "ok");
    server.end();
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(server.cancelled(), late_id) << "the server was told";
}

// --- peers that do not read ----------------------------------------------------------------------

/// Each waits for the other to read: whoever sends must read too.
TEST_P(Connections, DoNotDeadlockWithAPeerThatSendsFirst)
{
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (std::uint32_t i = 0; i < 32; ++i) { // nobody's, and more than the kernel keeps
            WireMessage unasked = reply(0xFFFF'0000 + i, 0);
            unasked.raw(Octets(1u << 20));
            peer.send(unasked.finish());
        }
        const ReceivedRequest request = peer.read_request();
        peer.send(reply(request.id(), 0).u32(1).finish());
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Probe::Octets octets;
    octets.length(32u << 20);
    EXPECT_EQ(outcome([&] { EXPECT_EQ(target->count_octets(octets), 1u); }), "ok");
}

TEST_P(Connections, LetOthersReadWhileOneSends)
{
    Event asked;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest first = peer.read_request();
        asked.set();
        WireMessage large = reply(first.id(), 0);
        large.octets(Octets(32u << 20));
        peer.send(large.finish()); // the other request is not read meanwhile
        for (int i = 0; i < 4; ++i) {
            const ReceivedRequest request = peer.read_request();
            peer.send(reply(request.id(), 0).u32(1).finish());
        }
    });
    Client client(options());
    const Probe::Target_var target = client.target(server.reference());
    Callers producer(1, [&](int) {
        const Probe::Octets_var octets = target->produce(1);
        EXPECT_EQ(octets->length(), 32u << 20);
    });
    ASSERT_TRUE(asked.wait());
    Callers senders(4, [&](int) {
        Probe::Octets octets;
        octets.length(8u << 20);
        EXPECT_EQ(target->count_octets(octets), 1u);
    });
    senders.expect_all("ok");
    producer.expect_all("ok");
}

// --- ends ----------------------------------------------------------------------------------------

/// Eight calls are under way when the peer does something about all of them.
class Ends : public Connections {
  protected:
    static constexpr int count = 8;

    template <typename Then>
    static std::unique_ptr<FakeServer> server(Then then)
    {
        return std::make_unique<FakeServer>([then](FakeServer& fake) {
            Peer peer = fake.accept();
            std::vector<std::uint32_t> ids;
            for (int i = 0; i < count; ++i)
                ids.push_back(peer.read_request().id());
            then(fake, peer, ids);
        });
    }
    void expect_all(FakeServer& server, const char* expected)
    {
        Client client(options());
        const Probe::Target_var target = client.target(server.reference());
        Callers callers(count, [&](int) { target->ping(); });
        callers.expect_all(expected);
        server.end();
    }
};
using Ids = std::vector<std::uint32_t>;

TEST_P(Ends, InOrderHaveAllCallsMadeOnceMore)
{
    const auto closing = server([](FakeServer& fake, Peer& peer, const Ids&) {
        peer.send(giop::close_connection(giop::version_1_2));
        peer.close();
        Peer next = fake.accept();
        for (int i = 0; i < count; ++i)
            next.serve_one();
    });
    expect_all(*closing, "ok");
    EXPECT_EQ(closing->connections(), 2);
}

TEST_P(Ends, InOrderLeaveAnsweredCallsAlone)
{
    const auto closing = server([](FakeServer& fake, Peer& peer, const Ids& ids) {
        for (int i = 0; i < count / 2; ++i)
            peer.send(reply(ids[static_cast<std::size_t>(i)], 0).finish());
        peer.send(giop::close_connection(giop::version_1_2));
        peer.close();
        Peer next = fake.accept();
        for (int i = count / 2; i < count; ++i)
            next.serve_one();
    });
    expect_all(*closing, "ok");
    EXPECT_EQ(closing->requests(), count + count / 2);
}

TEST_P(Ends, WithoutOrderMayHaveExecutedAll)
{
    expect_all(*server([](FakeServer&, Peer& peer, const Ids&) { peer.close(); }), lost);
}

TEST_P(Ends, ByMessageErrorAreForAll)
{
    expect_all(*server([](FakeServer&, Peer& peer, const Ids&) {
        peer.send(giop::message_error(giop::version_1_2));
        EXPECT_TRUE(peer.at_end());
    }),
               "COMM_FAILURE 0x4b520003 MAYBE");
}

TEST_P(Ends, ByGarbageAreForAllAndThePeerIsTold)
{
    expect_all(*server([](FakeServer&, Peer& peer, const Ids&) {
        peer.send(as_bytes(std::string_view("HTTP/1.1 200 OK\r\n\r\n")));
        EXPECT_EQ(control_text(peer.read_message()).substr(0, 12), "MessageError");
        EXPECT_TRUE(peer.at_end());
    }),
               "COMM_FAILURE 0x4b520004 MAYBE");
}

TEST_P(Ends, ByAMalformedReplyAreForAll)
{
    expect_all(*server([](FakeServer&, Peer& peer, const Ids& ids) {
        peer.send(WireMessage(giop::MessageType::reply).u32(ids.front()).u32(99).u32(0).finish());
        EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
        EXPECT_TRUE(peer.at_end());
    }),
               "COMM_FAILURE 0x4b520004 MAYBE");
}

TEST_P(Ends, WithinAReplyAreForAll)
{
    expect_all(*server([](FakeServer&, Peer& peer, const Ids& ids) {
        const Octets whole = reply(ids.front(), 0).finish();
        peer.send(Bytes(whole).first(20));
        peer.close();
    }),
               lost);
}

TEST_P(Ends, OfTheOrbAreForAll)
{
    Event under_way;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < count; ++i)
            (void)peer.read_request();
        under_way.set();
        EXPECT_TRUE(peer.at_end());
    });
    const CORBA::ORB_var orb = make_orb(options());
    const CORBA::Object_var object = orb->string_to_object(server.reference().c_str());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    Callers callers(count, [&](int) { target->ping(); });
    ASSERT_TRUE(under_way.wait());
    orb->destroy();
    callers.expect_all(lost);
    EXPECT_EQ(ping(target), "BAD_INV_ORDER 0x4f4d0004 NO");
}

TEST_P(Ends, WhileNobodyCallsCostNoCall)
{
    FakeServer server([](FakeServer& fake) {
        {
            Peer peer = fake.accept();
            peer.serve_one();
            peer.send(giop::close_connection(giop::version_1_2));
        }
        fake.accept().serve_all();
    });
    {
        Client client(options());
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(ping(target), "ok");
        EXPECT_EQ(ping(target), "ok");
    }
    server.end();
    EXPECT_EQ(server.connections(), 2);
}

TEST_P(Ends, OfTheOnlyServerAreTransientAfterwards)
{
    auto server = std::make_unique<RunningServer>("worker-pool");
    Client client(options());
    const Probe::Target_var target = client.target(server->reference());
    EXPECT_EQ(ping(target), "ok");
    server.reset();
    Callers callers(count, [&](int) { target->ping(); });
    callers.expect_all("TRANSIENT 0x4b520001 NO");
}

// --- making them ---------------------------------------------------------------------------------

TEST_P(Connections, ToNobodyAreTheNextAddress)
{
    RunningServer server("reactor");
    Client client(options());
    const Probe::Target_var direct = client.target(server.reference());
    const ior::Ior both = reference_of(
        {profile_at(dead_port()), direct->_kairos_reference()->ior().profiles.front()});
    const Probe::Target_var target = client.target(ior::to_string(both));
    Callers callers(8, [&](int) { EXPECT_EQ(target->add(20, 3), 23); });
    callers.expect_all("ok");
}

TEST_P(Connections, FollowForwards)
{
    RunningServer server("worker-pool");
    Client client(options());
    const Probe::Target_var direct = client.target(server.reference());
    const ior::Ior& there = direct->_kairos_reference()->ior();
    FakeServer agent([&](FakeServer& fake) {
        fake.accept().serve_all_with([&](std::uint32_t id) { return forward(id, there); });
    });
    {
        Client other(options());
        const Probe::Target_var target = other.target(agent.reference());
        Callers callers(8, [&](int) { EXPECT_EQ(target->add(20, 3), 23); });
        callers.expect_all("ok");
        EXPECT_EQ(shared_connections(other.orb()), 2u);
    }
    agent.end();
}

const auto architectures = testing::Values("leader-followers", "active");
INSTANTIATE_TEST_SUITE_P(Architectures, Connections, architectures, architecture_name);
INSTANTIATE_TEST_SUITE_P(Architectures, Limits, architectures, architecture_name);
INSTANTIATE_TEST_SUITE_P(Architectures, Ends, architectures, architecture_name);

} // namespace
} // namespace kairos::orb_testing
