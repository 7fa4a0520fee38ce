// SPDX-License-Identifier: Apache-2.0
//
// Part of ir.h: a program that includes it has the library, though the core asks for interfaces of
// servants by a weak reference, for which a linker takes nothing from an archive, and with
// --as-needed no shared library either.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/stub.h"

namespace PortableServer {
class ServantBase;
} // namespace PortableServer

namespace kairos::corba {

/// What the core asks when an object is asked for its interface.
KAIROS_API CORBA::Object_ptr interface_of(PortableServer::ServantBase& servant);

/// Never read: one reference in a program that is not weak.
[[gnu::used]] inline CORBA::Object_ptr (*const interfaces_are_linked)(
    PortableServer::ServantBase&) = &interface_of;

} // namespace kairos::corba
