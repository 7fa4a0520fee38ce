// SPDX-License-Identifier: Apache-2.0
//
// Files that hold an object URL, as servers write them and people pass them on: by mail, with
// editors and through other systems. For `file:` URLs and for the tools. What is wrong with one is
// said with its name.
#pragma once

#include "kairos/base/result.h"

#include <string>
#include <string_view>

namespace kairos::ior {

/// The object URL that a file's text is: without blanks and line ends around it, whatever system
/// they are of, and without UTF-8's byte order mark. A stringified reference may be wrapped over
/// several lines. `name` is how errors call the file. Does not look whether the URL is a good one.
[[nodiscard]] Result<std::string> url_in(std::string_view text, const std::string& name);

/// The same of a file; it may be a pipe. not_found: there is none that can be read.
[[nodiscard]] Result<std::string> url_in_file(const std::string& path);
/// The same of standard input.
[[nodiscard]] Result<std::string> url_in_standard_input();

} // namespace kairos::ior
