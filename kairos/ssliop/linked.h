// SPDX-License-Identifier: Apache-2.0
//
// Part of SSLIOP.h: a program that includes it has the library. The core asks for it by a weak
// reference, for which a linker takes nothing from an archive, and with --as-needed no shared
// library either.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

namespace kairos::corba {

class Policies;

/// What the core's resolve_initial_references("SSLIOPCurrent") asks. Owned by the caller.
KAIROS_API CORBA::Object_ptr ssliop_service(CORBA::ORB& orb);

/// Makes create_policy know the policies of KairosTls.
KAIROS_API void add_tls_policies(Policies& policies);

/// Never read: references in a program that are not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const ssliop_is_linked)(CORBA::ORB&) = &ssliop_service;
[[gnu::used]] inline void (*const tls_policies_are_linked)(Policies&) = &add_tls_policies;

} // namespace kairos::corba
