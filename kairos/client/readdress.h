// SPDX-License-Identifier: Apache-2.0
//
// How a server that answers NEEDS_ADDRESSING_MODE wants objects to be named (CORBA 3.3 part 2,
// 9.4.3.3 and 9.4.6.2).
#pragma once

#include "kairos/cdr/reader.h"
#include "kairos/giop/request.h"
#include "kairos/orb/reference.h"

namespace kairos::orb {

/// Returns the request's header as a server wants it that has answered NEEDS_ADDRESSING_MODE with
/// the body `answer`. Throws MARSHAL if it asks for a mode that does not exist.
[[nodiscard]] giop::RequestTemplate readdressed(cdr::Reader answer, const Reference& reference,
                                                const Target& target);
/// Throws MARSHAL: the server has asked for another addressing mode again.
[[noreturn]] void raise_readdressed_again();

} // namespace kairos::orb
