// SPDX-License-Identifier: Apache-2.0
//
// -ORBPublish: what its items mean on a machine with known interfaces, and which it refuses.
#include "kairos/orb/options.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

net::InterfaceAddress at(const char* interface, const char* address)
{
    return {interface, net::Address::parse(address, 0).value()};
}

Machine machine()
{
    return {.host_name = "station",
            .addresses = {at("lo", "127.0.0.1"), at("lo", "::1"), at("docker0", "172.17.0.1"),
                          at("br-0123", "172.18.0.1"), at("veth7", "10.9.0.1"),
                          at("eth0", "2001:db8::1"), at("eth0", "fe80::1"), at("eth0", "192.0.2.1"),
                          at("wlan0", "198.51.100.7")}};
}

/// "host:port …" of what is published about a listener, or the reason why not.
std::string published(std::string_view items, const char* host, const Machine& on = machine())
{
    const auto parsed = parse_publish(items);
    if (!parsed) return parsed.error().reason;
    const auto addresses =
        published_addresses(*parsed, net::Address::parse(host, 7000).value(), on);
    if (!addresses) return addresses.error().reason;
    std::string text;
    for (const ior::Address& address : *addresses)
        text += (text.empty() ? "" : " ") + ior::to_string(address);
    return text;
}

constexpr const char* any = "0.0.0.0";
constexpr const char* any_ipv6 = "::";

TEST(Publish, OfEveryInterfaceIsWhatOthersCanReach)
{
    EXPECT_EQ(published("addresses", any), "192.0.2.1:7000 198.51.100.7:7000");
    EXPECT_EQ(published("addresses", any_ipv6),
              "192.0.2.1:7000 198.51.100.7:7000 [2001:db8::1]:7000");
    EXPECT_EQ(published("ipv4", any_ipv6), "192.0.2.1:7000 198.51.100.7:7000");
    EXPECT_EQ(published("ipv6", any_ipv6), "[2001:db8::1]:7000");
    EXPECT_EQ(published("ipv6", any), "");
    EXPECT_EQ(published("ipv6,ipv4", any_ipv6),
              "[2001:db8::1]:7000 192.0.2.1:7000 198.51.100.7:7000");
}

TEST(Publish, LoopbackOnlyWhereThereIsNothingElse)
{
    const Machine alone{.host_name = "alone",
                        .addresses = {at("lo", "127.0.0.1"), at("docker0", "172.17.0.1")}};
    EXPECT_EQ(published("addresses", any, alone), "127.0.0.1:7000");
    EXPECT_EQ(published("addresses", any_ipv6, alone), "[::1]:7000");
    EXPECT_EQ(published("addresses", any, {}), "127.0.0.1:7000");
}

TEST(Publish, OfOneAddressIsThatAddress)
{
    EXPECT_EQ(published("addresses", "127.0.0.1"), "127.0.0.1:7000");
    EXPECT_EQ(published("addresses,ipv6", "::1"), "[::1]:7000");
    EXPECT_EQ(published("ipv4", "::1"), "");
    EXPECT_EQ(published("addresses", "172.17.0.1"), "172.17.0.1:7000") << "it was asked for";
}

TEST(Publish, AnInterfaceThatIsNamed)
{
    EXPECT_EQ(published("interface=wlan0", any), "198.51.100.7:7000");
    EXPECT_EQ(published("interface=eth0", any), "192.0.2.1:7000");
    EXPECT_EQ(published("interface=eth0", any_ipv6), "[2001:db8::1]:7000 192.0.2.1:7000");
    EXPECT_EQ(published("interface=docker0", any), "172.17.0.1:7000") << "even this one";
    EXPECT_EQ(published("interface=eth0", "192.0.2.1"), "192.0.2.1:7000");
    EXPECT_EQ(published("interface=wlan0", "192.0.2.1"), "") << "nobody listens there";
    EXPECT_EQ(published("interface=wlan0:80", any), "198.51.100.7:80");
    EXPECT_EQ(published("interface=eth1", any),
              "interface=eth1: no interface of this name is up and has an address");
}

TEST(Publish, NamesAndPlacesInFrontOfTheServer)
{
    EXPECT_EQ(published("hostname", any), "station:7000");
    EXPECT_EQ(published("hostname:32768", any), "station:32768");
    EXPECT_EQ(published("host=gate.example:80", any), "gate.example:80");
    EXPECT_EQ(published("host=gate.example", any), "gate.example:7000");
    EXPECT_EQ(published("host=[2001:db8::9]:80", any), "[2001:db8::9]:80");
    EXPECT_EQ(published("host=gate.example:80,hostname,interface=eth0,addresses", any),
              "gate.example:80 station:7000 192.0.2.1:7000 198.51.100.7:7000");
    EXPECT_EQ(published("host=192.0.2.1,addresses,addresses:80", any),
              "192.0.2.1:7000 198.51.100.7:7000 192.0.2.1:80 198.51.100.7:80");
    EXPECT_EQ(published("hostname", any, {}), "") << "a machine without a name";
}

TEST(Publish, BadItemsAreRefusedWithTheReason)
{
    constexpr const char* expected = "expected addresses, ipv4, ipv6, hostname, interface=NAME or "
                                     "host=NAME, each perhaps with :port";
    constexpr const char* bad_host = "not the name or address of a host";
    constexpr const char* bad_port = "the port is not a number of 0 to 65535";
    constexpr const char* unreachable = "nobody can connect to this address";
    const std::pair<const char*, const char*> items[] = {
        {"", expected},
        {"all", expected},
        {"Addresses", expected},
        {"addresses=", expected},
        {"[addresses]", expected},
        {"interface=[eth0]", expected},
        {"colour=red", expected},
        {"interface=", "no name"},
        {"host=", bad_host},
        {"host=a b", bad_host},
        {"host=a/b", bad_host},
        {"host=1.2.3", bad_host},
        {"host=0", bad_host},
        {"host=[::x]", bad_host},
        {"host=0.0.0.0", unreachable},
        {"host=[::]", unreachable},
        {"host=0.0.0.0:80", unreachable},
        {"host=[::ffff:0.0.0.0]", unreachable},
        {"host=::1", "an IPv6 address must be in brackets"},
        {"host=[::1", "'[' without ']'"},
        {"host=h:", bad_port},
        {"host=h:65536", bad_port},
        {"host=h:+1", bad_port},
        {"ipv4:x", bad_port},
        {"host=[::1]x", bad_port},
        {"host=h:0", "nobody can connect to port 0"},
    };
    for (const auto& [item, reason] : items) {
        EXPECT_EQ(published(item, any), '\'' + std::string(item) + "': " + reason);
        EXPECT_EQ(published("addresses," + std::string(item), any),
                  '\'' + std::string(item) + "': " + reason);
    }
    EXPECT_EQ(published("host=" + std::string(256, 'h'), any).substr(262),
              "': " + std::string(bad_host));
}

TEST(Publish, TheOptionNamesItself)
{
    std::vector<std::string> arguments{"-ORBPublish", "addresses,"};
    const auto options = parse_options(arguments);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().reason.substr(0, 26), "-ORBPublish: '': expected ");
    arguments = {"-ORBPublishAs", "both"};
    EXPECT_EQ(parse_options(arguments).error().reason,
              "-ORBPublishAs: 'both' is not alternates or profiles");
    arguments = {"-ORBPublish", "hostname,addresses", "-ORBPublishAs", "profiles"};
    const auto good = parse_options(arguments);
    ASSERT_TRUE(good);
    EXPECT_EQ(good->publish.size(), 2u);
    EXPECT_EQ(good->publish_as, PublishAs::profiles);
}

TEST(Publish, OfThisMachineIsNeverNowhere)
{
    for (const char* host : {any, any_ipv6}) {
        const std::string text = published("addresses", host, Machine::current());
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text.find("0.0.0.0"), std::string::npos) << text;
        EXPECT_EQ(text.find("[::]"), std::string::npos) << text;
    }
}

} // namespace
} // namespace kairos::orb
