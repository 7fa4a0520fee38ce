// SPDX-License-Identifier: Apache-2.0
//
// What CSIv2 sends, octet by octet, and what is refused of what comes.
#include "kairos/csi/context.h"
#include "kairos/csi/mechanisms.h"

#include <array>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace kairos::csi {
namespace {

OctetVector octets(std::initializer_list<int> values)
{
    OctetVector all;
    for (const int value : values)
        all.push_back(static_cast<std::byte>(value));
    return all;
}

OctetVector operator+(OctetVector left, const OctetVector& right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

OctetVector text(std::string_view characters)
{
    const Bytes bytes = as_bytes(characters);
    return {bytes.begin(), bytes.end()};
}

/// 2.23.130.1.1.1, as RFC 2743 and X.690 write it.
const OctetVector gssup = octets({6, 6, 0x67, 0x81, 2, 1, 1, 1});

TEST(CsiNames, AreExportedAsTheGssApiSays)
{
    // RFC 2743, 3.2: 04 01, the mechanism with two octets of length, the name with four.
    const OctetVector expected =
        octets({4, 1, 0, 8}) + gssup + octets({0, 0, 0, 5}) + text("alice");
    EXPECT_EQ(exported_name("alice"), expected);
    EXPECT_EQ(decode_exported_name(expected), "alice");
    EXPECT_EQ(decode_exported_name(exported_name("")), "");
    for (std::size_t size = 0; size < expected.size(); ++size)
        EXPECT_EQ(decode_exported_name(Bytes(expected).first(size)), std::nullopt) << size;
    for (std::size_t at = 0; at < expected.size() - 5; ++at) {
        OctetVector other = expected;
        other[at] ^= std::byte{1};
        EXPECT_EQ(decode_exported_name(other), std::nullopt) << at;
    }
    EXPECT_EQ(decode_exported_name(expected + octets({0})), std::nullopt);
    EXPECT_EQ(decode_exported_name(exported_name(std::string(limits::name_max + 1, 'n'))),
              std::nullopt);
}

TEST(CsiNames, AreOfOneSpellingEach)
{
    for (const char* good : {"alice", "alice@plant", R"(a\@b@plant)", R"(a\\b)", "Zoë", "日本",
                             "a b", R"(\@plant)", "𝄞"})
        EXPECT_TRUE(is_name(good)) << good;
    EXPECT_TRUE(is_name(std::string(limits::name_max, 'n')));
    for (const std::string& bad :
         {std::string(), std::string("a@b@c"), std::string("@plant"), std::string("alice@"),
          std::string("@"), std::string(R"(a\)"), std::string(R"(a\b)"), std::string("a\nb"),
          std::string("a\x7F"), std::string("a\0b", 3), std::string("\xC3"),
          std::string("\xC0\x80"), std::string("\xED\xA0\x80"), std::string("\xF5\x80\x80\x80"),
          std::string("\xE0\x80\x80"), std::string("\xF0\x80\x80\x80"), std::string("\xC2\x9B"),
          std::string("\x80"), std::string(limits::name_max + 1, 'n')})
        EXPECT_FALSE(is_name(bad)) << bad;
}

TEST(CsiNames, HaveAScopeBehindTheOnlySignThatIsNotQuoted)
{
    const auto parts = [](std::string_view name) {
        const ScopedName found = scoped_name(name);
        return std::string(found.user) + " | " + std::string(found.scope.value_or("none"));
    };
    EXPECT_EQ(parts("alice"), "alice | none");
    EXPECT_EQ(parts("alice@plant"), "alice | plant");
    EXPECT_EQ(parts(R"(root\@web)"), R"(root\@web | none)");
    EXPECT_EQ(parts(R"(a\\@web)"), R"(a\\ | web)");
    EXPECT_EQ(parts(R"(a\@b@we\@b)"), R"(a\@b | we\@b)");
    EXPECT_EQ(parts("\\"), "\\ | none");
    EXPECT_EQ(parts("@"), " | ");
}

/// CORBA 3.3 part 2, 10.2.5: a sequence of certificates, the subject's first.
TEST(CsiTokens, OfChainsAreSequences)
{
    const OctetVector one = octets({0x30, 1, 7});
    const OctetVector two(200, std::byte{9});
    EXPECT_EQ(chain_of(std::vector<Bytes>{one}), octets({0x30, 3}) + one);
    EXPECT_EQ(chain_of(std::vector<Bytes>{one, two}), octets({0x30, 0x81, 203}) + one + two);
    EXPECT_EQ(chain_of({}), octets({0x30, 0}));
}

TEST(CsiTokens, OfUserAndPasswordAreFramed)
{
    const UserAndPassword evidence{.user = "ann", .password = "pw", .target_name = {}};
    const OctetVector token = encode(evidence);
    ASSERT_GT(token.size(), 11u);
    EXPECT_EQ(OctetVector(token.begin(), token.begin() + 1), octets({0x60}));
    EXPECT_EQ(std::to_integer<std::size_t>(token[1]), token.size() - 2);
    EXPECT_EQ(OctetVector(token.begin() + 2, token.begin() + 10), gssup);
    // Behind it an encapsulation: its order of octets, and three sequences, aligned from there.
    const OctetVector inner = native_little_endian
                                  ? octets({1, 0, 0, 0, 3,   0,   0, 0, 'a', 'n', 'n', 0,
                                            2, 0, 0, 0, 'p', 'w', 0, 0, 0,   0,   0,   0})
                                  : octets({0, 0, 0, 0, 0,   0,   0, 3, 'a', 'n', 'n', 0,
                                            0, 0, 0, 2, 'p', 'w', 0, 0, 0,   0,   0,   0});
    EXPECT_EQ(OctetVector(token.begin() + 10, token.end()), inner);
    const DecodedToken decoded = decode_token(token);
    EXPECT_TRUE(decoded.is_gssup);
    EXPECT_EQ(decoded.evidence, evidence);
}

/// The same in the other order of octets, and with lengths of more than 127 octets.
TEST(CsiTokens, OfUserAndPasswordAreTakenFromOthers)
{
    const OctetVector inner =
        octets({0, 0, 0, 0, 0, 0, 0, 3, 'b', 'o', 'b', 0, 0, 0, 0, 1, '!', 0, 0, 0, 0, 0, 0, 0});
    const auto size = static_cast<int>(gssup.size() + inner.size());
    const UserAndPassword expected{.user = "bob", .password = "!", .target_name = {}};
    EXPECT_EQ(decode_token(octets({0x60, size}) + gssup + inner).evidence, expected);
    EXPECT_EQ(decode_token(octets({0x60, 0x81, size}) + gssup + inner).evidence, expected);
    EXPECT_EQ(decode_token(octets({0x60, 0x84, 0, 0, 0, size}) + gssup + inner).evidence, expected);
    const UserAndPassword large{.user = std::string(300, 'u'),
                                .password = std::string(limits::name_max, 'p'),
                                .target_name = exported_name("plant")};
    EXPECT_EQ(decode_token(encode(large)).evidence, large);
    UserAndPassword larger = large;
    larger.password += 'p';
    EXPECT_TRUE(decode_token(encode(larger)).is_gssup);
    EXPECT_EQ(decode_token(encode(larger)).evidence, std::nullopt);
}

TEST(CsiTokens, AreRefusedWhereTheyAreNone)
{
    const OctetVector token = encode(UserAndPassword{.user = "ann", .password = "pw"});
    for (std::size_t size = 0; size < token.size(); ++size) {
        const DecodedToken decoded = decode_token(Bytes(token).first(size));
        EXPECT_FALSE(decoded.is_gssup) << size; // its length is not what follows
    }
    OctetVector kerberos = token;
    kerberos[5] ^= std::byte{1};
    EXPECT_FALSE(decode_token(kerberos).is_gssup);
    const OctetVector empty = octets({0x60, 8}) + gssup;
    EXPECT_TRUE(decode_token(empty).is_gssup);
    EXPECT_EQ(decode_token(empty).evidence, std::nullopt);
    const OctetVector cut = octets({0x60, 16}) + gssup + octets({0, 0, 0, 0, 0, 0, 0, 9});
    EXPECT_EQ(decode_token(cut).evidence, std::nullopt);
    EXPECT_FALSE(decode_token(octets({0x60, 0x80}) + gssup).is_gssup);
    EXPECT_FALSE(decode_token(octets({0x60, 0x85, 0, 0, 0, 0, 8}) + gssup).is_gssup);
}

TEST(CsiMessages, ComeBackAsTheyWere)
{
    const std::array<Message, 9> all{
        EstablishContext{},
        EstablishContext{.client_context_id = 0x0102030405060708,
                         .identity = {.type = IdentityType::anonymous},
                         .authentication = octets({1, 2, 3})},
        EstablishContext{
            .identity = {.type = IdentityType::principal_name, .token = exported_name("alice")}},
        EstablishContext{.identity = {.type = IdentityType::certificates,
                                      .token = OctetVector(40'000, std::byte{7})}},
        EstablishContext{.identity = {.type = static_cast<IdentityType>(64), .token = text("x")}},
        CompleteEstablishContext{.client_context_id = 9, .is_stateful = true, .token = text("t")},
        ContextError{.client_context_id = 7,
                     .major = 1,
                     .minor = 1,
                     .token = encode(GssupError::bad_target)},
        MessageInContext{.client_context_id = 5, .discards_context = true},
        MessageInContext{}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const OctetVector data = encode(all[i]);
        EXPECT_EQ(decode_message(data), all[i]) << i;
        for (std::size_t size = 0; size < std::min<std::size_t>(data.size(), 100); ++size)
            EXPECT_EQ(decode_message(Bytes(data).first(size)), std::nullopt) << i << " " << size;
    }
    EXPECT_EQ(decode_message(octets({1, 0, 2, 0, 0, 0, 0, 0})), std::nullopt); // of no kind
    EXPECT_EQ(decode_message(octets({2, 0, 0, 0})), std::nullopt);
    EXPECT_EQ(decode_message(encode(EstablishContext{
                  .identity = {.type = IdentityType::certificates,
                               .token = OctetVector(limits::context_max, std::byte{7})}})),
              std::nullopt);
}

/// As another ORB sends it: a context of this request only, with an element that says more.
TEST(CsiMessages, AreTakenFromOthers)
{
    const OctetVector data = octets({0, 0, 0, 0, 0,   0, 0, 0, 0,   0,   0, 0, 0, 0, 0, 0, // id 0
                                     0, 0, 0, 1,                               // one element
                                     0, 0, 0, 9, 0,   0, 0, 2, 'x', 'y', 0, 0, //
                                     0, 0, 0, 0, 1,   0, 0, 0,                 // for itself
                                     0, 0, 0, 1, 0x60});
    const auto message = decode_message(data);
    ASSERT_TRUE(message.has_value());
    const auto* const context = std::get_if<EstablishContext>(&*message);
    ASSERT_NE(context, nullptr);
    EXPECT_EQ(context->authorizations, 1u);
    EXPECT_EQ(context->identity, Identity{});
    EXPECT_EQ(context->authentication, octets({0x60}));
}

Mechanism whole()
{
    return {.requires_ = 0x46,
            .transport = ior::tag_tls_sec_trans,
            .tls = TlsTransport{.supports = 0x3E,
                                .requires_ = 6,
                                .addresses = {{"plant.example", 684}, {"::1", 685}}},
            .client_supports = 64,
            .client_requires = 64,
            .client_mechanism = gssup,
            .target_name = exported_name("plant"),
            .identity_supports = 1024,
            .namings = {gssup},
            .identity_types = 3};
}

TEST(CsiMechanisms, ComeBackAsTheyWere)
{
    const MechanismList list{.is_stateful = true, .all = {whole(), Mechanism{}}};
    ior::TaggedComponent component = make_component(list);
    EXPECT_EQ(component.tag, 33u);
    EXPECT_EQ(decode_component(component), list);
    const std::size_t size = component.data.size();
    while (component.data.size() > 1) {
        component.data.pop_back();
        EXPECT_EQ(decode_component(component), std::nullopt) << component.data.size();
    }
    EXPECT_GT(size, 150u);
    EXPECT_EQ(decode_component(make_component({.all = {limits::mechanisms_max + 1, Mechanism{}}})),
              std::nullopt);
}

TEST(CsiMechanisms, AreShownToPeople)
{
    Mechanism odd = whole();
    odd.tls->addresses = {{"\x1B[2J", 1}};
    const std::string text = describe(make_component({.all = {whole(), Mechanism{}, odd}}), 4);
    EXPECT_EQ(text.substr(0, text.find("    requires nothing")),
              "    requires integrity, confidentiality, trust in the client\n"
              "    TLS: supports integrity, confidentiality, detection of replay, detection of "
              "misordering, trust in the server; requires integrity, confidentiality\n"
              "      at plant.example:684\n"
              "      at [::1]:685\n"
              "    clients: user and password (GSSUP) for 'plant'; requires trust in the client\n"
              "    speaking for others: anonymous, names\n");
    EXPECT_EQ(text.find('\x1B'), std::string::npos);
    EXPECT_EQ(describe({.tag = 33, .data = {}}, 4), "");
}

} // namespace
} // namespace kairos::csi
