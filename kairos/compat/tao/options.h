// SPDX-License-Identifier: Apache-2.0
//
// TAO's options as Kairos's: what ORB_init is given by programs, scripts and configuration files
// that were written for TAO. Cold path only.
#pragma once

#include <string>
#include <vector>

namespace kairos::compat::tao {

/// What becomes of a command line.
struct Translated {
    std::vector<std::string> arguments; ///< with Kairos's options, and all that is no option
    std::vector<std::string> ignored;   ///< options, with their values, that mean nothing here
    int debug_level = -1;               ///< -ORBDebugLevel; -1: not given
    std::string log_file;               ///< -ORBLogFile; empty: not given
};

/// Puts Kairos's options in the place of TAO's, in any spelling of upper and lower case. Reads the
/// files of -ORBSvcConf, of which there may be a few, 1 MiB long each. Throws CORBA::BAD_PARAM,
/// which names the option, for what cannot be had here. Options that neither ORB knows stay, for
/// ORB_init to refuse.
[[nodiscard]] Translated translate(const std::vector<std::string>& arguments);

/// Translates the text of a file of TAO's service configurator (svc.conf), whose name is for
/// messages, as translate() does a command line. `arguments` of the result are options only.
[[nodiscard]] Translated translate_configuration(const std::string& text, const std::string& file);

/// The value of -ORBListenEndpoints for TAO's spelling of it: versions, several hosts of one
/// endpoint and its options. What is not heeded is appended to `ignored`. Throws as translate().
[[nodiscard]] std::string translate_endpoints(const std::string& text,
                                              std::vector<std::string>& ignored);

} // namespace kairos::compat::tao
