// SPDX-License-Identifier: Apache-2.0
//
// The command line of TAO's IDL compiler, for builds that call tao_idl.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kairos::idlc {

/// What becomes of tao_idl's command line.
struct TaoCommandLine {
    std::vector<std::string> arguments; ///< kairos-idl's, without the program's name
    std::vector<std::string> ignored;   ///< options that change nothing here
    std::string error;                  ///< not empty: what cannot be had here, and why
};

/// Whether the compiler is called by this name of TAO's: "/usr/bin/tao_idl".
[[nodiscard]] bool is_tao_idl(std::string_view program);

/// Puts kairos-idl's options in the place of tao_idl's. Files and what neither knows stay.
[[nodiscard]] TaoCommandLine translate_tao_idl(const std::vector<std::string>& arguments);

} // namespace kairos::idlc
