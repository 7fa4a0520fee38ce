// SPDX-License-Identifier: Apache-2.0
//
// The few statistics the experiments report. Percentiles are by nearest rank, so every figure is a
// sample that really occurred; no interpolation and no outlier is ever removed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kairos::bench {

struct LatencySummary {
    double p50_us = 0;
    double p99_us = 0;
    double p999_us = 0;
    double max_us = 0;
    double mean_us = 0;
};

/// The nearest-rank percentile of ascending samples; `fraction` is in (0, 1]. 0 without samples.
[[nodiscard]] std::int64_t percentile(std::span<const std::int64_t> ascending, double fraction);

/// Sorts the samples in place.
[[nodiscard]] LatencySummary summarize(std::span<std::int64_t> nanoseconds);

/// The middle value, or the mean of the two middle ones. 0 without values.
[[nodiscard]] double median(std::vector<double> values);

} // namespace kairos::bench
