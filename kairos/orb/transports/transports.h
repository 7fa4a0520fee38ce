// SPDX-License-Identifier: Apache-2.0
//
// The transports that every ORB has, one file each. What programs add is not here.
#pragma once

#include "kairos/orb/transport.h"

#include <vector>

namespace kairos::orb::transport {

extern const Transport& tcp;
extern const LocalTransport& unix_socket;
extern const LocalTransport& shared_memory;

/// Returns all that there are, with those that programs have added.
[[nodiscard]] std::vector<const Transport*> list();

} // namespace kairos::orb::transport
