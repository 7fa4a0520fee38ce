// SPDX-License-Identifier: Apache-2.0
//
// What the programs have in common that are measured by UDP, with an ORB and without.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kairos::bench {

/// Returns how many datagrams are sent before somebody waits for all of them to have come: as many
/// as fit into the queue of a socket as systems have it (208 KiB), where each may take twice as
/// much room as its octets and some more, so that none is lost.
[[nodiscard]] inline std::uint32_t datagrams_at_once(std::uint64_t bytes) noexcept
{
    constexpr std::uint64_t room = 160 * 1024;
    constexpr std::uint64_t beside = 960;
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(room / (2 * bytes + beside), 1, 64));
}

} // namespace kairos::bench
