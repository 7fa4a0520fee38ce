// SPDX-License-Identifier: Apache-2.0
#include "kairos/tls/openssl.h"

#include "kairos/tls/limits.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string_view>

namespace kairos::tls {
namespace {

/// What a peer wrote, without characters that terminals obey.
std::string harmless(std::string_view text)
{
    std::string shown(text.substr(0, limits::name_shown_max));
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
    return shown;
}

std::string_view text_of(const ASN1_STRING& string)
{
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&string)),
            static_cast<std::size_t>(ASN1_STRING_length(&string))};
}

/// Empty unless it is the name or the address of a host.
std::string host_name(const GENERAL_NAME& name)
{
    if (name.type == GEN_DNS) return "DNS:" + harmless(text_of(*name.d.dNSName));
    if (name.type != GEN_IPADD) return {};
    const std::string_view octets = text_of(*name.d.iPAddress);
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = octets.size() == 4 ? AF_INET : AF_INET6;
    if (octets.size() != 4 && octets.size() != 16) return {};
    if (::inet_ntop(family, octets.data(), text.data(), text.size()) == nullptr) return {};
    return std::string("IP:") + text.data();
}

bool is_in_force(const X509_CRL& list) noexcept
{
    const ASN1_TIME* const next = X509_CRL_get0_nextUpdate(&list);
    return X509_cmp_current_time(X509_CRL_get0_lastUpdate(&list)) < 0 &&
           (next == nullptr || X509_cmp_current_time(next) > 0);
}

bool has_list_in_force(const STACK_OF(X509_OBJECT) & objects, const X509_NAME& issuer) noexcept
{
    for (int i = 0; i < sk_X509_OBJECT_num(&objects); ++i) {
        const X509_CRL* const list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(&objects, i));
        if (list != nullptr && is_in_force(*list) &&
            X509_NAME_cmp(X509_CRL_get_issuer(list), &issuer) == 0)
            return true;
    }
    return false;
}

} // namespace

void begin()
{
    static const bool begun = OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
    (void)begun;
}

std::string take_error()
{
    const unsigned long first = ERR_peek_error(); // what the system said
    const unsigned long error = ERR_SYSTEM_ERROR(first) ? first : ERR_peek_last_error();
    ERR_clear_error();
    if (error == 0) return "no reason was given";
    if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
    const char* const reason = ERR_reason_error_string(error);
    return reason != nullptr ? reason : "error " + std::to_string(error) + " of OpenSSL";
}

bool has_expired(const X509* certificate) noexcept
{
    return certificate != nullptr && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

bool has_old_revocations(const SSL_CTX& context) noexcept
{
    X509_STORE* const store = SSL_CTX_get_cert_store(&context);
    if ((X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store)) & X509_V_FLAG_CRL_CHECK) == 0)
        return false;
    X509_STORE_lock(store); // a folder's certificates come into it while peers are looked at
    const STACK_OF(X509_OBJECT)& objects = *X509_STORE_get0_objects(store);
    bool is_old = false;
    for (int i = 0; i < sk_X509_OBJECT_num(&objects) && !is_old; ++i) {
        const X509_CRL* const list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(&objects, i));
        is_old = list != nullptr && !is_in_force(*list) &&
                 !has_list_in_force(objects, *X509_CRL_get_issuer(list));
    }
    X509_STORE_unlock(store);
    return is_old;
}

std::string subject_of(const X509& certificate)
{
    const BioPointer lines(BIO_new(BIO_s_mem()));
    if (!lines) return "?";
    X509_NAME_print_ex(lines.get(), X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253);
    char* text = nullptr;
    const long size = BIO_get_mem_data(lines.get(), &text);
    if (size <= 0) return "without a name";
    return harmless({text, static_cast<std::size_t>(size)});
}

std::string hosts_of(const X509& certificate)
{
    using Names = Owned<GENERAL_NAMES, &GENERAL_NAMES_free>;
    const Names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
    std::string all;
    const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
    for (int i = 0; i < std::min(count, limits::names_shown_max); ++i)
        if (const std::string one = host_name(*sk_GENERAL_NAME_value(names.get(), i)); !one.empty())
            all.append(all.empty() ? "" : ", ").append(one);
    if (count > limits::names_shown_max) all += ", …";
    return all.empty() ? "no host at all" : all;
}

} // namespace kairos::tls
