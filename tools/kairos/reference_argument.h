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

/// The same, and "name:Test/Echo" for what the ORB's Naming Service has; returns the URL. Throws
/// std::runtime_error, with a message for people.
[[nodiscard]] std::string url_of_object(const std::string& argument);

/// "NAME=REFERENCE", or a reference.
struct NamedTarget {
    std::string name; ///< empty for none
    std::string url;
};

/// Tells which: in a reference no "=" comes before a colon or a slash. Throws what url_of_object
/// throws.
[[nodiscard]] NamedTarget named_target_of(const std::string& argument);

} // namespace kairos::tools
