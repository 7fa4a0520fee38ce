// SPDX-License-Identifier: Apache-2.0
//
// A program that includes this has libkairos-tls, and with it ssliop:// and the -ORBTls… options
// (docs/tls.md), however it is linked. Nothing else needs to be included; what a program may tell
// it is here, too.
#pragma once

#include "kairos/base/export.h"

namespace kairos::orb {

class Transport;

/// Returns TLS as the core knows it.
KAIROS_API const Transport& tls_transport();

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline const Transport& (*const tls_is_linked)() = &tls_transport;

} // namespace kairos::orb

namespace kairos::tls {

/// Has all ORBs of this process read the files of their -ORBTls... options now, which they would do
/// when a connection begins after these have changed; the log says what came of it. Returns false
/// if there was none that had read any. Any thread, but not a handler of a signal.
KAIROS_API bool reread_files();

} // namespace kairos::tls
