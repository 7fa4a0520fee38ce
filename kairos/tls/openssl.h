// SPDX-License-Identifier: Apache-2.0
//
// OpenSSL's objects as values that own them, and what it says of errors.
#pragma once

#include <memory>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>

namespace kairos::tls {

/// Frees what a pointer owns.
template <auto Function>
struct Free {
    template <typename T>
    void operator()(T* object) const noexcept
    {
        Function(object);
    }
};

template <typename T, auto Function>
using Owned = std::unique_ptr<T, Free<Function>>;

using ContextPointer = Owned<SSL_CTX, &SSL_CTX_free>;
using SslPointer = Owned<SSL, &SSL_free>;
using SessionPointer = Owned<SSL_SESSION, &SSL_SESSION_free>;
using CertificatePointer = Owned<X509, &X509_free>;
using KeyPointer = Owned<EVP_PKEY, &EVP_PKEY_free>;
using RevocationsPointer = Owned<X509_CRL, &X509_CRL_free>;
using BioPointer = Owned<BIO, &BIO_free_all>;

/// Initializes OpenSSL, once; nothing of it is taken down at the end of the process, for ORBs and
/// their threads may outlive that.
void begin();

/// Returns the last error that OpenSSL has noted on this thread, for people, and forgets all.
[[nodiscard]] std::string take_error();

/// Returns whether a certificate is no longer in force; null, which is none, is not.
[[nodiscard]] bool has_expired(const X509* certificate) noexcept;
/// Returns whether a context looks peers up in lists of revoked certificates and has of one of the
/// authorities only such as are not in force, so that nobody is believed whom that has signed.
[[nodiscard]] bool has_old_revocations(const SSL_CTX& context) noexcept;
/// Returns the subject of a certificate as one line of printable characters, such as
/// "CN=server,O=Plant", cut where it is long.
[[nodiscard]] std::string subject_of(const X509& certificate);
/// Returns what a certificate is for: "DNS:a.example, IP:192.0.2.1", cut where there are many.
[[nodiscard]] std::string hosts_of(const X509& certificate);

} // namespace kairos::tls
