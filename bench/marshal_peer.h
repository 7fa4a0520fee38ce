// SPDX-License-Identifier: Apache-2.0
//
// The two orders of kairos-bench-marshal…, which marshals in one process and calls nobody. Each
// answers with a line of JSON and throws what makes it impossible.
#pragma once

#include "bench/exercise.h"

#include <string>

namespace kairos::bench {

/// Verb::roles: ns per call that a client and a server of Param_Test spend on marshalling.
[[nodiscard]] std::string time_roles(const Exercise& exercise);

/// Verb::marshal: MB/s of encoding and decoding a sequence, beside memcpy of the same bytes.
[[nodiscard]] std::string time_sequence(const Exercise& exercise);

} // namespace kairos::bench
