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
