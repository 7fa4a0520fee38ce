// SPDX-License-Identifier: Apache-2.0
//
// Oneways in datagrams: diop:// as an endpoint of servers, and what clients ask for
// (docs/datagrams.md). A program that includes this has libkairos-datagrams, however it is linked.
#pragma once

#include "kairos/base/export.h"
#include "kairos/corba/object.h"

#include <cstdint>

namespace kairos::orb {

struct Datagrams;
/// Returns what the core asks of this library.
KAIROS_API const Datagrams& datagrams();

/// Never read: a reference in the program, for a linker that leaves out what nothing refers to.
[[gnu::used]] inline const Datagrams& (*const datagrams_are_linked)() = &datagrams;

} // namespace kairos::orb

namespace kairos::datagrams {

/// Returns a reference to the same object, with the same policies, whose oneways go in datagrams,
/// each in one, and may be lost on the way. What expects an answer ends with NO_IMPLEMENT there.
/// Throws INV_OBJREF if the server takes no datagrams. Owned by the caller; nil for nil.
[[nodiscard]] KAIROS_API CORBA::Object_ptr oneways(CORBA::Object_ptr object);

/// What the servers of this process have received, all ORBs together.
struct Figures {
    std::uint64_t requests = 0; ///< that were served
    std::uint64_t dropped = 0;  ///< that were no oneways, no packets, or malformed
    std::uint64_t repeated = 0; ///< packets to groups that had come before
};
[[nodiscard]] KAIROS_API Figures figures() noexcept;

} // namespace kairos::datagrams
