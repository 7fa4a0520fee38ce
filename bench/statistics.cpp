// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kairos::bench {

std::int64_t percentile(std::span<const std::int64_t> ascending, double fraction)
{
    if (ascending.empty()) return 0;
    const double rank = std::ceil(fraction * static_cast<double>(ascending.size()));
    const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    return ascending[std::min(index, ascending.size() - 1)];
}

LatencySummary summarize(std::span<std::int64_t> nanoseconds)
{
    if (nanoseconds.empty()) return {};
    std::sort(nanoseconds.begin(), nanoseconds.end());
    const auto microseconds = [](std::int64_t value) { return static_cast<double>(value) / 1000; };
    const double sum = std::accumulate(nanoseconds.begin(), nanoseconds.end(), 0.0);
    return {.p50_us = microseconds(percentile(nanoseconds, 0.50)),
            .p99_us = microseconds(percentile(nanoseconds, 0.99)),
            .p999_us = microseconds(percentile(nanoseconds, 0.999)),
            .max_us = microseconds(nanoseconds.back()),
            .mean_us = sum / static_cast<double>(nanoseconds.size()) / 1000};
}

double median(std::vector<double> values)
{
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace kairos::bench
