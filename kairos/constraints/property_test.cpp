// SPDX-License-Identifier: Apache-2.0
//
// Random constraints over random values mean what a plain walk over their trees says: the same
// answer, and the same fault where there is none. The seeds are fixed.
#include "kairos/constraints/reference_testing.h"

namespace {

using namespace testing_constraints;

/// How often each kind of answer came: a test of nothing but faults would prove little.
struct Tally {
    int yes = 0;
    int no = 0;
    std::map<Fault, int> faults{};

    void count(const Answer& answer)
    {
        if (answer.fault != Fault::none) {
            ++faults[answer.fault];
        } else {
            ++(answer.matches ? yes : no);
        }
    }
    void expect_variety() const
    {
        EXPECT_GT(yes, 1000);
        EXPECT_GT(no, 1000);
        for (const Fault fault : {Fault::missing, Fault::mismatch, Fault::arithmetic})
            EXPECT_TRUE(faults.contains(fault)) << describe(fault);
    }
};

/// How a subject holds the values.
enum class Holder : std::uint8_t { any, structure, offer };

void compare_with_reference(Holder holder, std::uint64_t seed)
{
    const Language language = holder == Holder::offer ? Language::trader : Language::extended;
    Dice dice(seed);
    Tally tally;
    Evaluator evaluator;
    for (int round = 0; round < 600; ++round) {
        const Values values = random_values(dice);
        const Event event = event_of(values, dice);
        const CORBA::Any any = event.any();
        const AnyEvent as_any(any);
        const HeldEvent as_structure(event);
        const OfferOf offer(values, dice);
        if (holder == Holder::any) evaluator.look_at(as_any);
        if (holder == Holder::structure) evaluator.look_at(as_structure);
        if (holder == Holder::offer) evaluator.look_at(offer);
        for (int i = 0; i < 25; ++i) {
            const TreePtr tree = Grower(dice, language).truth(4);
            const std::string text = Scribe(dice, language).write(*tree);
            const Answer expected = Judge(values).judge(*tree);
            const Answer found = evaluator.evaluate(parsed(text, language));
            ASSERT_EQ(found.matches, expected.matches) << text;
            ASSERT_EQ(found.fault, expected.fault)
                << text << "\nfound: " << describe(found.fault) << " at " << found.offset
                << "\nexpected: " << describe(expected.fault);
            tally.count(found);
        }
    }
    tally.expect_variety();
}

TEST(Property, EventsAreJudgedAsByTheReference) { compare_with_reference(Holder::any, 20261129); }

TEST(Property, EventsOfTheProgramAreJudgedAsByTheReference)
{
    compare_with_reference(Holder::structure, 90125);
}

TEST(Property, OffersAreJudgedAsByTheReference) { compare_with_reference(Holder::offer, 4711); }

} // namespace
