// SPDX-License-Identifier: Apache-2.0
//
// The command line of omniORB's IDL compiler, for kairos-idl called as `omniidl`: builds that were
// written for that one go on as they are (docs/from-omniorb.md).
#pragma once

#include <string>
#include <vector>

namespace kairos::idlc {

/// Whether a program of this path, argv[0], is called as omniidl.
[[nodiscard]] bool is_omniidl(const std::string& program);

/// What an omniidl command line is as one of kairos-idl.
struct OmniidlTranslation {
    std::vector<std::string> arguments{}; ///< of kairos-idl
    std::string refusal{};                ///< why there are none; empty where all is well
};

/// Translates the arguments behind argv[0]. What has no meaning here and does no harm (-nf, -K, …)
/// is dropped; what would make something else than is asked for (-WbBOA, -bpython, …) is refused.
[[nodiscard]] OmniidlTranslation from_omniidl(const std::vector<std::string>& arguments);

} // namespace kairos::idlc
