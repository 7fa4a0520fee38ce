// SPDX-License-Identifier: Apache-2.0
//
// Which listings stay and which go, with a clock of the test's own.
#include "kairos/nameserver/iterators.h"

#include <gtest/gtest.h>

namespace {

using namespace kairos::nameserver;
using Clock = Iterators::Clock;

const Clock::time_point start{};

std::shared_ptr<Listing> listing() { return std::make_shared<Listing>(root_context); }

} // namespace

TEST(Iterators, AreFoundUntilTheyEnd)
{
    Iterators iterators(10, std::chrono::seconds(60));
    const auto first = listing();
    const std::uint64_t number = iterators.begin(first, start);
    EXPECT_EQ(iterators.find(number, start), first);
    EXPECT_EQ(iterators.find(number + 1, start), nullptr);
    EXPECT_TRUE(iterators.end(number));
    EXPECT_FALSE(iterators.end(number));
    EXPECT_EQ(iterators.find(number, start), nullptr);
    EXPECT_NE(iterators.begin(listing(), start), number); // numbers are not used again
}

TEST(Iterators, TheOneNotUsedForTheLongestTimeMakesRoom)
{
    Iterators iterators(3, std::chrono::seconds(60));
    const auto a = iterators.begin(listing(), start);
    const auto b = iterators.begin(listing(), start);
    const auto c = iterators.begin(listing(), start);
    EXPECT_NE(iterators.find(a, start), nullptr);
    const auto d = iterators.begin(listing(), start);
    EXPECT_EQ(iterators.size(), 3u);
    EXPECT_EQ(iterators.find(b, start), nullptr);
    for (const auto number : {a, c, d})
        EXPECT_NE(iterators.find(number, start), nullptr);
}

TEST(Iterators, ThoseThatAreIdleForTooLongGoWhenAnotherBegins)
{
    Iterators iterators(10, std::chrono::seconds(60));
    const auto old = iterators.begin(listing(), start);
    const auto used = iterators.begin(listing(), start);
    EXPECT_NE(iterators.find(used, start + std::chrono::seconds(50)), nullptr);
    (void)iterators.begin(listing(), start + std::chrono::seconds(61));
    EXPECT_EQ(iterators.find(old, start), nullptr);
    EXPECT_NE(iterators.find(used, start + std::chrono::seconds(61)), nullptr);
}
