// SPDX-License-Identifier: Apache-2.0
//
// Chains of certificates that clients may have made themselves: who may not sign, keys that it
// would take long to look at, names without end.
#include "kairos/csi/context.h"
#include "kairos/tls/openssl.h"
#include "kairos/tls/peer.h"

#include <gtest/gtest.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kairos::csi {
namespace {

/// What is wrong with a chain; "" for none.
std::string fault_of_chain(const OctetVector& chain)
{
    const auto first = tls::first_of_chain(chain);
    return first ? "" : first.error().reason;
}

/// Whoever may speak for somebody may have made certificates of his own, with what he likes.
struct OwnCertificate {
    std::string name;
    std::string issuer;
    std::vector<std::pair<int, std::string>> extensions{}; // in OpenSSL's words
    EVP_PKEY* key = nullptr;                               // null: with which most are signed
    EVP_PKEY* signer = nullptr;                            // null: that one
};

OctetVector made(const OwnCertificate& wanted)
{
    static const tls::KeyPointer key(EVP_EC_gen("P-256"));
    const tls::CertificatePointer certificate(X509_new());
    const auto set = [](X509_NAME* name, const std::string& text) {
        const auto* const octets = reinterpret_cast<const unsigned char*>(text.data());
        EXPECT_EQ(X509_NAME_add_entry_by_txt(name, "CN", V_ASN1_UTF8STRING, octets,
                                             static_cast<int>(text.size()), -1, 0),
                  1);
    };
    X509* const one = certificate.get();
    EXPECT_EQ(X509_set_version(one, X509_VERSION_3), 1);
    EXPECT_EQ(ASN1_INTEGER_set(X509_get_serialNumber(one), 1), 1);
    EXPECT_NE(X509_gmtime_adj(X509_getm_notBefore(one), -3600), nullptr);
    EXPECT_NE(X509_gmtime_adj(X509_getm_notAfter(one), 3600), nullptr);
    set(X509_get_subject_name(one), wanted.name);
    set(X509_get_issuer_name(one), wanted.issuer);
    EXPECT_EQ(X509_set_pubkey(one, wanted.key != nullptr ? wanted.key : key.get()), 1);
    for (const auto& [id, value] : wanted.extensions) {
        using Extension = tls::Owned<X509_EXTENSION, &X509_EXTENSION_free>;
        const Extension extension(X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str()));
        EXPECT_EQ(X509_add_ext(one, extension.get(), -1), 1) << value;
    }
    EVP_PKEY* const signer = wanted.signer != nullptr ? wanted.signer : key.get();
    EXPECT_GT(X509_sign(one, signer, EVP_sha256()), 0);
    OctetVector octets(static_cast<std::size_t>(i2d_X509(one, nullptr)));
    auto* at = reinterpret_cast<unsigned char*>(octets.data());
    EXPECT_GT(i2d_X509(one, &at), 0);
    return octets;
}

/// Of RSA's, as large as that. Nobody has the other half.
tls::KeyPointer large_key(int bits, int exponent_bits)
{
    using Number = tls::Owned<BIGNUM, &BN_free>;
    const auto number = [](int size) {
        Number random(BN_new());
        EXPECT_EQ(BN_rand(random.get(), size, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD), 1);
        return random;
    };
    const Number modulus = number(bits);
    const Number exponent = number(exponent_bits);
    using Builder = tls::Owned<OSSL_PARAM_BLD, &OSSL_PARAM_BLD_free>;
    const Builder builder(OSSL_PARAM_BLD_new());
    EXPECT_EQ(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()), 1);
    EXPECT_EQ(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()), 1);
    using Parameters = tls::Owned<OSSL_PARAM, &OSSL_PARAM_free>;
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    using Context = tls::Owned<EVP_PKEY_CTX, &EVP_PKEY_CTX_free>;
    const Context context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
    EVP_PKEY* key = nullptr;
    EXPECT_EQ(EVP_PKEY_fromdata_init(context.get()), 1);
    EXPECT_EQ(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()), 1);
    return tls::KeyPointer(key);
}

TEST(CsiChains, AreRefusedOfWhoMayNotSign)
{
    const auto authority = [](const std::string& more = "", const std::string& issuer = "Root",
                              const std::string& name = "Root") {
        return OwnCertificate{name, issuer, {{NID_basic_constraints, "critical,CA:TRUE" + more}}};
    };
    const auto fault = [](const std::vector<OwnCertificate>& all) {
        std::vector<OctetVector> octets;
        for (const OwnCertificate& each : all)
            octets.push_back(made(each));
        const std::vector<Bytes> views(octets.begin(), octets.end());
        return fault_of_chain(chain_of(views));
    };
    const OwnCertificate press{"press", "Root"};
    const OwnCertificate below{"press", "Low"};
    const OwnCertificate low = authority("", "Root", "Low");
    EXPECT_EQ(fault({press, authority()}), "");
    EXPECT_EQ(fault({press, authority(",pathlen:0"), authority(",pathlen:0")}), "");
    EXPECT_EQ(fault({below, low, authority(",pathlen:1")}), "");
    const std::string no_authority =
        "a chain in which 'CN=Root' is no authority, and may not sign 'CN=press'";
    EXPECT_EQ(fault({press, {"Root", "Root"}}), no_authority);
    EXPECT_EQ(fault({press, {"Root", "Root", {{NID_basic_constraints, "CA:FALSE"}}}}),
              no_authority);
    OwnCertificate other_use = authority();
    other_use.extensions.emplace_back(NID_key_usage, "digitalSignature");
    EXPECT_EQ(fault({press, other_use}), "a chain in which 'CN=Root' has not signed 'CN=press'");
    EXPECT_EQ(fault({below, low, authority(",pathlen:0")}),
              "a chain in which 'CN=Root' allows fewer between itself and the first, and so not "
              "'CN=Low'");
    const tls::KeyPointer rsa(EVP_RSA_gen(2048)); // or it could not be whose signature this is
    OwnCertificate by_rsa = press;
    by_rsa.signer = rsa.get();
    OwnCertificate usual = authority();
    usual.key = rsa.get();
    EXPECT_EQ(fault({by_rsa, usual}), "");
    const std::string too_large = "a chain in which 'CN=Root' has a key larger than is looked at, "
                                  "with which it signed 'CN=press'";
    for (const auto& [bits, exponent_bits, expected] :
         {std::tuple(8200, 17, too_large), std::tuple(2048, 65, too_large),
          std::tuple(8192, 64,
                     std::string("a chain in which 'CN=Root' has not signed "
                                 "'CN=press'"))}) {
        const tls::KeyPointer key = large_key(bits, exponent_bits);
        OwnCertificate large = authority();
        large.key = key.get();
        EXPECT_EQ(fault({by_rsa, large}), expected) << bits << ' ' << exponent_bits;
        large.issuer = "Low";
        EXPECT_EQ(fault({large}), "") << "it signs nothing";
    }
}

TEST(CsiChains, AreRefusedForNamesThatAreTooLong)
{
    const auto fault = [](const std::string& name, const std::string& alternatives) {
        OwnCertificate wanted{name, "Root"};
        if (!alternatives.empty())
            wanted.extensions.emplace_back(NID_subject_alt_name, alternatives);
        const OctetVector octets = made(wanted);
        return fault_of_chain(chain_of(std::vector<Bytes>{octets}));
    };
    const auto names = [](std::size_t count) {
        std::string all = "DNS:n";
        for (std::size_t i = 1; i < count; ++i)
            all += ",DNS:n" + std::to_string(i);
        return all;
    };
    const std::size_t most = limits::distinguished_name_max;
    const std::string letters(most, 'x');
    std::string accents; // three octets of text for each of theirs
    for (std::size_t i = 0; i < most / 4; ++i)
        accents += "\xC3\xA9";
    EXPECT_EQ(fault(letters.substr(0, most - 21), ""), "");
    EXPECT_EQ(fault(letters, ""), "a subject of more than 4096 octets");
    EXPECT_EQ(fault(accents, ""), "a subject of more than 4096 octets");
    const std::string alternative(limits::alternative_name_max - 4, 'x');
    EXPECT_EQ(fault("press", "DNS:" + alternative), "");
    EXPECT_EQ(fault("press", "DNS:" + alternative + "x"),
              "an alternative name of more than 1024 octets");
    EXPECT_EQ(fault("press", names(64)), "");
    EXPECT_EQ(fault("press", names(65)), "a certificate of more than 64 names");
    const tls::Owned<X509_NAME, &X509_NAME_free> name(X509_NAME_new());
    const auto* const octets = reinterpret_cast<const unsigned char*>(accents.data());
    ASSERT_EQ(X509_NAME_add_entry_by_txt(name.get(), "CN", V_ASN1_UTF8STRING, octets,
                                         static_cast<int>(accents.size()), -1, 0),
              1);
    OctetVector der(static_cast<std::size_t>(i2d_X509_NAME(name.get(), nullptr)));
    auto* at = reinterpret_cast<unsigned char*>(der.data());
    ASSERT_GT(i2d_X509_NAME(name.get(), &at), 0);
    ASSERT_LT(der.size(), most);
    EXPECT_EQ(tls::written_name(der).error().reason,
              "a distinguished name of more than 4096 octets of text");
}

} // namespace
} // namespace kairos::csi
