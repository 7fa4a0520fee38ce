// SPDX-License-Identifier: Apache-2.0
//
// How deep a TOML file may nest its tables. toml++ bounds nested arrays and inline tables, but in
// 3.3 not the parts of dotted keys, and each becomes a table in a table: a file of 200 KiB can use
// up the stack.
#pragma once

#include <cstddef>
#include <string_view>

namespace kairos::files {

/// The line of the first dot beyond a thousand outside of strings and comments; 0 where there are
/// fewer. Lines count from 1.
[[nodiscard]] std::size_t line_with_too_many_dots(std::string_view text);

} // namespace kairos::files
