// SPDX-License-Identifier: Apache-2.0
//
// One way to a server: a transport, and the address that this connects to. References have several
// for each of their targets (ways.h).
#pragma once

#include "kairos/base/export.h"
#include "kairos/ior/component.h"

#include <compare>
#include <string>
#include <vector>

namespace kairos::orb {

class Transport;

struct KAIROS_API Way {
    const Transport* transport = nullptr; ///< never null
    ior::Address address;                 ///< of a transport within the host: the path, and port 0
    friend auto operator<=>(const Way&, const Way&) = default;
};

using WayList = std::vector<Way>; ///< best first

/// Returns the address as it is written in messages: "host:port", "unix:path".
[[nodiscard]] std::string to_string(const Way& way);

} // namespace kairos::orb
