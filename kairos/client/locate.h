// SPDX-License-Identifier: Apache-2.0
//
// Asking where an object is before it is called (CORBA 3.3 part 2, 9.4.5), which connects to it.
// Any thread; takes what that thread, or all, have for calls.
#pragma once

#include "kairos/giop/locate.h"
#include "kairos/orb/reference.h"

namespace kairos::orb {

/// Follows forwards as calls do, and later calls go where it was sent; binds the reference,
/// whatever Messaging::RebindPolicy says. Throws TRANSIENT or TIMEOUT, what the server answers with
/// (LOC_SYSTEM_EXCEPTION), MARSHAL if it asks for addresses that there are not. For an object of
/// this process it asks the adapter.
[[nodiscard]] giop::LocateStatus locate(Reference& reference);

} // namespace kairos::orb
