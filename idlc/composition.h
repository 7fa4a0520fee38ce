// SPDX-License-Identifier: Apache-2.0
//
// How the facts about a type follow from the facts about its parts. Each is computed once, when
// the type is defined, so questions about the model need no recursion over it.
#pragma once

#include "idlc/model.h"

namespace kairos::idlc {

/// Types nested in types, typedefs of typedefs: deeper than anyone writes, shallow enough to
/// recurse.
inline constexpr std::uint16_t composition_depth_max = 128;

[[nodiscard]] Composition compose(const Type& type);
/// The whole contains this part.
void add_part(Composition& whole, const Type& part);

} // namespace kairos::idlc
