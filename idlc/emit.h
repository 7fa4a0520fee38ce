// SPDX-License-Identifier: Apache-2.0
//
// The back end: from the model of one IDL file to C++ in the classic mapping. What main.cpp calls;
// the emitters behind it are declared in emitters.h.
#pragma once

#include "idlc/diagnostics.h"
#include "idlc/model.h"
#include "idlc/options.h"
#include "idlc/timing.h"

#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

/// "foo_skel.h" for "x/foo.idl"; "x/foo_skel.h" where --root keeps its folders.
[[nodiscard]] std::string generated_name(const std::string& idl_path, const Options& options,
                                         std::string_view suffix);

/// Writes the generated files of the unit's main file, all or none. False, with errors reported,
/// where something in it has no code yet or a file cannot be written.
/// What --profile made it choose is told in `choices`, for people.
[[nodiscard]] bool emit(const Unit& unit, const std::vector<Timing>& timings,
                        const Options& options, Diagnostics& diagnostics, std::string& choices);

/// Reports everything in the main file, or used by it, that there is no code generation for yet.
[[nodiscard]] bool check_supported(const Unit& unit, Diagnostics& diagnostics);

} // namespace kairos::idlc
