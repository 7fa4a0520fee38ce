// SPDX-License-Identifier: Apache-2.0
//
// The texts that string_to_object takes: what each means, and what is said about those that mean
// nothing.
#include "kairos/ior/object_url.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos;
using namespace kairos::ior;

using Scheme = ObjectUrl::Scheme;

/// "<version> <host:port>" of every target, then the key: what a corbaloc URL can say.
std::string summary(const Ior& reference)
{
    std::string text;
    for (const Target& target : targets(reference))
        text += "1." + std::to_string(target.version().minor) + " " + to_string(target.address) +
                " " + escape_key(target.object_key()) + "; ";
    return text;
}

struct Accepted {
    std::string_view text;
    std::string_view meaning;
};

class AcceptedLocation : public testing::TestWithParam<Accepted> {};

TEST_P(AcceptedLocation, Means)
{
    const auto url = parse_object_url(GetParam().text);
    ASSERT_TRUE(url.ok()) << url.error().reason;
    EXPECT_EQ(url.value().scheme, Scheme::corbaloc);
    EXPECT_FALSE(url.value().initial);
    EXPECT_EQ(summary(url.value().reference), GetParam().meaning);
}

INSTANTIATE_TEST_SUITE_P(
    Corbaloc, AcceptedLocation,
    testing::Values(
        Accepted{"corbaloc::host/Key", "1.0 host:2809 Key; "},
        Accepted{"corbaloc:iiop:host/Key", "1.0 host:2809 Key; "},
        Accepted{"CORBALOC:IIOP:host/Key", "1.0 host:2809 Key; "},
        Accepted{" \tcorbaloc::host/Key\r\n", "1.0 host:2809 Key; "},
        Accepted{"corbaloc::host:1/Key", "1.0 host:1 Key; "},
        Accepted{"corbaloc::host:65535/Key", "1.0 host:65535 Key; "},
        Accepted{"corbaloc::1.0@host:9/Key", "1.0 host:9 Key; "},
        Accepted{"corbaloc::1.1@host:9/Key", "1.1 host:9 Key; "},
        Accepted{"corbaloc:iiop:1.2@host:9/Key", "1.2 host:9 Key; "},
        Accepted{"corbaloc::1.3@host/Key", "1.2 host:2809 Key; "},
        Accepted{"corbaloc::10.0.0.1:9/Key", "1.0 10.0.0.1:9 Key; "},
        Accepted{"corbaloc::a-b_c.example.org:9/Key", "1.0 a-b_c.example.org:9 Key; "},
        Accepted{"corbaloc::[::1]/Key", "1.0 [::1]:2809 Key; "},
        Accepted{"corbaloc:iiop:1.2@[2001:db8::7]:9/Key", "1.2 [2001:db8::7]:9 Key; "},
        Accepted{"corbaloc::[fe80::1%eth0]:9/Key", "1.0 [fe80::1%eth0]:9 Key; "},
        Accepted{"corbaloc::a,:b:7,iiop:1.2@c/Key",
                 "1.0 a:2809 Key; 1.0 b:7 Key; 1.2 c:2809 Key; "},
        Accepted{"corbaloc::[::1]:7,:[::2]:8/Key", "1.0 [::1]:7 Key; 1.0 [::2]:8 Key; "},
        Accepted{"corbaloc:ssliop:1.2@a:7,iiop:1.2@b:8/Key", "1.2 b:8 Key; "},
        Accepted{"corbaloc:uiop:1.2@a:7,iiop:1.2@b:8/Key", "1.2 b:8 Key; "},
        Accepted{"corbaloc::host", "1.0 host:2809 ; "},
        Accepted{"corbaloc::host/", "1.0 host:2809 ; "},
        Accepted{"corbaloc::host/a/b,c:d@e", "1.0 host:2809 a/b,c:d@e; "},
        Accepted{"corbaloc::host/a%20b%2f%00%FF", "1.0 host:2809 a%20b/%00%ff; "},
        Accepted{"corbaloc::host/;/:?@&=+$,-_.!~*'()", "1.0 host:2809 ;/:?@&=+$,-_.!~*'(); "},
        Accepted{"corbaloc::host/a|b\"c", "1.0 host:2809 a%7cb%22c; "}));

struct Refused {
    std::string_view text;
    std::string_view reason; ///< all of it
};

void expect_refused(const Refused& refused, ErrorCode code)
{
    const auto url = parse_object_url(refused.text);
    ASSERT_FALSE(url.ok());
    EXPECT_EQ(url.error().reason, refused.reason);
    EXPECT_EQ(url.error().code, code);
}

class RefusedAddress : public testing::TestWithParam<Refused> {};
class RefusedUrl : public testing::TestWithParam<Refused> {};

TEST_P(RefusedAddress, SaysWhatIsWrong) { expect_refused(GetParam(), ErrorCode::unreachable); }

TEST_P(RefusedUrl, SaysWhatIsWrong)
{
    const bool unknown_scheme = GetParam().reason.find("is not a scheme") != std::string::npos;
    expect_refused(GetParam(), unknown_scheme ? ErrorCode::not_found : ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(
    Corbaloc, RefusedAddress,
    testing::Values(
        Refused{"corbaloc:", "address is empty at character 10"},
        Refused{"corbaloc:/Key", "address is empty at character 10"},
        Refused{"corbaloc::a,/Key", "address is empty at character 13"},
        Refused{"corbaloc::a,,:b/Key", "address is empty at character 13"},
        Refused{"corbaloc:host/Key", "address 'host' has no protocol: write ':' or 'iiop:' before "
                                     "it at character 10"},
        Refused{"corbaloc:host:2809/Key", "protocol 'host' is not known: an IIOP address begins "
                                          "with ':' or 'iiop:' at character 10"},
        Refused{"corbaloc::a,b:7/Key", "protocol 'b' is not known: an IIOP address begins with ':' "
                                       "or 'iiop:' at character 13"},
        Refused{"corbaloc:uiop:a:7/Key", "no address can be used: protocol of 'uiop:a:7' is "
                                         "not supported at character 10"},
        Refused{"corbaloc:ssliop:1.0@a:7/Key", "version 1.0 has no TLS: write 1.1, 1.2 or no "
                                               "version at character 17"},
        Refused{"corbaloc:ssliop:a:x/Key",
                "':x' is not ':' and a port from 1 to 65535 at character 18"},
        Refused{"corbaloc::/Key", "host is missing at character 11"},
        Refused{"corbaloc:::2809/Key", "host is missing at character 11"},
        Refused{"corbaloc:iiop:1.2@/Key", "host is missing at character 19"},
        Refused{"corbaloc::2.0@host/Key",
                "version '2.0' is not 1.0, 1.1, 1.2 or a later 1.x at character 11"},
        Refused{"corbaloc::1.@host/Key",
                "version '1.' is not 1.0, 1.1, 1.2 or a later 1.x at character 11"},
        Refused{"corbaloc::1.256@host/Key",
                "version '1.256' is not 1.0, 1.1, 1.2 or a later 1.x at character 11"},
        Refused{"corbaloc::@host/Key",
                "version '' is not 1.0, 1.1, 1.2 or a later 1.x at character 11"},
        Refused{"corbaloc::host:/Key", "':' is not ':' and a port from 1 to 65535 at character 15"},
        Refused{"corbaloc::host:0/Key",
                "':0' is not ':' and a port from 1 to 65535 at character 15"},
        Refused{"corbaloc::host:65536/Key",
                "':65536' is not ':' and a port from 1 to 65535 at character 15"},
        Refused{"corbaloc::host:-1/Key",
                "':-1' is not ':' and a port from 1 to 65535 at character 15"},
        Refused{"corbaloc::host:9x/Key",
                "':9x' is not ':' and a port from 1 to 65535 at character 15"},
        Refused{"corbaloc::2001:db8::7/Key", "'2001:db8::7' has several ':': an IPv6 address "
                                             "stands in brackets at character 11"},
        Refused{"corbaloc::[::1/Key", "']' is missing after the IPv6 address at character 11"},
        Refused{"corbaloc::[::1]9/Key",
                "'9' is not ':' and a port from 1 to 65535 at character 16"},
        Refused{"corbaloc::[host]/Key", "'[host]' is not a host name or address at character 11"},
        Refused{"corbaloc::[]/Key", "'[]' is not a host name or address at character 11"},
        Refused{"corbaloc::ho st/Key", "'ho st' is not a host name or address at character 11"},
        Refused{"corbaloc:rir:host/Key", "'rir:' takes no address but has 'host' at character 14"},
        Refused{"corbaloc:rir:,:host/Key",
                "'rir:' cannot stand beside other addresses at character 10"},
        Refused{"corbaloc::host,rir:/Key",
                "'rir:' cannot stand beside other addresses at character 16"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedUrl,
    testing::Values(
        Refused{"corbaloc::host/a%2", "'%' is not followed by two hexadecimal digits at character "
                                      "17"},
        Refused{"corbaloc::host/a%", "'%' is not followed by two hexadecimal digits at character "
                                     "17"},
        Refused{"corbaloc::host/%zz", "'%' is not followed by two hexadecimal digits at character "
                                      "16"},
        Refused{"corbaloc::host/a b", "' ' must be written as %20 at character 17"},
        Refused{"corbaloc::host/a#b", "'#' must be written as %23 at character 17"},
        Refused{"corbaloc::host/\x7f", "'\\x7f' must be written as %7f at character 16"},
        Refused{"  corbaloc::host/\xc3\xa9", "'\\xc3' must be written as %c3 at character 18"}));

INSTANTIATE_TEST_SUITE_P(
    OtherSchemes, RefusedUrl,
    testing::Values(
        Refused{"", "object URL is empty"}, Refused{" \n", "object URL is empty"},
        Refused{"http://host/x", "'http' is not a scheme of object URLs: expected IOR:, corbaloc:, "
                                 "corbaname: or file:"},
        Refused{"NameService", "'NameService' is not a scheme of object URLs: expected IOR:, "
                               "corbaloc:, corbaname: or file:"},
        Refused{"IOR:", "no hexadecimal digits follow 'IOR:'"},
        Refused{"IOR:01x0", "'x' is not a hexadecimal digit at character 7"},
        Refused{"IOR:01 00", "' ' is not a hexadecimal digit at character 7"},
        Refused{"corbaname::host#a%2", "'%' is not followed by two hexadecimal digits at character "
                                       "18"},
        Refused{"corbaname::host#a#b", "'#' must be written as %23 at character 18"},
        Refused{"corbaname::host#a%00", "NUL in the name at character 17"},
        Refused{"file:", "path is missing at character 6"},
        Refused{"file://", "path is missing at character 8"}));

TEST(ObjectUrl, RirNamesAnInitialReference)
{
    const auto named = parse_object_url("corbaloc:rir:/TradingService");
    ASSERT_TRUE(named.ok());
    EXPECT_TRUE(named.value().initial);
    EXPECT_EQ(named.value().service, "TradingService");
    EXPECT_TRUE(named.value().reference.is_nil());
    for (const char* text :
         {"corbaloc:rir:", "corbaloc:rir:/", "corbaname:rir:", "CorbaLoc:RIR:"}) {
        const auto url = parse_object_url(text);
        ASSERT_TRUE(url.ok()) << text << url.error().reason;
        EXPECT_EQ(url.value().service, "NameService") << text;
    }
}

TEST(ObjectUrl, CorbanameIsAContextAndAName)
{
    const auto plain = parse_object_url("corbaname::1.2@host:9#plant/sensor%20seven.kind");
    ASSERT_TRUE(plain.ok()) << plain.error().reason;
    EXPECT_EQ(plain.value().scheme, Scheme::corbaname);
    EXPECT_EQ(summary(plain.value().reference), "1.2 host:9 NameService; ");
    EXPECT_EQ(plain.value().name, "plant/sensor seven.kind");

    const auto keyed = parse_object_url("corbaname::host/Other%23Root#a%5c/b");
    ASSERT_TRUE(keyed.ok());
    EXPECT_EQ(summary(keyed.value().reference), "1.0 host:2809 Other%23Root; ");
    EXPECT_EQ(keyed.value().name, "a\\/b");

    const auto initial = parse_object_url("corbaname:rir:/Root#a");
    ASSERT_TRUE(initial.ok());
    EXPECT_EQ(initial.value().service, "Root");
    EXPECT_EQ(initial.value().name, "a");

    for (const char* text : {"corbaname::host", "corbaname::host#", "corbaname::host/#"}) {
        const auto url = parse_object_url(text);
        ASSERT_TRUE(url.ok()) << text;
        EXPECT_EQ(url.value().name, "") << text;
        EXPECT_EQ(summary(url.value().reference), "1.0 host:2809 NameService; ") << text;
    }
}

TEST(ObjectUrl, FileIsAPathAsWritten)
{
    const std::pair<const char*, const char*> cases[] = {
        {"file:///var/run/a.ior", "/var/run/a.ior"},
        {"file:/var/run/a.ior", "/var/run/a.ior"},
        {"file://a.ior", "a.ior"},
        {"file:a.ior", "a.ior"},
        {"FILE://localhost/a.ior", "/a.ior"},
        {"file:///with%20percent and blank\n", "/with%20percent and blank"},
    };
    for (const auto& [text, path] : cases) {
        const auto url = parse_object_url(text);
        ASSERT_TRUE(url.ok()) << text;
        EXPECT_EQ(url.value().scheme, Scheme::file);
        EXPECT_EQ(url.value().path, path);
    }
    EXPECT_FALSE(parse_object_url(std::string_view("file:a\0b", 8)).ok());
}

TEST(ObjectUrl, LimitsAddressesAndKeys)
{
    std::string addresses = ":h";
    for (int i = 1; i < 256; ++i)
        addresses += ",:h";
    const auto most = parse_object_url("corbaloc:" + addresses + "/K");
    ASSERT_TRUE(most.ok());
    EXPECT_EQ(most.value().reference.profiles.size(), 256);
    const auto more = parse_object_url("corbaloc:" + addresses + ",:h/K");
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().code, ErrorCode::limit_exceeded);

    const std::string longest_key(64 << 10, 'k');
    EXPECT_TRUE(parse_object_url("corbaloc::h/" + longest_key).ok());
    const auto longer = parse_object_url("corbaloc::h/" + longest_key + "k");
    ASSERT_FALSE(longer.ok());
    EXPECT_EQ(longer.error().code, ErrorCode::limit_exceeded);
}

TEST(ObjectUrl, CorbalocComesBackFromAReference)
{
    const std::string text = "corbaloc:iiop:1.2@host:7,iiop:1.0@[::1]:2809/StandardNS/a%20b%00%ff";
    const auto url = parse_object_url(text);
    ASSERT_TRUE(url.ok()) << url.error().reason;
    const auto again = to_corbaloc(url.value().reference);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value(), text);
}

TEST(ObjectUrl, CorbalocOfTlsIsAComponent)
{
    const std::string text = "corbaloc:ssliop:1.2@host:7,ssliop:1.1@[::1]:684/Key";
    const auto url = parse_object_url("corbaloc:ssliop:host:7,SSLIOP:1.1@[::1]/Key");
    ASSERT_TRUE(url.ok()) << url.error().reason;
    const Ior& reference = url.value().reference;
    EXPECT_EQ(summary(reference), ""); // nothing in the clear
    ASSERT_EQ(reference.profiles.size(), 2u);
    const auto profile = decode_iiop(reference.profiles[0].data).value();
    EXPECT_EQ(profile.host, "host");
    EXPECT_EQ(profile.port, 0);
    const auto* component = find(profile.components, tag_ssl_sec_trans);
    ASSERT_NE(component, nullptr);
    using namespace association;
    EXPECT_EQ(decode_secure_address(*component),
              (SecureAddress{integrity | confidentiality | trust_in_target,
                             integrity | confidentiality, 7}));
    const auto again = to_corbaloc(reference);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value(), text);
}

/// What has both is not to be called in the clear because it was written as a URL.
TEST(ObjectUrl, CorbalocHasTlsBesideTheAddress)
{
    IiopProfile profile;
    profile.host = "h";
    profile.port = 5;
    profile.components = {make_alternate_address({"i", 6}), make_secure_address({.port = 7})};
    Ior reference;
    reference.profiles = {encode_iiop(profile)};
    EXPECT_EQ(to_corbaloc(reference).value(), "corbaloc:ssliop:1.2@h:7,iiop:1.2@h:5,iiop:1.2@i:6/");
}

TEST(ObjectUrl, CorbalocTakesAlternatesButNotOtherKeysOrOddHosts)
{
    const auto key = [](std::string_view text) {
        const Bytes octets = as_bytes(text);
        return OctetVector(octets.begin(), octets.end());
    };
    IiopProfile first;
    first.host = "odd,host";
    first.port = 1;
    first.object_key = key("A");
    first.components = {make_alternate_address({"b", 2}), make_alternate_address({"::1", 3})};
    IiopProfile other = first;
    other.host = "c";
    other.object_key = key("B");
    other.components.clear();
    Ior reference;
    reference.profiles = {encode_iiop(first), encode_iiop(other)};
    const auto url = to_corbaloc(reference);
    ASSERT_TRUE(url.ok());
    EXPECT_EQ(url.value(), "corbaloc:iiop:1.2@b:2,iiop:1.2@[::1]:3/A");

    const auto none = to_corbaloc(Ior{});
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().reason, "the reference has no IIOP address");
}

} // namespace
