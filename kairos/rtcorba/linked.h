// SPDX-License-Identifier: Apache-2.0
//
// Part of RTCORBA.h: a program that includes it has the library. The core asks for Real-Time CORBA
// by weak references, for which a linker takes nothing from an archive, and with --as-needed no
// shared library either; and a program need not name more than what headers define to use RTORB.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/orb.h"

#include <string_view>

namespace kairos::corba {

/// What the core's resolve_initial_references asks.
KAIROS_API CORBA::Object_ptr real_time_service(CORBA::ORB& orb, std::string_view name);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const real_time_is_linked)(CORBA::ORB&, std::string_view) =
    &real_time_service;

} // namespace kairos::corba
