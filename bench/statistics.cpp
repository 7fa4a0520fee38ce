// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <algorithm>
#include <bit>
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
    const double mean = sum / static_cast<double>(nanoseconds.size());
    double squares = 0;
    for (const std::int64_t sample : nanoseconds)
        squares += (static_cast<double>(sample) - mean) * (static_cast<double>(sample) - mean);
    return {.p50_us = microseconds(percentile(nanoseconds, 0.50)),
            .p99_us = microseconds(percentile(nanoseconds, 0.99)),
            .p999_us = microseconds(percentile(nanoseconds, 0.999)),
            .max_us = microseconds(nanoseconds.back()),
            .mean_us = mean / 1000,
            .jitter_us = std::sqrt(squares / static_cast<double>(nanoseconds.size())) / 1000};
}

std::size_t LatencyHistogram::range_of(std::int64_t nanoseconds)
{
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
    const auto bits = static_cast<unsigned>(std::bit_width(value));
    if (bits <= sub_ranges_log2 + 1) return value; // one value a range
    const unsigned shift = bits - 1 - sub_ranges_log2;
    const std::size_t range = (std::size_t{shift} << sub_ranges_log2) + (value >> shift);
    return std::min(range, std::tuple_size_v<decltype(ranges_)> - 1);
}

double LatencyHistogram::middle_of(std::size_t range)
{
    constexpr std::size_t sub_ranges = std::size_t{1} << sub_ranges_log2;
    if (range < 2 * sub_ranges) return static_cast<double>(range);
    const std::size_t shift = (range >> sub_ranges_log2) - 1;
    const double first =
        std::ldexp(static_cast<double>(range % sub_ranges + sub_ranges), static_cast<int>(shift));
    return first + std::ldexp(0.5, static_cast<int>(shift));
}

void LatencyHistogram::add(std::int64_t nanoseconds)
{
    ++ranges_[range_of(nanoseconds)];
    ++count_;
    max_ = std::max(max_, nanoseconds);
    const double microseconds = static_cast<double>(nanoseconds) / 1000;
    sum_us_ += microseconds;
    sum_of_squares_us_ += microseconds * microseconds;
}

void LatencyHistogram::merge(const LatencyHistogram& other)
{
    for (std::size_t range = 0; range < ranges_.size(); ++range)
        ranges_[range] += other.ranges_[range];
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
    sum_us_ += other.sum_us_;
    sum_of_squares_us_ += other.sum_of_squares_us_;
}

double LatencyHistogram::percentile_us(double fraction) const
{
    const auto rank = static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t range = 0; range < ranges_.size(); ++range) {
        seen += ranges_[range];
        if (seen >= rank) return std::min(middle_of(range), static_cast<double>(max_)) / 1000;
    }
    return static_cast<double>(max_) / 1000;
}

LatencySummary LatencyHistogram::summary() const
{
    if (count_ == 0) return {};
    const double mean = sum_us_ / static_cast<double>(count_);
    const double variance = sum_of_squares_us_ / static_cast<double>(count_) - mean * mean;
    return {.p50_us = percentile_us(0.50),
            .p99_us = percentile_us(0.99),
            .p999_us = percentile_us(0.999),
            .max_us = static_cast<double>(max_) / 1000,
            .mean_us = mean,
            .jitter_us = std::sqrt(std::max(variance, 0.0))};
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
