// SPDX-License-Identifier: Apache-2.0
//
// What a server may answer when it is asked where an object is: each status of a LocateReply (CORBA
// 3.3 part 2, 9.4.6), and what makes no sense of each.
#include "tests/malformed/fake_server.h"

#include "kairos/giop/locate.h"

namespace kairos::orb_testing {
namespace {

using Peer = FakeServer::Peer;
using Status = giop::LocateStatus;

struct ReceivedQuestion {
    Octets bytes;
    giop::LocateRequest request;
};

ReceivedQuestion read_question(Peer& peer)
{
    ReceivedQuestion received;
    received.bytes = peer.read_message();
    giop::Message message;
    EXPECT_EQ(giop::message_of(received.bytes, message), giop::Fault::none);
    EXPECT_EQ(message.type, giop::MessageType::locate_request);
    EXPECT_EQ(giop::parse(message, received.request), cdr::Fault::none);
    return received;
}

WireMessage answer_to(const ReceivedQuestion& question, Status status)
{
    WireMessage answer(giop::MessageType::locate_reply);
    answer.u32(question.request.request_id).u32(static_cast<std::uint32_t>(status));
    return answer;
}

Octets sent_to(const ReceivedQuestion& question, Status status, std::uint16_t port)
{
    const ior::TaggedProfile profile = profile_at(port);
    return answer_to(question, status)
        .string(Probe::Target::_kairos_id)
        .u32(1)
        .u32(profile.tag)
        .octets(profile.data)
        .finish();
}

Octets raised(const ReceivedQuestion& question, std::string_view id, std::uint32_t minor,
              std::uint32_t completion)
{
    return answer_to(question, Status::system_exception)
        .string(id)
        .u32(minor)
        .u32(completion)
        .finish();
}

Octets readdress(const ReceivedQuestion& question, std::uint16_t disposition)
{
    return answer_to(question, Status::needs_addressing_mode).u16(disposition).finish();
}

/// Answers one question in this way, and then one call.
template <typename Answer>
FakeServer::Script answers(Answer answer)
{
    return [answer](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(answer(read_question(peer)));
        peer.serve_one();
    };
}

class Locations : public testing::TestWithParam<const char*> {
  protected:
    Client client_{{"-ORBDebug", "0", "-ORBConnection", GetParam()}};

    /// What is asked, in words; and then a call.
    [[nodiscard]] std::string validated(const FakeServer& server)
    {
        const Probe::Target_var target = client_.target(server.reference());
        bool is_there = false;
        const std::string ended = outcome([&] { is_there = target->_validate_connection(); });
        const std::string called = outcome([&] { target->ping(); });
        return (ended == "ok" ? is_there ? "there" : "unknown" : ended) + ", called: " + called;
    }
};

TEST_P(Locations, HereAndUnknown)
{
    FakeServer here(answers(
        [](const auto& question) { return answer_to(question, Status::object_here).finish(); }));
    EXPECT_EQ(validated(here), "there, called: ok");
    FakeServer unknown(answers(
        [](const auto& question) { return answer_to(question, Status::unknown_object).finish(); }));
    EXPECT_EQ(validated(unknown), "unknown, called: ok");
}

TEST_P(Locations, ElsewhereIsAskedThereAndCalledThere)
{
    for (const Status status : {Status::object_forward, Status::object_forward_perm}) {
        FakeServer there(answers([](const auto& question) {
            return answer_to(question, Status::object_here).finish();
        }));
        FakeServer here([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(sent_to(read_question(peer), status, there.port()));
        });
        EXPECT_EQ(validated(here), "there, called: ok");
        here.end();
        there.end();
        EXPECT_EQ(here.requests(), 0);
        EXPECT_EQ(there.requests(), 1);
    }
}

TEST_P(Locations, ElsewhereThatDoesNotKnowItIsAskedAboutWhereItCameFrom)
{
    // The same by a status and by the exception.
    for (const bool raises : {false, true}) {
        FakeServer there([&](FakeServer& fake) {
            Peer peer = fake.accept();
            const ReceivedQuestion question = read_question(peer);
            peer.send(raises ? raised(question, CORBA::OBJECT_NOT_EXIST::kairos_id, 1, 1)
                             : answer_to(question, Status::unknown_object).finish());
        });
        FakeServer here([&](FakeServer& fake) {
            Peer peer = fake.accept();
            peer.send(sent_to(read_question(peer), Status::object_forward, there.port()));
            peer.send(answer_to(read_question(peer), Status::object_here).finish());
            peer.serve_one();
        });
        EXPECT_EQ(validated(here), "there, called: ok");
    }
}

TEST_P(Locations, InACircleEndsInTransient)
{
    FakeServer here([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (std::size_t i = 0; i <= limits::forwards_max; ++i)
            peer.send(sent_to(read_question(peer), Status::object_forward, fake.port()));
        peer.serve_one();
    });
    EXPECT_EQ(validated(here), "TRANSIENT 0x4b520006 NO, called: ok");
}

TEST_P(Locations, ASystemExceptionIsRaised)
{
    FakeServer refuses(answers([](const auto& question) {
        return raised(question, CORBA::NO_PERMISSION::kairos_id, 7, 1);
    }));
    EXPECT_EQ(validated(refuses), "NO_PERMISSION 0x7 NO, called: ok");
    FakeServer knows_none(answers([](const auto& question) {
        return raised(question, CORBA::OBJECT_NOT_EXIST::kairos_id, 2, 1);
    }));
    EXPECT_EQ(validated(knows_none), "OBJECT_NOT_EXIST 0x2 NO, called: ok");
    FakeServer newer(answers([](const auto& question) {
        return raised(question, "IDL:omg.org/CORBA/OF_THE_FUTURE:1.0", 3, 2);
    }));
    EXPECT_EQ(validated(newer), "UNKNOWN 0x3 MAYBE, called: ok");
}

TEST_P(Locations, AnotherAddressIsGivenOnce)
{
    for (const auto wanted :
         {giop::AddressingDisposition::key, giop::AddressingDisposition::profile,
          giop::AddressingDisposition::reference}) {
        FakeServer picky([&](FakeServer& fake) {
            Peer peer = fake.accept();
            const ReceivedQuestion first = read_question(peer);
            EXPECT_EQ(first.request.target.disposition, giop::AddressingDisposition::key);
            peer.send(readdress(first, static_cast<std::uint16_t>(wanted)));
            const ReceivedQuestion second = read_question(peer);
            EXPECT_EQ(second.request.target.disposition, wanted);
            EXPECT_NE(second.request.request_id, first.request.request_id);
            peer.send(answer_to(second, Status::object_here).finish());
            peer.serve_one();
        });
        EXPECT_EQ(validated(picky), "there, called: ok");
    }
    FakeServer never_content([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(readdress(read_question(peer), 1));
        peer.send(readdress(read_question(peer), 2));
        peer.serve_one();
    });
    EXPECT_EQ(validated(never_content), "MARSHAL 0x4b520004 NO, called: ok");
}

/// What cannot be understood is no answer; calls are not kept from finding out by themselves.
TEST_P(Locations, NonsenseIsNoAnswer)
{
    const std::string no_answer = "TRANSIENT 0x4b520001 NO, called: ok";
    const auto expect_outcome = [&](auto answer, const std::string& expected) {
        FakeServer fake([&](FakeServer& server) {
            {
                Peer peer = server.accept();
                peer.send(answer(read_question(peer)));
                // The client keeps a connection that it understands, or makes another.
                if (GetParam() != std::string_view("non-multiplexed")) return peer.serve_one();
            }
            server.accept().serve_one();
        });
        EXPECT_EQ(validated(fake), expected);
    };
    expect_outcome(
        [](const auto& question) {
            return answer_to(question, Status::object_forward).string("x").u32(1 << 28).finish();
        },
        no_answer);
    expect_outcome(
        [](const auto& question) {
            return answer_to(question, Status::object_forward_perm).string("").u32(0).finish();
        },
        no_answer);
    expect_outcome([](const auto& question) { return raised(question, "x", 0, 3); }, no_answer);
    expect_outcome(
        [](const auto& question) { return answer_to(question, Status::system_exception).finish(); },
        no_answer);
}

/// An address of a kind that there is not: the connection is as good as before.
TEST_P(Locations, AnUnknownAddressingModeIsMarshal)
{
    for (const int disposition : {3, 0xFFFF}) {
        FakeServer fake([&](FakeServer& server) {
            {
                Peer peer = server.accept();
                peer.send(readdress(read_question(peer), static_cast<std::uint16_t>(disposition)));
                if (GetParam() != std::string_view("non-multiplexed")) return peer.serve_one();
            }
            server.accept().serve_one();
        });
        EXPECT_EQ(validated(fake), "MARSHAL 0x4b520004 NO, called: ok");
    }
}

INSTANTIATE_TEST_SUITE_P(Connections, Locations,
                         testing::Values("non-multiplexed", "leader-followers", "active"),
                         architecture_name);

} // namespace
} // namespace kairos::orb_testing
