// SPDX-License-Identifier: Apache-2.0
//
// Makes keys and certificates: for trying TLS out, and for tests (`kairos certs`). A real authority
// is another matter.
#pragma once

#include "kairos/base/result.h"
#include "kairos/tls/openssl.h"

#include <chrono>
#include <string>
#include <vector>

namespace kairos::tls {

/// A certificate with its private key.
struct Identity {
    CertificatePointer certificate;
    KeyPointer key;
};

/// What is to be made.
struct CertificateRequest {
    enum class Kind { authority, server, client };

    Kind kind = Kind::server;
    std::string name;                 ///< the common name of the subject
    std::vector<std::string> hosts{}; ///< names and addresses, of a server
    std::chrono::hours begins{-1};    ///< from now on
    std::chrono::hours ends{24 * 365};
};

/// Makes a key (of P-256) and a certificate that `issuer` signs; null: by itself.
[[nodiscard]] Result<Identity> make_identity(const CertificateRequest& request,
                                             const Identity* issuer);

/// A list of certificates that were taken back.
struct Revocations {
    std::vector<const X509*> certificates{};
    const X509_CRL* before = nullptr; ///< a list whose certificates are on this one as well
    std::chrono::hours begins{-1};    ///< from now on
    std::chrono::hours ends{24 * 90}; ///< when there is to be a newer one
};

/// Makes a list that `issuer` signs.
[[nodiscard]] Result<RevocationsPointer> make_revocations(const Revocations& revocations,
                                                          const Identity& issuer);

/// Reads what write_certificate and write_key have written.
[[nodiscard]] Result<Identity> read_identity(const std::string& certificate,
                                             const std::string& key);
[[nodiscard]] Result<CertificatePointer> read_certificate(const std::string& path);
/// Reads the one list of a file that has nothing else: it is to be written anew.
[[nodiscard]] Result<RevocationsPointer> read_revocations(const std::string& path);

/// Returns whether the first has signed the second.
[[nodiscard]] bool has_signed(const X509& issuer, const X509_CRL& list) noexcept;
[[nodiscard]] bool has_signed(const X509& issuer, const X509& certificate) noexcept;

/// Writes a list in place of a file, at once.
[[nodiscard]] Result<void> write_revocations(const std::string& path, const X509_CRL& list);
/// Writes a certificate into a new file.
[[nodiscard]] Result<void> write_certificate(const std::string& path, const Identity& identity);
/// Writes a private key into a new file that only its owner may read.
[[nodiscard]] Result<void> write_key(const std::string& path, const Identity& identity);

} // namespace kairos::tls
