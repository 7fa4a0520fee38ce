// SPDX-License-Identifier: Apache-2.0
//
// What this host says of itself and its network interfaces, from /proc and /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct InterfaceFigures {
    std::int32_t index = 0;
    std::string name;
    std::int32_t type = 1; ///< of IANA's ifType: 24 is a loopback, 6 Ethernet, 1 any other
    std::int32_t mtu = 0;
    std::uint64_t bits_per_second = 0;
    std::string address;
    bool is_wanted = false; ///< what an administrator has set
    bool is_up = false;
    std::uint64_t in_octets = 0, in_packets = 0, in_errors = 0, in_discards = 0;
    std::uint64_t out_octets = 0, out_packets = 0, out_errors = 0, out_discards = 0;
};

/// All interfaces, by index.
std::vector<InterfaceFigures> interfaces_of_host();
/// Nothing where there is no interface of this index any more.
std::optional<InterfaceFigures> interface_of_host(std::int32_t index);

/// Hundredths of a second since the host was started.
std::uint64_t uptime_of_host();
std::string name_of_host();
/// The system, its release and machine.
std::string description_of_host();
