// SPDX-License-Identifier: Apache-2.0
//
// What a peer can make TLS cost, at most. The time that shaking hands may take is
// -ORBReceiveTimeout.
#pragma once

#include <cstddef>

namespace kairos::tls::limits {

/// Handshakes under way at a server, in all and with one host: each takes some 50 KiB, and the
/// time of a signature.
inline constexpr std::size_t handshakes_max = 512;
inline constexpr std::size_t handshakes_of_host_max = 128;
/// How many seconds' worth of -ORBTlsHandshakes a host may begin at once: all clients of a site
/// connect anew when a server comes back.
inline constexpr int handshakes_burst = 4;
/// Hosts whose pace is remembered: 72 octets each.
inline constexpr std::size_t handshake_hosts_max = 4096;
/// Records in a row that carry no data, and what is in them, such as tickets and changes of keys:
/// real peers send two or three of them.
inline constexpr std::size_t without_data_max = 128;
/// Octets that are kept for a peer that does not take them: a record, and answers to changes of
/// keys.
inline constexpr std::size_t unsent_max = std::size_t{64} << 10;
/// Octets of a certificate with those of who signed it.
inline constexpr long certificates_max = 64L << 10;
/// Octets of what an authority says of a certificate: TLS 1.2 has it in one record.
inline constexpr std::size_t staple_max = std::size_t{15} << 10;
/// Servers of which a client remembers how to resume a session.
inline constexpr std::size_t sessions_max = 256;
/// Octets of a name in a peer's certificate that are written into messages, and how many names.
inline constexpr std::size_t name_shown_max = 200;
inline constexpr int names_shown_max = 8;

} // namespace kairos::tls::limits
