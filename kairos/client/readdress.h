// SPDX-License-Identifier: Apache-2.0
//
// How a server that answers NEEDS_ADDRESSING_MODE wants objects to be named (CORBA 3.3 part 2,
// 9.4.3.3 and 9.4.6.2).
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/giop/request.h"
#include "kairos/orb/reference.h"

namespace kairos::orb {

/// `answer` is the body of its reply. Throws MARSHAL if it asks for what there is not.
[[nodiscard]] giop::RequestTemplate readdressed(cdr::Reader answer, const Reference& reference,
                                                const Target& target);
/// It has asked once more.
[[noreturn]] void raise_readdressed_again();

} // namespace kairos::orb
