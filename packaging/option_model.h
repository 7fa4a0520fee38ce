// SPDX-License-Identifier: Apache-2.0
//
// What a program's --help is made of, for programs: packaging/manual.py turns it into manual pages
// and completions, so that no text exists twice.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace kairos::packaging {

/// Returns the command, its options and its sub-commands as JSON. What --help hides is left out.
[[nodiscard]] std::string option_model(const CLI::App& app);

/// Adds the hidden flag --option-model, which prints that and ends the program with success. It
/// must be the last thing that is added to `app`, which must live until it has parsed.
void add_option_model_flag(CLI::App& app);

} // namespace kairos::packaging
