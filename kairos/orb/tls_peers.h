// SPDX-License-Identifier: Apache-2.0
//
// Who is at the other end of a connection by TLS, for those who do not know TLS: kairos/tls has the
// function `tls_peers`, and who asks refers to it by a weak symbol.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::net {
class Channel;
} // namespace kairos::net

namespace kairos::orb {

/// A certificate that somebody trusted has signed.
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
};

} // namespace kairos::orb
