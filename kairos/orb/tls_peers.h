// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a connection by TLS, and what names of X.509 say, for those who know
// neither: kairos/tls has the function `tls_peers`, and who asks refers to it by a weak symbol.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::net {
class Channel;
} // namespace kairos::net

namespace kairos::orb {

/// The names of a certificate: of a peer's, one that somebody trusted has signed.
struct PeerCertificate {
    bool is_shown = false;          ///< else nobody has shown one that was looked at
    std::string subject;            ///< as RFC 2253 writes it: "CN=client,O=Plant"
    std::vector<std::string> names; ///< alternative ones: "URI:spiffe://plant/press"
};

struct TlsPeers {
    /// Returns a number that no other connection by TLS of this process has or will have; 0 for
    /// what is no connection by TLS.
    std::uint64_t (*number_of)(const net::Channel& channel) noexcept;
    /// Returns what the other end of a connection by TLS has shown; an error where a name in it
    /// cannot be written.
    Result<PeerCertificate> (*certificate_of)(const net::Channel& channel);
    /// Returns the names of the first certificate of a chain, a sequence of certificates in DER, of
    /// which each is signed by the next, which may; nothing else was looked at of who signed them.
    /// An error where it is no such chain, or its first certificate has no name, one that cannot be
    /// written, one that is too long, or too many (csi::limits).
    Result<PeerCertificate> (*first_of_chain)(Bytes chain);
    /// Returns a distinguished name in DER as RFC 2253 writes it; an error where it is none, or
    /// too long.
    Result<std::string> (*written_name)(Bytes name);
};

} // namespace kairos::orb
