// SPDX-License-Identifier: Apache-2.0
#include "kairos/lifecycle/criteria.h"

#include "kairos/corba/CORBA.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos::lifecycle;
using CosLifeCycle::Criteria;

Criteria texts(std::initializer_list<std::pair<const char*, const char*>> values)
{
    Criteria list;
    for (const auto& [name, value] : values)
        add(list, name, value);
    return list;
}

/// The names of what wishes_in finds invalid.
std::string invalid(const Criteria& criteria)
{
    try {
        (void)wishes_in(criteria);
    } catch (const CosLifeCycle::InvalidCriteria& exception) {
        std::string names;
        for (const CosLifeCycle::NameValuePair& criterion : exception.invalid_criteria)
            names += std::string(criterion.name.in()) + ";";
        return names;
    }
    return "";
}

TEST(Wishes, AreTheFourCriteriaOfTheService)
{
    Criteria criteria = texts({{"filter", "cost < 3"}, {"preferences", "min cost"}});
    add(criteria, "initialization", texts({{"text", "hello"}}));
    add(criteria, "logical location", texts({{"room", "5"}}));
    const Wishes wishes = wishes_in(criteria);
    EXPECT_EQ(wishes.filter, "cost < 3");
    EXPECT_EQ(wishes.preferences, "min cost");
    EXPECT_EQ(text_of(wishes.initialization, "text"), "hello");
    EXPECT_EQ(text_of(wishes.location, "room"), "5");
    EXPECT_EQ(wishes_in({}).initialization.length(), 0u);
}

TEST(Wishes, OfOtherNamesOrTypesOrTwiceAreInvalid)
{
    EXPECT_EQ(invalid(texts({{"filter", "x"}, {"colour", "red"}, {"preferences", "y"}})),
              "colour;");
    EXPECT_EQ(invalid(texts({{"initialization", "text"}})), "initialization;");
    EXPECT_EQ(invalid(texts({{"filter", "x"}, {"filter", "y"}})), "filter;");
    Criteria number;
    add(number, "filter", CORBA::Long{5});
    EXPECT_EQ(invalid(number), "filter;");
}

TEST(Initialization, OfTheCallerGoesBeforeTheObjectsOwn)
{
    Criteria criteria = texts({{"preferences", "any"}});
    add(criteria, "initialization", texts({{"text", "mine"}}));
    const Criteria joined =
        with_initialization(criteria, texts({{"text", "yours"}, {"size", "small"}}));
    const Wishes wishes = wishes_in(joined);
    EXPECT_EQ(text_of(wishes.initialization, "text"), "mine");
    EXPECT_EQ(text_of(wishes.initialization, "size"), "small");
    EXPECT_EQ(wishes.preferences, "any");
}

TEST(Values, AreFoundByName)
{
    Criteria values = texts({{"a", "1"}});
    add(values, "b", CORBA::Long{2});
    EXPECT_EQ(find(values, "c"), nullptr);
    ASSERT_NE(find(values, "b"), nullptr);
    EXPECT_EQ(text_of(values, "a"), "1");
    EXPECT_EQ(text_of(values, "b", "no text"), "no text");
    EXPECT_EQ(text_of(values, "c", "none"), "none");
}

} // namespace
