// SPDX-License-Identifier: Apache-2.0
//
// Part of PortableInterceptor.h: register_orb_initializer, which stands in no IDL; and that a
// program that includes it has the library, though the core asks for interceptors by weak
// references, for which a linker takes nothing from an archive, and with --as-needed no shared
// library either.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

namespace PortableInterceptor {

class ORBInitializer;
typedef ORBInitializer* ORBInitializer_ptr;

/// Has every ORB that ORB_init makes from now on call the initializer, behind those registered
/// before (CORBA 3.3 part 1, 16.7.3). It is shared with the caller and kept as long as the process.
/// Throws BAD_PARAM for nil. Any thread.
KAIROS_API void register_orb_initializer(ORBInitializer_ptr init);

} // namespace PortableInterceptor

namespace kairos::corba {

/// What the core's resolve_initial_references("PICurrent") asks. Owned by the caller.
KAIROS_API CORBA::Object_ptr slots_service(CORBA::ORB& orb);
/// What the core's ORB_init calls with its arguments, which end with a null pointer. Throws what an
/// initializer throws.
KAIROS_API void initialize_interceptors(CORBA::ORB& orb, const char* const* arguments);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline void (*const interceptors_are_linked)(CORBA::ORB&, const char* const*) =
    &initialize_interceptors;

} // namespace kairos::corba
