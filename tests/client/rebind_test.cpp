// SPDX-License-Identifier: Apache-2.0
//
// Messaging::RebindPolicy: what may be done unasked for a reference that is bound, and that
// _validate_connection may do it in any case. The servers are scripts.
#include "tests/client/policies.h"

#include "kairos/corba/request.h"
#include "kairos/giop/control.h"
#include "kairos/giop/locate.h"

namespace kairos::orb_testing {
namespace {

using Messaging::NO_REBIND;
using Messaging::NO_RECONNECT;
using Messaging::TRANSPARENT;
using Peer = FakeServer::Peer;

constexpr const char* is_elsewhere = "REBIND 0x4b520012 NO";
constexpr const char* no_connection = "REBIND 0x4b520013 NO";

[[nodiscard]] ior::Ior at(const FakeServer& server)
{
    return reference_of({profile_at(server.port())});
}

/// Answers a LocateRequest: object_here, or where it is.
void locate(Peer& peer, const FakeServer* elsewhere = nullptr)
{
    Octets bytes = peer.read_message();
    giop::Message message;
    giop::LocateRequest request;
    EXPECT_EQ(giop::message_of(bytes, message), giop::Fault::none);
    EXPECT_EQ(message.type, giop::MessageType::locate_request);
    EXPECT_EQ(giop::parse(message, request), cdr::Fault::none);
    WireMessage answer(giop::MessageType::locate_reply);
    answer.u32(request.request_id).u32(elsewhere == nullptr ? 1 : 2);
    if (elsewhere != nullptr) {
        const ior::Ior there = at(*elsewhere);
        answer.string(there.type_id).u32(1);
        answer.u32(there.profiles[0].tag).octets(there.profiles[0].data);
    }
    peer.send(answer.finish());
}

void close_in_order(Peer& peer)
{
    peer.send(giop::close_connection(giop::version_1_2));
    peer.close();
}

/// By the architectures of connections.
class Rebinding : public testing::TestWithParam<const char*> {
  protected:
    [[nodiscard]] Probe::Target_var target(const FakeServer& server, CORBA::Short mode)
    {
        const Probe::Target_var any = client_.target(server.reference());
        return with(any, make_policy(client_.orb(), Messaging::REBIND_POLICY_TYPE, mode));
    }
    static std::string ping(Probe::Target_ptr target)
    {
        return outcome([&] { target->ping(); });
    }

    LogLines log_;
    Client client_{{"-ORBConnection", GetParam()}};
};

TEST_P(Rebinding, HappensUnlessItIsForbidden)
{
    FakeServer there([](FakeServer& fake) { fake.accept().serve_one(); });
    FakeServer here([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.serve_one();
        close_in_order(peer);
        Peer next = fake.accept();
        next.serve_one();
        next.send(forward(next.read_request().id(), at(there)));
    });
    const Probe::Target_var transparent = target(here, TRANSPARENT);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(ping(transparent), "ok") << i;
}

/// Its binding is not what is to be kept: there is none yet.
TEST_P(Rebinding, FirstCallsMayGoAnywhere)
{
    for (const CORBA::Short mode : {NO_REBIND, NO_RECONNECT}) {
        FakeServer there([](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.serve_one();
            peer.serve_one();
        });
        FakeServer here([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(forward(peer.read_request().id(), at(there)));
        });
        const Probe::Target_var bound = target(here, mode);
        EXPECT_EQ(ping(bound), "ok");
        EXPECT_EQ(ping(bound), "ok");
        here.end();
        there.end();
        EXPECT_EQ(there.requests(), 2);
    }
}

TEST_P(Rebinding, ForwardsOfBoundReferencesAreRefused)
{
    for (const CORBA::Short mode : {NO_REBIND, NO_RECONNECT}) {
        FakeServer there([](FakeServer& fake) {
            Peer peer = fake.accept();
            locate(peer);
            peer.serve_one();
        });
        FakeServer here([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.serve_one();
            for (int i = 0; i < 2; ++i)
                peer.send(forward(peer.read_request().id(), at(there)));
            locate(peer, &there);
        });
        const Probe::Target_var bound = target(here, mode);
        EXPECT_EQ(ping(bound), "ok");
        EXPECT_EQ(ping(bound), is_elsewhere);
        EXPECT_EQ(ping(bound), is_elsewhere);
        EXPECT_TRUE(bound->_validate_connection()); // whatever the policy says
        EXPECT_EQ(ping(bound), "ok");
        here.end();
        there.end();
        EXPECT_EQ(there.requests(), 1);
    }
}

TEST_P(Rebinding, ConnectionsMayBeMadeAnewWithNoRebind)
{
    FakeServer server([](FakeServer& fake) {
        for (int i = 0; i < 2; ++i) {
            Peer peer = fake.accept();
            peer.serve_one();
            close_in_order(peer);
        }
    });
    const Probe::Target_var bound = target(server, NO_REBIND);
    EXPECT_EQ(ping(bound), "ok");
    EXPECT_EQ(ping(bound), "ok");
    server.end();
    EXPECT_EQ(server.connections(), 2);
}

TEST_P(Rebinding, ConnectionsMayNotBeMadeAnewWithNoReconnect)
{
    Event refused;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.serve_one();
        close_in_order(peer);
        EXPECT_TRUE(refused.wait());
        Peer next = fake.accept();
        locate(next);
        next.serve_one();
    });
    const Probe::Target_var bound = target(server, NO_RECONNECT);
    EXPECT_EQ(ping(bound), "ok");
    EXPECT_EQ(ping(bound), no_connection);
    EXPECT_EQ(ping(bound), no_connection);
    refused.set();
    EXPECT_TRUE(bound->_validate_connection());
    EXPECT_EQ(ping(bound), "ok");
    server.end();
    EXPECT_EQ(server.connections(), 2);
}

/// Who has bound it by asking has a connection, and the others have one if it is shared.
TEST_P(Rebinding, OtherThreadsNeedConnectionsOfTheirOwn)
{
    RunningServer server("worker-pool");
    const Probe::Target_var any = client_.target(server.reference());
    const Probe::Target_var bound = with(
        any, make_policy(client_.orb(), Messaging::REBIND_POLICY_TYPE, Messaging::NO_RECONNECT));
    EXPECT_TRUE(bound->_validate_connection());
    EXPECT_EQ(ping(bound), "ok");
    std::thread([&] {
        const bool shares = std::string_view(GetParam()) != "non-multiplexed";
        EXPECT_EQ(ping(bound), shares ? "ok" : no_connection);
        EXPECT_TRUE(bound->_validate_connection());
        EXPECT_EQ(ping(bound), "ok");
    }).join();
}

TEST_P(Rebinding, IsTheThreadsOrTheOrbsToForbidAsWell)
{
    FakeServer there([](FakeServer&) {});
    FakeServer here([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.serve_one();
        peer.send(forward(peer.read_request().id(), at(there)));
    });
    set_for_orb(client_.orb(),
                make_policy(client_.orb(), Messaging::REBIND_POLICY_TYPE, NO_RECONNECT));
    const Probe::Target_var bound = client_.target(here.reference());
    EXPECT_EQ(ping(bound), "ok");
    EXPECT_EQ(ping(bound), is_elsewhere);
}

/// The place that it was sent to is gone: to ask again where the object is would be to rebind.
TEST_P(Rebinding, BoundReferencesStayWhereTheirServerIsGone)
{
    auto there = std::make_unique<FakeServer>([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.serve_one();
        close_in_order(peer);
    });
    FakeServer here([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(*there)));
    });
    const Probe::Target_var bound = target(here, NO_REBIND);
    EXPECT_EQ(ping(bound), "ok");
    there.reset();
    EXPECT_EQ(ping(bound), is_elsewhere);
    here.end();
    EXPECT_EQ(here.requests(), 1);
}

INSTANTIATE_TEST_SUITE_P(Connections, Rebinding,
                         testing::Values("non-multiplexed", "leader-followers", "active"),
                         architecture_name);

TEST(Rebind, OfDeferredCallsIsRefusedLikewise)
{
    FakeServer there([](FakeServer&) {});
    FakeServer here([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.serve_one();
        peer.send(forward(peer.read_request().id(), at(there)));
    });
    Client client;
    const Probe::Target_var any = client.target(here.reference());
    const Probe::Target_var bound =
        with(any, make_policy(client.orb(), Messaging::REBIND_POLICY_TYPE, NO_REBIND));
    const auto call = [&] {
        const CORBA::Request_var request = bound->_request("ping");
        request->send_deferred();
        request->get_response();
        if (CORBA::Exception* thrown = request->env()->exception()) thrown->_raise();
    };
    EXPECT_EQ(outcome(call), "ok");
    EXPECT_EQ(outcome(call), is_elsewhere);
}

TEST(Rebind, OtherModesAreRefused)
{
    Client client;
    try {
        const CORBA::Policy_var policy =
            make_policy(client.orb(), Messaging::REBIND_POLICY_TYPE, CORBA::Short{3});
        ADD_FAILURE() << "a policy was made";
    } catch (const CORBA::PolicyError& error) {
        EXPECT_EQ(error.reason, CORBA::BAD_POLICY_VALUE);
    }
}

} // namespace
} // namespace kairos::orb_testing
