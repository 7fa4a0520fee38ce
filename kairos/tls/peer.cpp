// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/peer.h"

#include "kairos/csi/context.h"
#include "kairos/tls/certificates.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <optional>
#include <string_view>
#include <utility>

namespace kairos::tls {
namespace {

std::string escaped(const ASN1_STRING& string)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string_view octets{reinterpret_cast<const char*>(ASN1_STRING_get0_data(&string)),
                                  static_cast<std::size_t>(ASN1_STRING_length(&string))};
    std::string text;
    for (const char c : octets) {
        if (c >= ' ' && c <= '~' && c != '\\') {
            text += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        text += '\\';
        text += digits[octet >> 4];
        text += digits[octet & 15];
    }
    return text;
}

/// Empty if it has not the size of an address.
std::string address_of(const ASN1_STRING& octets)
{
    const int size = ASN1_STRING_length(&octets);
    if (size != 4 && size != 16) return {};
    std::array<char, INET6_ADDRSTRLEN> text{};
    const char* const written = ::inet_ntop(
        size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(&octets), text.data(), text.size());
    return written == nullptr ? std::string() : std::string("IP:") + written;
}

/// Empty where it is of no kind that we know.
std::string text_of(const GENERAL_NAME& name)
{
    switch (name.type) {
    case GEN_DNS:
        return "DNS:" + escaped(*name.d.dNSName);
    case GEN_URI:
        return "URI:" + escaped(*name.d.uniformResourceIdentifier);
    case GEN_EMAIL:
        return "email:" + escaped(*name.d.rfc822Name);
    case GEN_IPADD:
        return address_of(*name.d.iPAddress);
    default:
        return {};
    }
}

} // namespace

Result<std::string> distinguished_name(const X509_NAME& name)
{
    ERR_clear_error();
    const BioPointer lines(BIO_new(BIO_s_mem()));
    if (!lines || X509_NAME_print_ex(lines.get(), &name, 0, XN_FLAG_RFC2253) < 0)
        return Error{ErrorCode::malformed, "a name cannot be written: " + take_error()};
    char* text = nullptr;
    const long size = BIO_get_mem_data(lines.get(), &text);
    return size <= 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

Result<std::vector<std::string>> alternative_names_of(const X509& certificate)
{
    using Names = Owned<GENERAL_NAMES, &GENERAL_NAMES_free>;
    constexpr int is_absent = -1;
    ERR_clear_error();
    int critical = 0;
    const Names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, &critical, nullptr)));
    if (!names && critical != is_absent)
        return Error{ErrorCode::malformed, "alternative names cannot be read: " + take_error()};
    std::vector<std::string> all;
    const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
    for (int i = 0; i < count; ++i)
        if (std::string one = text_of(*sk_GENERAL_NAME_value(names.get(), i)); !one.empty())
            all.push_back(std::move(one));
    return all;
}

namespace {

Error no_chain(const std::string& why)
{
    ERR_clear_error();
    return Error{ErrorCode::malformed, why};
}

const unsigned char* begin_of(Bytes octets)
{
    return reinterpret_cast<const unsigned char*>(octets.data());
}

/// Of these octets, all of which are one sequence.
std::optional<Bytes> inside_sequence(Bytes octets)
{
    const unsigned char* at = begin_of(octets);
    long size = 0;
    int tag = 0;
    int tag_class = 0;
    const int form =
        ASN1_get_object(&at, &size, &tag, &tag_class, static_cast<long>(octets.size()));
    const auto header = static_cast<std::size_t>(at - begin_of(octets));
    if (form != V_ASN1_CONSTRUCTED || tag != V_ASN1_SEQUENCE || tag_class != V_ASN1_UNIVERSAL ||
        header + static_cast<std::size_t>(size) != octets.size())
        return std::nullopt;
    return octets.subspan(header);
}

} // namespace

Result<orb::PeerCertificate> names_of(const X509& certificate)
{
    auto subject = distinguished_name(*X509_get_subject_name(&certificate));
    if (!subject) return subject.error();
    auto names = alternative_names_of(certificate);
    if (!names) return names.error();
    return orb::PeerCertificate{
        .is_shown = true, .subject = std::move(subject).value(), .names = std::move(names).value()};
}

namespace {

/// Whoever sends it may have made it, with whatever key: the larger that is, the longer it takes to
/// look at what it has signed.
bool is_key_too_large(const X509& certificate)
{
    const EVP_PKEY* const key = X509_get0_pubkey(&certificate);
    if (key == nullptr) return false; // it has signed nothing
    BIGNUM* read = nullptr;
    (void)EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &read);
    const Owned<BIGNUM, &BN_free> exponent(read); // null for keys that have none
    ERR_clear_error();
    if (EVP_PKEY_is_a(key, "EC") == 1) { // those of characteristic 2 take ten times as long
        std::array<char, 64> field{};
        const bool is_known =
            EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_EC_FIELD_TYPE, field.data(),
                                           field.size(), nullptr) == 1;
        ERR_clear_error();
        return !is_known || std::string_view(field.data()) != SN_X9_62_prime_field ||
               EVP_PKEY_get_bits(key) > csi::limits::curve_bits_max;
    }
    const int most = exponent ? csi::limits::rsa_bits_max : csi::limits::other_key_bits_max;
    return EVP_PKEY_get_bits(key) > most ||
           (exponent && BN_num_bits(exponent.get()) > csi::limits::rsa_exponent_bits_max);
}

/// Returns what keeps the issuer from having signed the certificate, `between` others below it;
/// empty if nothing does. A signature is looked at only where the names say whose it is.
std::string_view fault_of_issuer(X509& issuer, X509& certificate, long between)
{
    if (X509_check_issued(&issuer, &certificate) != X509_V_OK) return "has not signed";
    constexpr int authority = 1;
    constexpr int old_root = 3; // of X.509 version 1, signed by itself
    const int is = X509_check_ca(&issuer);
    if (is != authority && is != old_root) return "is no authority, and may not sign";
    const long most = X509_get_pathlen(&issuer);
    if (most >= 0 && between > most) return "allows fewer between itself and the first, and so not";
    if (is_key_too_large(issuer)) return "has a key larger than is looked at, with which it signed";
    return has_signed(issuer, certificate) ? "" : "has not signed";
}

/// Returns the names if there are not too many of them, and none is too long: they are compared
/// with patterns, of whoever may speak for somebody, for each request.
Result<orb::PeerCertificate> names_within_limits(const X509& certificate)
{
    using namespace csi::limits;
    const auto too_long = [](const char* what, std::size_t most) {
        return no_chain(std::string(what) + " of more than " + std::to_string(most) + " octets");
    };
    const unsigned char* octets = nullptr;
    std::size_t size = 0;
    if (X509_NAME_get0_der(X509_get_subject_name(&certificate), &octets, &size) != 1 ||
        size > distinguished_name_max)
        return too_long("a subject", distinguished_name_max);
    auto names = names_of(certificate);
    if (!names) return names;
    if (names->subject.empty() && names->names.empty())
        return no_chain("a certificate without a name");
    if (names->subject.size() > distinguished_name_max)
        return too_long("a subject", distinguished_name_max);
    if (names->names.size() > alternative_names_max)
        return no_chain("a certificate of more than " + std::to_string(alternative_names_max) +
                        " names");
    for (const std::string& each : names->names)
        if (each.size() > alternative_name_max)
            return too_long("an alternative name", alternative_name_max);
    return names;
}

} // namespace

/// No more is read than there may be.
Result<orb::PeerCertificate> first_of_chain(Bytes chain)
{
    using namespace csi::limits;
    ERR_clear_error();
    if (chain.size() > chain_max)
        return no_chain("a chain of more than " + std::to_string(chain_max) + " octets");
    const auto inside = chain.empty() ? std::nullopt : inside_sequence(chain);
    if (!inside) return no_chain("a chain that is no sequence of certificates");
    const unsigned char* at = begin_of(*inside);
    const unsigned char* const end = at + inside->size();
    CertificatePointer first;
    CertificatePointer last;
    long between = 0; // the first and the next, without those that are their own issuers
    for (std::size_t count = 0; at != end; ++count) {
        if (count == certificates_max)
            return no_chain("a chain of more than " + std::to_string(count) + " certificates");
        CertificatePointer next(d2i_X509(nullptr, &at, static_cast<long>(end - at)));
        if (!next) return no_chain("a chain that has something else than certificates");
        if (count != 0) {
            X509& signed_one = last ? *last : *first;
            const std::string_view fault = fault_of_issuer(*next, signed_one, between);
            if (!fault.empty())
                return no_chain("a chain in which '" + subject_of(*next) + "' " +
                                std::string(fault) + " '" + subject_of(signed_one) + "'");
            if ((X509_get_extension_flags(next.get()) & EXFLAG_SI) == 0) ++between;
        }
        (first ? last : first) = std::move(next);
    }
    if (!first) return no_chain("a chain without certificates");
    return names_within_limits(*first);
}

Result<std::string> written_name(Bytes name)
{
    using Name = Owned<X509_NAME, &X509_NAME_free>;
    ERR_clear_error();
    if (name.size() > csi::limits::distinguished_name_max)
        return no_chain("a distinguished name of more than " +
                        std::to_string(csi::limits::distinguished_name_max) + " octets");
    const unsigned char* at = begin_of(name);
    const Name read(d2i_X509_NAME(nullptr, &at, static_cast<long>(name.size())));
    if (!read || at != begin_of(name) + name.size())
        return no_chain("a distinguished name that is none");
    auto text = distinguished_name(*read);
    if (text && text->empty()) return no_chain("a distinguished name that is empty");
    if (text && text->size() > csi::limits::distinguished_name_max)
        return no_chain("a distinguished name of more than " +
                        std::to_string(csi::limits::distinguished_name_max) + " octets of text");
    return text;
}

} // namespace kairos::tls
