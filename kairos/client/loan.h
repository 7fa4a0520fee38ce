// SPDX-License-Identifier: Apache-2.0
//
// Memory of a connection that the server has, too (net/shared_blocks.h), for arguments that are
// then not copied: kairos/corba/loan.h makes sequences of it.
#pragma once

#include "kairos/base/export.h"

#include <cstddef>
#include <memory>

namespace kairos::orb {

class Reference;

/// Returns so many octets of memory from which calls of this thread on the reference copy nothing;
/// null where there is none, since the way is not shared memory, or nothing is free. Makes the
/// connection if there is none. Throws std::bad_alloc.
[[nodiscard]] KAIROS_API std::shared_ptr<std::byte> loan(Reference& reference, std::size_t size);

} // namespace kairos::orb
