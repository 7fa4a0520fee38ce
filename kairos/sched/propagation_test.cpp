// SPDX-License-Identifier: Apache-2.0
//
// What is refused in descriptors, and what dependencies make of them.
#include "kairos/sched/sets_testing.h"
#include "kairos/sched/time_text.h"

namespace kairos::sched {
namespace {

using testing::ms;
using Rates = std::vector<Rate>;

struct Calls {
    const char* caller;
    const char* callee;
    CallKind kind = CallKind::two_way;
    std::uint32_t calls = 1;
};

void connect(OperationSet& set, std::initializer_list<Calls> all)
{
    for (const Calls& one : all)
        ASSERT_TRUE(
            set.add_dependency(*set.find(one.caller), {*set.find(one.callee), one.kind, one.calls})
                .ok());
}

OperationSet make(std::initializer_list<RtInfo> infos)
{
    OperationSet set;
    for (const RtInfo& info : infos)
        EXPECT_TRUE(set.add(info).ok());
    return set;
}

std::string reason_of(const Result<void>& result) { return result ? "" : result.error().reason; }

TEST(OperationSet, RefusesWhatMakesNoSense)
{
    EXPECT_NE(reason_of(check({.name = ""})), "");
    EXPECT_EQ(reason_of(check({.name = std::string(name_octets_max, 'a')})), "");
    EXPECT_EQ(reason_of(check({.name = std::string(name_octets_max + 1, 'a')})),
              "a name of more than 1024 octets");
    EXPECT_EQ(reason_of(check({.name = "a", .period = Time(-1)})), "'a' has a negative period");
    EXPECT_EQ(reason_of(check({.name = "a", .worst_case_time = time_max + Time(1)})),
              "'a' has a worst-case time of more than 31622400 s");
    EXPECT_NE(reason_of(check({.name = "a", .worst_case_time = ms(1), .typical_time = ms(2)})), "");
    EXPECT_NE(
        reason_of(check(
            {.name = "a", .worst_case_time = ms(3), .typical_time = ms(1), .cached_time = ms(2)})),
        "");
    EXPECT_EQ(reason_of(check({.name = "a", .worst_case_time = time_max, .period = time_max})), "");
}

TEST(OperationSet, KnowsNamesOnce)
{
    OperationSet set = make({{.name = "a"}});
    EXPECT_EQ(set.add({.name = "a"}).error().reason, "'a' is there already");
    EXPECT_EQ(set.find("a"), OperationIndex{0});
    EXPECT_EQ(set.find("b"), std::nullopt);
    EXPECT_FALSE(set.add_dependency(0, {.callee = 1}).ok());
    EXPECT_FALSE(set.add_dependency(0, {.callee = 0, .calls = 0}).ok());
}

TEST(OperationSet, ReplacingKeepsNameAndDependencies)
{
    OperationSet set = make({{.name = "a"}, {.name = "b"}});
    connect(set, {{"a", "b"}});
    ASSERT_TRUE(set.replace(0, {.name = "other", .period = ms(5)}).ok());
    EXPECT_EQ(set[0].name, "a");
    EXPECT_EQ(set[0].period, ms(5));
    EXPECT_EQ(set[0].dependencies.size(), 1u);
    EXPECT_FALSE(set.replace(0, {.name = "a", .period = Time(-5)}).ok());
    EXPECT_EQ(set[0].period, ms(5));
}

TEST(Propagation, TwoWayCallsAddTheirTimeAndTakeOverTheRate)
{
    OperationSet set = make({{.name = "leaf", .worst_case_time = ms(1)},
                             {.name = "middle", .worst_case_time = ms(2)},
                             {.name = "top", .worst_case_time = ms(3), .period = ms(100)}});
    connect(set,
            {{"top", "middle", CallKind::two_way, 2}, {"middle", "leaf", CallKind::two_way, 3}});
    const auto all = propagate(set);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ((*all)[0].execution, ms(1));
    EXPECT_EQ((*all)[1].execution, ms(5));
    EXPECT_EQ((*all)[2].execution, ms(13));
    EXPECT_EQ((*all)[0].rates, (Rates{{ms(100), 6}}));
    EXPECT_EQ((*all)[0].period, ms(100));
    EXPECT_TRUE((*all)[0].releases.empty());
    EXPECT_LT((*all)[2].order, (*all)[1].order);
    EXPECT_LT((*all)[1].order, (*all)[0].order);
    const auto tasks = make_tasks(set, *all);
    ASSERT_TRUE(tasks.ok());
    ASSERT_EQ(tasks->size(), 1u);
    EXPECT_EQ(tasks->front().name, "top");
    EXPECT_EQ(tasks->front().execution, ms(13));
}

TEST(Propagation, OneWayCallsReleaseTasksOfTheirOwn)
{
    OperationSet set = make({{.name = "fast", .worst_case_time = ms(1), .period = ms(10)},
                             {.name = "slow", .worst_case_time = ms(1), .period = ms(40)},
                             {.name = "log", .worst_case_time = ms(2)}});
    connect(set, {{"fast", "log", CallKind::one_way}, {"slow", "log", CallKind::one_way, 3}});
    const auto all = propagate(set);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ((*all)[0].execution, ms(1)); // it does not wait
    EXPECT_EQ((*all)[2].releases, (Rates{{ms(10), 1}, {ms(40), 3}}));
    EXPECT_EQ((*all)[2].callers, (std::vector<OperationIndex>{0, 1}));
    const auto tasks = make_tasks(set, *all);
    ASSERT_TRUE(tasks.ok());
    ASSERT_EQ(tasks->size(), 4u);
    EXPECT_EQ((*tasks)[2].name, "log (10 ms)");
    EXPECT_EQ((*tasks)[3].name, "log (40 ms)");
    EXPECT_EQ((*tasks)[3].execution, ms(6));
    EXPECT_EQ((*tasks)[3].deadline, ms(40));
    EXPECT_EQ((*tasks)[3].urgency_period, ms(10)); // one operation has one priority
}

TEST(Propagation, RatesGoThroughCallsThatAreWaitedFor)
{
    OperationSet set = make({{.name = "top", .worst_case_time = ms(1), .period = ms(20)},
                             {.name = "middle", .worst_case_time = ms(1)},
                             {.name = "event", .worst_case_time = ms(1)}});
    connect(set, {{"top", "middle", CallKind::two_way, 2}, {"middle", "event", CallKind::one_way}});
    const auto all = propagate(set);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ((*all)[2].releases, (Rates{{ms(20), 2}}));
}

TEST(Propagation, ThreadsMultiplyTheTime)
{
    OperationSet set =
        make({{.name = "a", .worst_case_time = ms(3), .period = ms(20), .threads = 4}});
    EXPECT_EQ(make_tasks(set, *propagate(set))->front().execution, ms(12));
}

TEST(Propagation, NamesTheOperationsOfACycle)
{
    OperationSet set = make({{.name = "a", .worst_case_time = ms(1), .period = ms(10)},
                             {.name = "b", .worst_case_time = ms(1)},
                             {.name = "c", .worst_case_time = ms(1)}});
    connect(set, {{"a", "b"}, {"b", "c"}, {"c", "b", CallKind::one_way}});
    const auto all = propagate(set);
    ASSERT_FALSE(all.ok());
    EXPECT_EQ(all.error().reason, "operations call each other in a cycle: b -> c -> b");
    OperationSet self = make({{.name = "a", .period = ms(10)}});
    connect(self, {{"a", "a"}});
    EXPECT_EQ(propagate(self).error().reason, "operations call each other in a cycle: a -> a");
}

TEST(Propagation, RefusesWhatNeverRunsAndWhatTakesNoTime)
{
    OperationSet idle = make({{.name = "a", .worst_case_time = ms(1)}});
    EXPECT_EQ(propagate(idle).error().reason, "'a' never runs: it has no period and no caller");
    OperationSet instant = make({{.name = "a", .period = ms(1)}});
    EXPECT_EQ(make_tasks(instant, *propagate(instant)).error().reason, "'a' has no execution time");
}

TEST(Propagation, RefusesWhatGrowsOutOfBounds)
{
    OperationSet set;
    for (int i = 0; i < 8; ++i) {
        ASSERT_TRUE(set.add({.name = std::to_string(i),
                             .worst_case_time = Time(1),
                             .period = i == 0 ? ms(10) : Time(0)})
                        .ok());
        if (i == 0) continue;
        const auto callee = static_cast<OperationIndex>(i);
        ASSERT_TRUE(set.add_dependency(callee - 1, {callee, CallKind::two_way, calls_max}).ok());
    }
    EXPECT_FALSE(propagate(set).ok());
    OperationSet events = make({{.name = "a", .worst_case_time = ms(1), .period = ms(1)},
                                {.name = "b", .worst_case_time = ms(1)},
                                {.name = "c", .worst_case_time = ms(1)}});
    connect(events,
            {{"a", "b", CallKind::one_way, calls_max}, {"b", "c", CallKind::one_way, calls_max}});
    EXPECT_EQ(propagate(events).error().reason, "'c' is called too many times in a period");
}

/// Each of a chain would run at as many rates as there are callers.
TEST(Propagation, RatesThatMultiplyAreRefused)
{
    OperationSet set;
    constexpr OperationIndex length = 1000;
    for (OperationIndex i = 0; i < length; ++i) {
        ASSERT_TRUE(set.add({.name = std::to_string(i), .worst_case_time = Time(1)}).ok());
        if (i == 0) continue;
        ASSERT_TRUE(set.add_dependency(i - 1, {i, CallKind::one_way}).ok());
    }
    for (int i = 0; i < 3000; ++i) {
        const auto root = set.add({.name = "root " + std::to_string(i), .period = ms(1) + Time(i)});
        ASSERT_TRUE(root.ok() && set.add_dependency(*root, {.callee = 0}).ok());
    }
    OperationIndex culprit = set.size();
    const auto all = propagate(set, ExecutionTime::worst_case, &culprit);
    ASSERT_FALSE(all.ok());
    EXPECT_EQ(all.error().code, ErrorCode::limit_exceeded);
    ASSERT_LT(culprit, length);
    EXPECT_EQ(all.error().reason,
              "'" + set[culprit].name + "' makes too many calls at different rates");
}

TEST(Propagation, CallersAreNamedOnce)
{
    OperationSet set = make({{.name = "a", .worst_case_time = ms(1), .period = ms(10)},
                             {.name = "b", .worst_case_time = ms(1)}});
    connect(set, {{"a", "b"}, {"a", "b", CallKind::one_way}});
    EXPECT_EQ((*propagate(set))[1].callers, (std::vector<OperationIndex>{0}));
}

TEST(Tasks, TooManyAreRefused)
{
    OperationSet set;
    const auto add = [&](std::size_t number) {
        return set
            .add({.name = std::to_string(number), .worst_case_time = Time(1), .period = ms(100)})
            .ok();
    };
    for (std::size_t i = 0; i < tasks_max; ++i)
        ASSERT_TRUE(add(i));
    EXPECT_EQ(make_tasks(set, *propagate(set))->size(), tasks_max);
    ASSERT_TRUE(add(tasks_max));
    OperationIndex culprit = 0;
    EXPECT_EQ(make_tasks(set, *propagate(set), &culprit).error().reason,
              "there are more than 2000 tasks");
    EXPECT_EQ(culprit, tasks_max);
}

TEST(Propagation, LongChainsNeedNoStack)
{
    OperationSet set;
    for (std::size_t i = 0; i < operations_max; ++i) {
        ASSERT_TRUE(set.add({.name = std::to_string(i),
                             .worst_case_time = Time(1),
                             .period = i == 0 ? ms(10) : Time(0)})
                        .ok());
        if (i == 0) continue;
        ASSERT_TRUE(set.add_dependency(i - 1, {.callee = i}).ok());
    }
    EXPECT_FALSE(set.add({.name = "one more"}).ok());
    const auto all = propagate(set);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all->front().execution, Time(operations_max));
}

TEST(Propagation, TypicalAndCachedTimesStandInForTheWorst)
{
    OperationSet set = make({{.name = "a",
                              .worst_case_time = ms(9),
                              .typical_time = ms(5),
                              .cached_time = ms(1),
                              .period = ms(10)},
                             {.name = "b", .worst_case_time = ms(4)}});
    connect(set, {{"a", "b"}});
    EXPECT_EQ((*propagate(set))[0].execution, ms(13));
    EXPECT_EQ((*propagate(set, ExecutionTime::typical))[0].execution, ms(9));
    EXPECT_EQ((*propagate(set, ExecutionTime::cached))[0].execution, ms(5));
}

TEST(TimeText, IsExactBothWays)
{
    EXPECT_EQ(*parse_time("50 ms"), ms(50));
    EXPECT_EQ(*parse_time("1.5us"), Time(1500));
    EXPECT_EQ(*parse_time("0.000000001 s"), Time(1));
    EXPECT_EQ(*parse_time("2 µs"), Time(2000));
    EXPECT_EQ(*parse_time("366 h"), std::chrono::hours(366));
    EXPECT_EQ(*parse_period("20 Hz"), ms(50));
    for (const char* wrong : {"", "ms", "5", "-5 ms", "1. ms", "0.5 ns", "5 msec", "8785 h",
                              "99999999999999999999 ns", "1e3 ms", " 5 ms", "5 ms "})
        EXPECT_FALSE(parse_time(wrong).ok()) << wrong;
    for (const char* wrong : {"30 Hz", "0 Hz", "0.5 Hz", "0 ms", "20 kHz"})
        EXPECT_FALSE(parse_period(wrong).ok()) << wrong;
    EXPECT_EQ(to_text(ms(50)), "50 ms");
    EXPECT_EQ(to_text(Time(1500)), "1.5 us");
    EXPECT_EQ(to_text(Time(-1'000'000'001)), "-1.000000001 s");
    EXPECT_EQ(to_text(Time(0)), "0");
    EXPECT_EQ(to_text(Time::min()), "-9223372036.854775808 s");
}

TEST(TimeText, EveryTimeComesBack)
{
    std::mt19937_64 random(7);
    for (int i = 0; i < 10'000; ++i) {
        const Time time(static_cast<std::int64_t>(random() >> (10 + random() % 53)));
        EXPECT_EQ(*parse_time(to_text(time) == "0" ? "0 ns" : to_text(time)), time);
    }
}

} // namespace
} // namespace kairos::sched
