// SPDX-License-Identifier: Apache-2.0
//
// omniORB's options in terms of Kairos's: what a program, its command line, the environment and a
// configuration file say, as the command line that CORBA::ORB_init of Kairos takes and as what the
// layer itself heeds. Nothing here knows of an ORB.
#pragma once

#include "kairos/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::omniorb {

/// Names and values, in the order in which they were given; names are without "-ORB".
using Given = std::vector<std::pair<std::string, std::string>>;

/// What all options together say.
struct Settings {
    std::vector<std::string> arguments{}; ///< "-ORBClientTimeout", "3000", …
    std::vector<std::string> ignored{};   ///< each with the reason
    std::optional<int> trace_level{};     ///< traceLevel, 0 to 1000, if it is given
    bool transient_on_timeout = false;    ///< throwTransientOnTimeOut
    bool offers_bidirectional = false;    ///< offerBiDirectionalGIOP
};

/// Reads a configuration file: "name = value" on each line, "= value" is one more value of the
/// option before. A line that begins with "#" is a comment; behind that it is part of the value. A
/// backslash at the end of a line joins it with the next. The error names the line, the first of
/// several. Files of more than 1 MiB are refused.
[[nodiscard]] Result<Given> parse_configuration(std::string_view text);

/// Takes "-ORBname value" of omniORB's options out of `arguments` and leaves the others in their
/// order; what begins with -ORB and is none of them is left for Kairos, which refuses what it does
/// not know either. An option without a value is an error.
[[nodiscard]] Result<Given> take_arguments(std::vector<std::string>& arguments);

/// Returns the options of this list in the environment: ORBname=value, of those that omniORB knows.
[[nodiscard]] Given take_environment(const char* const* environment);

/// Adds options that count instead of those of the same name in `all`, or the same initial
/// reference.
void add_over(Given& all, const Given& stronger);

/// Returns what the options say; of one that is given several times the last counts, but for
/// endPoint and InitRef. The error names the option that is unknown, or whose value means nothing
/// here, and says what would do instead.
[[nodiscard]] Result<Settings> settings_of(const Given& given);

/// Returns whether it is one of the names under which omniORB knows its only ORB, which is that
/// without a name here.
[[nodiscard]] bool is_only_orb(std::string_view id);

/// An option of omniORB, for tables of them.
struct OptionState {
    std::string_view name;
    std::string_view state; ///< "-ORBClientTimeout", or why it is ignored or refused
};
/// Returns all that the layer knows.
[[nodiscard]] std::vector<OptionState> option_states();

} // namespace kairos::omniorb
