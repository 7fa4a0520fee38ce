// SPDX-License-Identifier: Apache-2.0
//
// The simulated processor by itself, and as the witness of the analysis.
#include "kairos/base/tries_testing.h"
#include "kairos/sched/time_line.h"

#include "kairos/sched/sets_testing.h"

#include <algorithm>

namespace kairos::sched {
namespace {

using testing::analyse;
using testing::ms;

/// Random sets of tasks, each played to its end.
constexpr int sets = tries(1500);

/// "task begin-end" of all slices; a job's last one ends with a point.
std::string shown(const Analysis& analysis, const TimeLine& line)
{
    std::string text;
    for (const Slice& slice : line.slices)
        text += (text.empty() ? "" : " ") + analysis.tasks[slice.task].name + ":" +
                std::to_string(slice.begin / ms(1)) + "-" + std::to_string(slice.end / ms(1)) +
                (slice.completes ? "." : "");
    return text;
}

std::string played(const std::vector<testing::Row>& rows, Policy policy, std::int64_t end)
{
    const Analysis analysis = analyse(rows, policy);
    const auto line = play(analysis.tasks, policy, ms(end));
    EXPECT_TRUE(line.ok());
    return line ? shown(analysis, *line) : "";
}

TEST(TimeLine, PlaysRatesAndPreemption)
{
    EXPECT_EQ(played({{7, 3}, {12, 3}, {20, 5}}, Policy::rms, 20),
              "1:0-3. 2:3-6. 3:6-7 1:7-10. 3:10-12 2:12-14 1:14-17. 2:17-18. 3:18-20.");
}

TEST(TimeLine, EdfRunsWhatRmMisses)
{
    EXPECT_EQ(played({{5, 2}, {7, 4}}, Policy::rms, 14),
              "1:0-2. 2:2-5 1:5-7. 2:7-8. 2:8-10 1:10-12. 2:12-14.");
    EXPECT_EQ(played({{5, 2}, {7, 4}}, Policy::edf, 14), "1:0-2. 2:2-6. 1:6-8. 2:8-12. 1:12-14.");
}

TEST(TimeLine, LlfTakesTurnsAmongEqualLaxities)
{
    const Analysis analysis = analyse({{4, 2}, {4, 2}}, Policy::llf);
    EXPECT_EQ(shown(analysis, *play(analysis.tasks, Policy::llf, ms(4), ms(1))),
              "1:0-1 2:1-3. 1:3-4.");
    EXPECT_EQ(shown(analysis, *play(analysis.tasks, Policy::llf, ms(4))), "1:0-2. 2:2-4.");
}

TEST(TimeLine, KeepsRecords)
{
    const Analysis analysis = analyse({{5, 2}, {7, 4}});
    const auto line = play(analysis.tasks, Policy::rms, ms(35));
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->idle, ms(1));
    EXPECT_EQ(line->tasks[0].jobs, 7u);
    EXPECT_EQ(line->tasks[0].misses, 0u);
    EXPECT_EQ(line->tasks[1].jobs, 5u);
    EXPECT_EQ(line->tasks[1].completed, 5u);
    EXPECT_EQ(line->tasks[1].worst_response, ms(8));
    EXPECT_EQ(line->tasks[1].worst_lateness, ms(1));
    EXPECT_GT(line->tasks[1].preemptions, 0u);
}

TEST(TimeLine, CountsWhatNeverEnds)
{
    const Analysis analysis = analyse({{2, 2}, {5, 1}});
    const auto line = play(analysis.tasks, Policy::rms, ms(10));
    ASSERT_TRUE(line.ok());
    EXPECT_EQ(line->tasks[1].completed, 0u);
    EXPECT_EQ(line->tasks[1].misses, 2u);
    EXPECT_EQ(line->tasks[1].worst_lateness, ms(6));
}

TEST(TimeLine, HasLimits)
{
    const Analysis analysis = analyse({{1, 1}});
    EXPECT_FALSE(play(analysis.tasks, Policy::rms, ms(11), Time(0), {.jobs_max = 10}).ok());
    EXPECT_FALSE(play(analysis.tasks, Policy::rms, ms(10), Time(0), {.slices_max = 9}).ok());
    EXPECT_TRUE(play(analysis.tasks, Policy::rms, ms(10), Time(0), {10, 10}).ok());
    EXPECT_FALSE(play(analysis.tasks, Policy::rms, Time(-1)).ok());
    EXPECT_EQ(play({}, Policy::rms, ms(10))->idle, ms(10));
}

/// Periods that differ, so that each task has a level for itself.
std::vector<testing::Row> distinct(std::vector<testing::Row> rows)
{
    std::ranges::sort(rows, {}, &testing::Row::period);
    const auto rest = std::ranges::unique(rows, {}, &testing::Row::period);
    rows.erase(rest.begin(), rest.end());
    return rows;
}

// The critical instant is the beginning of the time line: what it shows is the worst, exactly.
TEST(TimeLine, ShowsTheResponsesOfTheAnalysis)
{
    std::mt19937_64 random(1973);
    int schedulable = 0;
    int late = 0;
    for (int round = 0; round < sets; ++round) {
        const Analysis analysis = analyse(distinct(testing::random_rows(random, 0.95)));
        const auto line = play(analysis.tasks, Policy::rms, 2 * ms(2520));
        ASSERT_TRUE(line.ok());
        for (std::size_t i = 0; i < analysis.tasks.size(); ++i) {
            const Response& response = analysis.responses[i];
            if (response.verdict == Verdict::unbounded) continue;
            EXPECT_EQ(response.worst, line->tasks[i].worst_response) << "round " << round;
            EXPECT_EQ(response.verdict == Verdict::meets, line->tasks[i].misses == 0);
            late += response.verdict == Verdict::misses ? 1 : 0;
        }
        schedulable += analysis.schedulable ? 1 : 0;
        const bool within_a_bound =
            analysis.utilisation <= analysis.liu_layland || analysis.hyperbolic <= 2;
        EXPECT_TRUE(analysis.schedulable || !within_a_bound) << "round " << round;
    }
    EXPECT_GT(schedulable, sets / 15);
    EXPECT_GT(late, sets / 15);
}

// Where levels are shared, the worst is when something less urgent has just begun, which the time
// line need not show: the analysis is a bound.
TEST(TimeLine, NeverExceedsTheAnalysisOfSharedLevels)
{
    std::mt19937_64 random(1999);
    for (int round = 0; round < sets; ++round) {
        const PriorityRange range{1, 1 + static_cast<int>(random() % 3)};
        const Analysis analysis = analyse(testing::random_rows(random, 0.9), Policy::rms, range);
        const auto line = play(analysis.tasks, Policy::rms, 2 * ms(2520));
        ASSERT_TRUE(line.ok());
        for (std::size_t i = 0; i < analysis.tasks.size(); ++i) {
            if (analysis.responses[i].verdict == Verdict::unbounded) continue;
            EXPECT_LE(line->tasks[i].worst_response, *analysis.responses[i].worst)
                << "round " << round;
        }
    }
}

/// Deadlines between the time and a little beyond the period.
void shorten_deadlines(std::mt19937_64& random, std::vector<testing::Row>& rows)
{
    for (testing::Row& row : rows)
        row.deadline = std::max<std::int64_t>(
            row.time, row.period * static_cast<std::int64_t>(50 + random() % 60) / 100);
}

// EDF and LLF are optimal: they miss exactly where the demand says that everybody must.
TEST(TimeLine, ShowsTheVerdictOfTheDemand)
{
    for (const Policy policy : {Policy::edf, Policy::llf}) {
        std::mt19937_64 random(1974);
        int misses = 0;
        for (int round = 0; round < sets; ++round) {
            auto rows = testing::random_rows(random, 0.85);
            shorten_deadlines(random, rows);
            for (testing::Row& row : rows) // which says nothing to these policies
                row.criticality = static_cast<Criticality>(random() % 3);
            const Analysis analysis = analyse(rows, policy);
            const auto line = play(analysis.tasks, policy, 2 * ms(2520));
            ASSERT_TRUE(line.ok());
            const bool missed = std::ranges::any_of(
                line->tasks, [](const TaskRecord& record) { return record.misses > 0; });
            EXPECT_EQ(analysis.schedulable, !missed) << name_of(policy) << ", round " << round;
            misses += missed ? 1 : 0;
        }
        EXPECT_GT(misses, sets / 10);
        EXPECT_LT(misses, sets - sets / 10);
    }
}

// What MUF promises it keeps, to whatever level.
TEST(TimeLine, KeepsThePromisesOfMuf)
{
    std::mt19937_64 random(1991);
    int promised_below = 0;
    for (int round = 0; round < sets; ++round) {
        auto rows = testing::random_rows(random, 1.0);
        for (testing::Row& row : rows)
            row.criticality = static_cast<Criticality>(random() % 3);
        const Analysis analysis = analyse(rows, Policy::muf);
        const auto line = play(analysis.tasks, Policy::muf, 2 * ms(2520));
        ASSERT_TRUE(line.ok());
        for (std::size_t i = 0; i < analysis.tasks.size(); ++i) {
            if (analysis.responses[i].verdict != Verdict::meets) continue;
            EXPECT_EQ(line->tasks[i].misses, 0u) << "round " << round;
            promised_below += analysis.tasks[i].priority.level > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(promised_below, sets / 10);
}

} // namespace
} // namespace kairos::sched
