// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/resolver.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <future>

namespace kairos::net {
namespace {

/// What the resolver of a test waits for.
std::promise<void>* silence = nullptr;
std::promise<void>* ended = nullptr;

Result<std::vector<Address>> answer(std::string_view, std::uint16_t port)
{
    return std::vector<Address>{Address::loopback_ipv4(port)};
}

Result<std::vector<Address>> answer_late(std::string_view host, std::uint16_t port)
{
    silence->get_future().wait();
    ended->set_value();
    return answer(host, port);
}

Result<std::vector<Address>> fail(std::string_view, std::uint16_t)
{
    return Error{ErrorCode::unreachable, "nobody knows"};
}

TEST(Resolver, AnswersByTheDeadline)
{
    const auto addresses = resolve("name", 7, Deadline::after(std::chrono::hours(1)), &answer);
    ASSERT_TRUE(addresses.ok());
    ASSERT_EQ(addresses->size(), 1u);
    EXPECT_EQ(addresses->front().port(), 7);
}

TEST(Resolver, ReportsWhatTheSystemSays)
{
    const auto addresses = resolve("name", 7, Deadline::after(std::chrono::hours(1)), &fail);
    ASSERT_FALSE(addresses.ok());
    EXPECT_EQ(addresses.error().reason, "nobody knows");
}

TEST(Resolver, GivesUpAtTheDeadlineAndLeavesTheAnswerToNobody)
{
    std::promise<void> asked_long_enough;
    std::promise<void> over;
    silence = &asked_long_enough;
    ended = &over;
    const auto addresses =
        resolve("name", 7, Deadline::after(std::chrono::milliseconds(1)), &answer_late);
    ASSERT_FALSE(addresses.ok());
    EXPECT_EQ(addresses.error().system_errno, ETIMEDOUT);
    asked_long_enough.set_value();
    over.get_future().wait();
}

TEST(Resolver, AsksNobodyAboutNumbers)
{
    const auto addresses =
        resolve("127.0.0.1", 7, Deadline::after(std::chrono::nanoseconds(0)), &fail);
    ASSERT_TRUE(addresses.ok());
    EXPECT_EQ(addresses->front().port(), 7);
}

TEST(Resolver, AsksInTheCallingThreadWithoutADeadline)
{
    EXPECT_TRUE(resolve("name", 7, Deadline(), &answer).ok());
}

} // namespace
} // namespace kairos::net
