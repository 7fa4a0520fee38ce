// SPDX-License-Identifier: Apache-2.0
//
// Packets and how messages are put together of them, by a clock of the test's; what references and
// URLs say of groups.
#include "kairos/datagrams/assembly.h"
#include "kairos/datagrams/group.h"
#include "kairos/datagrams/packet.h"
#include "kairos/datagrams/profiles.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace kairos::datagrams {
namespace {

using namespace std::chrono_literals;
using Octets = std::vector<std::byte>;
using What = Assembly::Taken::What;

OwnPacketId id_of(std::uint8_t number)
{
    OwnPacketId id{};
    id.front() = std::byte{number};
    return id;
}

Octets counting(std::size_t size)
{
    Octets octets(size);
    for (std::size_t i = 0; i < size; ++i)
        octets[i] = static_cast<std::byte>(i * 7 + i / 251);
    return octets;
}

Octets packet_of(std::uint8_t id, std::uint32_t number, std::uint32_t count, Bytes data)
{
    const auto header =
        make_packet_header(id_of(id), number, count, static_cast<std::uint16_t>(data.size()));
    Octets octets(header.begin(), header.end());
    octets.insert(octets.end(), data.begin(), data.end());
    return octets;
}

/// The packets of a message, of so many octets each.
std::vector<Octets> cut(std::uint8_t id, Bytes message, std::size_t each)
{
    std::vector<Octets> packets;
    const auto count = static_cast<std::uint32_t>((message.size() + each - 1) / each);
    for (std::uint32_t i = 0; i < count; ++i)
        packets.push_back(packet_of(
            id, i, count, message.subspan(i * each, std::min(each, message.size() - i * each))));
    return packets;
}

class Packets : public ::testing::Test {
  protected:
    Assembly::Taken take(Octets octets, std::string_view sender = "a", std::uint64_t host = 1)
    {
        kept_ = std::move(octets); // what is taken may borrow it
        Packet packet;
        EXPECT_EQ(read_packet(kept_, packet), "");
        return assembly_.take(sender, host, packet, now_);
    }
    What what(Octets octets, std::string_view sender = "a", std::uint64_t host = 1)
    {
        return take(std::move(octets), sender, host).what;
    }
    std::string_view why(Octets octets) { return take(std::move(octets)).why; }

    AssemblyLimits limits_{.message_octets = 100'000,
                           .octets = 64'000,
                           .octets_of_host = 32'000,
                           .messages = 8,
                           .messages_of_host = 4,
                           .remembered = 16};
    Assembly assembly_{limits_};
    Assembly::Time now_{};
    Octets kept_;
};

TEST_F(Packets, OneOfOneIsTheMessage)
{
    const Octets message = counting(100);
    const auto taken = take(packet_of(1, 0, 1, message));
    EXPECT_EQ(taken.what, What::message);
    EXPECT_TRUE(std::ranges::equal(taken.message, message));
    EXPECT_EQ(taken.message.data(), kept_.data() + own_header_size) << "not copied";
    EXPECT_EQ(what(packet_of(1, 0, 1, message)), What::repeated);
    EXPECT_EQ(what(packet_of(1, 0, 1, message), "b"), What::message) << "another sender's name";
}

TEST_F(Packets, InAnyOrderTheyAreTheMessage)
{
    const Octets message = counting(10'000);
    std::vector<Octets> packets = cut(2, message, 1000);
    std::vector<std::size_t> order(packets.size());
    std::iota(order.begin(), order.end(), 0);
    std::uint8_t id = 2;
    for (int round = 0; round < 60; ++round) {
        packets = cut(id++, message, 1000);
        std::ranges::rotate(order, order.begin() + round % 7);
        if (round % 2 == 0) std::swap(order.front(), order[static_cast<std::size_t>(round) % 10]);
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            EXPECT_EQ(what(packets[order[i]]), What::kept);
            EXPECT_EQ(what(packets[order[i]]), What::repeated);
        }
        const auto whole = take(packets[order.back()]);
        ASSERT_EQ(whole.what, What::message);
        EXPECT_TRUE(std::ranges::equal(whole.message, message));
        for (const Octets& each : packets)
            EXPECT_EQ(what(each), What::repeated) << "delivered once";
        EXPECT_EQ(assembly_.octets(), 0u);
    }
}

TEST_F(Packets, OfSeveralMessagesAtOnce)
{
    const Octets message = counting(3000);
    const auto one = cut(1, message, 1000);
    const auto other = cut(2, message, 1000);
    for (std::size_t i = 0; i < 2; ++i)
        for (const char* sender : {"a", "b"})
            for (const auto* packets : {&one, &other})
                EXPECT_EQ(what((*packets)[i], sender), What::kept);
    EXPECT_EQ(assembly_.messages(), 4u);
    for (const char* sender : {"a", "b"})
        for (const auto* packets : {&one, &other})
            EXPECT_EQ(what((*packets)[2], sender), What::message);
    EXPECT_EQ(assembly_.messages(), 0u);
}

TEST_F(Packets, OnlyTheLastSaysHowMany)
{
    const Octets message = counting(300);
    const auto part = [&](std::uint32_t number, bool is_last) {
        Octets octets = packet_of(3, number, is_last ? number + 1 : 0,
                                  Bytes(message).subspan(number * 100, 100));
        std::fill_n(octets.begin() + 12, 4, std::byte{0}); // the count is not said
        return octets;
    };
    EXPECT_EQ(what(part(2, true)), What::kept);
    EXPECT_EQ(what(part(0, false)), What::kept);
    const auto whole = take(part(1, false));
    ASSERT_EQ(whole.what, What::message);
    EXPECT_TRUE(std::ranges::equal(whole.message, message));
}

TEST_F(Packets, ThatContradictOthers)
{
    const Octets data = counting(10);
    constexpr std::string_view contradicts = "it contradicts others of its message";
    EXPECT_EQ(what(packet_of(1, 1, 3, data)), What::kept);
    EXPECT_EQ(why(packet_of(1, 0, 4, data)), contradicts) << "another count";
    EXPECT_EQ(why(packet_of(1, 1, 2, data)), contradicts) << "an earlier end";
    EXPECT_EQ(why(packet_of(1, 0, 1, data)), contradicts) << "of one";
    EXPECT_EQ(why(packet_of(1, 1, 3, counting(9))), contradicts) << "the same one, otherwise";
    EXPECT_EQ(why(packet_of(1, 4, 5, data)), contradicts);
    EXPECT_EQ(what(packet_of(1, 0, 3, data)), What::kept);
    EXPECT_EQ(what(packet_of(1, 2, 3, data)), What::message) << "none of that has harmed it";
}

TEST_F(Packets, TimeIsOver)
{
    const auto packets = cut(1, counting(3000), 1000);
    EXPECT_EQ(assembly_.next_expiry(), std::nullopt);
    EXPECT_EQ(what(packets[0]), What::kept);
    EXPECT_EQ(assembly_.next_expiry(), now_ + limits_.patience);
    now_ += limits_.patience - 1ms;
    EXPECT_EQ(what(packets[1]), What::kept);
    now_ += 1ms;
    EXPECT_EQ(why(packets[2]), "of a message that was given up");
    EXPECT_EQ(assembly_.take_given_up(), 1u);
    EXPECT_EQ(assembly_.take_given_up(), 0u);
    EXPECT_EQ(assembly_.octets(), 0u);
    now_ += limits_.memory;
    for (std::size_t i = 0; i < 2; ++i)
        EXPECT_EQ(what(packets[i]), What::kept) << "the name may be another message's now";
    EXPECT_EQ(what(packets[2]), What::message);
}

TEST_F(Packets, ASenderThatBeginsMuchHarmsItself)
{
    const auto others = cut(1, counting(2000), 1000);
    EXPECT_EQ(what(others[0], "honest", 7), What::kept);
    for (std::uint8_t id = 1; id < 100; ++id)
        EXPECT_EQ(what(packet_of(id, 0, 9, counting(900)), "many", 8), What::kept);
    EXPECT_LE(assembly_.messages(), 1 + limits_.messages_of_host);
    EXPECT_EQ(assembly_.take_given_up(), 99 - limits_.messages_of_host);
    EXPECT_EQ(what(others[1], "honest", 7), What::message);
}

TEST_F(Packets, ManyHostsKeepToTheLimit)
{
    for (std::uint64_t host = 0; host < 200; ++host)
        for (std::uint32_t number = 0; number < 40; ++number) {
            (void)what(packet_of(static_cast<std::uint8_t>(host), number, 60, counting(1000)),
                       std::to_string(host), host);
            EXPECT_LE(assembly_.octets(), limits_.octets);
            EXPECT_LE(assembly_.messages(), limits_.messages);
        }
}

TEST_F(Packets, AMessageThatIsTooLargeIsGivenUp)
{
    limits_.message_octets = 2500;
    Assembly small(limits_);
    const auto packets = cut(1, counting(4000), 1000);
    const auto take_small = [&](Octets octets) {
        kept_ = std::move(octets);
        Packet packet;
        EXPECT_EQ(read_packet(kept_, packet), "");
        return small.take("a", 1, packet, now_).why;
    };
    EXPECT_EQ(take_small(packets[0]), "");
    EXPECT_EQ(take_small(packets[1]), "");
    EXPECT_EQ(take_small(packets[2]), "of a message that is too large");
    EXPECT_EQ(take_small(packets[3]), "of a message that was given up");
    EXPECT_EQ(small.octets(), 0u);
}

TEST_F(Packets, WithoutAName)
{
    const Octets data = counting(8);
    const auto nameless = [&](std::uint32_t number, std::uint32_t count) {
        Octets octets = packet_of(0, number, count, data);
        octets.erase(octets.begin() + 20, octets.begin() + 28); // its header has 24 octets
        std::fill_n(octets.begin() + 16, 8, std::byte{0});
        return octets;
    };
    EXPECT_EQ(what(nameless(0, 1)), What::message);
    EXPECT_EQ(what(nameless(0, 1)), What::message) << "another one";
    EXPECT_EQ(why(nameless(0, 2)), "one of several packets, without a name");
}

TEST_F(Packets, ThatAreNone)
{
    const Octets good = packet_of(1, 0, 2, counting(16));
    Packet packet;
    for (std::size_t size = 0; size < good.size(); ++size) {
        Octets cut_short(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(read_packet(cut_short, packet), "") << size;
    }
    const auto with = [&](std::size_t at, unsigned value) {
        Octets octets = good;
        octets[at] = static_cast<std::byte>(value);
        return std::string(read_packet(octets, packet));
    };
    EXPECT_EQ(with(0, 'X'), "it does not begin with MIOP");
    EXPECT_EQ(with(4, 0x20), "another version of MIOP");
    EXPECT_EQ(with(6, 15), "not as long as its header says");
    EXPECT_EQ(with(10, 1), "of too many packets");
    EXPECT_EQ(with(5, native_little_endian ? 3 : 2),
              "it contradicts itself: which packet is the last");
    EXPECT_EQ(with(8, 2), "it contradicts itself: which packet is the last");
    EXPECT_EQ(with(17, 1), "the name of its message is too long");
    Octets longer = good;
    longer.push_back({});
    EXPECT_EQ(read_packet(longer, packet), "not as long as its header says");
}

TEST_F(Packets, InTheOtherByteOrder)
{
    Octets octets = packet_of(1, 1, 3, counting(16));
    octets[5] ^= std::byte{1};
    for (const auto& [at, size] : {std::pair{6, 2}, {8, 4}, {12, 4}, {16, 4}})
        std::reverse(octets.begin() + at, octets.begin() + at + size);
    Packet packet;
    EXPECT_EQ(read_packet(octets, packet), "");
    EXPECT_EQ(packet.number, 1u);
    EXPECT_EQ(packet.count, 3u);
    EXPECT_EQ(packet.data.size(), 16u);
}

ior::Ior reference_of(const std::string& url)
{
    const auto parsed = parse_group_url(url);
    EXPECT_TRUE(parsed && parsed->ok()) << url;
    return parsed->value();
}

std::string error_of(const std::string& url)
{
    const auto parsed = parse_group_url(url);
    return !parsed ? "none of a group" : parsed->ok() ? "" : parsed->error().reason;
}

TEST(GroupUrls, SayGroups)
{
    const auto group =
        group_of(reference_of(" CORBALOC:miop:1.0@1.0-Acme_Quotes-18446744073709551615-7/"
                              "239.1.2.3:5000 "));
    ASSERT_TRUE(group);
    EXPECT_EQ(group->name, (GroupName{"Acme_Quotes", ~std::uint64_t{0}}));
    EXPECT_EQ(group->reference_version, 7u);
    EXPECT_EQ(group->address, (ior::Address{"239.1.2.3", 5000}));
    EXPECT_EQ(group_of(reference_of("corbaloc:miop:1.0-d-1/[ff15::7]:9"))->address,
              (ior::Address{"ff15::7", 9}));
    const ior::Ior two = reference_of("corbaloc:miop:1.0-d-1/239.1.2.3:9;iiop:1.2@host:7/key");
    ASSERT_EQ(two.profiles.size(), 2u);
    EXPECT_EQ(two.profiles[1].tag, ior::tag_internet_iop);
    EXPECT_EQ(datagrams::targets(two).front().address, (ior::Address{"host", 7}))
        << "what answers is first";
    EXPECT_EQ(group_of(only_datagrams(two))->name.domain, "d");
}

TEST(GroupUrls, ThatSayNone)
{
    EXPECT_EQ(error_of("corbaloc:iiop:host/key"), "none of a group");
    EXPECT_EQ(error_of("corbaloc:mio"), "none of a group");
    for (const auto& [url, why] : std::vector<std::pair<std::string, std::string>>{
             {"", "the group's version"},
             {"2.0@1.0-d-1/239.1.2.3:9", "the version of MIOP"},
             {"1.1-d-1/239.1.2.3:9", "the group's version"},
             {"1.0--1/239.1.2.3:9", "the group's domain"},
             {"1.0-d-/239.1.2.3:9", "the group's id"},
             {"1.0-d-x/239.1.2.3:9", "the group's id"},
             {"1.0-d-1-x/239.1.2.3:9", "the version of the reference"},
             {"1.0-d-1-2-3/239.1.2.3:9", "the version of the reference"},
             {"1.0-d-1", "the port is missing"},
             {"1.0-d-1/239.1.2.3", "the port is missing"},
             {"1.0-d-1/239.1.2.3:0", "the port is not"},
             {"1.0-d-1/239.1.2.3:70000", "the port is not"},
             {"1.0-d-1/10.1.2.3:9", "no multicast address"},
             {"1.0-d-1/[fe80::1]:9", "no multicast address"},
             {"1.0-d-1/host.example:9", "no multicast address"},
             {"1.0-d-1/239.1.2.3:9;iiop:", "host is missing"},
             {"1.0-d-1/239.1.2.3:9;rir:", "no address of IIOP"}})
        EXPECT_NE(error_of("corbaloc:miop:" + url).find(why), std::string::npos)
            << url << ": " << error_of("corbaloc:miop:" + url);
}

TEST(GroupReferences, LeadToNobodyWhoHasNotJoined)
{
    GroupProfile profile{
        .name = {"d", 1}, .reference_version = 0, .address = {"10.1.2.3", 9}, .components = {}};
    const ior::Ior reference{.type_id = {}, .profiles = {make_group_profile(profile)}};
    EXPECT_FALSE(group_of(reference));
    EXPECT_TRUE(datagrams::targets(reference).empty());
    profile.address.host = "239.1.2.3";
    EXPECT_EQ(datagrams::targets({.type_id = {}, .profiles = {make_group_profile(profile)}}).size(),
              1u);
}

TEST(MulticastSettings, AreReadOrRefused)
{
    const auto settings = multicast_settings("interface=eth7,ttl=4,loopback=0,packet=600");
    ASSERT_TRUE(settings.ok());
    EXPECT_EQ(settings->interface, "eth7");
    EXPECT_EQ(settings->ttl, 4);
    EXPECT_FALSE(settings->loops);
    EXPECT_EQ(settings->packet, 600u);
    for (const char* bad : {"ttl=256", "ttl=-1", "ttl", "interface=", "packet=127", "packet=65508",
                            "loopback=2", "what=1", ",", "ttl=1x"})
        EXPECT_FALSE(multicast_settings(bad).ok()) << bad;
    EXPECT_FALSE(interface_index({.interface = "no-such-0"}).ok());
}

} // namespace
} // namespace kairos::datagrams
