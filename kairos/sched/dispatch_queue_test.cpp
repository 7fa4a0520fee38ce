// SPDX-License-Identifier: Apache-2.0
//
// The queues against a list that is searched, with a clock that runs.
#include "kairos/sched/dispatch_queue.h"

#include "kairos/base/heap_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace kairos::sched {
namespace {

constexpr Policy policies[] = {Policy::rms, Policy::dms, Policy::edf, Policy::muf, Policy::llf};

std::vector<std::uint64_t> drain(DispatchQueue& queue)
{
    std::vector<std::uint64_t> ids;
    while (const auto dispatch = queue.pop())
        ids.push_back(dispatch->id);
    return ids;
}

using Ids = std::vector<std::uint64_t>;

TEST(DispatchQueue, RmsTakesLevelThenWhatHasBegunThenSubPriority)
{
    const auto queue = make_dispatch_queue(Policy::rms, 8);
    ASSERT_TRUE(queue->push({.id = 1, .level = 1, .sub = 0}));
    ASSERT_TRUE(queue->push({.id = 2, .level = 1, .sub = 5, .begun = true}));
    ASSERT_TRUE(queue->push({.id = 3, .level = 0, .sub = 9}));
    ASSERT_TRUE(queue->push({.id = 4, .level = 0, .sub = 1, .importance = Importance::low}));
    ASSERT_TRUE(queue->push({.id = 5, .level = 0, .sub = 1}));
    EXPECT_TRUE(queue->preempts({.level = 1}));
    EXPECT_FALSE(queue->preempts({.level = 0, .sub = 100})); // not within a level
    EXPECT_EQ(drain(*queue), (Ids{5, 4, 3, 2, 1}));
}

TEST(DispatchQueue, EdfTakesDeadlineThenImportanceThenArrival)
{
    const auto queue = make_dispatch_queue(Policy::edf, 8);
    ASSERT_TRUE(queue->push({.id = 1, .deadline = Time(20)}));
    ASSERT_TRUE(queue->push({.id = 2, .deadline = Time(20)}));
    ASSERT_TRUE(queue->push({.id = 3, .importance = Importance::very_high, .deadline = Time(20)}));
    ASSERT_TRUE(queue->push({.id = 4, .deadline = Time(10), .remaining = Time(1)}));
    EXPECT_FALSE(queue->preempts({.deadline = Time(10)}));
    EXPECT_TRUE(queue->preempts({.deadline = Time(11)}));
    EXPECT_EQ(drain(*queue), (Ids{4, 3, 1, 2}));
}

TEST(DispatchQueue, LlfTakesLaxityWhateverTheDeadline)
{
    const auto queue = make_dispatch_queue(Policy::llf, 8);
    ASSERT_TRUE(queue->push({.id = 1, .deadline = Time(10), .remaining = Time(1)}));
    ASSERT_TRUE(queue->push({.id = 2, .deadline = Time(30), .remaining = Time(25)}));
    EXPECT_EQ(queue->front()->id, 2u);
    EXPECT_EQ(laxity(*queue->front(), Time(2)), Time(3));
    EXPECT_EQ(laxity(*queue->front(), Time(7)), Time(-2));
    EXPECT_EQ(drain(*queue), (Ids{2, 1}));
}

// What runs keeps its laxity while those that wait lose theirs, until they overtake it.
TEST(DispatchQueue, LaxityOvertakesWhatRuns)
{
    const auto queue = make_dispatch_queue(Policy::llf, 8);
    ASSERT_TRUE(queue->push({.id = 1, .deadline = Time(20), .remaining = Time(10)})); // laxity 10
    Dispatch running{.id = 2, .deadline = Time(20), .remaining = Time(15)};           // laxity 5
    for (Time now(0); now <= Time(5); ++now, --running.remaining)
        EXPECT_FALSE(queue->preempts(running)) << now.count();
    EXPECT_TRUE(queue->preempts(running)); // at 6: 4 against 5
    const auto taken = queue->pop();
    ASSERT_TRUE(queue->push(running));
    EXPECT_EQ(taken->id, 1u);
    EXPECT_FALSE(queue->preempts(*taken));
}

TEST(DispatchQueue, MufTakesCriticalityBeforeLaxity)
{
    const auto queue = make_dispatch_queue(Policy::muf, 8);
    ASSERT_TRUE(queue->push({.id = 1, .criticality = Criticality::low, .deadline = Time(1)}));
    ASSERT_TRUE(queue->push({.id = 2, .criticality = Criticality::high, .deadline = Time(900)}));
    ASSERT_TRUE(queue->push({.id = 3,
                             .criticality = Criticality::high,
                             .deadline = Time(950),
                             .remaining = Time(100)}));
    EXPECT_TRUE(queue->preempts({.criticality = Criticality::medium, .deadline = Time(0)}));
    EXPECT_EQ(drain(*queue), (Ids{3, 2, 1}));
}

TEST(DispatchQueue, IsBoundedAndAllocatesNothing)
{
    for (const Policy policy : policies) {
        const auto queue = make_dispatch_queue(policy, 3);
        EXPECT_EQ(queue->capacity(), 3u);
        const std::size_t before = heap_testing::held;
        heap_testing::largest_permitted = 0; // any request throws, and these functions may not
        for (int round = 0; round < 100; ++round) {
            for (std::uint64_t i = 0; i < 3; ++i)
                EXPECT_TRUE(queue->push({.id = i}));
            EXPECT_FALSE(queue->push({.id = 9}));
            EXPECT_EQ(queue->size(), 3u);
            while (queue->pop()) {
            }
        }
        heap_testing::largest_permitted = SIZE_MAX;
        EXPECT_EQ(heap_testing::held, before);
        EXPECT_EQ(queue->front(), nullptr);
        EXPECT_FALSE(queue->preempts({}));
    }
    EXPECT_FALSE(make_dispatch_queue(Policy::edf, 0)->push({}));
}

/// The rule as it is documented, evaluated with a clock: smaller goes first.
auto rule(Policy policy, const Dispatch& one, Time now, std::uint64_t arrival)
{
    std::array<std::int64_t, 3> urgency{};
    switch (policy) {
    case Policy::rms:
    case Policy::dms:
        urgency = {one.level, one.begun ? 0 : 1, one.sub};
        break;
    case Policy::edf:
        urgency = {one.deadline.count(), 0, 0};
        break;
    case Policy::llf:
        urgency = {laxity(one, now).count(), 0, 0};
        break;
    case Policy::muf:
        urgency = {-static_cast<int>(one.criticality), laxity(one, now).count(), 0};
        break;
    }
    return std::tuple(urgency, -static_cast<int>(one.importance), arrival);
}

Dispatch random_dispatch(std::mt19937_64& random, std::uint64_t id, Time now)
{
    return {.id = id,
            .level = static_cast<std::uint32_t>(random() % 4),
            .sub = static_cast<std::uint32_t>(random() % 4),
            .criticality = static_cast<Criticality>(random() % 5),
            .importance = static_cast<Importance>(random() % 5),
            .begun = random() % 4 == 0,
            .deadline = now + Time(random() % 20),
            .remaining = Time(random() % 20)};
}

TEST(DispatchQueue, AgreesWithASearchedListAtAnyTime)
{
    for (const Policy policy : policies) {
        std::mt19937_64 random(42);
        const auto queue = make_dispatch_queue(policy, 64);
        std::vector<std::pair<Dispatch, std::uint64_t>> list;
        Time now{0};
        for (std::uint64_t step = 0; step < 20'000; ++step) {
            now += Time(random() % 3);
            if (random() % 2 == 0) {
                const Dispatch one = random_dispatch(random, step, now);
                ASSERT_EQ(queue->push(one), list.size() < 64);
                if (list.size() < 64) list.emplace_back(one, step);
                continue;
            }
            const auto best = std::ranges::min_element(list, {}, [&](const auto& entry) {
                return rule(policy, entry.first, now, entry.second);
            });
            const auto taken = queue->pop();
            ASSERT_EQ(taken.has_value(), best != list.end());
            if (!taken) continue;
            ASSERT_EQ(taken->id, best->first.id) << name_of(policy) << ", step " << step;
            list.erase(best);
        }
    }
}

} // namespace
} // namespace kairos::sched
