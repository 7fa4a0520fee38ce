// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <gtest/gtest.h>
#include <numeric>

namespace kairos::bench {
namespace {

TEST(Percentile, IsTheNearestRank)
{
    std::vector<std::int64_t> samples(1000);
    std::iota(samples.begin(), samples.end(), 1); // 1 … 1000: a percentile is its own rank
    EXPECT_EQ(percentile(samples, 0.50), 500);
    EXPECT_EQ(percentile(samples, 0.99), 990);
    EXPECT_EQ(percentile(samples, 0.999), 999);
    EXPECT_EQ(percentile(samples, 1.0), 1000);
    EXPECT_EQ(percentile(samples, 0.0001), 1);
}

TEST(Percentile, OfFewSamplesIsOneOfThem)
{
    const std::vector<std::int64_t> three{10, 20, 30};
    EXPECT_EQ(percentile(three, 0.5), 20);
    EXPECT_EQ(percentile(three, 0.99), 30);
    EXPECT_EQ(percentile({}, 0.5), 0);
}

TEST(Summary, SortsAndConvertsToMicroseconds)
{
    std::vector<std::int64_t> samples{9'000, 1'000, 2'000, 3'000, 5'000};
    const LatencySummary summary = summarize(samples);
    EXPECT_DOUBLE_EQ(summary.p50_us, 3);
    EXPECT_DOUBLE_EQ(summary.p99_us, 9);
    EXPECT_DOUBLE_EQ(summary.p999_us, 9);
    EXPECT_DOUBLE_EQ(summary.max_us, 9);
    EXPECT_DOUBLE_EQ(summary.mean_us, 4);
}

TEST(Summary, JitterIsTheStandardDeviation)
{
    std::vector<std::int64_t> samples{2'000, 4'000, 4'000, 4'000, 5'000, 5'000, 7'000, 9'000};
    EXPECT_DOUBLE_EQ(summarize(samples).jitter_us, 2);
    std::vector<std::int64_t> same(5, 3'000);
    EXPECT_DOUBLE_EQ(summarize(same).jitter_us, 0);
}

TEST(Histogram, HasMeanJitterAndMaximumExactly)
{
    LatencyHistogram histogram;
    for (const std::int64_t sample : {2'000, 4'000, 4'000, 4'000, 5'000, 5'000, 7'000, 9'000})
        histogram.add(sample);
    const LatencySummary summary = histogram.summary();
    EXPECT_DOUBLE_EQ(summary.mean_us, 5);
    EXPECT_DOUBLE_EQ(summary.jitter_us, 2);
    EXPECT_DOUBLE_EQ(summary.max_us, 9);
    EXPECT_EQ(histogram.count(), 8u);
}

TEST(Histogram, PercentilesAreWithinAThirtySecond)
{
    for (const std::int64_t scale : {1, 7, 1'000, 123'456, 50'000'000}) {
        LatencyHistogram halves[2];
        for (std::int64_t i = 1; i <= 1000; ++i)
            halves[i % 2].add(i * scale);
        halves[0].merge(halves[1]);
        const LatencySummary summary = halves[0].summary();
        const double unit = static_cast<double>(scale) / 1000;
        EXPECT_NEAR(summary.p50_us, 500 * unit, 500 * unit / 32);
        EXPECT_NEAR(summary.p99_us, 990 * unit, 990 * unit / 32);
        EXPECT_DOUBLE_EQ(summary.max_us, 1000 * unit);
    }
}

TEST(Histogram, TakesWhatIsOutOfRange)
{
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.summary().max_us, 0);
    histogram.add(-5); // a clock that was set back
    histogram.add(std::int64_t{1} << 50);
    EXPECT_DOUBLE_EQ(histogram.summary().max_us, static_cast<double>(std::int64_t{1} << 50) / 1000);
    EXPECT_EQ(histogram.count(), 2u);
}

TEST(Summary, OfNothingIsZero)
{
    EXPECT_EQ(summarize({}).max_us, 0);
    EXPECT_EQ(median({}), 0);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues)
{
    EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
    EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_DOUBLE_EQ(median({7}), 7);
}

} // namespace
} // namespace kairos::bench
