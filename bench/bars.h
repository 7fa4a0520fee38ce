// SPDX-License-Identifier: Apache-2.0
//
// The limits of the figures that matter most, which experiments judge and the summary shows even
// where nothing was measured.
#pragma once

namespace kairos::bench::bars {

inline constexpr double null_call_to_raw = 1.10; ///< at most
inline constexpr double null_call_to_raw_on_one_cpu = 1.08;
inline constexpr double null_call_to_omniorb = 1.0; ///< below
inline constexpr double octets_to_raw = 0.95;       ///< at least
inline constexpr double structs_to_octets = 0.80;
inline constexpr double strings_to_octets = 0.30;
inline constexpr double dii_structs = 0.90; ///< of what stubs and skeletons move, at least
inline constexpr double dii_octets = 0.95;
inline constexpr double dsi_structs = 0.80;
inline constexpr double datagrams_to_raw = 0.90;
inline constexpr double null_oneway_by_datagram_to_raw = 1.11; // 1 / 0.90, at most
inline constexpr double tls_connections_to_raw = 0.90;
inline constexpr double tls_idle_bytes = 8 * 1024; // at most
inline constexpr double locks = 0;                 ///< at most, per call and side; so the next two
inline constexpr double allocations = 0;
inline constexpr double system_calls = 2;
inline constexpr double instructions = 1900; ///< at most, of both sides of a null call

} // namespace kairos::bench::bars
