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

/// The object URL that `text` consists of: without blanks and line ends around it, whatever system
/// they are of, and without UTF-8's byte order mark. A stringified reference may be wrapped over
/// several lines. `name` is how errors call the source. Does not look whether the URL is a good
/// one.
[[nodiscard]] Result<std::string> url_in(std::string_view text, const std::string& name);

/// The object URL that a file, which may be a pipe, holds to its end (url_in). not_found: no file
/// there can be read.
[[nodiscard]] Result<std::string> url_in_file(const std::string& path);
/// The object URL that standard input holds to its end (url_in). not_found: reading failed.
[[nodiscard]] Result<std::string> url_in_standard_input();

} // namespace kairos::ior
