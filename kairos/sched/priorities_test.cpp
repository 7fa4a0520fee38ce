// SPDX-License-Identifier: Apache-2.0
//
// Levels, the order within them, and too few priorities of the operating system.
#include "kairos/sched/sets_testing.h"

namespace kairos::sched {
namespace {

using testing::analyse;
using testing::ms;

/// "operation:level.sub@os" of each, most urgent first.
std::string shown(const Analysis& analysis)
{
    std::string text;
    for (const Task& task : analysis.tasks)
        text += (text.empty() ? "" : " ") + task.name + ":" + std::to_string(task.priority.level) +
                "." + std::to_string(task.priority.sub) + "@" +
                std::to_string(task.priority.os_priority);
    return text;
}

TEST(Priorities, TheShorterPeriodIsMoreUrgent)
{
    EXPECT_EQ(shown(analyse({{50, 1}, {10, 1}, {20, 1}})), "2:0.0@99 3:1.0@98 1:2.0@97");
}

TEST(Priorities, TheShorterDeadlineIsMoreUrgentForDms)
{
    EXPECT_EQ(shown(analyse({{50, 1, 5}, {10, 1}, {20, 1, 7}}, Policy::dms)),
              "1:0.0@99 3:1.0@98 2:2.0@97");
}

TEST(Priorities, WithinALevelImportanceThenCallersFirst)
{
    OperationSet set;
    for (const char* name : {"callee", "caller", "important"})
        ASSERT_TRUE(set.add({.name = name, .worst_case_time = ms(1), .period = ms(10)}).ok());
    ASSERT_TRUE(set.replace(2, {.name = "important",
                                .worst_case_time = ms(1),
                                .period = ms(10),
                                .importance = Importance::high})
                    .ok());
    ASSERT_TRUE(set.add_dependency(1, {0, CallKind::one_way, 1}).ok());
    const auto analysis = sched::analyse(set, {.range = {10, 20}});
    ASSERT_TRUE(analysis.ok());
    EXPECT_EQ(shown(*analysis), "important:0.0@20 caller:0.1@20 callee:0.2@20");
}

TEST(Priorities, MufHasALevelForEachCriticality)
{
    EXPECT_EQ(shown(analyse({{10, 1, 0, 0, Criticality::low},
                             {50, 1, 0, 0, Criticality::very_high},
                             {20, 1, 0, 0, Criticality::low}},
                            Policy::muf)),
              "2:0.0@99 1:1.0@98 3:1.1@98");
}

TEST(Priorities, DynamicPoliciesHaveOneLevel)
{
    EXPECT_EQ(shown(analyse({{10, 1}, {50, 1}}, Policy::edf)), "1:0.0@99 2:0.1@99");
}

TEST(Priorities, NeighboursOfSimilarPeriodsShareFirst)
{
    const Analysis analysis = analyse({{10, 1}, {20, 1}, {25, 1}, {100, 1}}, Policy::rms, {1, 3});
    EXPECT_EQ(shown(analysis), "1:0.0@3 2:1.0@2 3:1.1@2 4:2.0@1");
    ASSERT_EQ(analysis.collapses.size(), 1u);
    EXPECT_EQ(analysis.collapses[0].level, 1u);
    EXPECT_EQ(analysis.collapses[0].os_priority, 2);
    EXPECT_EQ(analysis.collapses[0].tasks, (std::vector<std::size_t>{1, 2}));
}

TEST(Priorities, TheLeastCriticalShareFirst)
{
    const Analysis analysis = analyse({{10, 1, 0, 0, Criticality::high},
                                       {10, 1, 0, 0, Criticality::medium},
                                       {10, 1, 0, 0, Criticality::very_low}},
                                      Policy::muf, {5, 6});
    EXPECT_EQ(shown(analysis), "1:0.0@6 2:1.0@5 3:1.1@5");
}

// B&W's set C fills the processor and meets every deadline; without preemption it does not.
TEST(Priorities, SharingIsPaidForInTheResponses)
{
    const Analysis one = analyse({{80, 40}, {40, 10}, {20, 5}}, Policy::rms, {1, 1});
    EXPECT_FALSE(one.schedulable);
    EXPECT_EQ(testing::verdict_of(one, 2), Verdict::misses);
}

TEST(Priorities, AnEmptyRangeIsRefused)
{
    OperationSet set = testing::make_set({{10, 1}});
    EXPECT_EQ(sched::analyse(set, {.range = {7, 6}}).error().reason,
              "the lowest priority, 7, is above the highest, 6");
}

} // namespace
} // namespace kairos::sched
