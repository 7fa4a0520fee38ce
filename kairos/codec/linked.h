// SPDX-License-Identifier: Apache-2.0
//
// Part of Codec.h: a program that includes it has the library, though the core asks for the factory
// by a weak reference, for which a linker takes nothing from an archive, and with --as-needed no
// shared library either.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

namespace kairos::corba {

/// What the core's resolve_initial_references("CodecFactory") asks. Owned by the caller.
KAIROS_API CORBA::Object_ptr codec_service(CORBA::ORB& orb);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const codec_is_linked)(CORBA::ORB&) = &codec_service;

} // namespace kairos::corba
