// SPDX-License-Identifier: Apache-2.0
//
// The second part of `kairos bench demux`: twoway calls over loopback of one of many objects, by
// each ORB.
#pragma once

#include "bench/experiment.h"

namespace kairos::bench {

/// Adds a row for each ORB that is installed, pattern and number of servants.
[[nodiscard]] Result<void> add_calls_of_many(Report& report, const DemuxOptions& options);

} // namespace kairos::bench
