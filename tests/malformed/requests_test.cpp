// SPDX-License-Identifier: Apache-2.0
//
// Bytes that no client should send, sent to a real server: each is answered by MessageError in a
// version the client understands, the connection is closed, one line with the peer's address is
// logged, and other connections do not notice. Arguments that do not decode are answered with
// MARSHAL, and the connection lives on. Memory follows the bytes sent, never the lengths claimed.
#include "tests/malformed/fixture.h"

#include "kairos/base/heap_testing.h"
#include "kairos/ior/object_key.h"
#include "kairos/orb/failure.h"

namespace kairos::orb_testing {
namespace {

namespace heap = heap_testing;

using giop::MessageType;

/// What a hostile client sends, and how the MessageError that answers it is labelled.
struct BadInput {
    const char* name;
    std::function<Octets(Bytes key)> bytes;
    const char* answer = "MessageError 1.2";
    bool half_close = false; ///< the client says that nothing more comes
};

Octets operator+(Octets left, const Octets& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

Octets text(std::string_view characters)
{
    const Bytes bytes = as_bytes(characters);
    return {bytes.begin(), bytes.end()};
}

WireMessage fragment(std::uint32_t request_id, giop::Version version = giop::version_1_2)
{
    WireMessage message(MessageType::fragment, version);
    if (version >= giop::version_1_2) message.u32(request_id);
    return message;
}

/// The first of several parts of a request.
Octets first_part(Bytes key, std::uint32_t request_id)
{
    return request(key, "ping", request_id).flag(2).finish();
}

/// A Request for the object that is named by a whole IOR with this profile count.
Octets by_reference(std::uint32_t claimed_profiles, std::uint32_t claimed_profile_size)
{
    WireMessage message(MessageType::request);
    message.u32(1).u8(3).raw(std::string_view("\0\0\0", 3)).u16(2).u32(0).string("IDL:X:1.0");
    message.u32(claimed_profiles).u32(0).u32(claimed_profile_size).u32(0);
    return message.string("ping").u32(0).align(8).finish();
}

const BadInput bad_messages[] = {
    {"wrong magic", [](Bytes) { return text("GET / HTTP/1.0\r\n\r\n"); }, "MessageError 1.0"},
    {"zeros", [](Bytes) { return Octets(64); }, "MessageError 1.0"},
    {"GIOP 1.3",
     [](Bytes key) {
         return request(key, "ping", 1, {1, 3}).finish();
     }},
    {"GIOP 2.0",
     [](Bytes key) {
         return request(key, "ping", 1, {2, 0}).finish();
     }},
    {"GIOP 0.9",
     [](Bytes key) {
         return request(key, "ping", 1, {0, 9}).finish();
     }},
    {"unknown message type", [](Bytes) { return WireMessage(MessageType(8)).finish(); }},
    {"message type 255", [](Bytes) { return WireMessage(MessageType(255)).finish(); }},
    {"fragment in GIOP 1.0", [](Bytes) { return fragment(1, giop::version_1_0).finish(); },
     "MessageError 1.0"},
    {"flags that GIOP 1.0 does not have",
     [](Bytes key) { return request(key, "ping", 1, giop::version_1_0).flag(2).finish(); },
     "MessageError 1.0"},
    {"a Reply", [](Bytes) { return reply(1, 0).finish(); }},
    {"a LocateReply", [](Bytes) { return WireMessage(MessageType::locate_reply).u32(1).finish(); }},
    {"larger than allowed", [](Bytes key) { return request(key, "ping").finish(0x10000001); }},
    {"size 4 GiB - 1", [](Bytes key) { return request(key, "ping").finish(0xffffffff); }},
    {"header cut short", [](Bytes) { return text("GIOP\1\2"); }, "MessageError 1.0", true},
    {"body cut short",
     [](Bytes key) {
         Octets message = request(key, "ping").finish();
         message.pop_back();
         return message;
     },
     "MessageError 1.2", true},
    {"first part only", [](Bytes key) { return first_part(key, 1); }, "MessageError 1.2", true},
    {"header and nothing else", [](Bytes) { return WireMessage(MessageType::request).finish(); }},
    {"key longer than the message",
     [](Bytes) {
         return WireMessage(MessageType::request).u32(1).u32(3).u16(0).u32(0x7fffffff).finish();
     }},
    {"key of 4 GiB - 1",
     [](Bytes) {
         return WireMessage(MessageType::request).u32(1).u32(3).u16(0).u32(0xffffffff).finish();
     }},
    {"unknown addressing mode",
     [](Bytes) { return WireMessage(MessageType::request).u32(1).u32(3).u16(3).u32(0).finish(); }},
    {"operation without its NUL",
     [](Bytes key) {
         WireMessage message(MessageType::request);
         message.u32(1).u32(3).u16(0).octets(key).u32(4).raw("ping").u32(0);
         return message.finish();
     }},
    {"operation of length zero",
     [](Bytes key) {
         return WireMessage(MessageType::request)
             .u32(1)
             .u32(3)
             .u16(0)
             .octets(key)
             .u32(0)
             .u32(0)
             .finish();
     }},
    {"operation longer than the message",
     [](Bytes key) {
         return WireMessage(MessageType::request)
             .u32(1)
             .u32(3)
             .u16(0)
             .octets(key)
             .u32(5000)
             .raw("ping")
             .finish();
     }},
    {"more service contexts than bytes",
     [](Bytes key) {
         return WireMessage(MessageType::request)
             .u32(1)
             .u32(3)
             .u16(0)
             .octets(key)
             .string("ping")
             .u32(0x40000000)
             .finish();
     }},
    {"service context longer than the message",
     [](Bytes key) {
         return WireMessage(MessageType::request)
             .u32(1)
             .u32(3)
             .u16(0)
             .octets(key)
             .string("ping")
             .u32(1)
             .u32(1)
             .u32(0xfffffff0)
             .u32(0)
             .finish();
     }},
    {"more service contexts than bytes, GIOP 1.0",
     [](Bytes) {
         return WireMessage(MessageType::request, giop::version_1_0)
             .u32(0x20000000)
             .u32(0)
             .finish();
     },
     "MessageError 1.0"},
    {"reference with more profiles than bytes", [](Bytes) { return by_reference(1u << 31, 4); }},
    {"reference with a profile beyond its end", [](Bytes) { return by_reference(1, 1u << 31); }},
    {"a fragment of nothing, GIOP 1.2", [](Bytes) { return fragment(7).finish(); }},
    {"a fragment of nothing, GIOP 1.1",
     [](Bytes) { return fragment(7, giop::version_1_1).finish(); }, "MessageError 1.1"},
    {"a fragment without the id that it needs",
     [](Bytes key) { return first_part(key, 1) + WireMessage(MessageType::fragment).finish(); }},
    {"one request begun twice", [](Bytes key) { return first_part(key, 1) + first_part(key, 1); }},
    {"too many requests begun",
     [](Bytes key) {
         Octets parts;
         for (std::uint32_t id = 0; id <= limits::fragmented_messages_max; ++id)
             parts = std::move(parts) + first_part(key, id);
         return parts;
     }},
    {"LocateRequest without a key",
     [](Bytes) { return WireMessage(MessageType::locate_request).u32(1).finish(); }},
    {"LocateRequest with a key beyond its end",
     [](Bytes) {
         return WireMessage(MessageType::locate_request).u32(1).u16(0).u32(9).u32(0).finish();
     }},
};

class MalformedMessage : public EveryArchitecture {};

TEST_P(MalformedMessage, IsAnsweredByMessageErrorAndTheConnectionCloses)
{
    RunningServer server(GetParam());
    RawPeer other = server.connect();
    for (const BadInput& bad : bad_messages) {
        SCOPED_TRACE(bad.name);
        LogLines::forget();
        RawPeer peer = server.connect();
        const std::string address = peer.address();
        peer.send(bad.bytes(server.key()));
        if (bad.half_close) peer.half_close();
        EXPECT_EQ(control_text(peer.read_message()), bad.answer);
        EXPECT_TRUE(peer.at_end());
        EXPECT_EQ(LogLines::count(address), 1u);
        // The others do not notice.
        other.send(server.ping());
        EXPECT_EQ(ParsedReply(other.read_message()).text(), "NO_EXCEPTION");
    }
    EXPECT_EQ(server.servant().calls, std::size(bad_messages));
}

TEST_P(MalformedMessage, BehindGoodOnesLetsThoseBeServed)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    peer.send(server.ping(1) + server.ping(2) + text("garbage, of some length"));
    // Threads of a pool may overtake each other, but not the end.
    const auto first = ParsedReply(peer.read_message()).reply.request_id;
    const auto second = ParsedReply(peer.read_message()).reply.request_id;
    EXPECT_EQ(std::min(first, second), 1u);
    EXPECT_EQ(std::max(first, second), 2u);
    EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
    EXPECT_TRUE(peer.at_end());
    EXPECT_EQ(server.servant().calls, 2u);
}

TEST_P(MalformedMessage, SizeLimitIsTheOptions)
{
    RunningServer server(GetParam(), {"-ORBMaxMessageSize", "1000"});
    RawPeer peer = server.connect();
    peer.send(server.ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    const Octets argument(1000);
    peer.send(request(server.key(), "count_octets", 2).octets(argument).finish());
    EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
    EXPECT_TRUE(peer.at_end());
    EXPECT_EQ(LogLines::count("message is larger than allowed"), 1u);
}

TEST_P(MalformedMessage, SizeLimitCountsAllFragments)
{
    RunningServer server(GetParam(), {"-ORBMaxMessageSize", "1000"});
    RawPeer peer = server.connect();
    peer.send(first_part(server.key(), 1));
    for (int i = 0; i < 10; ++i)
        peer.send(fragment(1).raw(Octets(100)).flag(2).finish());
    EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
}

TEST_P(MalformedMessage, MemoryFollowsTheBytesSentNotTheSizeClaimed)
{
    RunningServer server(GetParam());
    RawPeer other = server.connect();
    other.send(server.ping());
    (void)other.read_message();
    const std::size_t before = heap::held;
    heap::highest = before;
    std::vector<RawPeer> peers;
    for (int i = 0; i < 20; ++i) {
        peers.push_back(server.connect());
        Octets start = request(server.key(), "count_octets").u32(200'000'000).finish(200'000'100);
        start.resize(start.size() + 5000);
        peers.back().send(server.ping());
        EXPECT_EQ(ParsedReply(peers.back().read_message()).text(), "NO_EXCEPTION");
        peers.back().send(start);
    }
    // Each has a turn after its bytes came: the answer to the half-close is it.
    for (RawPeer& peer : peers) {
        peer.half_close();
        EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
    }
    EXPECT_LT(heap::highest - before, std::size_t{4} << 20);
}

TEST_P(MalformedMessage, Trap24_HalfAMessageHoldsUpNobodyElse)
{
    RunningServer server(GetParam());
    RawPeer slow = server.connect();
    const Octets message = server.ping();
    slow.send(Bytes(message).first(message.size() / 2));
    RawPeer other = server.connect();
    for (std::uint32_t id = 0; id < 10; ++id) {
        other.send(server.ping(id));
        EXPECT_EQ(ParsedReply(other.read_message()).reply.request_id, id);
    }
    slow.send(Bytes(message).subspan(message.size() / 2));
    EXPECT_EQ(ParsedReply(slow.read_message()).text(), "NO_EXCEPTION");
}

TEST_P(MalformedMessage, Trap24_CancelRequestIsNoErrorAndDropsFragments)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    const Octets cancel = WireMessage(MessageType::cancel_request).u32(1).finish();
    // For more requests than may be incomplete at a time: each cancelled one is forgotten.
    for (std::size_t i = 0; i < 2 * limits::fragmented_messages_max; ++i)
        peer.send(first_part(server.key(), 1) + cancel);
    peer.send(server.ping(2));
    EXPECT_EQ(ParsedReply(peer.read_message()).reply.request_id, 2u);
    EXPECT_EQ(server.servant().calls, 1u);
}

TEST_P(MalformedMessage, MessageErrorFromTheClientClosesWithoutAnAnswer)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    const std::string address = peer.address();
    peer.send(WireMessage(MessageType::message_error).finish());
    EXPECT_TRUE(peer.at_end());
    EXPECT_EQ(LogLines::count(address), 1u);
}

TEST_P(MalformedMessage, Trap03_CloseConnectionOfAnyVersionIsAnOrderlyEnd)
{
    RunningServer server(GetParam());
    for (const giop::Version version : {giop::Version{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}}) {
        RawPeer peer = server.connect();
        peer.send(WireMessage(MessageType::close_connection, version).finish());
        EXPECT_TRUE(peer.at_end());
        EXPECT_EQ(LogLines::count(peer.address()), 0u);
    }
}

TEST_P(MalformedMessage, EndBetweenMessagesIsNoError)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    const std::string address = peer.address();
    peer.send(server.ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    peer.half_close();
    (void)peer.read_message(); // a CloseConnection at most
    EXPECT_TRUE(peer.at_end());
    EXPECT_EQ(LogLines::count(address), 0u);
}

// --- arguments -----------------------------------------------------------------------------------

/// Nested Trees, each the only child of the one before.
Octets deep_tree(Bytes key, std::size_t depth)
{
    // In one piece: tests are not optimised, and there may be millions of numbers.
    const std::vector<std::uint32_t> ones(2 * depth - 1, 1);
    return request(key, "count_trees")
        .align(sizeof(std::uint32_t))
        .raw(std::as_bytes(std::span(ones)))
        .u32(0)
        .finish();
}

const BadInput bad_arguments[] = {
    {"missing", [](Bytes key) { return request(key, "add").u32(1).finish(); }},
    {"trailing", [](Bytes key) { return request(key, "add").u32(1).u32(2).u8(0).finish(); }},
    {"trailing, no arguments", [](Bytes key) { return request(key, "ping").u8(0).finish(); }},
    {"octets beyond the end",
     [](Bytes key) { return request(key, "count_octets").u32(1000).u32(0).finish(); }},
    {"4 GiB - 1 octets",
     [](Bytes key) { return request(key, "count_octets").u32(0xffffffff).finish(); }},
    {"more strings than bytes",
     [](Bytes key) { return request(key, "count_strings").u32(0x10000000).u32(0).finish(); }},
    {"string beyond the end",
     [](Bytes key) { return request(key, "echo").u32(100).raw("abc").finish(); }},
    {"string without its NUL",
     [](Bytes key) { return request(key, "echo").u32(3).raw("abc").finish(); }},
    {"string of length zero", [](Bytes key) { return request(key, "echo").u32(0).finish(); }},
    {"string in a sequence without its NUL",
     [](Bytes key) {
         return request(key, "count_strings").u32(2).string("a").u32(2).raw("bc").finish();
     }},
    {"boolean of 2", [](Bytes key) { return request(key, "negate").u8(2).finish(); }},
    {"more trees than bytes",
     [](Bytes key) { return request(key, "count_trees").u32(1).u32(0x0fffffff).finish(); }},
    {"too deep", [](Bytes key) { return deep_tree(key, limits::nesting_max + 2); }},
    {"a depth bomb", [](Bytes key) { return deep_tree(key, 1'000'000); }},
    {"repository id without its NUL",
     [](Bytes key) { return request(key, "_is_a").u32(2).raw("ab").finish(); }},
};

class MalformedArguments : public EveryArchitecture {};

TEST_P(MalformedArguments, AreAnsweredByMarshalAndTheConnectionLivesOn)
{
    RunningServer server(GetParam());
    RawPeer other = server.connect();
    for (const BadInput& bad : bad_arguments) {
        SCOPED_TRACE(bad.name);
        LogLines::forget();
        RawPeer peer = server.connect();
        const std::string address = peer.address();
        peer.send(bad.bytes(server.key()));
        const ParsedReply answer(peer.read_message());
        EXPECT_TRUE(answer.text() == "MARSHAL 0x4b520005 NO" || // malformed_request
                    answer.text() == "MARSHAL 0x4b52000c NO")   // trailing_bytes
            << answer.text();
        peer.send(bad.bytes(server.key())); // once more, which is not logged
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), answer.text());
        peer.send(server.ping());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
        EXPECT_TRUE(LogLines::wait_for(address)); // by a thread of a pool, behind its answer
        EXPECT_EQ(LogLines::count(address), 1u);
        other.send(server.ping());
        EXPECT_EQ(ParsedReply(other.read_message()).text(), "NO_EXCEPTION");
    }
    EXPECT_EQ(server.servant().calls, 2 * std::size(bad_arguments)); // the pings
}

TEST_P(MalformedArguments, OfAOnewayAreLogged)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    LogLines::forget();
    const std::string address = peer.address();
    peer.send(request(server.key(), "note", 1, giop::version_1_2, false).u8(1).finish());
    peer.send(server.ping());
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
    EXPECT_TRUE(LogLines::wait_for(address)); // a pool's threads may overtake each other
    EXPECT_EQ(LogLines::count(address), 1u);
    EXPECT_EQ(server.servant().calls, 1u); // the ping
}

TEST_P(MalformedArguments, OfOldVersionsAreAnsweredInThem)
{
    RunningServer server(GetParam());
    for (const giop::Version version : {giop::version_1_0, giop::version_1_1}) {
        RawPeer peer = server.connect();
        peer.send(request(server.key(), "add", 1, version).u32(1).finish());
        const ParsedReply answer(peer.read_message());
        EXPECT_EQ(answer.text(), "MARSHAL 0x4b520005 NO");
        EXPECT_EQ(answer.reply.version, version);
    }
}

TEST_P(MalformedArguments, DepthAtTheLimitIsServed)
{
    RunningServer server(GetParam());
    RawPeer peer = server.connect();
    peer.send(deep_tree(server.key(), limits::nesting_max));
    EXPECT_EQ(ParsedReply(peer.read_message()).text(), "NO_EXCEPTION");
}

TEST_P(MalformedArguments, LengthsAllocateNothingBeforeTheBytesAreThere)
{
    RunningServer server(GetParam());
    RawPeer first = server.connect();
    first.send(server.ping());
    (void)first.read_message();
    const std::size_t before = heap::held;
    heap::highest = before;
    for (const char* operation : {"count_octets", "count_strings", "echo"}) {
        RawPeer peer = server.connect();
        peer.send(request(server.key(), operation).u32(0x7ffffff0).u32(0).finish());
        EXPECT_EQ(ParsedReply(peer.read_message()).text(), "MARSHAL 0x4b520005 NO");
    }
    EXPECT_LT(heap::highest - before, std::size_t{1} << 20);
}

TEST_P(MalformedArguments, NoMemoryForAMessageEndsThatConnectionOnly)
{
    RunningServer server(GetParam());
    RawPeer other = server.connect();
    RawPeer peer = server.connect();
    const std::string address = peer.address();
    other.send(server.ping());
    (void)other.read_message();
    Octets large = request(server.key(), "count_octets").octets(Octets(3'000'000)).finish();
    large.resize(600'000); // more than there is
    heap::largest_permitted = 400'000;
    peer.send(large);
    EXPECT_TRUE(LogLines::wait_for("out of memory for a message from " + address));
    heap::largest_permitted = SIZE_MAX;
    other.send(server.ping());
    EXPECT_EQ(ParsedReply(other.read_message()).text(), "NO_EXCEPTION");
}

KAIROS_EVERY_ARCHITECTURE(MalformedMessage);
KAIROS_EVERY_ARCHITECTURE(MalformedArguments);

} // namespace
} // namespace kairos::orb_testing
