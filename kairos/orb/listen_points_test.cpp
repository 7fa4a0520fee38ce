// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/listen_points.h"

#include "kairos/giop/message.h"
#include "kairos/net/address.h"
#include "kairos/orb/bidirectional.h"
#include "kairos/orb/context_list.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

std::optional<std::vector<ior::Address>> written_and_read(const std::vector<ior::Address>& points)
{
    ContextList list;
    append_listen_points(list, points);
    const auto context = list.contexts().find(listen_points_context_id);
    return context ? decode_listen_points(*context) : std::nullopt;
}

TEST(ListenPoints, AreReadAsTheyWereWritten)
{
    const std::vector<ior::Address> points{{"192.0.2.1", 2809}, {"2001:db8::1", 1}, {"", 0}};
    EXPECT_EQ(written_and_read(points), points);
    EXPECT_EQ(written_and_read({}), std::vector<ior::Address>());
}

TEST(ListenPoints, AreBounded)
{
    std::vector<ior::Address> points(listen_points_max, ior::Address{"192.0.2.1", 2809});
    EXPECT_TRUE(written_and_read(points).has_value());
    points.push_back(points.front());
    EXPECT_FALSE(written_and_read(points).has_value());
    EXPECT_FALSE(written_and_read({{std::string(256, 'a'), 1}}).has_value());
}

TEST(ListenPoints, MalformedOnesAreNone)
{
    EXPECT_FALSE(decode_listen_points({}).has_value());
    constexpr std::byte many[] = {std::byte{1},    std::byte{},     std::byte{},
                                  std::byte{},     std::byte{0xFF}, std::byte{0xFF},
                                  std::byte{0xFF}, std::byte{0x7F}};
    EXPECT_FALSE(decode_listen_points(many).has_value());
}

/// As CORBA 3.3 part 2, 9.8.1 has it: an encapsulation of a sequence of hosts and ports.
TEST(ListenPoints, LookAsOthersWriteThem)
{
    constexpr unsigned char context[] = {0,   0,   0,   0,   0,   0,   0,    1,
                                         0,   0,   0,   10,  '1', '9', '2',  '.',
                                         '0', '.', '2', '.', '1', 0,   0x0A, 0xF9};
    const auto points =
        decode_listen_points({reinterpret_cast<const std::byte*>(context), sizeof context});
    ASSERT_TRUE(points.has_value());
    EXPECT_EQ(*points, (std::vector<ior::Address>{{"192.0.2.1", 2809}}));
}

TEST(ListenPoints, OfAnOrbThatListensNowhereAreItsOwn)
{
    EXPECT_EQ(unreachable_listen_point(0xAB).host, "kairos-00000000000000ab.invalid");
    EXPECT_NE(unreachable_listen_point(1), unreachable_listen_point(2));
    EXPECT_TRUE(is_unreachable(unreachable_listen_point(1).host));
    EXPECT_FALSE(is_unreachable("invalid.example.org"));
    EXPECT_FALSE(net::resolve(unreachable_listen_point(1).host, 1).ok());
}

TEST(OwnAddresses, AreThoseOfTheConnection)
{
    const OwnAddresses stranger(*net::Address::parse("192.0.2.1", 40'000));
    EXPECT_TRUE(stranger.has({"192.0.2.1", 2809}));
    EXPECT_TRUE(stranger.has({"::ffff:192.0.2.1", 2809}));
    EXPECT_TRUE(stranger.has(unreachable_listen_point(7)));
    EXPECT_FALSE(stranger.has({"192.0.2.2", 2809}));
    EXPECT_FALSE(stranger.has({"127.0.0.1", 2809})); // that is us
    EXPECT_FALSE(stranger.has({"localhost", 2809})); // names are not looked up
    EXPECT_FALSE(stranger.has({"", 2809}));
}

TEST(OwnAddresses, OfThisHostAreAllOfThem)
{
    for (const net::Address& peer : {net::Address::loopback_ipv4(1),
                                     net::Address::unix_peer({.pid = 1, .uid = 0, .gid = 0})}) {
        const OwnAddresses own(peer);
        EXPECT_TRUE(own.has({"127.0.0.1", 2809}));
        EXPECT_TRUE(own.has({"::1", 2809}));
        EXPECT_FALSE(own.has({"192.0.2.1", 2809}));
    }
}

} // namespace
} // namespace kairos::orb
