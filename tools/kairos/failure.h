// SPDX-License-Identifier: Apache-2.0
//
// How what the sub-commands share says that it cannot go on.
#pragma once

#include <stdexcept>
#include <string>

namespace kairos::tools {

/// Throws std::runtime_error, whose text a command prints before it ends with status 1.
[[noreturn]] inline void fail(const std::string& reason) { throw std::runtime_error(reason); }

} // namespace kairos::tools
