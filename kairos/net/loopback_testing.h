// SPDX-License-Identifier: Apache-2.0
//
// What the tests of this module share: connections over the loopback interface of either family.
#pragma once

#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kairos::net::testing {

/// The value, or the end of the test program with the reason.
template <typename T>
[[nodiscard]] T must(Result<T> result)
{
    if (!result.ok()) std::fprintf(stderr, "unexpected error: %s\n", result.error().reason.c_str());
    return std::move(result).value();
}

[[nodiscard]] inline bool has_ipv6()
{
    static const bool found = listen(Address::loopback_ipv6()).ok();
    return found;
}

/// A connected pair over `loopback`: {connecting, accepted}, both blocking.
[[nodiscard]] inline std::pair<Socket, Socket> connected_pair(const Address& loopback,
                                                              const SocketOptions& options = {})
{
    auto acceptor = must(Acceptor::open(loopback, {.socket = options}));
    Socket client = must(connect(acceptor.address(), options));
    auto accepted = acceptor.accept();
    EXPECT_EQ(accepted.status, Acceptor::Status::accepted);
    return {std::move(client), std::move(accepted.socket)};
}

/// Runs `body` in a child process, where it may spend the process's resources, and returns its
/// exit status; -1 when it died otherwise. The caller must have no other thread.
template <typename Body>
[[nodiscard]] int run_in_child(Body body)
{
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Tests that run over IPv4 and IPv6.
class LoopbackTest : public ::testing::TestWithParam<Address::Family> {
  protected:
    void SetUp() override
    {
        if (GetParam() == Address::Family::ipv6 && !has_ipv6())
            GTEST_SKIP() << "this machine has no IPv6 loopback";
    }
    [[nodiscard]] Address loopback() const
    {
        return GetParam() == Address::Family::ipv6 ? Address::loopback_ipv6()
                                                   : Address::loopback_ipv4();
    }
};

[[nodiscard]] inline std::string
family_name(const ::testing::TestParamInfo<Address::Family>& parameter)
{
    return parameter.param == Address::Family::ipv6 ? "ipv6" : "ipv4";
}

} // namespace kairos::net::testing

#define KAIROS_OVER_LOOPBACK(suite)                                                                \
    INSTANTIATE_TEST_SUITE_P(Loopback, suite,                                                      \
                             ::testing::Values(Address::Family::ipv4, Address::Family::ipv6),      \
                             family_name)
