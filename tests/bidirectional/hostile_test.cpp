// SPDX-License-Identifier: Apache-2.0
//
// What a peer may say of listen points, and do to calls back: bytes by hand.
#include "kairos/orb/context_list.h"
#include "kairos/orb/listen_points.h"
#include "tests/bidirectional/fixture.h"

namespace kairos::orb_testing {
namespace {

using orb::append_listen_points;

const ior::Address own_point = orb::unreachable_listen_point(0x1234);

/// A reference to the test's own callback, at this address.
Both::Callback_var callback_at(CORBA::ORB_ptr orb, const ior::Address& address)
{
    const std::string url =
        "corbaloc::1.2@" + address.host + ":" + std::to_string(address.port) + "/callback";
    const CORBA::Object_var object = orb->string_to_object(url.c_str());
    return Both::Callback::_unchecked_narrow(object);
}

/// A request for hub->ping() whose contexts offer the connection for these points.
Octets offer(const HubServer& server, const std::vector<ior::Address>& points,
             std::uint32_t request_id = 0)
{
    orb::ContextList list;
    append_listen_points(list, points);
    WireMessage message(giop::MessageType::request);
    message.u32(request_id).u8(3).raw(std::string_view("\0\0\0", 3));
    message.u16(0).octets(server.key()).string("ping").align(4);
    message.raw(list.bytes()).align(8);
    return message.finish();
}

class Hostile : public ::testing::TestWithParam<const char*> {
  protected:
    [[nodiscard]] static std::vector<std::string> options()
    {
        auto options = options_of_architecture(GetParam());
        options.insert(options.end(), {"-ORBListenEndpoints", "iiop://127.0.0.1:0"});
        return options;
    }
    [[nodiscard]] RawPeer connect() const { return RawPeer::connect(server_.port()); }
    void offer_and_expect_reply(RawPeer& peer, const std::vector<ior::Address>& points)
    {
        peer.send(offer(server_, points));
        const ParsedReply reply(peer.read_message());
        EXPECT_EQ(reply.text(), "NO_EXCEPTION");
    }
    /// What calling this listen point ends with, where nobody but the peer could be reached there.
    [[nodiscard]] std::string call(const ior::Address& point)
    {
        const Both::Callback_var target = callback_at(server_.party().orb(), point);
        return outcome([&] { (void)target->twice(1); });
    }

    LogLines log_;
    HubServer server_{options()};
};

/// The request that the server sends on the connection, checked for its number.
std::uint32_t read_request(RawPeer& peer, std::string_view operation)
{
    Octets bytes = peer.read_message();
    giop::MessageHeader header;
    EXPECT_EQ(giop::parse_header(bytes.data(), header), giop::Fault::none);
    EXPECT_EQ(header.type, giop::MessageType::request);
    giop::Request request;
    const giop::Message message{header.version, header.type, header.little_endian, bytes};
    EXPECT_EQ(giop::parse(message, request), cdr::Fault::none);
    EXPECT_EQ(request.operation, operation);
    EXPECT_EQ(request.request_id % 2, 1u); // the end that has accepted has the odd numbers
    return request.request_id;
}

TEST_P(Hostile, CallsBackHaveOddNumbers)
{
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {own_point});
    for (CORBA::Long i = 0; i < 3; ++i) {
        std::thread caller([&] {
            const Both::Callback_var target = callback_at(server_.party().orb(), own_point);
            EXPECT_EQ(target->twice(i), 2 * i);
        });
        const std::uint32_t id = read_request(peer, "twice");
        peer.send(reply(id + 2, 0).u32(7).finish()); // nobody waits for that
        peer.send(reply(id, 0).u32(static_cast<std::uint32_t>(2 * i)).finish());
        caller.join();
    }
}

TEST_P(Hostile, StrangersAddressesAreRefused)
{
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {{"192.0.2.1", 2809}, {"example.org", 2809}});
    EXPECT_TRUE(LogLines::wait_for("listen point 192.0.2.1 port 2809 refused"));
    EXPECT_TRUE(LogLines::wait_for("it is not the peer's own address"));
}

TEST_P(Hostile, TooManyListenPointsAreRefused)
{
    RawPeer peer = connect();
    std::vector<ior::Address> points;
    for (std::uint16_t port = 1; port <= 3000; ++port)
        points.push_back({"127.0.0.1", port});
    offer_and_expect_reply(peer, points);
    EXPECT_TRUE(LogLines::wait_for("listen points refused: malformed, or more than 64"));
    // Not by saying a few again and again either.
    for (std::uint16_t port = 1; port <= 128; ++port)
        offer_and_expect_reply(peer, {{"127.0.0.1", static_cast<std::uint16_t>(port + 20'000)}});
    EXPECT_TRUE(LogLines::wait_for("refused, said by"));
    EXPECT_TRUE(LogLines::wait_for("there are too many"));
}

TEST_P(Hostile, MalformedContextsAreNoOffers)
{
    RawPeer peer = connect();
    orb::ContextList list;
    constexpr std::byte nonsense[] = {std::byte{9}, std::byte{9}};
    list.append(orb::listen_points_context_id, nonsense);
    WireMessage message(giop::MessageType::request);
    message.u32(0).u8(3).raw(std::string_view("\0\0\0", 3));
    message.u16(0).octets(server_.key()).string("ping").align(4);
    message.raw(list.bytes()).align(8);
    peer.send(message.finish());
    const ParsedReply answer(peer.read_message());
    EXPECT_EQ(answer.text(), "NO_EXCEPTION");
    EXPECT_EQ(call(own_point).substr(0, 9), "TRANSIENT");
}

/// Replies that nobody may send: no bidirectional connection has them in that direction.
TEST_P(Hostile, RepliesWithoutAnOfferAreErrors)
{
    RawPeer peer = connect();
    peer.send(reply(1, 0).finish());
    EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
    EXPECT_TRUE(peer.at_end());
}

TEST_P(Hostile, OffersBeforeGiop12AreIgnored)
{
    RawPeer peer = connect();
    orb::ContextList list;
    append_listen_points(list, std::vector<ior::Address>{own_point});
    WireMessage message(giop::MessageType::request, giop::version_1_1);
    message.raw(list.bytes()).align(4);
    message.u32(0).u8(1).raw(std::string_view("\0\0\0", 3)).octets(server_.key()).string("ping");
    message.u32(0);
    peer.send(message.finish());
    EXPECT_FALSE(peer.read_message().empty());
    EXPECT_EQ(call(own_point).substr(0, 9), "TRANSIENT");
}

TEST_P(Hostile, ThePeerEndsWithinACallBack)
{
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {own_point});
    std::string came_to;
    std::thread caller([&] { came_to = call(own_point); });
    (void)read_request(peer, "twice");
    peer.close();
    caller.join();
    EXPECT_EQ(came_to.substr(0, 12), "COMM_FAILURE");
    EXPECT_EQ(came_to.substr(came_to.size() - 5), "MAYBE");
}

/// What CloseConnection leaves unanswered was not executed, and is tried at the address itself.
TEST_P(Hostile, ThePeerClosesInOrderWithinACallBack)
{
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {own_point});
    std::string came_to;
    std::thread caller([&] { came_to = call(own_point); });
    (void)read_request(peer, "twice");
    peer.send(WireMessage(giop::MessageType::close_connection).finish());
    caller.join();
    EXPECT_EQ(came_to.substr(0, 9), "TRANSIENT"); // nobody listens there
}

TEST_P(Hostile, MalformedRepliesEndTheConnection)
{
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {own_point});
    std::string came_to;
    std::thread caller([&] { came_to = call(own_point); });
    (void)read_request(peer, "twice");
    peer.send(WireMessage(giop::MessageType::reply).u8(1).finish());
    EXPECT_EQ(control_text(peer.read_message()), "MessageError 1.2");
    caller.join();
    EXPECT_EQ(came_to.substr(0, 12), "COMM_FAILURE");
}

/// Calls go on where the client comes back with a new connection.
TEST_P(Hostile, ThePeerComesBack)
{
    {
        RawPeer peer = connect();
        offer_and_expect_reply(peer, {own_point});
    }
    RawPeer peer = connect();
    offer_and_expect_reply(peer, {own_point});
    std::string came_to;
    std::thread caller([&] { came_to = call(own_point); });
    peer.send(reply(read_request(peer, "twice"), 0).u32(2).finish());
    caller.join();
    EXPECT_EQ(came_to, "ok");
}

/// The offer may come with a message that is followed by others in the same read.
TEST_P(Hostile, WhatCameBehindTheOfferIsServed)
{
    RawPeer peer = connect();
    Octets all = offer(server_, {own_point}, 0);
    for (std::uint32_t id = 2; id <= 20; id += 2) {
        const Octets next = request(server_.key(), "ping", id).finish();
        all.insert(all.end(), next.begin(), next.end());
    }
    all.resize(all.size() - 5); // the last one not wholly
    peer.send(all);
    const Octets last = request(server_.key(), "ping", 20).finish();
    peer.send(Bytes(last).last(5));
    for (int i = 0; i < 11; ++i)
        EXPECT_FALSE(peer.read_message().empty());
}

INSTANTIATE_TEST_SUITE_P(Every, Hostile,
                         ::testing::Values("thread-per-connection", "reactor", "leader-followers",
                                           "worker-pool", "thread-per-request", "thread-per-object",
                                           "reactor-per-priority"),
                         architecture_name);

/// With -ORBBidirectional any a peer may say whatever it likes.
TEST(Trust, InWhateverPeersSay)
{
    const LogLines log;
    HubServer server({"-ORBListenEndpoints", "iiop://127.0.0.1:0", "-ORBBidirectional", "any"});
    RawPeer peer = RawPeer::connect(server.port());
    const ior::Address point{"192.0.2.1", 2809};
    peer.send(offer(server, {point}));
    EXPECT_FALSE(peer.read_message().empty());
    std::thread caller([&] {
        const Both::Callback_var target = callback_at(server.party().orb(), point);
        EXPECT_EQ(target->twice(1), 2);
    });
    peer.send(reply(read_request(peer, "twice"), 0).u32(2).finish());
    caller.join();
}

} // namespace
} // namespace kairos::orb_testing
