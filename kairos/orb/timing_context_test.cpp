// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/priority_context.h"
#include "kairos/orb/timing_context.h"

#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::nanoseconds;

giop::ServiceContexts contexts_in(Bytes list)
{
    cdr::Reader reader(list, native_little_endian);
    const auto contexts = giop::ServiceContexts::read(reader);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.left(), 0u);
    return contexts;
}

std::optional<Time> time_left_of(Bytes list) { return time_left_in(contexts_in(list)); }

TEST(TimingContext, IsFoundAlone)
{
    ContextList buffer;
    for (const Time left : {Time(0), Time(100), Time(50ms), Time(24h)})
        EXPECT_EQ(time_left_of(with_time_left({}, left, buffer)), left);
    EXPECT_EQ(time_left_of(with_time_left({}, 199ns, buffer)), 100ns);
    EXPECT_EQ(time_left_of(with_time_left({}, -1s, buffer)), 0ns);
}

TEST(TimingContext, IsFoundBesideOthers)
{
    std::vector<std::byte> others;
    append_priority_range(others, {10, 20});
    EXPECT_EQ(time_left_of(others), std::nullopt);
    ContextList buffer;
    const Bytes timed = with_time_left(others, 50ms, buffer);
    EXPECT_EQ(time_left_of(timed), 50ms);
    const Bytes both = with_priority(timed, 15, buffer);
    EXPECT_EQ(time_left_of(both), 50ms);
    EXPECT_EQ(priority_in(contexts_in(both)), 15);
}

TEST(TimingContext, HasRoomBehindAnyNumberOfOthers)
{
    std::vector<std::byte> others;
    for (Priority low = 0; low < 1000; low += 10)
        append_priority_range(others, {low, low});
    ContextList buffer;
    const Bytes list = with_time_left(others, 50ms, buffer);
    EXPECT_EQ(count_of_contexts(list), 101u);
    EXPECT_EQ(time_left_of(list), 50ms);
}

TEST(TimingContext, ThatIsMalformedIsNone)
{
    ContextList buffer;
    const Bytes list = with_time_left({}, 50ms, buffer);
    ASSERT_EQ(list.size(), 28u);
    const auto changed = [&](std::size_t at, int octet) {
        ContextList other = buffer;
        other[at] = static_cast<std::byte>(octet);
        return time_left_of({other.data(), list.size()});
    };
    EXPECT_EQ(changed(4, 99), std::nullopt); // another id
    EXPECT_EQ(changed(12, 9), std::nullopt); // no byte order
    EXPECT_EQ(changed(13, 0xFF), 50ms);      // padding
    EXPECT_EQ(changed(27, 0xFF), 366 * 24h); // more than can be meant
    // Too short for a time.
    const auto contexts = std::to_array<std::uint32_t>({1, timing_context_id, 4, 1});
    EXPECT_EQ(time_left_of(std::as_bytes(std::span(contexts))), std::nullopt);
}

TEST(TimingContext, SaysWhenACallWasReleased)
{
    const OperationTiming timing{.operation = {}, .deadline = Time(50ms).count()};
    const auto now = std::chrono::steady_clock::now();
    ContextList buffer;
    const auto released = [&](Time left) {
        return now - release_of(now, timing, contexts_in(with_time_left({}, left, buffer)));
    };
    EXPECT_EQ(released(50ms), 0ms);
    EXPECT_EQ(released(20ms), 30ms);
    EXPECT_EQ(released(0ms), 50ms);
    EXPECT_EQ(released(1h), 0ms);
    EXPECT_EQ(release_of(now, timing, {}), now);
}

} // namespace
} // namespace kairos::orb
