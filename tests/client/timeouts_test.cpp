// SPDX-License-Identifier: Apache-2.0
//
// Calls that may not take longer than the program says: who says it, what a call that ran out of
// time ends with, and what becomes of its connection and of a reply that still comes. No test says
// how long anything may take at most: what must not happen would never end.
#include "tests/client/policies.h"

#include "kairos/corba/request.h"
#include "kairos/net/acceptor.h"

namespace kairos::orb_testing {
namespace {

using std::chrono::milliseconds;
using Peer = FakeServer::Peer;

constexpr milliseconds soon{20};

/// A server that takes requests and answers none until the client has closed.
void serve_in_silence(FakeServer& fake)
{
    for (;;) {
        Peer peer = fake.accept();
        while (!peer.read_request().bytes.empty()) {
        }
    }
}

/// A server that answers the first of two clients when the second has `timed_out`.
std::function<void(FakeServer&)> until_the_second(Event& timed_out)
{
    return [&](FakeServer& fake) {
        Peer patient = fake.accept();
        const ReceivedRequest request = patient.read_request();
        Peer hasty = fake.accept();
        (void)hasty.read_request();
        EXPECT_TRUE(timed_out.wait());
        patient.send(reply(request.id(), 0).finish());
    };
}

class Timeouts : public ::testing::Test {
  protected:
    std::string ping(Probe::Target_ptr target)
    {
        return outcome([&] { target->ping(); });
    }
    std::string ping_once_sent(Probe::Target_ptr target)
    {
        return outcome_once_sent([&] { target->ping(); });
    }

    LogLines log_;
};

// --- who says it ---------------------------------------------------------------------------------

class WhoSaysIt : public Timeouts {
  protected:
    FakeServer silent_{serve_in_silence};
};

TEST_F(WhoSaysIt, AReference)
{
    Client client;
    const Probe::Target_var target = client.target(silent_.reference());
    const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
    EXPECT_EQ(ping_once_sent(limited), no_reply);
}

TEST_F(WhoSaysIt, AnOrb)
{
    Client client;
    set_for_orb(client.orb(), round_trip(client.orb(), soon));
    const Probe::Target_var target = client.target(silent_.reference());
    EXPECT_EQ(ping_once_sent(target), no_reply);
}

TEST_F(WhoSaysIt, AnOption)
{
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(silent_.reference());
    EXPECT_EQ(ping_once_sent(target), no_reply);
}

TEST_F(WhoSaysIt, AThread)
{
    Client client;
    const Probe::Target_var target = client.target(silent_.reference());
    std::thread([&] {
        set_for_thread(client.orb(), round_trip(client.orb(), soon));
        EXPECT_EQ(ping_once_sent(target), no_reply);
    }).join();
}

TEST_F(WhoSaysIt, TheReferenceBeforeTheThreadBeforeTheOrb)
{
    Client client({"-ORBClientTimeout", "0"});
    const auto an_hour = std::chrono::hours(1);
    const Probe::Target_var target = client.target(silent_.reference());
    set_for_orb(client.orb(), round_trip(client.orb(), soon));
    EXPECT_EQ(ping_once_sent(target), no_reply);
    set_for_orb(client.orb(), round_trip(client.orb(), an_hour));
    set_for_thread(client.orb(), round_trip(client.orb(), soon));
    EXPECT_EQ(ping_once_sent(target), no_reply);
    set_for_thread(client.orb(), round_trip(client.orb(), an_hour));
    const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
    EXPECT_EQ(ping_once_sent(limited), no_reply);
}

TEST_F(Timeouts, OfOneThreadAreNotAnothers)
{
    Event timed_out;
    FakeServer server(until_the_second(timed_out));
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    std::thread other([&] { EXPECT_EQ(ping(target), "ok"); });
    while (server.requests() == 0)
        std::this_thread::yield();
    set_for_thread(client.orb(), round_trip(client.orb(), soon));
    EXPECT_EQ(ping_once_sent(target), no_reply);
    timed_out.set();
    other.join();
}

TEST_F(Timeouts, OfZeroAreNone)
{
    Event timed_out;
    FakeServer server(until_the_second(timed_out));
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(server.reference());
    const Probe::Target_var patient = with(target, round_trip(client.orb(), milliseconds(0)));
    std::thread other([&] { EXPECT_EQ(ping(patient), "ok"); });
    while (server.requests() == 0)
        std::this_thread::yield();
    EXPECT_EQ(ping_once_sent(target), no_reply);
    timed_out.set();
    other.join();
}

TEST_F(Timeouts, ThatNobodyReachesChangeNothing)
{
    RunningServer server("thread-per-connection");
    Client client({"-ORBClientTimeout", "3600000", "-ORBConnectTimeout", "3600000"});
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(target->add(20, 3), 23);
    const Probe::Octets_var octets = target->produce(1u << 20);
    EXPECT_EQ(octets->length(), 1u << 20);
    EXPECT_EQ(target->count_octets(octets), 1u << 20);
    target->note(1);
    EXPECT_EQ(ping(target), "ok");
}

TEST_F(Timeouts, HoldInEveryVersionAndWithFragments)
{
    RunningServer server("reactor");
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        Client client({"-ORBClientTimeout", "3600000", "-ORBGIOPVersion", version,
                       "-ORBFragmentSize", "256"});
        const Probe::Target_var target = client.target(server.reference());
        Probe::Octets octets;
        octets.length(100'000);
        EXPECT_EQ(target->count_octets(octets), 100'000u);
    }
}

// --- policies as objects -------------------------------------------------------------------------

TEST_F(Timeouts, AreReadBackAsTheyWereSet)
{
    Client client;
    const CORBA::Object_var object =
        client.target(ior::to_string(reference_of({profile_at(dead_port())})));
    const CORBA::Policy_var set = make_policy(
        client.orb(), KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE, TimeBase::TimeT(77));
    const CORBA::Object_var limited =
        object->_set_policy_overrides(list_of(CORBA::Policy::_duplicate(set)), CORBA::SET_OVERRIDE);
    const CORBA::Policy_var found =
        limited->_get_policy(KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE);
    const auto policy = KairosPolicies::ConnectionTimeoutPolicy::_narrow(found);
    const KairosPolicies::ConnectionTimeoutPolicy_var owner = policy;
    ASSERT_FALSE(CORBA::is_nil(policy));
    EXPECT_EQ(policy->relative_expiry(), 77u);
    const CORBA::Policy_var copy = policy->copy();
    EXPECT_EQ(copy->policy_type(), KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE);
}

TEST_F(Timeouts, OfTheWrongTypeOrValueAreRefused)
{
    Client client;
    const auto reason = [&](CORBA::PolicyType type, auto value) -> int {
        try {
            const CORBA::Policy_var policy = make_policy(client.orb(), type, value);
            return -1;
        } catch (const CORBA::PolicyError& error) {
            return error.reason;
        }
    };
    for (const CORBA::PolicyType type :
         {Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE, Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE,
          KairosPolicies::CONNECTION_TIMEOUT_POLICY_TYPE})
        EXPECT_EQ(reason(type, CORBA::Short(1)), CORBA::BAD_POLICY_TYPE);
    EXPECT_EQ(reason(Messaging::SYNC_SCOPE_POLICY_TYPE, CORBA::ULong(1)), CORBA::BAD_POLICY_TYPE);
    EXPECT_EQ(reason(Messaging::SYNC_SCOPE_POLICY_TYPE, CORBA::Short(4)), CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(reason(Messaging::SYNC_SCOPE_POLICY_TYPE, CORBA::Short(-1)), CORBA::BAD_POLICY_VALUE);
    EXPECT_EQ(reason(Messaging::SYNC_SCOPE_POLICY_TYPE, CORBA::Short(3)), -1);
}

// --- the reply -----------------------------------------------------------------------------------

class LateReply : public Timeouts {
  protected:
    /// The fake server sends `first` of the reply's bytes in time and the rest too late, and then
    /// serves the same connection. The next call is made when all of it has been sent.
    void test(std::size_t first)
    {
        Event timed_out;
        Event sent;
        std::uint32_t late_id = 0;
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.serve_one();
            late_id = peer.read_request().id();
            const Octets late = reply(late_id, 0).u32(1).finish();
            peer.send(Bytes(late).first(first));
            EXPECT_TRUE(timed_out.wait());
            peer.send(Bytes(late).subspan(first));
            sent.set();
            const ReceivedRequest next = peer.read_request();
            peer.send(reply(next.id(), 0).u32(23).finish());
        });
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
        EXPECT_EQ(ping(target), "ok"); // it is connected now
        EXPECT_EQ(outcome_once_sent([&] { (void)limited->add(20, 3); }), no_reply);
        timed_out.set();
        ASSERT_TRUE(sent.wait());
        EXPECT_EQ(target->add(20, 3), 23);
        server.end();
        EXPECT_EQ(server.connections(), 1);
        EXPECT_EQ(server.cancelled(), late_id) << "the server was told";
    }
};

TEST_F(LateReply, IsDroppedAndItsConnectionUsedOn) { test(0); }
TEST_F(LateReply, ThatHadBegunIsDroppedAndItsConnectionUsedOn) { test(26); }
TEST_F(LateReply, WithHalfAHeaderIsDroppedAndItsConnectionUsedOn) { test(5); }

TEST_F(LateReply, ThatHasNotComeHoldsUpNobody)
{
    FakeServer server([](FakeServer& fake) {
        Peer busy = fake.accept();
        busy.serve_one();
        (void)busy.read_request();
        fake.accept().serve_all();
    });
    {
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
        EXPECT_EQ(ping(target), "ok"); // it is connected now
        EXPECT_EQ(ping_once_sent(limited), no_reply);
        EXPECT_EQ(ping(target), "ok");
    }
    server.end();
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(Timeouts, HoldForCallsWhoseConnectionIsLost)
{
    FakeServer server([](FakeServer& fake) { (void)fake.accept().read_request(); });
    Client client({"-ORBClientTimeout", "3600000"});
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(ping(target), "COMM_FAILURE 0x4b520002 MAYBE");
}

TEST_F(Timeouts, OfDeferredCallsEndTheWaitForThem)
{
    FakeServer silent(serve_in_silence);
    FakeServer as_silent(serve_in_silence);
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(silent.reference());
    const Probe::Target_var other = client.target(as_silent.reference());
    const std::string polled = outcome_once_sent([&] {
        const CORBA::Request_var request = target->_request("ping");
        request->send_deferred();
        while (!request->poll_response())
            std::this_thread::yield();
        request->get_response();
    });
    EXPECT_EQ(polled, no_reply);

    const std::string of_several = outcome_once_sent([&] {
        CORBA::RequestSeq requests;
        requests.length(1);
        requests[0] = other->_request("ping");
        client.orb()->send_multiple_requests_deferred(requests);
        CORBA::Request_var next;
        client.orb()->get_next_response(next);
        if (next->env()->exception() != nullptr) next->env()->exception()->_raise();
    });
    EXPECT_EQ(of_several, no_reply);
}

TEST_F(Timeouts, HoldForLocateRequests)
{
    FakeServer silent([](FakeServer& fake) {
        for (;;) {
            Peer peer = fake.accept();
            while (!peer.read_message().empty()) {
            }
        }
    });
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(silent.reference());
    EXPECT_EQ(outcome_once_sent([&] { (void)target->_validate_connection(); }),
              "TIMEOUT 0x4b520010 NO");
}

// --- sending and connecting ----------------------------------------------------------------------

class Sending : public Timeouts, public ::testing::WithParamInterface<CORBA::PolicyType> {};

TEST_P(Sending, ToAPeerThatDoesNotReadEndsUnsent)
{
    Event done;
    FakeServer stalled([&](FakeServer& fake) {
        const Peer peer = fake.accept();
        EXPECT_TRUE(done.wait());
    });
    Client client({"-ORBSendQueue", "4096"});
    const Probe::Target_var target = client.target(stalled.reference());
    const Probe::Target_var limited =
        with(target, make_policy(client.orb(), GetParam(), in_units(soon)));
    Probe::Octets octets;
    octets.length(32u << 20); // more than the kernel keeps for anybody
    EXPECT_EQ(outcome([&] { (void)limited->count_octets(octets); }), not_sent);
    done.set();
}

INSTANTIATE_TEST_SUITE_P(Policies, Sending,
                         ::testing::Values(Messaging::RELATIVE_RT_TIMEOUT_POLICY_TYPE,
                                           Messaging::RELATIVE_REQ_TIMEOUT_POLICY_TYPE));

/// A port whose listener accepts nobody and has no place left: the system drops what asks for one.
class BlackHole {
  public:
    BlackHole()
    {
        auto listener = net::listen(net::Address::loopback_ipv4(), {}, 0);
        if (!listener) throw std::runtime_error(listener.error().reason);
        listener_ = std::move(listener).value();
        const net::Address address = *listener_.local_address();
        port_ = address.port();
        while (net::connect_any(std::span(&address, 1), {}, soon).ok()) {
            // It keeps its place although it is closed.
        }
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

  private:
    net::Socket listener_;
    std::uint16_t port_ = 0;
};

class Connecting : public Timeouts {
  protected:
    std::string ping_hole(std::vector<std::string> options)
    {
        Client client(std::move(options));
        const Probe::Target_var target =
            client.target(ior::to_string(reference_of({profile_at(hole_.port())})));
        return ping(target);
    }

    BlackHole hole_;
};

TEST_F(Connecting, ToNobodyEndsTheCallUnsent)
{
    EXPECT_EQ(ping_hole({"-ORBClientTimeout", "20"}), not_sent);
}

TEST_F(Connecting, HasATimeOfItsOwn)
{
    constexpr const char* connect_failed = "TRANSIENT 0x4b520001 NO";
    EXPECT_EQ(ping_hole({"-ORBConnectTimeout", "20"}), connect_failed);
    EXPECT_EQ(ping_hole({"-ORBConnectTimeout", "20", "-ORBClientTimeout", "3600000"}),
              connect_failed);
}

TEST_F(Connecting, ToNobodyLeavesTimeForTheNextAddress)
{
    RunningServer server("thread-per-connection");
    Client client({"-ORBConnectTimeout", "20"});
    const Probe::Target_var direct = client.target(server.reference());
    const ior::Ior both = reference_of(
        {profile_at(hole_.port()), direct->_kairos_reference()->ior().profiles.front()});
    const Probe::Target_var target = client.target(ior::to_string(both));
    EXPECT_EQ(target->add(20, 3), 23);
}

// --- one deadline --------------------------------------------------------------------------------

/// On a busy machine the time is over before the last request has gone.
void expect_too_late(const std::string& ending)
{
    EXPECT_TRUE(ending == no_reply || ending == not_sent) << ending;
}

TEST_F(Timeouts, Trap07_AreOneDeadlineOverForwards)
{
    FakeServer silent(serve_in_silence);
    FakeServer agent([&](FakeServer& fake) {
        fake.accept().serve_all_with([&](std::uint32_t id) {
            return forward(id, reference_of({profile_at(silent.port())}));
        });
    });
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(agent.reference());
    expect_too_late(ping(target));
}

TEST_F(Timeouts, EndACircleOfForwardsThatFallsSilent)
{
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < 3; ++i)
            peer.send(forward(peer.read_request().id(), reference_of({profile_at(fake.port())})));
        while (!peer.read_request().bytes.empty()) {
        }
    });
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target = client.target(agent.reference());
    expect_too_late(ping(target));
}

TEST_F(Timeouts, LeaveTheServerToOthers)
{
    RunningServer server("reactor");
    Event go;
    server.servant().action = [&] { EXPECT_TRUE(go.wait()); };
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    const Probe::Target_var limited = with(target, round_trip(client.orb(), soon));
    EXPECT_EQ(outcome_once_sent([&] { limited->act(); }), no_reply);
    go.set();
    EXPECT_EQ(target->add(20, 3), 23);
}

} // namespace
} // namespace kairos::orb_testing
