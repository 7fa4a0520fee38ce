// SPDX-License-Identifier: Apache-2.0
//
// A reference as people give it on the command line.
#pragma once

#include "kairos/base/result.h"

#include <string>

namespace kairos::tools {

/// What the user typed: an object URL, the name of a file that holds one, or "-" for standard
/// input.
[[nodiscard]] Result<std::string> url_of(const std::string& argument);

} // namespace kairos::tools
