// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace kairos::orb {
namespace {

/// A list as a message has it.
std::optional<Priority> priority_of(Bytes list)
{
    cdr::Reader reader(list, native_little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.left(), 0u);
    return priority_in(contexts);
}

TEST(PriorityContext, IsFoundAlone)
{
    ContextList buffer;
    for (const int priority : {0, 1, 77, 32767})
        EXPECT_EQ(priority_of(with_priority({}, static_cast<Priority>(priority), buffer)),
                  priority);
}

TEST(PriorityContext, IsFoundBehindOthers)
{
    std::vector<std::byte> others;
    append_priority_range(others, {10, 20});
    EXPECT_EQ(priority_of(others), std::nullopt);
    ContextList buffer;
    EXPECT_EQ(priority_of(with_priority(others, 15, buffer)), 15);
}

TEST(PriorityContext, HasRoomBehindAnyNumberOfOthers)
{
    std::vector<std::byte> others;
    for (Priority low = 0; low < 1000; low += 10)
        append_priority_range(others, {low, low});
    ContextList buffer;
    const Bytes list = with_priority(others, 15, buffer);
    EXPECT_EQ(count_of_contexts(list), 101u);
    EXPECT_EQ(priority_of(list), 15);
}

TEST(PriorityContext, AloneIsTheSame)
{
    ContextList buffer;
    const Bytes list = with_priority({}, 15, buffer);
    const auto alone = priority_contexts(15);
    EXPECT_TRUE(std::ranges::equal(list, alone));
}

TEST(PriorityContext, ThatIsMalformedIsNone)
{
    ContextList buffer;
    const Bytes list = with_priority({}, 77, buffer);
    ASSERT_EQ(list.size(), 16u);
    const auto changed = [&](std::size_t at, int octet) {
        ContextList other = buffer;
        other[at] = static_cast<std::byte>(octet);
        return priority_of({other.data(), list.size()});
    };
    EXPECT_EQ(changed(4, 99), std::nullopt);    // another id
    EXPECT_EQ(changed(12, 9), std::nullopt);    // no byte order
    EXPECT_EQ(changed(15, 0xFF), std::nullopt); // negative
    EXPECT_EQ(changed(13, 0xFF), 77);           // padding
}

} // namespace
} // namespace kairos::orb
