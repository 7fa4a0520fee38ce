// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a connection by TLS, in words: for those who decide by it, so nothing
// is left out, and what cannot be printed is written so that no two are the same.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/result.h"
#include "kairos/orb/tls_peers.h"
#include "kairos/tls/openssl.h"

#include <string>
#include <vector>

namespace kairos::tls {

struct Peer {
    std::string subject;            ///< of its certificate, where it may be empty, if it has one
    std::string issuer;             ///< who has signed that
    std::vector<std::string> names; ///< whom it is for, besides (alternative_names_of)
    std::string version;            ///< "TLSv1.3"
    std::string cipher;             ///< as IANA names it: "TLS_AES_256_GCM_SHA384"
};

/// Returns a distinguished name as RFC 2253 writes it, such as "CN=server,O=Plant": what is no
/// printable character of ASCII is "\" with two hexadecimal digits for each octet of UTF-8. Empty
/// if the name is; an error where it cannot be written.
[[nodiscard]] Result<std::string> distinguished_name(const X509_NAME& name);

/// Returns the alternative names of a certificate, each with its kind: "DNS:a.example",
/// "IP:192.0.2.1", "URI:spiffe://plant/press", "email:a@b.example". Other kinds (otherName,
/// directoryName, registeredID, …) are left out, and addresses of another size than IP's. What is
/// no printable character of ASCII, and "\", is "\" with two hexadecimal digits. An error where the
/// certificate has them but they cannot be read, or has them twice.
[[nodiscard]] Result<std::vector<std::string>> alternative_names_of(const X509& certificate);

/// Returns both; an error where one cannot be written.
[[nodiscard]] Result<orb::PeerCertificate> names_of(const X509& certificate);

/// What orb::TlsPeers::first_of_chain and written_name say.
[[nodiscard]] Result<orb::PeerCertificate> first_of_chain(Bytes chain);
[[nodiscard]] Result<std::string> written_name(Bytes name);

} // namespace kairos::tls
