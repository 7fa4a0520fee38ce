// SPDX-License-Identifier: Apache-2.0
//
// Asking where an object is before it is called (CORBA 3.3 part 2, 9.4.5), which connects to it.
// Any thread; takes what that thread, or all, have for calls.
#pragma once

#include "kairos/giop/locate.h"
#include "kairos/orb/reference.h"

namespace kairos::orb {

/// Asks where the object is. Follows forwards as calls do, and later calls go where it was sent;
/// binds the reference if the object is there, whatever Messaging::RebindPolicy says. Asks the
/// adapter for an object of this process. Throws TRANSIENT or TIMEOUT, what the server answers with
/// (LOC_SYSTEM_EXCEPTION), MARSHAL if the server asks for an addressing mode that does not exist,
/// BAD_INV_ORDER after the ORB was shut down.
[[nodiscard]] giop::LocateStatus locate(Reference& reference);

} // namespace kairos::orb
