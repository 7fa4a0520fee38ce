// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/arrivals.h"

#include "kairos/net/acceptor.h"
#include "kairos/net/connector.h"

#include <array>
#include <gtest/gtest.h>
#include <poll.h>

namespace kairos::net {
namespace {

bool has_arrived(const Arrivals& arrivals, int timeout_ms)
{
    pollfd polled{.fd = arrivals.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, timeout_ms) == 1;
}

/// That reading was shut down is told once, and each octet that comes nevertheless.
TEST(Arrivals, ComeAlsoWhereReadingWasShutDown)
{
    constexpr int long_enough_ms = 60'000;
    Acceptor acceptor = Acceptor::open(Address::loopback_ipv4()).value();
    Socket client = connect(acceptor.address()).value();
    Socket server = acceptor.accept().socket;
    server.shutdown_read();
    Arrivals arrivals = Arrivals::at(server.descriptor()).value();
    EXPECT_TRUE(has_arrived(arrivals, long_enough_ms));
    arrivals.forget();
    EXPECT_FALSE(has_arrived(arrivals, 0));
    std::array<std::byte, 4> buffer;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(server.read(buffer).status, IoResult::Status::closed);
        const std::byte octet{1};
        ASSERT_TRUE(client.write_all(Bytes(&octet, 1)).ok());
        EXPECT_TRUE(has_arrived(arrivals, long_enough_ms));
        arrivals.forget();
        EXPECT_EQ(server.read(buffer).bytes, 1u);
        EXPECT_FALSE(has_arrived(arrivals, 0));
    }
}

} // namespace
} // namespace kairos::net
