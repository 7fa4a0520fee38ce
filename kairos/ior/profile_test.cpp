// SPDX-License-Identifier: Apache-2.0
//
// Profiles and components, and the addresses that a client is to try, in order.
#include "kairos/ior/profile.h"

#include "kairos/base/limits.h"
#include "kairos/ior/sample_references_testing.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos;
using namespace kairos::ior;

OctetVector octets_of(std::string_view text)
{
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

Ior parsed(std::string_view text)
{
    auto reference = from_string(text);
    EXPECT_TRUE(reference.ok());
    return reference.ok() ? std::move(reference).value() : Ior{};
}

IiopProfile profile_at(std::string host, std::uint16_t port)
{
    IiopProfile profile;
    profile.host = std::move(host);
    profile.port = port;
    profile.object_key = octets_of("Key");
    return profile;
}

std::vector<std::string> addresses_of(const Ior& reference)
{
    std::vector<std::string> addresses;
    for (const Target& target : targets(reference))
        addresses.push_back(to_string(target.address));
    return addresses;
}

using Strings = std::vector<std::string>;

TEST(Profile, ReadsOmniOrbInBothByteOrders)
{
    for (const auto text : {sample::omniorb_little_endian, sample::omniorb_big_endian}) {
        const Ior reference = parsed(text);
        ASSERT_EQ(reference.profiles.size(), 1);
        const auto decoded = decode_iiop(reference.profiles[0].data);
        ASSERT_TRUE(decoded.ok()) << decoded.error().reason;
        const IiopProfile& profile = *decoded;
        EXPECT_EQ(profile.version, (IiopVersion{1, 2}));
        EXPECT_EQ(profile.host, "127.0.0.1");
        EXPECT_EQ(profile.port, 42001);
        EXPECT_EQ(as_text(profile.object_key), std::string_view("\xff"
                                                                "child\0sensor/7",
                                                                15));

        const TaggedComponent* type = find(profile.components, tag_orb_type);
        ASSERT_NE(type, nullptr);
        EXPECT_EQ(decode_orb_type(*type), orb_type::omniorb);
        const TaggedComponent* sets = find(profile.components, tag_code_sets);
        ASSERT_NE(sets, nullptr);
        const CodeSets expected{{code_set::iso_8859_1, {code_set::utf_8}},
                                {code_set::utf_16, {code_set::utf_16}}};
        EXPECT_EQ(decode_code_sets(*sets), expected);
        EXPECT_EQ(find(profile.components, tag_policies), nullptr);
        EXPECT_EQ(addresses_of(reference), (Strings{"127.0.0.1:42001", "[::1]:42002"}));
    }
}

TEST(Profile, EncodesWhatOmniOrbEncodes)
{
    if (!native_little_endian) GTEST_SKIP() << "the sample is little-endian";
    IiopProfile profile = profile_at("127.0.0.1", 42001);
    profile.version = {1, 0};
    profile.object_key = octets_of({"\xff"
                                    "child\0sensor/7",
                                    15});
    profile.components = {make_orb_type(orb_type::kairos)}; // which 1.0 cannot carry
    const Ior reference{"IDL:Demo/Echo:1.0", {encode_iiop(profile)}};
    EXPECT_EQ(to_string(reference), sample::omniorb_1_0);
}

TEST(Profile, ComesBackAsItWas)
{
    for (std::uint8_t minor = 1; minor <= 2; ++minor) {
        IiopProfile profile = profile_at("::1", 7);
        profile.version.minor = minor;
        profile.components = {make_orb_type(orb_type::kairos),
                              make_code_sets({{code_set::utf_8, {code_set::iso_8859_1}}, {}}),
                              make_alternate_address({"fe80::1%eth0", 8}),
                              {0xFFFFFFFF, octets_of("unknown")}};
        const TaggedProfile tagged = encode_iiop(profile);
        EXPECT_EQ(tagged.tag, tag_internet_iop);
        const auto again = decode_iiop(tagged.data);
        ASSERT_TRUE(again.ok()) << again.error().reason;
        EXPECT_EQ(*again, profile);
    }
}

TEST(Profile, LaterMinorVersionsAreReadAsTwo)
{
    IiopProfile profile = profile_at("h", 7);
    profile.components = {make_orb_type(1)};
    OctetVector data = encode_iiop(profile).data;
    data[2] = std::byte{7};
    data.insert(data.end(), 13, std::byte{0xEE}); // what such a version may append
    const auto decoded = decode_iiop(data);
    ASSERT_TRUE(decoded.ok()) << decoded.error().reason;
    EXPECT_EQ(*decoded, profile);
}

TEST(Profile, OtherMajorVersionsAreRefused)
{
    OctetVector data = encode_iiop(profile_at("h", 7)).data;
    data[1] = std::byte{2};
    const auto decoded = decode_iiop(data);
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.error().reason, "IIOP version 2.2 is not known");
}

TEST(Profile, TruncatedAnywhereIsRefused)
{
    IiopProfile profile = profile_at("host", 7);
    profile.components = {make_orb_type(1), make_alternate_address({"b", 8})};
    const OctetVector whole = encode_iiop(profile).data;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const OctetVector part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(decode_iiop(part).ok()) << size;
    }
}

TEST(Profile, LimitsHold)
{
    IiopProfile profile = profile_at("h", 7);
    profile.object_key.assign(limits::object_key_max, std::byte{1});
    profile.components.resize(limits::components_max);
    EXPECT_TRUE(decode_iiop(encode_iiop(profile).data).ok());
    profile.components.emplace_back();
    EXPECT_EQ(decode_iiop(encode_iiop(profile).data).error().reason,
              "malformed profile: length exceeds the bound of its type");
    profile.components.clear();
    profile.object_key.emplace_back();
    EXPECT_EQ(decode_iiop(encode_iiop(profile).data).error().reason, "object key of 65537 octets");
}

TEST(Profile, HostsWithNulAreRefused)
{
    IiopProfile profile = profile_at("a", 7);
    OctetVector data = encode_iiop(profile_at("abc", 7)).data;
    data[9] = std::byte{0}; // the b
    EXPECT_FALSE(decode_iiop(data).ok());
}

TEST(Component, BracketsBelongToTheNotationNotToTheAddress)
{
    EXPECT_EQ(without_brackets("[::1]"), "::1");
    EXPECT_EQ(without_brackets("::1"), "::1");
    EXPECT_EQ(without_brackets("host"), "host");
    EXPECT_EQ(without_brackets("[host]"), "[host]");
    EXPECT_EQ(without_brackets("[[::1]]"), "[[::1]]");
    EXPECT_EQ(without_brackets("[]"), "[]");
    EXPECT_EQ(without_brackets(""), "");
    EXPECT_EQ(to_string(Address{"::1", 7}), "[::1]:7");
    EXPECT_EQ(to_string(Address{"host", 7}), "host:7");
}

TEST(Component, MalformedOnesAreAbsent)
{
    const TaggedComponent whole[] = {make_orb_type(1), make_code_sets({{1, {2, 3}}, {4, {5}}}),
                                     make_alternate_address({"host", 7})};
    for (const TaggedComponent& component : whole) {
        for (std::size_t size = 0; size < component.data.size(); ++size) {
            TaggedComponent part = component;
            part.data.resize(size);
            part.data.shrink_to_fit();
            EXPECT_FALSE(decode_orb_type(part) && part.tag == tag_orb_type) << size;
            EXPECT_FALSE(decode_code_sets(part) && part.tag == tag_code_sets) << size;
            EXPECT_FALSE(decode_alternate_address(part) && part.tag == tag_alternate_iiop_address)
                << size;
        }
    }
    TaggedComponent hostile = make_code_sets({{1, {2, 3}}, {4, {5}}});
    std::fill(hostile.data.begin() + 8, hostile.data.begin() + 12, std::byte{0xFF}); // a count
    EXPECT_FALSE(decode_code_sets(hostile));
}

TEST(Component, MultipleComponentsProfileIsRead)
{
    const Ior reference = parsed(sample::four_profiles);
    ASSERT_EQ(reference.profiles[3].tag, tag_multiple_components);
    const auto components = decode_multiple_components(reference.profiles[3].data);
    ASSERT_TRUE(components.ok());
    ASSERT_EQ(components.value().size(), 1);
    EXPECT_EQ(decode_orb_type(components.value()[0]), orb_type::jacorb);
    EXPECT_FALSE(decode_multiple_components(Bytes(reference.profiles[3].data).first(20)).ok());
}

TEST(Targets, ComeProfileByProfileWithTheirAlternates)
{
    IiopProfile first = profile_at("a", 1);
    first.components = {make_alternate_address({"b", 2}), make_orb_type(1),
                        make_alternate_address({"[::3]", 3})};
    IiopProfile second = profile_at("d", 4);
    second.version = {1, 1};
    second.object_key = octets_of("Other");
    const Ior reference{"", {{99, octets_of("x")}, encode_iiop(first), encode_iiop(second)}};
    EXPECT_EQ(addresses_of(reference), (Strings{"a:1", "b:2", "[::3]:3", "d:4"}));
    const auto list = targets(reference);
    EXPECT_EQ(list[1].profile, list[0].profile); // shared, not copied
    EXPECT_EQ(list[2].profile_index, 1);
    EXPECT_EQ(as_text(list[2].object_key()), "Key");
    EXPECT_EQ(list[3].profile_index, 2);
    EXPECT_EQ(as_text(list[3].object_key()), "Other");
    EXPECT_EQ(list[3].version(), (IiopVersion{1, 1}));
}

TEST(Targets, SkipWhatCannotBeReached)
{
    IiopProfile tls_only = profile_at("a", 0);
    tls_only.components = {make_alternate_address({"b", 0}), make_alternate_address({"", 7}),
                           make_alternate_address({"c", 7})};
    TaggedProfile malformed = encode_iiop(profile_at("x", 1));
    malformed.data.resize(9);
    const Ior reference{"",
                        {malformed,
                         encode_iiop(tls_only),
                         {tag_internet_iop, {}},
                         encode_iiop(profile_at("", 5)),
                         encode_iiop(profile_at("d", 8))}};
    EXPECT_EQ(addresses_of(reference), (Strings{"c:7", "d:8"}));
    EXPECT_TRUE(targets(Ior{}).empty());
}

// TAO's component, octet by octet: an encapsulation of a sequence of {string host; short port;
// short priority}, of which the first is the profile itself.
constexpr std::string_view tao_little_endian{
    "\x01\0\0\0\x03\0\0\0"
    "\x02\0\0\0h\0\xd2\x04\x64\0\0\0" // h:1234 at 100, padding
    "\x0a\0\0\0"
    "127.0.0.1\0\xff\xff\xff\x7f\0\0"  // 127.0.0.1:65535 at 32767
    "\x06\0\0\0[::1]\0\x01\0\xff\xff", // [::1]:1 at any
    8 + 12 + 20 + 14};
constexpr std::string_view tao_big_endian{"\0\0\0\0\0\0\0\x01"
                                          "\0\0\0\x02h\0\x04\xd2\0\x64",
                                          8 + 10};

TEST(Component, OfTaoListsAddressesByPriority)
{
    const TaggedComponent little{tag_tao_endpoints, octets_of(tao_little_endian)};
    const std::vector<TaoEndpoint> three{
        {100, {"h", 1234}}, {32767, {"127.0.0.1", 65535}}, {TaoEndpoint::any_priority, {"::1", 1}}};
    EXPECT_EQ(decode_tao_endpoints(little), three);
    const TaggedComponent big{tag_tao_endpoints, octets_of(tao_big_endian)};
    EXPECT_EQ(decode_tao_endpoints(big), (std::vector<TaoEndpoint>{{100, {"h", 1234}}}));
    EXPECT_EQ(decode_tao_endpoints(make_tao_endpoints(three)), three);
    EXPECT_EQ(tag_tao_endpoints, 0x54414f02U);
}

TEST(Component, OfTaoIsNotBelieved)
{
    const auto decoded = [](std::string_view data) {
        return decode_tao_endpoints({tag_tao_endpoints, octets_of(data)});
    };
    for (std::size_t size = 0; size < tao_little_endian.size(); ++size)
        EXPECT_FALSE(decoded(tao_little_endian.substr(0, size))) << size;
    std::string hostile(tao_little_endian);
    hostile.replace(4, 4, 4, '\xff'); // how many there are
    EXPECT_FALSE(decoded(hostile));
    hostile = tao_little_endian;
    hostile.replace(8, 4, 4, '\xff'); // how long a host is
    EXPECT_FALSE(decoded(hostile));
    hostile = tao_little_endian;
    hostile.replace(16, 2, "\xfe\xff"); // a priority below all
    EXPECT_FALSE(decoded(hostile));
    EXPECT_FALSE(
        decode_tao_endpoints(make_tao_endpoints(std::vector<TaoEndpoint>{{1, {{"a\0b", 3}, 7}}})));

    std::vector<TaoEndpoint> many(limits::priority_addresses_max, {1, {"h", 7}});
    EXPECT_EQ(decode_tao_endpoints(make_tao_endpoints(many)), many);
    many.push_back(many.front());
    EXPECT_FALSE(decode_tao_endpoints(make_tao_endpoints(many)));
}

TEST(PriorityAddresses, AreThoseThatCanBeUsed)
{
    using Addresses = std::vector<PriorityAddress>;
    IiopProfile profile = profile_at("own", 1);
    EXPECT_TRUE(priority_addresses(profile).empty());
    profile.components = {make_tao_endpoints(
        std::vector<TaoEndpoint>{{5, {"other", 9}}, // the profile's, whatever stands here
                                 {TaoEndpoint::any_priority, {"any", 2}},
                                 {7, {"tls", 0}},
                                 {8, {"", 3}},
                                 {9, {"high", 4}}})};
    EXPECT_EQ(priority_addresses(profile), (Addresses{{5, {"own", 1}}, {9, {"high", 4}}}));
    profile.port = 0;
    EXPECT_EQ(priority_addresses(profile), (Addresses{{9, {"high", 4}}}));
    profile.components.push_back({tag_priority_addresses, octets_of("malformed")});
    EXPECT_EQ(priority_addresses(profile), (Addresses{{9, {"high", 4}}}));
    // Ours comes first.
    profile.components.back() = make_priority_addresses(Addresses{{1, {"ours", 6}}});
    EXPECT_EQ(priority_addresses(profile), (Addresses{{1, {"ours", 6}}}));
    profile.components = {make_tao_endpoints({})};
    EXPECT_TRUE(priority_addresses(profile).empty());
}

TEST(Components, LocalAddressesSurvive)
{
    const LocalAddresses local{.host = {1, ~0ULL},
                               .addresses = {{.path = "/run/demo"},
                                             {.priority = 32767, .path = "@demo"},
                                             {.transport = LocalAddress::Transport{255},
                                              .path = '/' + std::string(106, 'p')}}};
    EXPECT_EQ(decode_local_addresses(make_local_addresses(local)), local);
}

TEST(Components, MalformedLocalAddressesAreNone)
{
    const auto decoded = [](const LocalAddress& address) {
        return decode_local_addresses(make_local_addresses({.host = {}, .addresses = {address}}));
    };
    EXPECT_TRUE(decoded({.path = "/s"}));
    for (const std::string& path :
         {std::string(), std::string("/"), std::string("@"), std::string("relative"),
          '/' + std::string(limits::socket_path_max, 'p'), std::string("/a\0b", 4)})
        EXPECT_FALSE(decoded({.path = path})) << path;
    EXPECT_FALSE(decoded({.priority = -2, .path = "/s"}));
    const TaggedComponent whole =
        make_local_addresses({.host = {}, .addresses = {{.path = "/run/demo"}}});
    for (std::size_t size = 0; size < whole.data.size(); ++size) {
        TaggedComponent cut = whole;
        cut.data.resize(size);
        EXPECT_FALSE(decode_local_addresses(cut)) << size;
    }
}

TEST(Targets, WithinTheHostMayHavePortZero)
{
    IiopProfile profile = profile_at("localhost", 0);
    profile.components = {make_local_addresses({.host = {}, .addresses = {{.path = "/s"}}})};
    Ior reference{"", {encode_iiop(profile), encode_iiop(profile_at("a", 0))}};
    EXPECT_TRUE(targets(reference).empty());
    ASSERT_EQ(targets_by_any_way(reference).size(), 1u);
    EXPECT_EQ(targets_by_any_way(reference)[0].profile_index, 0u);
    // Another address of the profile is enough.
    profile.components.push_back(make_alternate_address({"b", 1}));
    reference.profiles[0] = encode_iiop(profile);
    ASSERT_EQ(targets_by_any_way(reference).size(), 1u);
    EXPECT_EQ(targets_by_any_way(reference)[0].address, (Address{"b", 1}));
}

TEST(Targets, OfForeignReferences)
{
    EXPECT_EQ(addresses_of(parsed(sample::bracketed_ipv6)), Strings{"[::1]:2809"});
    EXPECT_EQ(addresses_of(parsed(sample::four_profiles)),
              (Strings{"[2001:db8::7]:42001", "10.0.0.1:2809"}));
}

} // namespace
