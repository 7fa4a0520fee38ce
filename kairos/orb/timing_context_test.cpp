// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"
#include "kairos/orb/timing_context.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

std::optional<Time> time_left_of(const ContextList& list) { return time_left_in(list.contexts()); }

ContextList list_with(Time left)
{
    ContextList list;
    append_time_left(list, left);
    return list;
}

TEST(TimingContext, IsFoundAlone)
{
    for (const Time left : {Time(0), Time(100), Time(50ms), Time(24h)})
        EXPECT_EQ(time_left_of(list_with(left)), left);
    EXPECT_EQ(time_left_of(list_with(199ns)), 100ns);
    EXPECT_EQ(time_left_of(list_with(-1s)), 0ns);
}

TEST(TimingContext, IsFoundBesideOthers)
{
    ContextList list;
    append_priority_range(list, {10, 20});
    EXPECT_EQ(time_left_of(list), std::nullopt);
    append_time_left(list, 50ms);
    EXPECT_EQ(time_left_of(list), 50ms);
    append_priority(list, 15);
    EXPECT_EQ(time_left_of(list), 50ms);
    EXPECT_EQ(priority_in(list.contexts()), 15);
}

TEST(TimingContext, ThatIsMalformedIsNone)
{
    const ContextList list = list_with(50ms);
    ASSERT_EQ(list.bytes().size(), 28u);
    const auto in = [](Bytes octets) {
        cdr::Reader reader(octets, native_little_endian);
        return time_left_in(giop::ServiceContexts::read(reader));
    };
    const auto changed = [&](std::size_t at, int octet) {
        std::vector<std::byte> other(list.bytes().begin(), list.bytes().end());
        other[at] = static_cast<std::byte>(octet);
        return in(other);
    };
    EXPECT_EQ(changed(4, 99), std::nullopt); // another id
    EXPECT_EQ(changed(12, 9), std::nullopt); // no byte order
    EXPECT_EQ(changed(13, 0xFF), 50ms);      // padding
    EXPECT_EQ(changed(27, 0xFF), 366 * 24h); // more than can be meant
    // Too short for a time.
    const auto contexts = std::to_array<std::uint32_t>({1, timing_context_id, 4, 1});
    EXPECT_EQ(in(std::as_bytes(std::span(contexts))), std::nullopt);
}

TEST(TimingContext, SaysWhenACallWasReleased)
{
    const OperationTiming timing{.operation = {}, .deadline = Time(50ms).count()};
    const auto now = std::chrono::steady_clock::now();
    const auto released = [&](Time left) {
        return now - release_of(now, timing, list_with(left).contexts());
    };
    EXPECT_EQ(released(50ms), 0ms);
    EXPECT_EQ(released(20ms), 30ms);
    EXPECT_EQ(released(0ms), 50ms);
    EXPECT_EQ(released(1h), 0ms);
    EXPECT_EQ(release_of(now, timing, {}), now);
}

} // namespace
} // namespace kairos::orb
