// SPDX-License-Identifier: Apache-2.0
//
// What is behind #if and #elif: C's constant expressions of the preprocessor (C11 6.10.1), in 64
// bits. Bounded in depth.
#pragma once

#include "idlc/macros.h"

#include <optional>
#include <vector>

namespace kairos::idlc::pp {

/// Whether the condition holds; nothing where it is none, which is reported. `directive` is what
/// a missing one is reported at.
[[nodiscard]] std::optional<bool> evaluate(const std::vector<Token>& line, const Token& directive,
                                           Macros& macros, const TokenSource& source,
                                           Diagnostics& diagnostics);

} // namespace kairos::idlc::pp
