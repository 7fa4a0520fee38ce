// SPDX-License-Identifier: Apache-2.0
//
// Servers that send their clients elsewhere: forwards for once and for all, to nowhere, in circles
// and back, and the wish to be addressed otherwise. Traps 7 and 8 of ORBs before us.
#include "tests/malformed/fake_server.h"

#include <optional>

namespace kairos::orb_testing {
namespace {

using Peer = FakeServer::Peer;
constexpr std::uint32_t once = 3, for_ever = 4; // LOCATION_FORWARD, LOCATION_FORWARD_PERM

class Trap07 : public ::testing::Test {
  protected:
    static ior::Ior at(const FakeServer& server)
    {
        return reference_of({profile_at(server.port())});
    }
    Probe::Target_ptr target(const FakeServer& server)
    {
        return client_->target(server.reference());
    }
    /// Closes the client's connections: scripts that serve until then end.
    void end_client() { client_.reset(); }

    /// Answers one request, then ends the connection and listens no more, so that it is dead.
    static void serve_one_and_die(FakeServer& fake)
    {
        Peer peer = fake.accept();
        peer.serve_one();
        peer.send(WireMessage(giop::MessageType::close_connection).finish());
    }

    LogLines log_;
    std::unique_ptr<Client> client_ = std::make_unique<Client>();
};

class Trap07_Forward : public Trap07, public ::testing::WithParamInterface<std::uint32_t> {};

TEST_P(Trap07_Forward, IsFollowedWithTheSameArgumentsAndRemembered)
{
    FakeServer real([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < 2; ++i) {
            ReceivedRequest request = peer.read_request();
            const auto left = request.request.body.read<std::int32_t>();
            const auto right = request.request.body.read<std::int32_t>();
            peer.send(reply(request.id(), 0).u32(std::uint32_t(left + right)).finish());
        }
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(real), GetParam()));
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(target->add(20, 3), 23);
    EXPECT_EQ(target->add(30, 4), 34);
    agent.end();
    real.end();
    EXPECT_EQ(agent.requests(), 1);
    EXPECT_EQ(real.requests(), 2);
}

TEST_P(Trap07_Forward, ToNilIsInvObjref)
{
    FakeServer agent([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), {}, GetParam()));
        peer.serve_one();
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "INV_OBJREF 0x4b520004 NO");
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok"); // nothing was remembered
}

TEST_P(Trap07_Forward, ToWhatIsNoReferenceIsMarshal)
{
    FakeServer agent([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(reply(peer.read_request().id(), GetParam()).string("x").u32(0x10000000).finish());
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "MARSHAL 0x4b520004 NO");
}

TEST_P(Trap07_Forward, InACircleEndsInTransient)
{
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (;;) {
            const ReceivedRequest request = peer.read_request();
            if (request.bytes.empty()) return;
            peer.send(forward(request.id(), at(fake), GetParam()));
        }
    });
    {
        const Probe::Target_var target = this->target(agent);
        EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4b520006 NO");
    }
    end_client();
    agent.end();
    EXPECT_EQ(agent.connections(), 1);
    EXPECT_EQ(agent.requests(), static_cast<int>(limits::forwards_max) + 1);
}

TEST_P(Trap07_Forward, InACircleOfTwoEndsInTransient)
{
    std::optional<FakeServer> left;
    std::optional<FakeServer> right;
    const auto send_to = [](std::optional<FakeServer>& other, std::uint32_t status) {
        return [&other, status](FakeServer& fake) {
            Peer peer = fake.accept();
            for (;;) {
                const ReceivedRequest request = peer.read_request();
                if (request.bytes.empty()) return;
                peer.send(forward(request.id(), at(*other), status));
            }
        };
    };
    left.emplace(send_to(right, GetParam()));
    right.emplace(send_to(left, GetParam()));
    {
        const Probe::Target_var target = this->target(*left);
        EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4b520006 NO");
    }
    end_client();
    left->end();
    right->end();
    EXPECT_EQ(left->requests() + right->requests(), static_cast<int>(limits::forwards_max) + 1);
}

TEST_P(Trap07_Forward, ToADeadAddressAgainAndAgainEndsInTransient)
{
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (;;) {
            const ReceivedRequest request = peer.read_request();
            if (request.bytes.empty()) return;
            peer.send(forward(request.id(), reference_of({profile_at(dead_port())}), GetParam()));
        }
    });
    {
        const Probe::Target_var target = this->target(agent);
        EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4b520006 NO");
    }
    end_client();
    agent.end();
    EXPECT_EQ(agent.requests(), static_cast<int>(limits::forwards_max) / 2 + 1);
}

TEST_P(Trap07_Forward, ToADeadAddressFallsBackToTheOriginal)
{
    FakeServer agent([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(
            forward(peer.read_request().id(), reference_of({profile_at(dead_port())}), GetParam()));
        peer.serve_one(); // by now the agent knows better
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    agent.end();
    EXPECT_EQ(agent.requests(), 2);
}

TEST_P(Trap07_Forward, ThatDiedLaterFallsBackToTheOriginal)
{
    auto real = std::make_unique<FakeServer>(serve_one_and_die);
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(*real), GetParam()));
        peer.serve_one();
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    real->end();
    real.reset(); // no longer listens
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    agent.end();
    EXPECT_EQ(agent.requests(), 2);
}

TEST_F(Trap07, OnceToAServerThatDoesNotKnowTheObjectFallsBackOnce)
{
    FakeServer restarted([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (;;) {
            const ReceivedRequest request = peer.read_request();
            if (request.bytes.empty()) return;
            peer.send(system_exception(request.id(), CORBA::OBJECT_NOT_EXIST::kairos_id, 2,
                                       CORBA::COMPLETED_NO));
        }
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(restarted), once));
        peer.serve_one();
        // Asked anew by the second call, it insists: the object is gone indeed.
        for (int i = 0; i < 2; ++i)
            peer.send(forward(peer.read_request().id(), at(restarted), once));
    });
    {
        const Probe::Target_var target = this->target(agent);
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        EXPECT_EQ(outcome([&] { target->ping(); }), "OBJECT_NOT_EXIST 0x2 NO");
    }
    end_client();
    agent.end();
    restarted.end();
    EXPECT_EQ(agent.requests(), 4);
    EXPECT_EQ(restarted.requests(), 3);
}

TEST_F(Trap07, ForEverToAServerThatDoesNotKnowTheObjectIsBelieved)
{
    FakeServer real([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < 2; ++i)
            peer.send(system_exception(peer.read_request().id(), CORBA::OBJECT_NOT_EXIST::kairos_id,
                                       2, CORBA::COMPLETED_NO));
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(real), for_ever));
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "OBJECT_NOT_EXIST 0x2 NO");
    EXPECT_EQ(outcome([&] { target->ping(); }), "OBJECT_NOT_EXIST 0x2 NO");
    agent.end();
    real.end();
    EXPECT_EQ(agent.requests(), 1);
    EXPECT_EQ(real.requests(), 2);
}

TEST_F(Trap07, ForEverReplacesTheOriginal)
{
    auto lent = std::make_unique<FakeServer>(serve_one_and_die);
    FakeServer home([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(*lent), once));
        peer.serve_one();
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(home), for_ever));
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    lent->end();
    lent.reset();
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    agent.end();
    home.end();
    EXPECT_EQ(agent.requests(), 1);
    EXPECT_EQ(home.requests(), 2);
}

TEST_F(Trap07, ForEverMayBeReplacedForEver)
{
    FakeServer last([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), reference_of({profile_at(dead_port())}), once));
        peer.serve_one();
    });
    FakeServer middle([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(last), for_ever));
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(middle), for_ever));
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    agent.end();
    middle.end();
    last.end();
    EXPECT_EQ(agent.requests(), 1);
    EXPECT_EQ(middle.requests(), 1);
    EXPECT_EQ(last.requests(), 2);
}

TEST_F(Trap07, ForEverBehindOnceLastsNoLonger)
{
    auto real = std::make_unique<FakeServer>(serve_one_and_die);
    FakeServer lent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(*real), for_ever));
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), at(lent), once));
        peer.serve_one();
    });
    const Probe::Target_var target = this->target(agent);
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    real->end();
    real.reset();
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    agent.end();
    lent.end();
    EXPECT_EQ(agent.requests(), 2);
    EXPECT_EQ(lent.requests(), 1);
}

TEST_P(Trap07_Forward, LeadsIntoOwnProcessAndOut)
{
    RunningServer own("thread-per-connection");
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const auto reference = ior::from_string(own.reference());
        peer.send(forward(peer.read_request().id(), reference.value(), GetParam()));
    });
    // A reference of the server's own ORB: where it leads is collocated.
    const CORBA::Object_var object = own.orb()->string_to_object(agent.reference().c_str());
    const Probe::Target_var target = Probe::Target::_unchecked_narrow(object);
    EXPECT_EQ(target->add(1, 2), 3);
    EXPECT_EQ(target->add(3, 4), 7);
    EXPECT_EQ(own.servant().calls, 2u);
    agent.end();
    EXPECT_EQ(agent.requests(), 1);
}

TEST_P(Trap07_Forward, OfALargeRequestSendsAllOfItAgain)
{
    const auto size = [](Peer& peer) {
        ReceivedRequest request = peer.read_request();
        const CORBA::ULong count = request.request.body.read_length(1);
        EXPECT_EQ(count, 100'000u);
        return request.id();
    };
    FakeServer real([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(reply(size(peer), 0).u32(100'000).finish());
    });
    FakeServer agent([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(size(peer), at(real), GetParam()));
    });
    const Probe::Target_var target = this->target(agent);
    Probe::Octets octets;
    octets.length(100'000);
    EXPECT_EQ(target->count_octets(octets), 100'000u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Trap07_Forward, ::testing::Values(once, for_ever),
                         [](const auto& parameter) {
                             return parameter.param == once ? "once" : "for_ever";
                         });

class Trap08_NeedsAddressingMode : public ::testing::Test {
  protected:
    static Octets wish(std::uint32_t request_id, std::uint16_t mode)
    {
        return reply(request_id, 5).u16(mode).finish();
    }
    LogLines log_;
    Client client_;
};

TEST_F(Trap08_NeedsAddressingMode, IsFulfilledByKeyProfileAndReference)
{
    using giop::AddressingDisposition;
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (const auto mode : {AddressingDisposition::key, AddressingDisposition::profile,
                                AddressingDisposition::reference}) {
            peer.send(wish(peer.read_request().id(), static_cast<std::uint16_t>(mode)));
            ReceivedRequest request = peer.read_request();
            EXPECT_EQ(request.request.target.disposition, mode);
            EXPECT_EQ(request.request.body.read<std::uint32_t>(), 20u);
            if (mode == AddressingDisposition::profile) {
                const auto profile = ior::decode_iiop(request.request.target.profile_data);
                EXPECT_TRUE(profile.ok() && profile->port == fake.port());
            } else if (mode == AddressingDisposition::reference) {
                EXPECT_EQ(request.request.target.selected_index, 1u);
                cdr::Reader reader(request.request.target.ior, request.message.little_endian);
                ior::Ior reference;
                EXPECT_TRUE(ior::decode(reader, reference));
                EXPECT_EQ(reference.profiles.size(), 2u);
            }
            peer.send(reply(request.id(), 0).u32(23).finish());
        }
    });
    const ior::Ior reference =
        reference_of({{.tag = 99, .data = Octets(4)}, profile_at(server.port())});
    const Probe::Target_var target = client_.target(ior::to_string(reference));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(target->add(20, 3), 23);
    server.end();
    EXPECT_EQ(server.requests(), 6);
}

TEST_F(Trap08_NeedsAddressingMode, TwiceOrUnknownIsMarshal)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(wish(peer.read_request().id(), 7));
        peer.send(wish(peer.read_request().id(), 1));
        peer.send(wish(peer.read_request().id(), 2));
        peer.serve_one();
    });
    const Probe::Target_var target = client_.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "MARSHAL 0x4b520004 NO");
    EXPECT_EQ(outcome([&] { target->ping(); }), "MARSHAL 0x4b520004 NO");
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

} // namespace
} // namespace kairos::orb_testing
