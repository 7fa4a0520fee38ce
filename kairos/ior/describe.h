// SPDX-License-Identifier: Apache-2.0
//
// A reference in words, for `kairos ior` and for log lines of people who hunt a connection problem.
// Shows everything that is in the reference; what is not understood appears in hexadecimal. The
// text is for people: its form is not promised. Cold path only.
#pragma once

#include "kairos/ior/ior.h"

#include <string>

namespace kairos::ior {

/// What a reference says, for people: several lines, each ended by a newline. Never fails: a
/// malformed profile is said to be one.
[[nodiscard]] std::string describe(const Ior& reference);

/// An object key on one line: decoded if it is ours, as text if it is text, else hexadecimal.
[[nodiscard]] std::string describe_object_key(Bytes key);

} // namespace kairos::ior
