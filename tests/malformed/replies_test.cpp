// SPDX-License-Identifier: Apache-2.0
//
// A client whose server goes away, lies or changes its mind: each call ends in the exception that
// tells whether it may have been executed, and is sent again only when it cannot have been.
#include "tests/malformed/fake_server.h"

namespace kairos::orb_testing {
namespace {

using giop::MessageType;
using Peer = FakeServer::Peer;

class ClientTest : public ::testing::Test {
  protected:
    /// What one call of `ping` at the fake server ends with.
    std::string ping(FakeServer& server)
    {
        const Probe::Target_var target = client.target(server.reference());
        return outcome([&] { target->ping(); });
    }

    LogLines log;
    Client client;
};

constexpr const char* connection_lost = "COMM_FAILURE 0x4b520002 MAYBE";
constexpr const char* malformed_reply = "COMM_FAILURE 0x4b520004 MAYBE";

// --- the connection ------------------------------------------------------------------------------

using Connecting = ClientTest;

TEST_F(Connecting, RefusedIsTransientAndNamesAddressAndReason)
{
    const ior::Ior reference = reference_of({profile_at(dead_port())});
    const Probe::Target_var target = client.target(ior::to_string(reference));
    try {
        target->ping();
        ADD_FAILURE() << "nothing thrown";
    } catch (const CORBA::TRANSIENT& exception) {
        EXPECT_EQ(exception.completed(), CORBA::COMPLETED_NO);
        EXPECT_EQ(exception.minor(), 0x4b520001u);
        const std::string what = exception.what();
        EXPECT_NE(what.find("127.0.0.1:" + std::to_string(dead_port())), std::string::npos) << what;
        EXPECT_NE(what.find("Connection refused"), std::string::npos) << what;
    }
}

TEST_F(Connecting, ReferenceWithoutAUsableProfileIsTransient)
{
    const ior::Ior unknown = reference_of({{.tag = 1234, .data = Octets(8)}});
    const ior::Ior malformed = reference_of({{.tag = 0, .data = Octets(3)}});
    for (const ior::Ior& reference : {unknown, malformed}) {
        const Probe::Target_var target = client.target(ior::to_string(reference));
        EXPECT_EQ(outcome([&] { target->ping(); }), "TRANSIENT 0x4f4d0002 NO");
    }
}

TEST_F(Connecting, Trap18_DeadAndUnknownProfilesArePassedOver)
{
    FakeServer server([](FakeServer& fake) { fake.accept().serve_all(); });
    const ior::Ior reference = reference_of({{.tag = 1234, .data = Octets(8)},
                                             profile_at(dead_port(), "first"),
                                             profile_at(0, "port zero"),
                                             profile_at(server.port(), "second")});
    {
        Client own;
        const Probe::Target_var target = own.target(ior::to_string(reference));
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    }
    server.end();
    EXPECT_EQ(server.requests(), 2);
    EXPECT_EQ(server.connections(), 1); // Trap 18: the same address is the same connection
}

TEST_F(Connecting, ClosedWithoutReplyMayHaveBeenExecutedAndIsNotRepeated)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        (void)peer.read_request();
    });
    FakeServer other([](FakeServer&) {});
    const ior::Ior reference = reference_of({profile_at(server.port()), profile_at(other.port())});
    const Probe::Target_var target = client.target(ior::to_string(reference));
    EXPECT_EQ(outcome([&] { target->ping(); }), connection_lost);
    server.end();
    EXPECT_EQ(server.requests(), 1);
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(other.connections(), 0); // Trap 5: not at the next profile either
}

TEST_F(Connecting, ClosedWithinTheReplyIsTheSame)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        const Octets answer = reply(peer.read_request().id(), 0).finish();
        peer.send(Bytes(answer).first(answer.size() - 1));
    });
    EXPECT_EQ(ping(server), connection_lost);
    server.end();
    EXPECT_EQ(server.requests(), 1);
}

TEST_F(Connecting, Trap05_CompletedMaybeIsNotSentToTheNextProfile)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(system_exception(peer.read_request().id(), CORBA::COMM_FAILURE::kairos_id, 1,
                                   CORBA::COMPLETED_MAYBE));
    });
    FakeServer other([](FakeServer&) {});
    const ior::Ior reference = reference_of({profile_at(server.port()), profile_at(other.port())});
    const Probe::Target_var target = client.target(ior::to_string(reference));
    EXPECT_EQ(outcome([&] { target->ping(); }), "COMM_FAILURE 0x1 MAYBE");
    EXPECT_EQ(other.connections(), 0);
}

class CloseConnection : public ::testing::TestWithParam<giop::Version> {};

TEST_P(CloseConnection, Trap04_InsteadOfAReplySendsTheCallOnceMore)
{
    FakeServer server([](FakeServer& fake) {
        {
            Peer peer = fake.accept();
            (void)peer.read_request();
            peer.send(giop::close_connection(GetParam())); // Trap 3: of any version
        }
        fake.accept().serve_one();
    });
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    server.end();
    EXPECT_EQ(server.connections(), 2);
    EXPECT_EQ(server.requests(), 2);
}

INSTANTIATE_TEST_SUITE_P(Versions, CloseConnection,
                         ::testing::Values(giop::Version{1, 0}, giop::Version{1, 1},
                                           giop::Version{1, 2}, giop::Version{1, 3},
                                           giop::Version{2, 0}));

TEST_F(Connecting, Trap04_ClosedAgainAndAgainEndsInTransient)
{
    FakeServer server([](FakeServer& fake) {
        for (int i = 0; i < 2; ++i) {
            Peer peer = fake.accept();
            (void)peer.read_request();
            peer.send(giop::close_connection(giop::version_1_2));
        }
    });
    EXPECT_EQ(ping(server), "TRANSIENT 0x4b520001 NO");
    server.end();
    EXPECT_EQ(server.requests(), 2);
}

TEST_F(Connecting, Trap04_IdleConnectionClosedByThePeerIsReplacedUnseen)
{
    Event closed;
    FakeServer server([&](FakeServer& fake) {
        {
            Peer peer = fake.accept();
            peer.serve_one();
            peer.send(giop::close_connection(giop::version_1_2));
        }
        closed.set();
        fake.accept().serve_one();
    });
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    ASSERT_TRUE(closed.wait());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    server.end();
    EXPECT_EQ(server.requests(), 2); // each once
}

TEST_F(Connecting, OnewayOnAConnectionClosedMeanwhileGoesOutOnANewOne)
{
    Event closed;
    FakeServer server([&](FakeServer& fake) {
        {
            Peer peer = fake.accept();
            peer.serve_one();
        }
        closed.set();
        Peer peer = fake.accept();
        EXPECT_EQ(peer.read_request().request.operation, "note");
    });
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
    ASSERT_TRUE(closed.wait());
    // The client asks an idle connection after a while; until then it trusts it.
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_EQ(outcome([&] { target->note(1); }), "ok");
}

// --- what comes instead of a reply ---------------------------------------------------------------

using Answers = ClientTest;

TEST_F(Answers, MessageErrorIsCommFailure)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        (void)peer.read_request();
        peer.send(WireMessage(MessageType::message_error).finish());
        EXPECT_TRUE(peer.at_end());
    });
    EXPECT_EQ(ping(server), "COMM_FAILURE 0x4b520003 MAYBE");
    server.end();
    EXPECT_EQ(server.requests(), 1);
}

TEST_F(Answers, MalformedMessagesAreAnsweredByMessageErrorAndAnException)
{
    struct Bad {
        const char* name;
        std::function<Octets(std::uint32_t id)> bytes;
        const char* answer = "MessageError 1.2";
    };
    const Bad cases[] = {
        {"wrong magic", [](std::uint32_t) { return Octets(64); }, "MessageError 1.0"},
        {"unknown version",
         [](std::uint32_t id) {
             return reply(id, 0, {1, 3}).finish();
         }},
        {"unknown type", [](std::uint32_t) { return WireMessage(MessageType(9)).finish(); }},
        {"a Request", [](std::uint32_t id) { return request({}, "ping", id).finish(); }},
        {"too large", [](std::uint32_t id) { return reply(id, 0).finish(0x7fffffff); }},
        {"unknown status", [](std::uint32_t id) { return reply(id, 6).finish(); }},
        {"status that 1.1 does not have",
         [](std::uint32_t id) { return reply(id, 5, giop::version_1_1).finish(); },
         "MessageError 1.1"},
        {"header cut short",
         [](std::uint32_t id) { return WireMessage(MessageType::reply).u32(id).finish(); }},
        {"more contexts than bytes",
         [](std::uint32_t id) {
             return WireMessage(MessageType::reply).u32(id).u32(0).u32(1u << 30).finish();
         }},
        {"a fragment of nothing",
         [](std::uint32_t) { return WireMessage(MessageType::fragment).u32(77).finish(); }},
    };
    for (const Bad& bad : cases) {
        SCOPED_TRACE(bad.name);
        LogLines::forget();
        std::string answer;
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(bad.bytes(peer.read_request().id()));
            answer = control_text(peer.read_message());
            EXPECT_TRUE(peer.at_end());
        });
        EXPECT_EQ(ping(server), malformed_reply);
        server.end();
        EXPECT_EQ(answer, bad.answer);
        EXPECT_EQ(LogLines::count("127.0.0.1:" + std::to_string(server.port())), 1u);
    }
}

TEST_F(Answers, MalformedResultsAreMarshal)
{
    const std::function<Octets(std::uint32_t)> cases[] = {
        [](std::uint32_t id) { return reply(id, 0).finish(); },
        [](std::uint32_t id) { return reply(id, 0).u32(100).raw("abc").finish(); },
        [](std::uint32_t id) { return reply(id, 0).u32(3).raw("abc").finish(); },
        [](std::uint32_t id) { return reply(id, 0).u32(0xffffffff).finish(); },
    };
    for (const auto& bytes : cases) {
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(bytes(peer.read_request().id()));
        });
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(outcome([&] { CORBA::String_var text = target->echo("?"); }),
                  "MARSHAL 0x4b520004 YES");
    }
}

// Trap 3: some senders leave octets behind what they say. The call was executed, and what it
// returned is there: unlike of a request (docs/decisions/0008) nobody has to guess what was meant.
TEST_F(Answers, MayHaveOctetsBehindTheResults)
{
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < 2; ++i)
            peer.send(reply(peer.read_request().id(), 0).string("here").u32(~0u).finish());
    });
    const Probe::Target_var target = client.target(server.reference());
    for (int i = 0; i < 2; ++i) { // by the same connection
        const CORBA::String_var text = target->echo("?");
        EXPECT_STREQ(text, "here");
    }
    server.end();
}

TEST_F(Answers, MalformedExceptionsAreMarshal)
{
    const std::function<Octets(std::uint32_t)> cases[] = {
        [](std::uint32_t id) { return reply(id, 1).finish(); },
        [](std::uint32_t id) { return reply(id, 1).u32(100).raw("abc").finish(); },
        [](std::uint32_t id) {
            return reply(id, 1).string(Probe::Refused::_kairos_id).u32(9).finish();
        },
        [](std::uint32_t id) { return reply(id, 2).finish(); },
        [](std::uint32_t id) { return reply(id, 2).string("IDL:x:1.0").u32(0).finish(); },
        [](std::uint32_t id) { return system_exception(id, "IDL:x:1.0", 0, 3); },
    };
    for (const auto& bytes : cases) {
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(bytes(peer.read_request().id()));
        });
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(outcome([&] { target->act(); }), "MARSHAL 0x4b520004 YES");
    }
}

TEST_F(Answers, Trap22_UnknownExceptionsBecomeUnknown)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(system_exception(peer.read_request().id(), "IDL:omg.org/CORBA/NEW:1.0", 7, 1));
        peer.send(reply(peer.read_request().id(), 1).string("IDL:Probe/Unlisted:1.0").finish());
        peer.send(reply(peer.read_request().id(), 1).string("IDL:Other:1.0").u32(1).finish());
    });
    const Probe::Target_var target = client.target(server.reference());
    EXPECT_EQ(outcome([&] { target->act(); }), "UNKNOWN 0x7 NO");
    EXPECT_EQ(outcome([&] { target->act(); }), "UNKNOWN 0x4f4d0001 YES");
    EXPECT_EQ(outcome([&] { target->act(); }), "UNKNOWN 0x4f4d0001 YES");
    server.end();
    EXPECT_EQ(server.connections(), 1); // none of them harms the connection
}

TEST_F(Answers, RepliesToOtherRequestsArePassedOver)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        const std::uint32_t id = peer.read_request().id();
        peer.send(reply(id + 1, 0).u32(1).finish());
        peer.send(reply(id - 1, 2).finish());
        peer.send(WireMessage(MessageType::locate_reply).u32(id).u32(1).finish());
        peer.send(reply(id, 0).u32(5).finish());
    });
    const Probe::Target_var target = client.target(server.reference());
    CORBA::Long sum = 0;
    EXPECT_EQ(outcome([&] { sum = target->add(2, 3); }), "ok");
    EXPECT_EQ(sum, 5);
}

TEST_F(Answers, Trap02_ComeInEitherByteOrderAndEveryVersion)
{
    for (const bool little_endian : {false, true}) {
        for (const giop::Version version :
             {giop::version_1_0, giop::version_1_1, giop::version_1_2}) {
            FakeServer server([&](FakeServer& fake) {
                Peer peer = fake.accept();
                const std::uint32_t id = peer.read_request().id();
                peer.send(reply(id, 0, version, little_endian).u32(0x00010002).finish());
                const std::uint32_t next = peer.read_request().id();
                peer.send(reply(next, 1, version, little_endian)
                              .string(Probe::Refused::_kairos_id)
                              .string("swapped")
                              .finish());
            });
            const Probe::Target_var target = client.target(server.reference());
            CORBA::Long sum = 0;
            EXPECT_EQ(outcome([&] { sum = target->add(2, 3); }), "ok");
            EXPECT_EQ(sum, 0x00010002);
            EXPECT_EQ(outcome([&] { target->act(); }), "Refused");
        }
    }
}

TEST_F(Answers, Trap09_FragmentedRepliesArePutTogether)
{
    const std::string text(1000, 'f');
    for (const giop::Version version : {giop::version_1_1, giop::version_1_2}) {
        FakeServer server([&](FakeServer& fake) {
            Peer peer = fake.accept();
            const std::uint32_t id = peer.read_request().id();
            const bool has_ids = version >= giop::version_1_2;
            const Octets whole = reply(id, 0, version).string(text).finish();
            std::size_t cut = 32;
            WireMessage first(MessageType::reply, version);
            first.raw(Bytes(whole).subspan(12, cut - 12)).flag(2);
            peer.send(first.finish());
            if (has_ids) { // the beginning of another reply that nobody waits for
                peer.send(reply(id + 7, 0).raw(Octets(8)).flag(2).finish());
                peer.send(WireMessage(MessageType::fragment).u32(id + 7).raw(Octets(5)).finish());
            }
            while (cut < whole.size()) {
                const std::size_t size = std::min<std::size_t>(400, whole.size() - cut);
                WireMessage next(MessageType::fragment, version);
                if (has_ids) next.u32(id);
                next.raw(Bytes(whole).subspan(cut, size));
                cut += size;
                if (cut < whole.size()) next.flag(2);
                peer.send(next.finish());
            }
        });
        const Probe::Target_var target = client.target(server.reference());
        CORBA::String_var answer;
        EXPECT_EQ(outcome([&] { answer = target->echo("?"); }), "ok");
        EXPECT_EQ(answer.in(), text);
    }
}

TEST_F(Answers, AClientThatIsDestroyedEndsItsCalls)
{
    Event asked;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        (void)peer.read_request();
        asked.set();
        EXPECT_TRUE(peer.at_end());
    });
    auto doomed = std::make_unique<Client>();
    const Probe::Target_var target = doomed->target(server.reference());
    std::string result;
    std::thread caller([&] { result = outcome([&] { target->ping(); }); });
    EXPECT_TRUE(asked.wait());
    doomed.reset();
    caller.join();
    EXPECT_EQ(result, connection_lost);
    EXPECT_EQ(outcome([&] { target->ping(); }), "BAD_INV_ORDER 0x4f4d0004 NO");
}

} // namespace
} // namespace kairos::orb_testing
