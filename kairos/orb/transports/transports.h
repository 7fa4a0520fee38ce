// SPDX-License-Identifier: Apache-2.0
//
// The transports that every ORB has, one file each. What programs add is not here.
#pragma once

#include "kairos/orb/transport.h"

namespace kairos::orb::transport {

extern const Transport& tcp;
extern const LocalTransport& unix_socket;
extern const LocalTransport& shared_memory;

} // namespace kairos::orb::transport
