// SPDX-License-Identifier: Apache-2.0
//
// Task sets with published answers, each named after its source.
#include "kairos/sched/bounds.h"
#include "kairos/sched/demand.h"
#include "kairos/sched/sets_testing.h"

namespace kairos::sched {
namespace {

using testing::analyse;
using testing::make_set;
using testing::ms;
using testing::responses;
using testing::verdict_of;
using Times = std::vector<std::int64_t>;

TEST(Textbook, LiuLayland1973Bound)
{
    EXPECT_NEAR(liu_layland_bound(1), 1, 1e-12);
    EXPECT_NEAR(liu_layland_bound(2), 0.8284, 1e-4);
    EXPECT_NEAR(liu_layland_bound(3), 0.7798, 1e-4);
    EXPECT_NEAR(liu_layland_bound(10), 0.7177, 1e-4);
    EXPECT_NEAR(liu_layland_bound(1'000'000), 0.6931, 1e-4);
}

// Their example of why the shorter period must win: C2 can be 2 and no more.
TEST(Textbook, LiuLayland1973Figure2)
{
    EXPECT_EQ(responses(analyse({{2, 1}, {5, 1}})), (Times{1, 2}));
    EXPECT_EQ(responses(analyse({{2, 1}, {5, 2}})), (Times{1, 4}));
    const Analysis more = analyse({{2, 1}, {5, 3}});
    EXPECT_FALSE(more.schedulable);
    EXPECT_EQ(verdict_of(more, 1), Verdict::unbounded);
    // With the longer period first even C1 = 1 and C2 = 1 are the most: deadlines reverse them.
    EXPECT_TRUE(analyse({{2, 1, 2}, {5, 1, 1}}, Policy::dms).schedulable);
    EXPECT_FALSE(analyse({{2, 1, 2}, {5, 2, 2}}, Policy::dms).schedulable);
}

// Burns and Wellings, Real-Time Systems and Programming Languages, "process set A".
TEST(Textbook, BurnsWellingsSetA)
{
    const Analysis set = analyse({{50, 12}, {40, 10}, {30, 10}});
    EXPECT_NEAR(set.utilisation, 0.82, 0.005);
    EXPECT_GT(set.utilisation, set.liu_layland);
    EXPECT_EQ(responses(set), (Times{52, 20, 10}));
    EXPECT_FALSE(set.schedulable);
    EXPECT_EQ(verdict_of(set, 0), Verdict::misses);
    EXPECT_EQ(verdict_of(set, 1), Verdict::meets);
}

// Ibid., "process set B": below the bound.
TEST(Textbook, BurnsWellingsSetB)
{
    const Analysis set = analyse({{80, 32}, {40, 5}, {16, 4}});
    EXPECT_NEAR(set.utilisation, 0.775, 0.0005);
    EXPECT_LT(set.utilisation, set.liu_layland);
    EXPECT_TRUE(set.bounds_apply);
    EXPECT_TRUE(set.schedulable);
}

// Ibid., "process set C": all of the processor, and yet every deadline is met.
TEST(Textbook, BurnsWellingsSetC)
{
    const Analysis set = analyse({{80, 40}, {40, 10}, {20, 5}});
    EXPECT_DOUBLE_EQ(set.utilisation, 1);
    EXPECT_EQ(responses(set), (Times{80, 15, 5}));
    EXPECT_TRUE(set.schedulable);
}

// Ibid., "process set D", the worked example of the iteration.
TEST(Textbook, BurnsWellingsSetD)
{
    EXPECT_EQ(responses(analyse({{7, 3}, {12, 3}, {20, 5}})), (Times{3, 6, 20}));
}

// Ibid., deadline-monotonic ordering: it works where rate-monotonic ordering does not.
TEST(Textbook, BurnsWellingsDeadlineMonotonic)
{
    const std::vector<testing::Row> rows{{20, 3, 5}, {15, 3, 7}, {10, 4, 10}, {20, 3, 20}};
    const Analysis set = analyse(rows, Policy::dms);
    EXPECT_EQ(responses(set), (Times{3, 6, 10, 20}));
    EXPECT_TRUE(set.schedulable);
    EXPECT_FALSE(analyse(rows, Policy::rms).schedulable);
}

// Buttazzo, Hard Real-Time Computing Systems, the example of response-time analysis.
TEST(Textbook, ButtazzoDeadlineMonotonic)
{
    const Analysis set = analyse({{4, 1, 3}, {5, 1, 4}, {6, 2, 5}, {11, 1, 10}}, Policy::dms);
    EXPECT_EQ(responses(set), (Times{1, 2, 4, 10}));
    EXPECT_TRUE(set.schedulable);
}

// Ibid., the set that EDF runs and RM does not, with a utilisation of 34/35.
TEST(Textbook, ButtazzoRmAgainstEdf)
{
    const Analysis fixed = analyse({{5, 2}, {7, 4}});
    EXPECT_EQ(responses(fixed), (Times{2, 8}));
    EXPECT_FALSE(fixed.schedulable);
    EXPECT_TRUE(analyse({{5, 2}, {7, 4}}, Policy::edf).schedulable);
    EXPECT_TRUE(analyse({{5, 2}, {7, 4}}, Policy::llf).schedulable);
}

// Sha and Goodenough, Real-Time Scheduling Theory and Ada (1990): first within the bound, then,
// with C1 doubled, over it; the third task still ends at 300.
TEST(Textbook, ShaGoodenough1990)
{
    const Analysis within = analyse({{100, 20}, {150, 40}, {350, 100}});
    EXPECT_NEAR(within.utilisation, 0.753, 0.001);
    EXPECT_LT(within.utilisation, within.liu_layland);
    EXPECT_TRUE(within.schedulable);
    const Analysis over = analyse({{100, 40}, {150, 40}, {350, 100}});
    EXPECT_NEAR(over.utilisation, 0.953, 0.001);
    EXPECT_GT(over.hyperbolic, 2);
    EXPECT_EQ(responses(over), (Times{40, 80, 300}));
    EXPECT_TRUE(over.schedulable);
}

// Lehoczky, Fixed Priority Scheduling of Periodic Task Sets with Arbitrary Deadlines (1990): not
// the first job of the busy period is the worst but the fifth, with 118.
TEST(Textbook, Lehoczky1990ArbitraryDeadlines)
{
    EXPECT_EQ(responses(analyse({{70, 26}, {100, 62, 118}})), (Times{26, 118}));
    EXPECT_TRUE(analyse({{70, 26}, {100, 62, 118}}).schedulable);
    EXPECT_FALSE(analyse({{70, 26}, {100, 62, 117}}).schedulable);
}

// Bini, Buttazzo and Buttazzo (2003): the hyperbolic bound takes what Liu and Layland's does not.
TEST(Textbook, HyperbolicBound)
{
    const Analysis set = analyse({{30, 15}, {31 * 3, 31}});
    EXPECT_GT(set.utilisation, set.liu_layland);
    EXPECT_NEAR(set.hyperbolic, 2, 1e-12);
    EXPECT_TRUE(set.schedulable);
}

// The example of Stewart and Khosla (1991): the three critical tasks need 98 per cent, all four
// 125; MUF keeps the promise to the three, EDF to none.
TEST(Textbook, StewartKhoslaMuf)
{
    const auto high = Criticality::high;
    const std::vector<testing::Row> rows{{6, 2, 0, 0, high},
                                         {10, 4, 0, 0, high},
                                         {12, 3, 0, 0, high},
                                         {15, 4, 0, 0, Criticality::low}};
    const Analysis muf = analyse(rows, Policy::muf);
    EXPECT_NEAR(muf.utilisation, 1.25, 0.001);
    for (OperationIndex i = 0; i < 3; ++i)
        EXPECT_EQ(verdict_of(muf, i), Verdict::meets);
    EXPECT_EQ(verdict_of(muf, 3), Verdict::undecided);
    EXPECT_FALSE(muf.schedulable);
    const Analysis edf = analyse(rows, Policy::edf);
    for (OperationIndex i = 0; i < 4; ++i)
        EXPECT_NE(verdict_of(edf, i), Verdict::meets);
}

// The blocking term adds up with the task's own time, and only there.
TEST(Response, BlockingDelaysTheBlockedTaskAlone)
{
    EXPECT_EQ(responses(analyse({{7, 3, 0, 2}, {12, 3}, {20, 5}})), (Times{5, 6, 20}));
    EXPECT_FALSE(analyse({{7, 3}, {12, 3}, {20, 5, 0, 1}}).schedulable);
}

TEST(Response, OverloadIsUnboundedBelowAndHarmlessAbove)
{
    const Analysis set = analyse({{10, 6}, {20, 8}, {40, 4}});
    EXPECT_EQ(verdict_of(set, 0), Verdict::meets);
    EXPECT_EQ(verdict_of(set, 1), Verdict::meets);
    EXPECT_EQ(verdict_of(set, 2), Verdict::unbounded);
    EXPECT_FALSE(set.schedulable);
}

TEST(Response, AllOfTheProcessorAndBlockingMisses)
{
    const Analysis set = analyse({{2, 1}, {4, 2, 0, 1}});
    EXPECT_FALSE(set.schedulable);
    EXPECT_EQ(verdict_of(set, 1), Verdict::misses);
}

// 97 and 89 days: periods without a common multiple in range. The sums must not run over.
TEST(Response, LongTimesStayExact)
{
    constexpr std::int64_t day = 86'400'000;
    const Analysis set = analyse({{97 * day, 40 * day}, {89 * day, 30 * day}, {367, 1}});
    EXPECT_FALSE(set.hyperperiod.has_value());
    EXPECT_TRUE(set.schedulable);
    EXPECT_EQ(verdict_of(set, 0), Verdict::meets);
}

/// What is not computed is not claimed, and the next question has what is left.
TEST(Response, ThatTakesTooLongIsUndecided)
{
    const OperationSet set = make_set({{7, 3}, {12, 3}, {20, 5}});
    for (const Policy policy : {Policy::rms, Policy::dms, Policy::edf, Policy::llf, Policy::muf}) {
        const auto given_up = sched::analyse(set, {.policy = policy, .looks_max = 3});
        ASSERT_TRUE(given_up.ok());
        EXPECT_FALSE(given_up->schedulable);
        EXPECT_EQ(verdict_of(*given_up, 2), Verdict::undecided);
        EXPECT_FALSE(given_up->responses[2].worst.has_value());
    }
    const auto some = sched::analyse(set, {.looks_max = 20});
    EXPECT_EQ(verdict_of(*some, 0), Verdict::meets);
    EXPECT_EQ(verdict_of(*some, 2), Verdict::undecided);
}

TEST(Bounds, HyperperiodIsTheCommonMultipleOrNone)
{
    EXPECT_EQ(analyse({{4, 1}, {6, 1}, {10, 1}}).hyperperiod, ms(60));
    EXPECT_EQ(hyperperiod({}), Time(1));
}

TEST(Bounds, ComparisonWithTheProcessorIsExact)
{
    const auto load = [](const std::vector<testing::Row>& rows) {
        const Analysis set = analyse(rows);
        std::vector<const Task*> tasks;
        for (const Task& task : set.tasks)
            tasks.push_back(&task);
        return compare_with_processor(tasks);
    };
    EXPECT_EQ(load({{3, 1}, {6, 2}, {9, 3}}), Load::equal);
    EXPECT_EQ(load({{3, 1}, {6, 2}, {9'000'000, 3'000'001}}), Load::above);
    EXPECT_EQ(load({{3, 1}, {6, 2}, {9'000'000, 2'999'999}}), Load::below);
}

TEST(Bounds, SayNothingWhereDeadlinesAreShort)
{
    EXPECT_TRUE(analyse({{4, 1}}).bounds_apply);
    EXPECT_FALSE(analyse({{4, 1, 3}}).bounds_apply);
    EXPECT_FALSE(analyse({{4, 1, 0, 1}}).bounds_apply);
    EXPECT_FALSE(analyse({{4, 1}, {5, 1}}, Policy::rms, {1, 1}).bounds_apply);
    EXPECT_FALSE(analyse({{4, 1}}, Policy::edf).bounds_apply);
}

// Against the definition: every deadline up to the hyperperiod and the longest deadline.
TEST(Demand, AgreesWithEveryInterval)
{
    std::mt19937_64 random(1990);
    int misses = 0;
    for (int round = 0; round < 2000; ++round) {
        auto rows = testing::random_rows(random, 0.8);
        for (testing::Row& row : rows)
            row.deadline = std::max<std::int64_t>(
                row.time, row.period * static_cast<std::int64_t>(40 + random() % 90) / 100);
        const Analysis set = analyse(rows, Policy::edf);
        std::vector<const Task*> tasks;
        for (const Task& task : set.tasks)
            tasks.push_back(&task);
        bool meets = compare_with_processor(tasks) != Load::above;
        for (std::int64_t time = 1; meets && time <= 2 * 2520; ++time) {
            std::int64_t work = 0;
            for (const testing::Row& row : rows)
                if (row.deadline <= time)
                    work += ((time - row.deadline) / row.period + 1) * row.time;
            meets = work <= time;
        }
        EXPECT_EQ(set.schedulable, meets) << "round " << round;
        misses += meets ? 0 : 1;
    }
    EXPECT_GT(misses, 100);
    EXPECT_LT(misses, 1900);
}

} // namespace
} // namespace kairos::sched
