// SPDX-License-Identifier: Apache-2.0
//
// Which types and operations are compiled and which are interpreted (docs/marshalling.md): by
// `@marshal("…")` or `#pragma kairos marshal(…)` on them or on what they are declared in, else by
// the command line.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"

#include <optional>
#include <string_view>

namespace kairos::idlc {

enum class Engine { compiled, interpretive };

/// "compiled" or "interpretive".
[[nodiscard]] std::optional<Engine> engine_named(std::string_view name) noexcept;

/// What the IDL says about the declaration: the innermost annotation wins.
[[nodiscard]] std::optional<Engine> annotated_engine(const Declaration& declaration);

/// Reports annotations whose value is neither engine.
void check_marshal_annotations(const Unit& unit, Diagnostics& diagnostics);

} // namespace kairos::idlc
