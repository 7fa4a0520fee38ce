// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/peer.h"

#include <arpa/inet.h>
#include <array>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string_view>

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

} // namespace kairos::tls
