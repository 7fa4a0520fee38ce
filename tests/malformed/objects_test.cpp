// SPDX-License-Identifier: Apache-2.0
//
// Well-formed requests that cannot be served: for objects, adapters and operations that are not
// there, in states that do not permit it, and to servants that throw what they should not. Each
// ends in the exception that the specification names, and the connection goes on.
#include "kairos/client/client.h"
#include "tests/malformed/fixture.h"

#include "kairos/giop/locate.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/orb.h"

namespace kairos::orb_testing {
namespace {

constexpr const char* no_such_object = "OBJECT_NOT_EXIST 0x4f4d0001 NO";

/// One request and what is answered.
std::string answer(RawPeer& peer, const Octets& message)
{
    peer.send(message);
    return ParsedReply(peer.read_message()).text();
}

Octets key_with(Octets key, const std::function<void(ior::ObjectKey&)>& change)
{
    auto parsed = ior::ObjectKey::parse(key).value();
    change(parsed);
    const auto octets = parsed.encode();
    return {octets.begin(), octets.end()};
}

class UnknownTarget : public EveryArchitecture {};

TEST_P(UnknownTarget, Trap20_KeysAreOpaqueAndOnlyOursAreServed)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    const auto ping = [&](Bytes key) { return answer(peer, request(key, "ping").finish()); };

    EXPECT_EQ(ping({}), no_such_object);
    EXPECT_EQ(ping(as_bytes("x")), no_such_object);
    EXPECT_EQ(ping(as_bytes("NameService")), no_such_object);
    EXPECT_EQ(ping(Octets(24)), no_such_object);
    EXPECT_EQ(ping(Octets(limits::object_key_max)), no_such_object);
    EXPECT_EQ(ping(key_with(server.key(), [](auto& key) { ++key.incarnation; })), no_such_object)
        << "a key of another run";
    for (const std::uint32_t adapter : {0u, 1u, 1u << 20 | 1u, 2u << 20, ~0u})
        EXPECT_EQ(ping(key_with(server.key(), [=](auto& key) { key.adapter = adapter; })),
                  "OBJECT_NOT_EXIST 0x4f4d0002 NO");
    for (const std::uint32_t slot : {1u, 63u, 64u, 1u << 20, 1u << 31, ~0u})
        EXPECT_EQ(ping(key_with(server.key(), [slot](auto& key) { key.slot = slot; })),
                  no_such_object);
    EXPECT_EQ(ping(key_with(server.key(), [](auto& key) { ++key.generation; })), no_such_object);
    EXPECT_EQ(ping(server.key()), "NO_EXCEPTION");
    EXPECT_EQ(server.servant().calls, 1u);
}

TEST_P(UnknownTarget, StaleKeyDoesNotReachTheNextObjectOfItsSlot)
{
    Servant next; // outlives the server: a request may still be leaving it when it is deactivated
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    server.poa()->deactivate_object(server.id());
    EXPECT_EQ(answer(peer, server.ping()), no_such_object);
    const PortableServer::ObjectId_var id = server.poa()->activate_object(&next);
    EXPECT_EQ(answer(peer, server.ping()), no_such_object);
    const CORBA::Object_var reference = server.poa()->id_to_reference(id);
    EXPECT_EQ(answer(peer, request(reference->_kairos_reference()->object_key(), "ping").finish()),
              "NO_EXCEPTION");
    EXPECT_EQ(next.calls, 1u);
    EXPECT_EQ(server.servant().calls, 0u);
    server.poa()->deactivate_object(id);
}

TEST_P(UnknownTarget, OperationIsNotThere)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    const std::string names[] = {
        "",  "pin",    "pingg", "Ping",
        "_", "_get_x", "_is_b", std::string(limits::operation_name_max, 'x')};
    for (const std::string& name : names)
        EXPECT_EQ(answer(peer, request(server.key(), name).finish()), "BAD_OPERATION 0x4f4d0002 NO")
            << name;
    // The arguments of an unknown operation are nobody's to judge.
    EXPECT_EQ(answer(peer, request(server.key(), "nothing").raw(Octets(100)).finish()),
              "BAD_OPERATION 0x4f4d0002 NO");
    EXPECT_EQ(answer(peer, server.ping()), "NO_EXCEPTION");
}

TEST_P(UnknownTarget, AnswersComeInTheVersionAndWithTheIdOfTheRequest)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    for (const giop::Version version : {giop::version_1_0, giop::version_1_1, giop::version_1_2}) {
        for (const bool little_endian : {false, true}) {
            const std::uint32_t id = 0x01020304;
            peer.send(request(as_bytes("x"), "ping", id, version, true, little_endian).finish());
            const ParsedReply unknown(peer.read_message());
            EXPECT_EQ(unknown.text(), no_such_object);
            EXPECT_EQ(unknown.reply.version, version);
            EXPECT_EQ(unknown.reply.request_id, id);
            peer.send(request(server.key(), "add", id, version, true, little_endian)
                          .u32(0x00010000)
                          .u32(2)
                          .finish());
            ParsedReply sum(peer.read_message());
            EXPECT_EQ(sum.text(), "NO_EXCEPTION");
            EXPECT_EQ(sum.reply.body.read<std::uint32_t>(), 0x00010002u);
        }
    }
}

TEST_P(UnknownTarget, Trap06_LocateRequestMayComeFirst)
{
    RunningServer server(GetParam());
    const auto locate = [&](RawPeer& peer, Bytes key, giop::Version version) {
        WireMessage message(giop::MessageType::locate_request, version);
        message.u32(9);
        if (version >= giop::version_1_2) message.u16(0);
        peer.send(message.octets(key).finish());
        Octets bytes = peer.read_message();
        giop::Message whole;
        giop::LocateReply reply;
        if (giop::message_of(bytes, whole) != giop::Fault::none ||
            giop::parse(whole, reply) != cdr::Fault::none)
            return std::string("no LocateReply");
        EXPECT_EQ(reply.request_id, 9u);
        EXPECT_EQ(reply.version, version);
        return std::string(giop::describe(reply.status));
    };
    for (const giop::Version version : {giop::version_1_0, giop::version_1_1, giop::version_1_2}) {
        RawPeer peer = server.connect();
        const std::string here(giop::describe(giop::LocateStatus::object_here));
        const std::string unknown(giop::describe(giop::LocateStatus::unknown_object));
        EXPECT_EQ(locate(peer, server.key(), version), here);
        EXPECT_EQ(locate(peer, {}, version), unknown);
        EXPECT_EQ(locate(peer, as_bytes("x"), version), unknown); // Trap 20: very short
        EXPECT_EQ(locate(peer, Octets(limits::object_key_max), version), unknown);
        EXPECT_EQ(answer(peer, server.ping()), "NO_EXCEPTION");
    }
}

TEST_P(UnknownTarget, Trap08_EveryAddressingModeIsUnderstood)
{
    RunningServer server(GetParam());
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    const ior::Ior& ior = target->_kairos_reference()->ior();
    RawPeer peer = server.connect();
    const auto begin = [](std::uint16_t mode) {
        WireMessage message(giop::MessageType::request);
        message.u32(1).u8(3).raw(std::string_view("\0\0\0", 3)).u16(mode);
        return message;
    };
    const auto end = [](WireMessage& message) { return message.string("ping").u32(0).finish(); };

    WireMessage by_profile = begin(1);
    by_profile.u32(ior.profiles[0].tag).octets(ior.profiles[0].data);
    EXPECT_EQ(answer(peer, end(by_profile)), "NO_EXCEPTION");

    const auto by_reference = [&](std::uint32_t index) {
        WireMessage message = begin(2);
        message.u32(index).string(ior.type_id).u32(1);
        message.u32(ior.profiles[0].tag).octets(ior.profiles[0].data);
        return answer(peer, end(message));
    };
    EXPECT_EQ(by_reference(0), "NO_EXCEPTION");
    EXPECT_EQ(by_reference(1), no_such_object) << "a profile that the reference does not have";
    EXPECT_EQ(by_reference(~0u), no_such_object);

    WireMessage other_protocol = begin(1);
    other_protocol.u32(1).octets(ior.profiles[0].data);
    EXPECT_EQ(answer(peer, end(other_protocol)), no_such_object);
    WireMessage malformed_profile = begin(1);
    malformed_profile.u32(ior.profiles[0].tag).octets(Octets(3));
    EXPECT_EQ(answer(peer, end(malformed_profile)), no_such_object);
}

// --- servants that throw -------------------------------------------------------------------------

class ThrowingServant : public EveryArchitecture {
  protected:
    /// What a client and a raw peer see when `act` throws.
    void expect(const std::string& exception, const std::function<void()>& action)
    {
        RunningServer server(GetParam());
        server.servant().action = action;
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_EQ(outcome([&] { target->act(); }), exception);
        EXPECT_EQ(outcome([&] { target->ping(); }), "ok"); // on the same connection
        EXPECT_EQ(orb::Client::of(client.orb()->_kairos_core()).connections().count(), 1u);
        // Without a socket in between it looks the same.
        const CORBA::Object_var object = server.poa()->id_to_reference(server.id());
        const Probe::Target_var collocated = Probe::Target::_unchecked_narrow(object);
        EXPECT_EQ(outcome([&] { collocated->act(); }), exception);
    }
};

TEST_P(ThrowingServant, ForeignExceptionsBecomeUnknown)
{
    expect("UNKNOWN 0x4b520009 MAYBE", [] { throw 42; });
    EXPECT_EQ(LogLines::count("foreign exception"), 2u); // remote and collocated
    EXPECT_EQ(LogLines::count("'act': not derived from std::exception"), 2u);
    expect("UNKNOWN 0x4b520009 MAYBE", [] { throw std::runtime_error("disk full"); });
    EXPECT_EQ(LogLines::count("'act': disk full"), 2u);
}

TEST_P(ThrowingServant, OutOfMemoryIsNoMemory)
{
    expect("NO_MEMORY 0x0 MAYBE", [] { throw std::bad_alloc(); });
}

TEST_P(ThrowingServant, Trap22_SystemExceptionsKeepMinorAndCompletion)
{
    expect("NO_RESOURCES 0x2a YES",
           [] { throw CORBA::NO_RESOURCES(42, CORBA::COMPLETED_YES, "none left"); });
    expect("TIMEOUT 0x4f4d0003 MAYBE",
           [] { throw CORBA::TIMEOUT(mapping::omg_minor(3), CORBA::COMPLETED_MAYBE); });
    expect("TRANSIENT 0x1 NO", [] { throw CORBA::TRANSIENT(1, CORBA::COMPLETED_NO); });
    EXPECT_EQ(LogLines::count(""), 0u);
}

TEST_P(ThrowingServant, Trap22_UserExceptionOutsideTheRaisesClauseIsUnknown)
{
    expect("UNKNOWN 0x4f4d0001 MAYBE", [] { throw Probe::Unlisted(); });
}

TEST_P(ThrowingServant, Trap22_ListedUserExceptionArrivesWhole)
{
    RunningServer server(GetParam());
    server.servant().action = [] { throw Probe::Refused("because"); };
    Client client;
    const Probe::Target_var target = client.target(server.reference());
    try {
        target->act();
        ADD_FAILURE() << "nothing thrown";
    } catch (const Probe::Refused& refused) {
        EXPECT_STREQ(refused.why, "because");
    }
    EXPECT_EQ(outcome([&] { target->ping(); }), "ok");
}

TEST_P(ThrowingServant, Trap01_ExceptionsOfEveryVersionAreReadable)
{
    for (const char* version : {"1.0", "1.1", "1.2"}) {
        RunningServer server(GetParam(), {"-ORBGIOPVersion", version});
        server.servant().action = [] { throw Probe::Refused("aligned"); };
        Client client;
        const Probe::Target_var target = client.target(server.reference());
        EXPECT_THROW(target->act(), Probe::Refused) << version;
        server.servant().action = [] { throw CORBA::NO_RESOURCES(7, CORBA::COMPLETED_YES); };
        EXPECT_EQ(outcome([&] { target->act(); }), "NO_RESOURCES 0x7 YES") << version;
        // Exceptions are aligned like results: behind the header at a multiple of eight in 1.2.
        RawPeer peer = server.connect();
        peer.send(request(server.key(), "act").finish());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_RESOURCES 0x7 YES") << version;
    }
}

TEST_P(ThrowingServant, OnewaysAreAnsweredByNothing)
{
    RunningServer server(GetParam());
    server.servant().action = [] { throw 42; };
    RawPeer peer = server.connect();
    peer.send(request(server.key(), "act", 1, giop::version_1_2, false).finish());
    peer.send(request(as_bytes("nobody"), "ping", 2, giop::version_1_2, false).finish());
    peer.send(server.ping(3));
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 3u);
}

KAIROS_EVERY_ARCHITECTURE(UnknownTarget);
KAIROS_EVERY_ARCHITECTURE(ThrowingServant);

} // namespace
} // namespace kairos::orb_testing
