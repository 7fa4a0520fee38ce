// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/address.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cstring>
#include <net/if.h>
#include <set>
#include <unordered_set>

namespace kairos::net {
namespace {

std::string round_trip(std::string_view host, std::uint16_t port)
{
    const auto address = Address::parse(host, port);
    return address ? (*address).to_text() : address.error().reason;
}

TEST(Address, NumericHostsRoundTrip)
{
    EXPECT_EQ(round_trip("127.0.0.1", 2809), "127.0.0.1:2809");
    EXPECT_EQ(round_trip("0.0.0.0", 0), "0.0.0.0:0");
    EXPECT_EQ(round_trip("255.255.255.255", 65535), "255.255.255.255:65535");
    EXPECT_EQ(round_trip("::1", 1), "[::1]:1");
    EXPECT_EQ(round_trip("[::1]", 1), "[::1]:1");
    EXPECT_EQ(round_trip("2001:DB8:0:0::17", 80), "[2001:db8::17]:80");
    EXPECT_EQ(round_trip("::ffff:192.0.2.1", 80), "[::ffff:192.0.2.1]:80");
}

TEST(Address, WhatIsNotNumericIsRefusedAndNamed)
{
    using namespace std::string_view_literals;
    for (const auto host : {""sv, "localhost"sv, "127.0.0"sv, "127.0.0.256"sv, "127.0.0.1 "sv,
                            "127.1"sv, "::1::"sv, "[]"sv, "[::1"sv, "::1]"sv, "[127.0.0.1]"sv,
                            "127.0.0.1\0"sv, "::1\0"sv, "%"sv, "::1%lo"sv, "1:2:3:4:5:6:7:8:9"sv,
                            "1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111"sv}) {
        const auto address = Address::parse(host, 1);
        ASSERT_FALSE(address) << host;
        EXPECT_EQ(address.error().code, ErrorCode::invalid_argument) << host;
        EXPECT_NE(address.error().reason.find(host), std::string::npos) << host;
    }
}

TEST(Address, ScopeIsANameOrANumberOfAnInterface)
{
    char name[IF_NAMESIZE];
    ASSERT_NE(::if_indextoname(1, name), nullptr);
    const std::string expected = "[fe80::1%" + std::string(name) + "]:5";
    EXPECT_EQ(round_trip("fe80::1%" + std::string(name), 5), expected);
    EXPECT_EQ(round_trip("[fe80::1%1]", 5), expected);
    EXPECT_EQ(round_trip("fe80::1%4000000000", 5), "[fe80::1%4000000000]:5");
    for (const char* host : {"fe80::1%", "fe80::1%no-such-interface-at-all", "fe80::1%0",
                             "fe80::1%99999999999", "2001:db8::1%1"})
        EXPECT_FALSE(Address::parse(host, 5)) << host;
}

TEST(Address, UnixPathsAndAbstractNames)
{
    EXPECT_EQ((*Address::unix_path("/tmp/a socket")).to_text(), "unix:/tmp/a socket");
    EXPECT_EQ((*Address::unix_path("@abstract")).to_text(), "unix:@abstract");
    EXPECT_EQ((*Address::unix_path("/tmp/s")).family(), Address::Family::unix_domain);
    // sun_path has 108 bytes; only a path in the file system needs one for its terminator.
    EXPECT_TRUE(Address::unix_path(std::string(107, 'p')));
    EXPECT_FALSE(Address::unix_path(std::string(108, 'p')));
    EXPECT_TRUE(Address::unix_path("@" + std::string(107, 'p')));
    EXPECT_FALSE(Address::unix_path("@" + std::string(108, 'p')));
    EXPECT_FALSE(Address::unix_path(""));
    EXPECT_FALSE(Address::unix_path(std::string_view("/tmp/\0s", 7)));
}

TEST(Address, FromNativeDoubtsWhatItIsGiven)
{
    const Address address = Address::loopback_ipv4(7);
    EXPECT_EQ(Address::from_native(address.native(), address.native_size()), address);
    EXPECT_EQ(Address::from_native(address.native(), address.native_size() - 1), Address());
    EXPECT_EQ(Address::from_native(address.native(), 1), Address());
    EXPECT_EQ(Address::from_native(nullptr, 16), Address());
    const Address v6 = Address::loopback_ipv6(7);
    EXPECT_EQ(Address::from_native(v6.native(), sizeof(sockaddr_in)), Address());

    // The kernel may report a path without its terminator, and counts it otherwise.
    const Address path = *Address::unix_path("/tmp/s");
    EXPECT_EQ(Address::from_native(path.native(), path.native_size() - 1), path);
    // A path that fills sun_path has no terminator at all.
    sockaddr_un full{};
    full.sun_family = AF_UNIX;
    std::memset(full.sun_path, 'p', sizeof full.sun_path);
    const auto long_path = Address::from_native(reinterpret_cast<sockaddr*>(&full), sizeof full);
    EXPECT_EQ(long_path.host_text(), std::string(sizeof full.sun_path, 'p'));
    // An unnamed socket.
    EXPECT_EQ(Address::from_native(reinterpret_cast<sockaddr*>(&full), sizeof(sa_family_t)),
              Address());
    EXPECT_EQ(Address().to_text(), "none");
}

TEST(Address, Properties)
{
    EXPECT_TRUE((*Address::parse("127.3.2.1", 0)).is_loopback());
    EXPECT_TRUE((*Address::parse("::1", 0)).is_loopback());
    EXPECT_FALSE((*Address::parse("128.0.0.1", 0)).is_loopback());
    EXPECT_FALSE(Address().is_loopback());
    EXPECT_TRUE(Address::any_ipv4(5).is_any());
    EXPECT_TRUE(Address::any_ipv6(5).is_any());
    EXPECT_FALSE(Address::loopback_ipv6().is_any());
    EXPECT_TRUE((*Address::parse("169.254.0.9", 0)).is_link_local());
    EXPECT_TRUE((*Address::parse("fe80::9", 0)).is_link_local());
    EXPECT_FALSE((*Address::parse("fec0::9", 0)).is_link_local());
    EXPECT_EQ(Address::any_ipv6(5).with_port(6).port(), 6);
    EXPECT_EQ((*Address::unix_path("/s")).with_port(6).port(), 0);
    EXPECT_EQ((*Address::parse("::ffff:192.0.2.1", 80)).unmapped().to_text(), "192.0.2.1:80");
    EXPECT_EQ(Address::loopback_ipv6(80).unmapped(), Address::loopback_ipv6(80));
}

TEST(Address, OrderEqualityAndHashAgree)
{
    const std::vector<Address> ascending = {
        Address(),
        *Address::parse("10.0.0.1", 9),
        *Address::parse("10.0.0.1", 256), // not in the order of the wire's bytes
        *Address::parse("200.0.0.1", 1),
        *Address::parse("fe80::1", 1),
        *Address::parse("fe80::1%1", 1),
        *Address::parse("fe80::1%2", 1),
        *Address::unix_path("@a"),
        *Address::unix_path("/a"),
        *Address::unix_path("/ab"),
    };
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        for (std::size_t j = 0; j < ascending.size(); ++j) {
            EXPECT_EQ(ascending[i] <=> ascending[j], i <=> j) << i << " and " << j;
            EXPECT_EQ(ascending[i] == ascending[j], i == j) << i << " and " << j;
        }
    }
    EXPECT_EQ(std::set<Address>(ascending.begin(), ascending.end()).size(), ascending.size());
    const std::unordered_set<Address> hashed(ascending.begin(), ascending.end());
    EXPECT_EQ(hashed.size(), ascending.size());

    sockaddr_in6 labelled{};
    std::memcpy(&labelled, Address::loopback_ipv6(5).native(), sizeof labelled);
    labelled.sin6_flowinfo = htonl(3);
    const Address same =
        Address::from_native(reinterpret_cast<sockaddr*>(&labelled), sizeof labelled);
    EXPECT_EQ(same, Address::loopback_ipv6(5));
    EXPECT_EQ(same.hash(), Address::loopback_ipv6(5).hash());
}

TEST(Resolve, NumericHostsAreReturnedAsTheyAre)
{
    const auto addresses = resolve("[::1]", 2809);
    ASSERT_TRUE(addresses);
    EXPECT_EQ(*addresses, std::vector{Address::loopback_ipv6(2809)});
}

TEST(Resolve, LocalhostIsThisMachine)
{
    const auto addresses = resolve("localhost", 2809);
    ASSERT_TRUE(addresses) << addresses.error().reason;
    ASSERT_FALSE((*addresses).empty());
    for (const Address& address : *addresses) {
        EXPECT_TRUE(address.is_loopback()) << address.to_text();
        EXPECT_EQ(address.port(), 2809);
    }
    EXPECT_EQ(std::set<Address>((*addresses).begin(), (*addresses).end()).size(),
              (*addresses).size());
}

TEST(Resolve, WhatCannotBeANameIsNotAskedFor)
{
    using namespace std::string_view_literals;
    for (const std::string& host :
         {std::string(), std::string(256, 'x'), std::string("localhost\0evil"sv)}) {
        const auto addresses = resolve(host, 1);
        ASSERT_FALSE(addresses);
        EXPECT_EQ(addresses.error().code, ErrorCode::invalid_argument);
    }
    // Refused by the resolver library itself, without a question to anybody: an empty label.
    const auto addresses = resolve("a..b", 1);
    ASSERT_FALSE(addresses);
    EXPECT_NE(addresses.error().reason.find("a..b"), std::string::npos);
}

TEST(InterfaceAddresses, HaveTheLoopbackOfThisMachine)
{
    const auto addresses = interface_addresses();
    ASSERT_TRUE(addresses) << addresses.error().reason;
    bool loopback = false;
    for (const auto& [interface, address] : *addresses) {
        EXPECT_FALSE(interface.empty());
        EXPECT_TRUE(address.is_ip());
        EXPECT_EQ(address.port(), 0);
        loopback |= address.is_loopback();
    }
    EXPECT_TRUE(loopback);
}

TEST(ReachableAddresses, AreThoseThatLeadHereFromOutsideIpv4First)
{
    const auto at = [](const char* interface, const char* address) {
        return InterfaceAddress{interface, Address::parse(address, 0).value()};
    };
    const std::vector<Address> reachable = reachable_addresses(
        {at("lo", "127.0.0.1"), at("lo", "::1"), at("docker0", "172.17.0.1"),
         at("br-0123456789ab", "172.18.0.1"), at("veth12", "10.9.0.1"), at("virbr0", "192.0.2.99"),
         at("eth0", "2001:db8::1"), at("eth0", "fe80::1"), at("eth0", "192.0.2.1"),
         at("br0", "192.0.2.2"), at("wlan0", "169.254.7.7")});
    std::string hosts;
    for (const Address& address : reachable)
        hosts += address.host_text() + ' ';
    EXPECT_EQ(hosts, "192.0.2.1 192.0.2.2 169.254.7.7 2001:db8::1 ");
    EXPECT_TRUE(reachable_addresses({}).empty());
}

} // namespace
} // namespace kairos::net
