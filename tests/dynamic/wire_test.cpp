// SPDX-License-Identifier: Apache-2.0
//
// What requests put on the wire, which is what stubs do, and what they make of the answers of a
// server that goes away, lies or changes its mind.
#include "fixture.h"
#include "tests/malformed/fake_server.h"

namespace kairos::dynamic_testing {
namespace {

using orb_testing::FakeServer;
using orb_testing::forward;
using orb_testing::LogLines;
using orb_testing::Octets;
using orb_testing::profile_at;
using orb_testing::reference_of;
using orb_testing::reply;
using orb_testing::system_exception;
using Peer = FakeServer::Peer;

constexpr const char* connection_lost = "COMM_FAILURE 0x4b520002 MAYBE";
constexpr const char* malformed_results = "MARSHAL 0x4b520004 YES";

Dynamic::Target_ptr target_at(Client& client, const std::string& reference)
{
    const CORBA::Object_var object = client.orb()->string_to_object(reference.c_str());
    return Dynamic::Target::_unchecked_narrow(object);
}

// --- requests ------------------------------------------------------------------------------------

using Call = std::function<void(Dynamic::Target_ptr)>;

/// The first request that `call` sends on a connection of its own; it is answered with nothing.
Octets request_of(const Call& call)
{
    Octets bytes;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        auto request = peer.read_request();
        bytes = request.bytes;
        peer.send(reply(request.id(), 0).finish());
    });
    Client client;
    // All servers of these tests are at the same place, as far as the requests tell.
    const Dynamic::Target_var target = target_at(client, server.reference());
    try {
        call(target.in());
    } catch (const CORBA::MARSHAL&) { // there are no results
    }
    server.end();
    return bytes;
}

void expect_same_bytes(const Call& stub, const Call& request)
{
    const Octets expected = request_of(stub);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(expected, request_of(request));
}

TEST(Wire, ParametersAreThoseOfAStub)
{
    Dynamic::Person who;
    who.name = "Ada";
    who.at = {1, 2.5};
    who.marks.length(2000); // large enough to be sent from where it is
    Dynamic::Choice choice;
    choice.where(Dynamic::Point{7, 8.5});
    CORBA::Any anything;
    anything <<= "anything";
    Dynamic::Grid numbers = {{1, 2, 3}, {4, 5, 6}};
    const Call stub = [&](Dynamic::Target_ptr target) {
        Dynamic::Person inout(who);
        Dynamic::Choice_var chosen;
        CORBA::Any_var back;
        Dynamic::Grid same;
        Dynamic::Target_var other;
        const Dynamic::Person_var result =
            target->change(9, inout, choice, chosen.out(), anything, back.out(), numbers, same,
                           Dynamic::Target::_nil(), other.out(), "code");
    };
    const auto fill = [&](CORBA::Request_ptr request) {
        request->set_return_type(Dynamic::_tc_Person);
        request->add_in_arg() <<= CORBA::Any::from_octet(9);
        request->add_inout_arg() <<= who;
        request->add_in_arg() <<= choice;
        request->add_out_arg().replace(Dynamic::_tc_Choice, nullptr);
        request->add_in_arg() <<= anything;
        request->add_out_arg().replace(CORBA::_tc_any, nullptr);
        request->add_in_arg() <<= Dynamic::Grid_forany(numbers);
        request->add_out_arg().replace(Dynamic::_tc_Grid, nullptr);
        request->add_in_arg() <<= Dynamic::Target::_nil();
        request->add_out_arg().replace(Dynamic::_tc_Target, nullptr);
        request->add_in_arg() <<= CORBA::Any::from_string("code", 4);
    };
    expect_same_bytes(stub, [&](Dynamic::Target_ptr target) {
        const CORBA::Request_var request = target->_request("change");
        fill(request.in());
        request->invoke();
    });
    expect_same_bytes(stub, [&](Dynamic::Target_ptr target) {
        const CORBA::Request_var request = target->_request("change");
        fill(request.in());
        request->send_deferred();
        request->get_response();
    });
}

TEST(Wire, ValuesThatParametersShareGoOnce)
{
    Dynamic::Item_var last = new OBV_Dynamic::Item(2, nullptr);
    const Dynamic::Item_var first = new OBV_Dynamic::Item(1, last.in());
    Dynamic::Pair both;
    both.left = first;
    both.right = last;
    expect_same_bytes(
        [&](Dynamic::Target_ptr target) {
            Dynamic::Item_var out;
            const Dynamic::Item_var result = target->link(first.in(), both, out.out());
        },
        [&](Dynamic::Target_ptr target) {
            const CORBA::Request_var request = target->_request("link");
            request->add_in_arg() <<= first.in();
            request->add_in_arg() <<= both;
            request->invoke();
        });
}

TEST(Wire, OnewaysAskForNoReply)
{
    expect_same_bytes([](Dynamic::Target_ptr target) { target->note(5); },
                      [](Dynamic::Target_ptr target) {
                          const CORBA::Request_var request = target->_request("note");
                          request->add_in_arg() <<= CORBA::Long{5};
                          request->send_oneway();
                      });
}

// --- answers -------------------------------------------------------------------------------------

/// With `invoke`, and with `send_deferred` and `get_response`.
class Answers : public ::testing::TestWithParam<bool> {
  protected:
    [[nodiscard]] CORBA::Request_var add_at(FakeServer& server)
    {
        const Dynamic::Target_var target = target_at(client_, server.reference());
        CORBA::Request_var request = target->_request("add");
        request->set_return_type(CORBA::_tc_long);
        request->add_in_arg() <<= CORBA::Long{1};
        request->add_inout_arg() <<= "text";
        return request;
    }
    static std::string call(CORBA::Request_ptr request)
    {
        return outcome([&] {
            if (!GetParam()) return request->invoke();
            request->send_deferred();
            while (!request->poll_response())
                std::this_thread::yield();
            request->get_response();
        });
    }
    static std::string inout(CORBA::Request_ptr request)
    {
        const char* text = nullptr;
        EXPECT_TRUE(*request->arguments()->item(1)->value() >>= text);
        return text;
    }

    LogLines log_;
    Client client_;
};

TEST_P(Answers, MalformedResultsAreMarshalAndChangeNothing)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(reply(peer.read_request().id(), 0).u32(1).finish()); // no string
        peer.send(reply(peer.read_request().id(), 0).u32(1).u32(99).raw("x").finish());
        peer.send(reply(peer.read_request().id(), 0).u32(1).u32(2).raw("xy").finish());
        peer.send(reply(peer.read_request().id(), 0).u32(1).string("well").finish());
    });
    const CORBA::Request_var request = add_at(server);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(malformed_results, call(request.in()));
        EXPECT_EQ("text", inout(request.in()));
        EXPECT_NE(nullptr, CORBA::MARSHAL::_downcast(request->env()->exception()));
    }
    EXPECT_EQ("ok", call(request.in())); // on the same connection: where messages end was known
    EXPECT_EQ("well", inout(request.in()));
    server.end();
    EXPECT_EQ(1, server.connections());
}

TEST_P(Answers, MalformedExceptionsAreMarshal)
{
    const std::string_view id = Dynamic::Refused::_kairos_id;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(reply(peer.read_request().id(), 1).u32(1000).finish());
        peer.send(reply(peer.read_request().id(), 1).string(id).u32(1000).finish());
        peer.send(reply(peer.read_request().id(), 1).string(id).string("no point").finish());
        peer.send(reply(peer.read_request().id(), 1).string("IDL:other:1.0").finish());
    });
    const CORBA::Request_var request = add_at(server);
    request->exceptions()->add(Dynamic::_tc_Refused);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(malformed_results, call(request.in()));
    EXPECT_EQ("UNKNOWN 0x4f4d0001 YES", call(request.in()));
    server.end();
}

TEST_P(Answers, AConnectionThatEndsMayHaveExecutedTheCall)
{
    FakeServer server([](FakeServer& fake) { (void)fake.accept().read_request(); });
    const CORBA::Request_var request = add_at(server);
    EXPECT_EQ(connection_lost, call(request.in()));
    EXPECT_NE(nullptr, CORBA::COMM_FAILURE::_downcast(request->env()->exception()));
    server.end();
    EXPECT_EQ(1, server.requests());
}

TEST_P(Answers, CloseConnectionSendsTheCallOnceMore)
{
    FakeServer server([](FakeServer& fake) {
        {
            Peer peer = fake.accept();
            (void)peer.read_request();
            peer.send(orb_testing::WireMessage(giop::MessageType::close_connection).finish());
        }
        Peer peer = fake.accept();
        peer.send(reply(peer.read_request().id(), 0).u32(1).string("again").finish());
    });
    const CORBA::Request_var request = add_at(server);
    EXPECT_EQ("ok", call(request.in()));
    EXPECT_EQ("again", inout(request.in()));
    server.end();
    EXPECT_EQ(2, server.requests());
}

TEST_P(Answers, ForwardsAreFollowed)
{
    FakeServer there([](FakeServer& fake) {
        Peer peer = fake.accept();
        for (int i = 0; i < 2; ++i)
            peer.send(reply(peer.read_request().id(), 0).u32(1).string("there").finish());
    });
    FakeServer here([&](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(forward(peer.read_request().id(), reference_of({profile_at(there.port())})));
    });
    const CORBA::Request_var request = add_at(here);
    EXPECT_EQ("ok", call(request.in()));
    EXPECT_EQ("there", inout(request.in()));
    EXPECT_EQ("ok", call(request.in())); // at once
    here.end();
    there.end();
    EXPECT_EQ(1, here.requests());
    EXPECT_EQ(2, there.requests());
}

TEST_P(Answers, AnotherAddressingModeIsUsed)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(reply(peer.read_request().id(), 5).u16(1).finish());
        const auto request = peer.read_request();
        EXPECT_EQ(giop::AddressingDisposition::profile, request.request.target.disposition);
        peer.send(reply(request.id(), 0).u32(1).string("addressed").finish());
    });
    const CORBA::Request_var request = add_at(server);
    EXPECT_EQ("ok", call(request.in()));
    EXPECT_EQ("addressed", inout(request.in()));
    server.end();
}

TEST_P(Answers, SystemExceptionsKeepTheirCompletion)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        peer.send(system_exception(peer.read_request().id(), CORBA::NO_RESOURCES::kairos_id, 5,
                                   CORBA::COMPLETED_MAYBE));
    });
    const CORBA::Request_var request = add_at(server);
    EXPECT_EQ("NO_RESOURCES 0x5 MAYBE", call(request.in()));
    server.end();
}

TEST_P(Answers, MalformedMessagesEndTheConnection)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        (void)peer.read_request();
        peer.send(as_bytes("not GIOP at all, whatever it is"));
        EXPECT_FALSE(peer.read_message().empty()); // MessageError
        EXPECT_TRUE(peer.at_end());
    });
    const CORBA::Request_var request = add_at(server);
    EXPECT_EQ("COMM_FAILURE 0x4b520004 MAYBE", call(request.in()));
    server.end();
}

INSTANTIATE_TEST_SUITE_P(Ways, Answers, ::testing::Bool(), [](const auto& parameter) {
    return parameter.param ? "deferred" : "invoke";
});

TEST(Outstanding, TheServerSeesTheEndOfWhatNobodyFetches)
{
    FakeServer server([](FakeServer& fake) {
        Peer peer = fake.accept();
        (void)peer.read_request();
        EXPECT_TRUE(peer.at_end());
    });
    Client client;
    const Dynamic::Target_var target = target_at(client, server.reference());
    CORBA::Request_var request = target->_request("anything");
    request->send_deferred();
    request = CORBA::Request::_nil();
    server.end();
}

TEST(Outstanding, ARequestIsReadyOnlyWhenItsWholeReplyIsThere)
{
    orb_testing::Event polled;
    FakeServer server([&](FakeServer& fake) {
        Peer peer = fake.accept();
        const Octets answer = reply(peer.read_request().id(), 0).u32(7).finish();
        peer.send(Bytes(answer).first(answer.size() - 2));
        EXPECT_TRUE(polled.wait());
        peer.send(Bytes(answer).last(2));
        EXPECT_TRUE(peer.at_end());
    });
    {
        Client client;
        const Dynamic::Target_var target = target_at(client, server.reference());
        const CORBA::Request_var request = target->_request("anything");
        request->set_return_type(CORBA::_tc_ulong);
        request->send_deferred();
        for (int i = 0; i < 100; ++i)
            EXPECT_FALSE(request->poll_response());
        polled.set();
        while (!request->poll_response())
            std::this_thread::yield();
        request->get_response();
        CORBA::ULong result = 0;
        EXPECT_TRUE(request->return_value() >>= result);
        EXPECT_EQ(7u, result);
    }
    server.end();
}

} // namespace
} // namespace kairos::dynamic_testing
