// SPDX-License-Identifier: Apache-2.0
//
// Part of SSLIOP.h: a program that includes it has the library. The core asks for it by a weak
// reference, for which a linker takes nothing from an archive, and with --as-needed no shared
// library either.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

namespace kairos::corba {

/// What the core's resolve_initial_references("SSLIOPCurrent") asks. Owned by the caller.
KAIROS_API CORBA::Object_ptr ssliop_service(CORBA::ORB& orb);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const ssliop_is_linked)(CORBA::ORB&) = &ssliop_service;

} // namespace kairos::corba
