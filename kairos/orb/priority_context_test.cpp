// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include <gtest/gtest.h>

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
    ContextsBuffer buffer;
    for (const int priority : {0, 1, 77, 32767})
        EXPECT_EQ(priority_of(with_priority({}, static_cast<Priority>(priority), buffer)),
                  priority);
}

TEST(PriorityContext, IsFoundBehindOthers)
{
    std::vector<std::byte> others;
    append_priority_range(others, {10, 20});
    EXPECT_EQ(priority_of(others), std::nullopt);
    ContextsBuffer buffer;
    EXPECT_EQ(priority_of(with_priority(others, 15, buffer)), 15);
}

TEST(PriorityContext, IsLeftOutWhereThereIsNoRoom)
{
    std::vector<std::byte> others;
    for (Priority low = 0; others.size() + 12 <= ContextsBuffer().size(); low += 10)
        append_priority_range(others, {low, low});
    ContextsBuffer buffer;
    const Bytes list = with_priority(others, 15, buffer);
    EXPECT_EQ(list.data(), others.data());
    EXPECT_EQ(priority_of(list), std::nullopt);
}

TEST(PriorityContext, ThatIsMalformedIsNone)
{
    ContextsBuffer buffer;
    const Bytes list = with_priority({}, 77, buffer);
    ASSERT_EQ(list.size(), 16u);
    const auto changed = [&](std::size_t at, int octet) {
        ContextsBuffer other = buffer;
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
