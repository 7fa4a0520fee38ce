// SPDX-License-Identifier: Apache-2.0
#include "kairos/rtevents/filter.h"

#include "kairos/rtevents/event_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kairos::rtevents {
namespace {

using RtecEventComm::Event;

struct Item {
    CORBA::Long type = 0;
    CORBA::Long source = 0;
    RtecEventComm::Time time = 0;
};
constexpr CORBA::Long a = own_types_begin;
constexpr CORBA::Long b = a + 1;
constexpr CORBA::Long c = a + 2;
constexpr RtecEventComm::Time second = 10'000'000;

RtecEventChannelAdmin::DependencySet dependencies(const std::vector<Item>& items)
{
    RtecEventChannelAdmin::DependencySet set;
    set.length(static_cast<CORBA::ULong>(items.size()));
    for (CORBA::ULong i = 0; i < items.size(); ++i) {
        set[i].event.header.type = items[i].type;
        set[i].event.header.source = items[i].source;
        set[i].event.header.creation_time = items[i].time;
    }
    return set;
}
Filter filter(const std::vector<Item>& items) { return Filter(dependencies(items)); }

Event event(CORBA::Long type, CORBA::Long source = 1)
{
    Event made;
    made.header.type = type;
    made.header.source = source;
    return made;
}
bool takes(const std::vector<Item>& items, CORBA::Long type, CORBA::Long source = 1)
{
    const Filter made = filter(items);
    EXPECT_TRUE(made.is_plain());
    return made.accepts(event(type, source).header);
}
/// The types and sources of what is given.
std::string given(const Filter::Outcome& outcome)
{
    std::string text;
    for (const Filter::EventPtr& each : outcome.events)
        text += (text.empty() ? "" : " ") + std::to_string(each->header.type) + "/" +
                std::to_string(each->header.source);
    return text;
}
Filter::Outcome take(const Filter& filter, Filter::Collected& collected, const Event& event)
{
    Filter::Shared shared(event);
    return filter.take(collected, shared);
}
Filter::Outcome end_time(const Filter& filter, Filter::Collected& collected, CORBA::Long type)
{
    const Event timeout = event(type, 0);
    Filter::Shared shared(timeout);
    return filter.end_time(collected, 0, shared);
}
std::string reason(const std::vector<Item>& items)
{
    try {
        (void)filter(items);
    } catch (const CORBA::BAD_PARAM& refused) {
        return std::string(refused.reason());
    }
    return "none";
}

// --- by one event --------------------------------------------------------------------------------

TEST(RtFilter, TakesTypesAndSources)
{
    EXPECT_TRUE(takes({{a, 7}}, a, 7));
    EXPECT_FALSE(takes({{a, 7}}, a, 8));
    EXPECT_FALSE(takes({{a, 7}}, b, 7));
    EXPECT_TRUE(takes({{any_type, 7}}, b, 7));
    EXPECT_FALSE(takes({{any_type, 7}}, b, 8));
    EXPECT_TRUE(takes({{a, any_source}}, a, 8));
    EXPECT_TRUE(takes({{any_type, any_source}}, c, 9));
    EXPECT_TRUE(takes({{a, 7}}, any_type, 7)) << "of an event that says nothing, too";
    EXPECT_FALSE(takes({}, a));
}

TEST(RtFilter, TakesAnyOfSeveral)
{
    EXPECT_TRUE(takes({{a}, {b}}, b));
    EXPECT_FALSE(takes({{a}, {b}}, c));
    EXPECT_TRUE(takes({{global_group}, {a}, {b}}, b));
    EXPECT_TRUE(takes({{disjunction_group}, {a}, {b}, {disjunction_group}, {c}}, c));
    EXPECT_TRUE(takes({{disjunction_group, 2}, {a}, {disjunction_group, 1}, {b}, {c}}, c));
}

TEST(RtFilter, NegatesAndMasks)
{
    EXPECT_FALSE(takes({{negation}, {a}}, a));
    EXPECT_TRUE(takes({{negation}, {a}}, b));
    const std::vector<Item> both{{logical_and_group, 2}, {any_type, 7}, {negation}, {a}};
    EXPECT_TRUE(takes(both, b, 7));
    EXPECT_FALSE(takes(both, a, 7));
    EXPECT_FALSE(takes(both, b, 8));
    EXPECT_TRUE(takes({{everything}}, c));
    // Masks of type and source, and what is to be left of both.
    const std::vector<Item> masked{{masked_type}, {0xF0, 0x3}, {0x20, 0x1}};
    EXPECT_TRUE(takes(masked, 0x25, 5));
    EXPECT_FALSE(takes(masked, 0x35, 5));
    EXPECT_FALSE(takes(masked, 0x25, 6));
    const std::vector<Item> bits{{bitmask}, {0x20, 0x4}, {any_type, 4}};
    EXPECT_TRUE(takes(bits, 0x21, 4));
    EXPECT_FALSE(takes(bits, 0x11, 4));
    EXPECT_FALSE(takes(bits, 0x21, 12)) << "the mask lets it pass, what follows does not";
}

// --- by several ----------------------------------------------------------------------------------

TEST(RtFilter, CollectsWhatBelongsTogether)
{
    const Filter both = filter({{conjunction_group}, {a}, {b}});
    EXPECT_FALSE(both.is_plain());
    Filter::Collected collected = both.begin();
    EXPECT_EQ("", given(take(both, collected, event(a, 1))));
    EXPECT_EQ("", given(take(both, collected, event(c))));
    EXPECT_EQ("", given(take(both, collected, event(a, 2))));
    EXPECT_EQ("16/1 16/2 17/3", given(take(both, collected, event(b, 3))));
    EXPECT_EQ("", given(take(both, collected, event(b, 4)))) << "and from the beginning";
    EXPECT_EQ("16/5 17/4", given(take(both, collected, event(a, 5))));
}

TEST(RtFilter, GivesEachGroupItsOwn)
{
    // (A + B) | (A + C) | C
    const Filter groups = filter(
        {{conjunction_group}, {a}, {b}, {conjunction_group}, {a}, {c}, {disjunction_group}, {c}});
    Filter::Collected collected = groups.begin();
    EXPECT_EQ("", given(take(groups, collected, event(a, 1))));
    EXPECT_EQ("16/1 17/2", given(take(groups, collected, event(b, 2))));
    EXPECT_EQ("16/1 18/3 18/3", given(take(groups, collected, event(c, 3))));
}

TEST(RtFilter, KeepsNoMoreThanItMay)
{
    const Filter both = filter({{conjunction_group}, {a}, {b}});
    Filter::Collected collected = both.begin();
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ("", given(take(both, collected, event(a, i))));
    const Filter::Outcome outcome = take(both, collected, event(b));
    ASSERT_EQ(Filter::collected_max + 1, outcome.events.size());
    EXPECT_EQ(1000 - static_cast<CORBA::Long>(Filter::collected_max),
              outcome.events.front()->header.source)
        << "the oldest are dropped";
}

TEST(RtFilter, KeepsNoMoreOctetsThanItMay)
{
    const Filter both = filter({{conjunction_group}, {a}, {b}});
    Filter::Collected collected = both.begin();
    Event large = event(a);
    large.data.payload.length(Filter::octets_max / 4);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ("", given(take(both, collected, large)));
    EXPECT_EQ("16/1 16/1 16/1 17/1", given(take(both, collected, event(b))));
    large.data.payload.length(2 * Filter::octets_max);
    EXPECT_EQ("", given(take(both, collected, large)));
    EXPECT_EQ("16/1 17/1", given(take(both, collected, event(b)))) << "one at least";
}

// --- by time -------------------------------------------------------------------------------------

TEST(RtFilter, DeadlinesBeginAnewWithWhatIsGiven)
{
    // A | deadline
    const Filter timed = filter({{a}, {deadline_timeout_type, 0, second}});
    ASSERT_EQ(1u, timed.timeouts().size());
    EXPECT_EQ(std::chrono::seconds(1), timed.timeouts()[0].after);
    Filter::Collected collected = timed.begin();
    EXPECT_TRUE(take(timed, collected, event(b)).begin_anew.empty());
    const Filter::Outcome came = take(timed, collected, event(a));
    EXPECT_EQ("16/1", given(came));
    EXPECT_EQ(std::vector<std::size_t>{0}, came.begin_anew);
    EXPECT_EQ("6/0", given(end_time(timed, collected, deadline_timeout_type)));
}

TEST(RtFilter, DeadlinesOfWhatBelongsTogether)
{
    // A + B + deadline
    const Filter timed =
        filter({{conjunction_group}, {a}, {b}, {deadline_timeout_type, 0, second}});
    Filter::Collected collected = timed.begin();
    EXPECT_EQ("", given(take(timed, collected, event(a, 1))));
    EXPECT_EQ("6/0", given(end_time(timed, collected, deadline_timeout_type)));
    EXPECT_EQ("", given(take(timed, collected, event(b, 2)))) << "the first was too early";
    const Filter::Outcome complete = take(timed, collected, event(a, 3));
    EXPECT_EQ("16/3 17/2", given(complete));
    EXPECT_EQ(std::vector<std::size_t>{0}, complete.begin_anew);
}

TEST(RtFilter, IntervalsAreMembersLikeOthers)
{
    // A + interval
    const Filter timed = filter({{conjunction_group}, {a}, {interval_timeout_type, 0, second}});
    Filter::Collected collected = timed.begin();
    EXPECT_EQ("", given(take(timed, collected, event(a, 1))));
    EXPECT_EQ("16/1 5/0", given(end_time(timed, collected, interval_timeout_type)));
    EXPECT_EQ("", given(end_time(timed, collected, interval_timeout_type)));
    EXPECT_EQ("16/2 5/0", given(take(timed, collected, event(a, 2))));
}

// --- what is none --------------------------------------------------------------------------------

TEST(RtFilter, RefusesWhatIsNoTree)
{
    EXPECT_EQ("dependency 0: a group has members", reason({{conjunction_group}}));
    EXPECT_EQ("dependency 2: members of a group are wanted", reason({{conjunction_group, 2}, {a}}));
    EXPECT_EQ("dependency 0: a group has no fewer members than none",
              reason({{conjunction_group, -1}, {a}}));
    EXPECT_EQ("dependency 1: a member is wanted", reason({{negation}}));
    EXPECT_EQ("dependency 1: masks are wanted", reason({{masked_type}}));
    EXPECT_EQ("dependency 2: what is to be left is wanted", reason({{masked_type}, {1, 1}}));
    EXPECT_EQ("dependency 2: a member is wanted", reason({{bitmask}, {1, 1}}));
    EXPECT_EQ("dependency 0: nothing in it may be collected or timed",
              reason({{negation}, {conjunction_group, 2}, {a}, {b}}));
    EXPECT_EQ("dependency 0: a conjunction has members that are no deadlines",
              reason({{conjunction_group}, {deadline_timeout_type, 0, second}}));
    EXPECT_EQ("dependency 4: a deadline in a conjunction is a member of it itself",
              reason({{conjunction_group, 2},
                      {a},
                      {disjunction_group, 2},
                      {b},
                      {deadline_timeout_type, 0, second}}));
    EXPECT_EQ("dependency 0: a time of 1 ms to a year is wanted",
              reason({{interval_timeout_type, 0, 1}}));
}

TEST(RtFilter, HasBounds)
{
    std::vector<Item> deep(Filter::depth_max, {negation});
    deep.push_back({a});
    EXPECT_NE(std::string::npos, reason(deep).find("nested too deeply"));
    EXPECT_NE(std::string::npos,
              reason(std::vector<Item>(Filter::timeouts_max + 1, {timeout_type, 0, second}))
                  .find("too many timeouts"));
    std::vector<Item> wide(Filter::members_max + 2, {a});
    wide.front() = {conjunction_group};
    EXPECT_NE(std::string::npos, reason(wide).find("too many members"));
    EXPECT_NE("none", reason(std::vector<Item>(Filter::dependencies_max + 1, {a})));
    EXPECT_EQ("none", reason(std::vector<Item>(Filter::dependencies_max, {a})));
    EXPECT_EQ("dependency 2: members of a group are wanted",
              reason({{disjunction_group, 2'000'000'000}, {a}}));
}

TEST(RtFilter, SaysWhatItWaitsFor)
{
    std::vector<Filter::Wish> wishes;
    filter(
        {{conjunction_group}, {a, 1}, {timeout_type, 0, second}, {disjunction_group}, {everything}})
        .add_wishes(wishes);
    EXPECT_EQ((std::vector<Filter::Wish>{{.type = a, .source = 1}, {}}), wishes);
}

} // namespace
} // namespace kairos::rtevents
