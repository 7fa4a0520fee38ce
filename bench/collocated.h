// SPDX-License-Identifier: Apache-2.0
//
// The last part of `kairos bench counters`: calls of an object of the caller's own process, for
// each kind of collocation.
#pragma once

#include "bench/experiment.h"

namespace kairos::bench {

/// What a null twoway call costs. Without `valgrind`, the path of that program, instructions are
/// not counted.
[[nodiscard]] Result<Row> collocated_row(const System& system, const CountersOptions& options,
                                         const std::string& valgrind);

} // namespace kairos::bench
