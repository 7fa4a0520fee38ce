// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/nested_wait.h"

#include "kairos/net/thread.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>

namespace kairos::orb {
namespace {

TEST(NestedWait, EndsWithTheReplyOrTheWaker)
{
    auto [here, there] = net::socket_pair().value();
    net::Waker waker = net::Waker::create().value();
    waker.wake();
    Ready readable = wait_either({here}, waker, {});
    EXPECT_FALSE(readable.first);
    EXPECT_TRUE(readable.second);
    waker.clear();
    const std::byte octet{1};
    ASSERT_TRUE(there.write(Bytes(&octet, 1)).ok());
    readable = wait_either({here}, waker, {});
    EXPECT_TRUE(readable.first);
    EXPECT_FALSE(readable.second);
    waker.wake();
    readable = wait_either({here}, waker, {});
    EXPECT_TRUE(readable.first);
    EXPECT_TRUE(readable.second);
}

TEST(NestedWait, EndsWithTheTime)
{
    auto [here, there] = net::socket_pair().value();
    const net::Waker waker = net::Waker::create().value();
    const Ready readable =
        wait_either({here}, waker, Deadline::after(std::chrono::milliseconds(1)));
    EXPECT_FALSE(readable.first || readable.second);
}

/// As a request within a request does; returns how many there were room for. AddressSanitizer would
/// have what it takes elsewhere than on the stack.
[[gnu::noinline, gnu::no_sanitize_address]] std::size_t nest() // NOLINT(misc-no-recursion)
{
    std::array<volatile char, 1024> taken{};
    if (!has_stack_to_serve()) return 0;
    return nest() + 1 + static_cast<std::size_t>(taken[0]);
}

TEST(NestedWait, EndsBeforeTheStack)
{
    constexpr std::size_t stack_bytes = std::size_t{512} << 10;
    std::size_t levels = 0;
    {
        const auto thread = net::Thread::start({.name = "nest", .stack_bytes = stack_bytes},
                                               [&] { levels = nest(); });
        ASSERT_TRUE(thread.ok());
    }
    EXPECT_GE(levels, 10u);
    EXPECT_LE(levels * 1024, stack_bytes / 4 * 3);
}

} // namespace
} // namespace kairos::orb
