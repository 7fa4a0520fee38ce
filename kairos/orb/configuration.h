// SPDX-License-Identifier: Apache-2.0
//
// Files of options (-ORBConfigFile): one on each line, as on the command line.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::orb {

/// One option that a configuration file sets.
struct Setting {
    std::string option; ///< "-ORB…"
    std::string value;
    std::size_t line = 0; ///< from 1
};

/// Parses a configuration file's text; the settings are in the order of the lines. A line is
/// "-ORBName value" or "-ORBName=value", the value being what is left of the line without the
/// blanks around it; empty lines and those that begin with '#' mean nothing. The error names the
/// line.
[[nodiscard]] Result<std::vector<Setting>> parse_configuration(std::string_view text);

/// Returns what is in a file. The error names the file.
[[nodiscard]] KAIROS_API Result<std::string> read_configuration(const std::string& file);

} // namespace kairos::orb
