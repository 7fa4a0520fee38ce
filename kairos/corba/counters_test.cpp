// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/counters.h"

#include <gtest/gtest.h>

namespace kairos {
namespace {

TEST(Counters, HaveNoLibrarysCountsWithoutIt)
{
    const Counters now = counters();
    EXPECT_FALSE(now.library);
    EXPECT_FALSE(now.kernel);
    EXPECT_EQ(now.requests_served, 0u);
}

Counters sample(std::uint64_t base)
{
    return {.requests_served = base,
            .voluntary_switches = 2 * base,
            .involuntary_switches = 3 * base,
            .library = Counters::Library{4 * base, 5 * base, 6 * base},
            .kernel = Counters::Kernel{7 * base, 8 * base}};
}

TEST(Counters, AreTakenFromEachOther)
{
    const Counters between = sample(30) - sample(10);
    EXPECT_EQ(between.requests_served, 20u);
    EXPECT_EQ(between.voluntary_switches, 40u);
    EXPECT_EQ(between.involuntary_switches, 60u);
    EXPECT_EQ(between.library->allocations, 80u);
    EXPECT_EQ(between.library->locks, 100u);
    EXPECT_EQ(between.library->condition_actions, 120u);
    EXPECT_EQ(between.kernel->system_calls, 140u);
    EXPECT_EQ(between.kernel->futexes, 160u);
}

TEST(Counters, AreSaidPerRequest)
{
    EXPECT_EQ(to_string(sample(10)),
              "10 requests served; per request: 2.00 voluntary context switches, 3.00 involuntary "
              "ones, 4.00 allocations, 5.00 locks, 6.00 condition actions, 7.00 system calls, 8.00 "
              "futexes");
    Counters client = sample(10);
    client.requests_served = 0;
    client.kernel.reset();
    EXPECT_EQ(to_string(client),
              "0 requests served; in all: 20 voluntary context switches, 30 involuntary ones, 40 "
              "allocations, 50 locks, 60 condition actions");
    client.library.reset();
    EXPECT_EQ(to_string(client),
              "0 requests served; in all: 20 voluntary context switches, 30 involuntary ones");
}

} // namespace
} // namespace kairos
