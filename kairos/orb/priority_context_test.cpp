// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"

#include <gtest/gtest.h>

#include <vector>

namespace kairos::orb {
namespace {

std::optional<Priority> priority_of(const ContextList& list)
{
    return priority_in(list.contexts());
}

TEST(PriorityContext, IsFoundAlone)
{
    for (const int priority : {0, 1, 77, 32767}) {
        ContextList list;
        append_priority(list, static_cast<Priority>(priority));
        EXPECT_EQ(priority_of(list), priority);
    }
}

TEST(PriorityContext, IsFoundBehindOthers)
{
    ContextList list;
    append_priority_range(list, {10, 20});
    EXPECT_EQ(priority_of(list), std::nullopt);
    append_priority(list, 15);
    EXPECT_EQ(priority_of(list), 15);
}

TEST(PriorityContext, ThatIsMalformedIsNone)
{
    ContextList list;
    append_priority(list, 77);
    ASSERT_EQ(list.bytes().size(), 16u);
    const auto changed = [&](std::size_t at, int octet) {
        std::vector<std::byte> other(list.bytes().begin(), list.bytes().end());
        other[at] = static_cast<std::byte>(octet);
        cdr::Reader reader(other, native_little_endian);
        return priority_in(giop::ServiceContexts::read(reader));
    };
    EXPECT_EQ(changed(4, 99), std::nullopt);    // another id
    EXPECT_EQ(changed(12, 9), std::nullopt);    // no byte order
    EXPECT_EQ(changed(15, 0xFF), std::nullopt); // negative
    EXPECT_EQ(changed(13, 0xFF), 77);           // padding
}

} // namespace
} // namespace kairos::orb
