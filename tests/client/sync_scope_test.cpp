// SPDX-License-Identifier: Apache-2.0
//
// When oneways return: what each SyncScope asks of the server, what our server makes of it, and
// what the caller hears of forwards and exceptions.
#include "tests/client/policies.h"

namespace kairos::orb_testing {
namespace {

using Peer = FakeServer::Peer;

[[nodiscard]] Probe::Target_ptr with_scope(Client& client, const std::string& reference,
                                           Messaging::SyncScope scope)
{
    const Probe::Target_var target = client.target(reference);
    return with(target, make_policy(client.orb(), Messaging::SYNC_SCOPE_POLICY_TYPE, scope));
}

std::string note(Probe::Target_ptr target)
{
    return outcome([&] { target->note(7); });
}

// --- what is asked for ---------------------------------------------------------------------------

struct Asked {
    Messaging::SyncScope scope;
    const char* giop_version;
    int response_flags;
};

class SyncScopeAsks : public ::testing::TestWithParam<Asked> {
  protected:
    LogLines log_;
};

TEST_P(SyncScopeAsks, ForWhatItNeeds)
{
    int flags = -1;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const ReceivedRequest request = peer.read_request();
        flags = request.request.response_flags;
        if (flags != 0) peer.send(reply(request.id(), 0, request.message.version).finish());
    });
    Client client({"-ORBGIOPVersion", GetParam().giop_version});
    const Probe::Target_var target = with_scope(client, server.reference(), GetParam().scope);
    EXPECT_EQ(note(target), "ok");
    server.end();
    EXPECT_EQ(flags, GetParam().response_flags);
}

// GIOP 1.0 and 1.1 know only of replies that are expected, which the test's parser calls 3.
INSTANTIATE_TEST_SUITE_P(Scopes, SyncScopeAsks,
                         ::testing::Values(Asked{Messaging::SYNC_NONE, "1.2", 0},
                                           Asked{Messaging::SYNC_WITH_TRANSPORT, "1.2", 0},
                                           Asked{Messaging::SYNC_WITH_SERVER, "1.2", 1},
                                           Asked{Messaging::SYNC_WITH_TARGET, "1.2", 3},
                                           Asked{Messaging::SYNC_NONE, "1.1", 0},
                                           Asked{Messaging::SYNC_WITH_TRANSPORT, "1.1", 0},
                                           Asked{Messaging::SYNC_WITH_SERVER, "1.1", 3},
                                           Asked{Messaging::SYNC_WITH_TARGET, "1.1", 3},
                                           Asked{Messaging::SYNC_WITH_SERVER, "1.0", 3},
                                           Asked{Messaging::SYNC_WITH_TARGET, "1.0", 3}));

class ConfirmedOneway : public ::testing::Test {
  protected:
    LogLines log_;
};

TEST_F(ConfirmedOneway, FollowsAForward)
{
    FakeServer real([](FakeServer& fake) { fake.accept().serve_one(); });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), reference_of({profile_at(real.port())})));
    });
    Client client;
    const Probe::Target_var target =
        with_scope(client, agent.reference(), Messaging::SYNC_WITH_SERVER);
    EXPECT_EQ(note(target), "ok");
    real.end();
    EXPECT_EQ(real.requests(), 1);
}

TEST_F(ConfirmedOneway, ThrowsWhatTheServerSays)
{
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(system_exception(peer.read_request().id(), CORBA::NO_PERMISSION::kairos_id, 5,
                                   CORBA::COMPLETED_NO));
    });
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_TARGET);
    EXPECT_EQ(note(target), "NO_PERMISSION 0x5 NO");
}

TEST_F(ConfirmedOneway, IsLostWithItsConnection)
{
    FakeServer server([](FakeServer& fake) { (void)fake.accept().read_request(); });
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_SERVER);
    EXPECT_EQ(note(target), "COMM_FAILURE 0x4b520002 MAYBE");
}

TEST_F(ConfirmedOneway, HeedsTheDeadline)
{
    FakeServer server([](FakeServer& fake) {
        for (;;) {
            Peer peer = fake.accept();
            while (!peer.read_request().bytes.empty()) {
            }
        }
    });
    Client client({"-ORBClientTimeout", "20"});
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_SERVER);
    EXPECT_EQ(outcome_once_sent([&] { target->note(7); }), no_reply);
}

// --- what our server does ------------------------------------------------------------------------

class SyncScopeServed : public EveryArchitecture {};

TEST_P(SyncScopeServed, WithServerBeforeTheServantIsCalled)
{
    Event inside;
    Event go;
    RunningServer server(GetParam());
    server.servant().note_action = [&] {
        inside.set();
        EXPECT_TRUE(go.wait());
    };
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_SERVER);
    EXPECT_EQ(note(target), "ok");
    EXPECT_TRUE(inside.wait());
    go.set();
    EXPECT_EQ(target->add(20, 3), 23); // on the same connection, whose next reply is this one's
    EXPECT_EQ(server.servant().calls, 2u);
}

TEST_P(SyncScopeServed, WithServerTellsNothingOfWhatTheServantThrows)
{
    RunningServer server(GetParam());
    server.servant().note_action = [] { throw CORBA::NO_PERMISSION(); };
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_SERVER);
    EXPECT_EQ(note(target), "ok");
    EXPECT_EQ(target->add(20, 3), 23);
}

TEST_P(SyncScopeServed, WithServerTellsThatThereIsNoObject)
{
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_SERVER);
    server.poa()->deactivate_object(server.id());
    EXPECT_EQ(note(target).substr(0, 17), "OBJECT_NOT_EXIST ");
}

TEST_P(SyncScopeServed, WithTargetWhenTheServantHasReturned)
{
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target =
        with_scope(client, server.reference(), Messaging::SYNC_WITH_TARGET);
    EXPECT_EQ(note(target), "ok");
    EXPECT_EQ(server.servant().calls, 1u);
    server.servant().note_action = [] { throw CORBA::NO_PERMISSION(); };
    EXPECT_EQ(note(target), "NO_PERMISSION 0x0 NO");
}

TEST_P(SyncScopeServed, WithoutAConfirmationTheyAreServedToo)
{
    RunningServer server(GetParam());
    Client client;
    for (const Messaging::SyncScope scope :
         {Messaging::SYNC_NONE, Messaging::SYNC_WITH_TRANSPORT}) {
        const Probe::Target_var target = with_scope(client, server.reference(), scope);
        const auto before = server.servant().calls.load();
        EXPECT_EQ(note(target), "ok");
        EXPECT_EQ(target->add(20, 3), 23);
        // Threads of a pool may overtake each other.
        while (server.servant().calls < before + 2)
            std::this_thread::yield();
        EXPECT_EQ(server.servant().calls, before + 2);
    }
}

KAIROS_EVERY_ARCHITECTURE(SyncScopeServed);

} // namespace
} // namespace kairos::orb_testing
