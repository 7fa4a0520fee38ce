// SPDX-License-Identifier: Apache-2.0
//
// References in words. The expected texts contain what omniORB's catior prints for the same
// references.
#include "kairos/ior/describe.h"

#include "kairos/ior/object_key.h"
#include "kairos/ior/profile.h"
#include "kairos/ior/sample_references_testing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace kairos;
using namespace kairos::ior;

std::string described(std::string_view text)
{
    const auto reference = from_string(text);
    return reference ? describe(*reference) : reference.error().reason;
}

OctetVector octets_of(std::string_view text)
{
    const Bytes bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
}

TEST(Describe, OmniOrb)
{
    EXPECT_EQ(described(sample::omniorb_little_endian),
              R"(type id: "IDL:Demo/Echo:1.0"
profile 1: TAG_INTERNET_IOP: IIOP 1.2
  address: 127.0.0.1:42001
  object key: "\xffchild\x00sensor/7" (15 octets)
  TAG_ORB_TYPE: omniORB (0x41545400)
  TAG_CODE_SETS
    char: native ISO 8859-1, conversions UTF-8
    wchar: native UTF-16, conversions UTF-16
  TAG_ALTERNATE_IIOP_ADDRESS: [::1]:42002
  omniORB Unix socket: "/tmp/sock" on host "vm"
)");
}

TEST(Describe, OtherByteOrderReadsTheSame)
{
    const std::string little = described(sample::omniorb_little_endian);
    const std::string big = described(sample::omniorb_big_endian);
    EXPECT_EQ(big, little.substr(0, little.find("  omniORB Unix socket")));
}

TEST(Describe, SeveralProfiles)
{
    EXPECT_EQ(described(sample::four_profiles),
              R"(type id: "IDL:Demo/Echo:1.0"
profile 1: TAO UIOP: 13 octets
  00010200  2f746d70  2f75696f  70        ..../tmp/uiop
profile 2: TAG_INTERNET_IOP: IIOP 1.2
  address: [2001:db8::7]:42001
  object key: "\x14\x01\x0f\x00RST" (7 octets)
  TAG_ORB_TYPE: TAO (0x54414f00)
  TAG_CODE_SETS
    char: native ISO 8859-1, conversions UTF-8
    wchar: native UTF-16, conversions UTF-16
  TAG_POLICIES
    priority model: server declared, priority 42
profile 3: TAG_INTERNET_IOP: IIOP 1.0
  address: 10.0.0.1:2809
  object key: "NameService" (11 octets)
profile 4: TAG_MULTIPLE_COMPONENTS
  TAG_ORB_TYPE: JacORB (0x4a414300)
)");
}

TEST(Describe, NilIsSaidToBeNil)
{
    EXPECT_EQ(described(sample::omniorb_nil), "type id: \"\"\nnil reference: no profiles\n");
}

TEST(Describe, KairosKeysAreDecoded)
{
    const ObjectKey key{.incarnation = 0x0102, .adapter = 3, .slot = 4, .generation = 5};
    EXPECT_EQ(describe_object_key(key.encode()),
              "Kairos adapter 3, slot 4, generation 5, incarnation 0x0000000000000102");
    EXPECT_EQ(describe_object_key(Bytes{}), "\"\" (0 octets)");
    EXPECT_EQ(describe_object_key(octets_of({"\x01\x02\xff", 3})), "0x0102ff (3 octets)");
}

TEST(Describe, Tls)
{
    using namespace association;
    IiopProfile profile;
    profile.host = "h";
    profile.components = {
        make_secure_address({.supports = integrity | confidentiality | trust_in_client | 0x100,
                             .requires_ = integrity,
                             .port = 684}),
        make_priority_addresses(std::vector<PriorityAddress>{{5, {"h", 684}}}),
        {tag_ssl_sec_trans, octets_of("\x01")}};
    profile.components[1].tag = tag_secure_priority_addresses;
    const Ior reference{"", {encode_iiop(profile)}};
    EXPECT_EQ(describe(reference), R"(type id: ""
profile 1: TAG_INTERNET_IOP: IIOP 1.2
  address: h:0 (by TLS only)
  object key: "" (0 octets)
  TLS at port 684
    supports integrity, confidentiality, trust in the client, 0x0100
    requires integrity
  Kairos' addresses by priority, by TLS
    5: h:684
  TAG_SSL_SEC_TRANS: 1 octets
    01                                      .
)");
}

TEST(Describe, UnknownAndMalformedIsDumped)
{
    IiopProfile profile;
    profile.host = "h";
    profile.components = {{0x4B4B4B4B, octets_of("0123456789abcdefXYZ")},
                          {tag_code_sets, octets_of("\x01")},
                          {tag_policies, octets_of("\x01")},
                          {tag_csi_sec_mech_list, {}},
                          make_code_sets({{0, {}}, {0x12345678, {}}})};
    TaggedProfile malformed{tag_internet_iop, octets_of({"\x01\x01\x02\x00\x05", 5})};
    const Ior reference{"", {encode_iiop(profile), malformed, {0x12, {}}}};
    EXPECT_EQ(describe(reference), R"(type id: ""
profile 1: TAG_INTERNET_IOP: IIOP 1.2
  address: h:0 (not to be used without TLS)
  object key: "" (0 octets)
  component 0x4b4b4b4b: 19 octets
    30313233  34353637  38396162  63646566  0123456789abcdef
    58595a                                  XYZ
  TAG_CODE_SETS: 1 octets
    01                                      .
  TAG_POLICIES: 1 octets
    01                                      .
  TAG_CSI_SEC_MECH_LIST: 0 octets
  TAG_CODE_SETS
    char: native not given, no conversions
    wchar: native 0x12345678, no conversions
profile 2: TAG_INTERNET_IOP: malformed profile: data ends before the value
  01010200  05                            .....
profile 3: 0x00000012: 0 octets
)");
}

TEST(Describe, ComponentsOfTao)
{
    IiopProfile profile;
    profile.host = "h";
    profile.port = 1234;
    profile.components = {
        make_orb_type(orb_type::tao),
        make_tao_endpoints(std::vector<TaoEndpoint>{
            {100, {"h", 1234}}, {32767, {"::1", 65535}}, {TaoEndpoint::any_priority, {"a\n", 0}}}),
        {0x54414F00, octets_of("\x01")},
        {0x54414F01, octets_of("\x01")},
        {0x54414F02, octets_of("\x01")}};
    EXPECT_EQ(describe({"", {encode_iiop(profile)}}), R"(type id: ""
profile 1: TAG_INTERNET_IOP: IIOP 1.2
  address: h:1234
  object key: "" (0 octets)
  TAG_ORB_TYPE: TAO (0x54414f00)
  TAO's addresses by priority
    100: h:1234
    32767: [::1]:65535
    any: a\x0a:0
  TAO priority (of old versions): 1 octets
    01                                      .
  TAO SSL endpoints: 1 octets
    01                                      .
  TAO endpoints: 1 octets
    01                                      .
)");
}

TEST(Describe, AddressesWithinTheHost)
{
    IiopProfile profile{
        .version = {1, 2}, .host = "localhost", .port = 0, .object_key = {}, .components = {}};
    LocalAddresses local{
        .host = {0x0123456789ABCDEF, 0xFEDCBA9876543210},
        .addresses = {{.path = "/run/demo"},
                      {.priority = 7, .path = "@a\n"},
                      {.transport = LocalAddress::Transport{9}, .path = "/x"},
                      {.transport = LocalAddress::Transport::shared_memory, .path = "/m"}}};
    profile.components = {make_local_addresses(local)};
    const Ior reference{"IDL:Demo/Echo:1.0", {encode_iiop(profile)}};
    EXPECT_EQ(describe(reference), R"(type id: "IDL:Demo/Echo:1.0"
profile 1: TAG_INTERNET_IOP: IIOP 1.2
  address: localhost:0 (within the host only)
  object key: "" (0 octets)
  Kairos' addresses within host 0x0123456789abcdeffedcba9876543210
    unix:/run/demo
    unix:@a\x0a for priority 7
    transport 9: /x
    memory:/m
)");
    EXPECT_TRUE(targets(reference).empty());
    ASSERT_EQ(targets_by_any_way(reference).size(), 1u);
    EXPECT_EQ(targets_by_any_way(reference)[0].address, (Address{"localhost", 0}));
}

TEST(Describe, ForeignTextCannotDriveATerminal)
{
    IiopProfile profile;
    profile.host = "\x1b[2J\n";
    profile.port = 1;
    profile.object_key = octets_of("\x1b]0;x\a\\");
    profile.components = {make_alternate_address({"\x9b\r", 2})};
    const std::string text = describe({"IDL:\x1b[31m:1.0", {encode_iiop(profile)}});
    EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                            [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
    EXPECT_NE(text.find("address: \\x1b[2J\\x0a:1\n"), std::string::npos);
    EXPECT_NE(text.find("\"\\x1b]0;x\\x07\\\\\" (7 octets)"), std::string::npos) << text;
}

} // namespace
