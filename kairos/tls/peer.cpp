// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/peer.h"

#include "kairos/csi/context.h"
#include "kairos/tls/certificates.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <openssl/asn1.h>
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

/// No more is read than there may be, and a signature is looked at only where the names say whose
/// it is.
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
    for (std::size_t count = 0; at != end; ++count) {
        if (count == certificates_max)
            return no_chain("a chain of more than " + std::to_string(count) + " certificates");
        CertificatePointer next(d2i_X509(nullptr, &at, static_cast<long>(end - at)));
        if (!next) return no_chain("a chain that has something else than certificates");
        if (count != 0) {
            const X509& signed_one = last ? *last : *first;
            if (X509_check_issued(next.get(), const_cast<X509*>(&signed_one)) != X509_V_OK ||
                !has_signed(*next, signed_one))
                return no_chain("a chain in which '" + subject_of(*next) + "' has not signed '" +
                                subject_of(signed_one) + "'");
        }
        (first ? last : first) = std::move(next);
    }
    if (!first) return no_chain("a chain without certificates");
    auto names = names_of(*first);
    if (names && names->subject.empty() && names->names.empty())
        return no_chain("a certificate without a name");
    return names;
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
    return text;
}

} // namespace kairos::tls
