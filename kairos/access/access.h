// SPDX-License-Identifier: Apache-2.0
//
// A program that includes this has libkairos-access, and with it -ORBAccess (docs/access.md),
// however it is linked. Nothing else needs to be included.
#pragma once

#include "kairos/corba/access_control.h"

namespace kairos::corba {

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline const AccessControl& (*const access_is_linked)() = &access_control;

} // namespace kairos::corba
