// SPDX-License-Identifier: Apache-2.0
//
// The few statistics the experiments report. Percentiles are by nearest rank, so every figure is a
// sample that really occurred; no interpolation and no outlier is ever removed.
#pragma once

#include <array>
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
    double jitter_us = 0; ///< the standard deviation, as paper 003 defines it
};

/// The nearest-rank percentile of ascending samples; `fraction` is in (0, 1]. 0 without samples.
[[nodiscard]] std::int64_t percentile(std::span<const std::int64_t> ascending, double fraction);

/// Sorts the samples in place.
[[nodiscard]] LatencySummary summarize(std::span<std::int64_t> nanoseconds);

/// Any number of latencies in little memory: counts of ranges that are a thirty-second of their
/// value wide. Mean, jitter and maximum are exact, percentiles are the middle of their range.
class LatencyHistogram {
  public:
    void add(std::int64_t nanoseconds);
    void merge(const LatencyHistogram& other);
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] LatencySummary summary() const;

  private:
    [[nodiscard]] double percentile_us(double fraction) const;

    // Up to 2^41 ns, which is half an hour.
    static constexpr unsigned sub_ranges_log2 = 5;
    static constexpr unsigned exponents = 41 - sub_ranges_log2;
    std::array<std::uint64_t, (exponents + 1) << sub_ranges_log2> ranges_{};
    std::uint64_t count_ = 0;
    std::int64_t max_ = 0;
    double sum_us_ = 0;
    double sum_of_squares_us_ = 0;

    [[nodiscard]] static std::size_t range_of(std::int64_t nanoseconds);
    [[nodiscard]] static double middle_of(std::size_t range);
};

/// The middle value, or the mean of the two middle ones. 0 without values.
[[nodiscard]] double median(std::vector<double> values);

} // namespace kairos::bench
