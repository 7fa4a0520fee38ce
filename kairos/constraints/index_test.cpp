// SPDX-License-Identifier: Apache-2.0
//
// An index finds what evaluating every constraint finds, and evaluates few.
#include "kairos/constraints/index.h"

#include "kairos/constraints/reference_testing.h"

#include <algorithm>
#include <thread>

namespace {

using namespace testing_constraints;
using kairos::constraints::ConstraintIndex;
using Ids = std::vector<ConstraintIndex::Id>;

struct Matched {
    Ids ids;
    std::size_t evaluated = 0;
};

Matched match(const ConstraintIndex& index, const CORBA::Any& any)
{
    const AnyEvent event(any);
    Evaluator evaluator;
    evaluator.look_at(event);
    Matched matched;
    matched.evaluated = index.match(evaluator, matched.ids);
    std::ranges::sort(matched.ids);
    return matched;
}

CORBA::Any alarm(const char* type, CORBA::Long severity)
{
    Event event;
    event.type_name = type;
    event.filterable_data = {{"severity", any_of(severity)}};
    return event.any();
}

TEST(ConstraintIndex, EvaluatesOneOfTenThousand)
{
    ConstraintIndex index;
    for (ConstraintIndex::Id id = 0; id < 10'000; ++id)
        ASSERT_TRUE(index.add(
            id, parsed("$type_name == 'Alarm" + std::to_string(id) + "' and $severity > 3")));
    EXPECT_EQ(index.size(), 10'000u);
    Matched matched = match(index, alarm("Alarm77", 4));
    EXPECT_EQ(matched.ids, Ids{77});
    EXPECT_EQ(matched.evaluated, 1u);
    matched = match(index, alarm("Alarm77", 3));
    EXPECT_EQ(matched.ids, Ids{});
    EXPECT_EQ(matched.evaluated, 1u);
    EXPECT_EQ(match(index, alarm("Other", 4)).evaluated, 0u);
    EXPECT_EQ(match(index, any_of(CORBA::Long{3})).evaluated, 0u);

    for (ConstraintIndex::Id id = 0; id < 10'000; ++id)
        ASSERT_TRUE(index.remove(id));
    EXPECT_EQ(index.size(), 0u);
    EXPECT_EQ(match(index, alarm("Alarm77", 4)).evaluated, 0u);
}

TEST(ConstraintIndex, FilesUnderTheLiteralThatFewestOthersHave)
{
    ConstraintIndex index;
    for (ConstraintIndex::Id id = 0; id < 1000; ++id)
        ASSERT_TRUE(
            index.add(id, parsed("$type_name == 'Alarm' and $severity == " + std::to_string(id))));
    const Matched matched = match(index, alarm("Alarm", 500));
    EXPECT_EQ(matched.ids, Ids{500});
    EXPECT_LE(matched.evaluated, 2u) << "the first is under the type's name";
}

TEST(ConstraintIndex, AlwaysEvaluatesWhatHasNoEquality)
{
    ConstraintIndex index;
    ASSERT_TRUE(index.add(1, parsed("")));
    ASSERT_TRUE(index.add(2, parsed("$severity > 3")));
    ASSERT_TRUE(index.add(3, parsed("$severity == 3 or $type_name == 'Alarm'")));
    ASSERT_TRUE(index.add(4, parsed("$severity == 3")));
    const Matched matched = match(index, alarm("Alarm", 4));
    EXPECT_EQ(matched.ids, (Ids{1, 2, 3}));
    EXPECT_EQ(matched.evaluated, 3u);
    EXPECT_EQ(match(index, alarm("Other", 3)).ids, (Ids{1, 3, 4}));
}

TEST(ConstraintIndex, HasEachIdOnce)
{
    ConstraintIndex index;
    ASSERT_TRUE(index.add(1, parsed("$severity == 3")));
    EXPECT_FALSE(index.add(1, parsed("")));
    EXPECT_EQ(match(index, alarm("Alarm", 4)).ids, Ids{});
    EXPECT_TRUE(index.remove(1));
    EXPECT_FALSE(index.remove(1));
    EXPECT_TRUE(index.add(1, parsed("")));
    EXPECT_EQ(match(index, alarm("Alarm", 4)).ids, Ids{1});
}

TEST(ConstraintIndex, RemovesFromTheMidstOfOneLiteral)
{
    ConstraintIndex index;
    for (ConstraintIndex::Id id = 0; id < 100; ++id)
        ASSERT_TRUE(index.add(id, parsed(id % 2 == 0 ? "$type_name == 'Alarm'" : "")));
    Ids left;
    for (ConstraintIndex::Id id = 0; id < 100; ++id)
        if (id % 7 == 3)
            left.push_back(id);
        else
            ASSERT_TRUE(index.remove(id));
    EXPECT_EQ(match(index, alarm("Alarm", 1)).ids, left);
    for (const ConstraintIndex::Id id : left) {
        ASSERT_TRUE(index.remove(id));
        ASSERT_FALSE(index.remove(id));
    }
    EXPECT_EQ(index.size(), 0u);
    EXPECT_EQ(match(index, alarm("Alarm", 1)).evaluated, 0u);
}

TEST(ConstraintIndex, KnowsWhatIsEqual)
{
    ConstraintIndex index;
    ASSERT_TRUE(index.add(1, parsed("$ == 2")));
    ASSERT_TRUE(index.add(2, parsed("2.0 == $")));
    ASSERT_TRUE(index.add(3, parsed("$ == 'blue'")));
    ASSERT_TRUE(index.add(4, parsed("$ == blue")));
    ASSERT_TRUE(index.add(5, parsed("$ == TRUE")));
    ASSERT_TRUE(index.add(6, parsed("$ == 1")));
    ASSERT_TRUE(index.add(7, parsed("$ == 'c'")));
    ASSERT_TRUE(index.add(8, parsed("$ == -0.0")));
    ASSERT_TRUE(index.add(9, parsed("$ == 9007199254740993")));
    EXPECT_EQ(match(index, any_of(CORBA::Short{2})).ids, (Ids{1, 2}));
    EXPECT_EQ(match(index, any_of(CORBA::Float{2})).ids, (Ids{1, 2}));
    EXPECT_EQ(match(index, any_of(testing_types::blue)).ids, (Ids{1, 2, 3, 4}));
    EXPECT_EQ(match(index, any_of(testing_types::green)).ids, (Ids{5, 6}));
    EXPECT_EQ(match(index, any_of("blue")).ids, Ids{3});
    EXPECT_EQ(match(index, any_of(CORBA::Long{0})).ids, Ids{8});
    EXPECT_EQ(match(index, any_of(CORBA::LongLong{9007199254740993})).ids, Ids{9});
    EXPECT_EQ(match(index, any_of(CORBA::LongLong{9007199254740992})).ids, Ids{});
    CORBA::Any any;
    any <<= CORBA::Any::from_char('c');
    EXPECT_EQ(match(index, any).ids, Ids{7});
    any <<= CORBA::Any::from_boolean(true);
    EXPECT_EQ(match(index, any).ids, (Ids{5, 6}));
}

TEST(ConstraintIndex, FindsWhatEvaluatingAllFinds)
{
    Dice dice(99);
    ConstraintIndex index;
    std::map<ConstraintIndex::Id, Constraint> all;
    std::size_t found = 0;
    std::size_t evaluated = 0;
    for (ConstraintIndex::Id round = 0; round < 3000; ++round) {
        Grower grower(dice, Language::extended);
        const TreePtr tree = dice.one_in(20) ? grower.truth(3) : grower.with_equality(2);
        const Constraint constraint = parsed(Scribe(dice, Language::extended).write(*tree));
        ASSERT_TRUE(index.add(round, constraint));
        all.emplace(round, constraint);
        if (dice.one_in(3)) {
            const ConstraintIndex::Id victim = dice.below(round + 1);
            ASSERT_EQ(index.remove(victim), all.erase(victim) == 1);
        }
        if (round % 30 != 0) continue;
        const CORBA::Any any = event_of(random_values(dice), dice).any();
        const AnyEvent event(any);
        Evaluator evaluator;
        evaluator.look_at(event);
        Ids expected;
        for (const auto& [id, each] : all)
            if (evaluator.evaluate(each)) expected.push_back(id);
        const Matched matched = match(index, any);
        ASSERT_EQ(matched.ids, expected);
        ASSERT_LE(matched.evaluated, all.size());
        found += expected.size();
        evaluated += matched.evaluated;
    }
    EXPECT_EQ(index.size(), all.size());
    EXPECT_GT(found, 1000u);
    EXPECT_LT(evaluated, 100u * 2000 / 3) << "of some 100,000, most are not looked at";
}

TEST(ConstraintIndex, IsMatchedByManyThreads)
{
    ConstraintIndex index;
    for (ConstraintIndex::Id id = 0; id < 100; ++id)
        ASSERT_TRUE(index.add(id, parsed("$severity == " + std::to_string(id % 10))));
    const CORBA::Any any = alarm("Alarm", 7);
    std::vector<std::size_t> counts(4);
    std::vector<std::thread> threads;
    for (std::size_t& count : counts)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i)
                count += match(index, any).ids.size();
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(counts, std::vector<std::size_t>(4, 1000));
}

} // namespace
