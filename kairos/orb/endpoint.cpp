// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/endpoint.h"

#include "kairos/base/coarse_clock.h"
#include "kairos/base/log.h"
#include "kairos/net/connector.h"
#include "kairos/net/resolver.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/sides.h"
#include "kairos/orb/transport.h"

namespace kairos::orb {

Result<net::Socket> Endpoint::connect(const net::SocketOptions& ordinary, Deadline deadline,
                                      By by) const
{
    const Priority priority = Lane::current().priority.value_or(0);
    const net::SocketOptions options = tcp_ ? with(*tcp_, ordinary, priority) : ordinary;
    Error failure{ErrorCode::unreachable, "no address to connect to by sockets"};
    for (const LocalWay& way : local_) {
        if (by == By::sockets && way.transport->needs_threads()) continue;
        auto socket = way.transport->connect(way.address, options, deadline);
        if (socket) return socket;
        // The server that made the reference is gone, or belongs to somebody else.
        log::info(socket.error().reason);
        failure = socket.error();
    }
    if (port_ == 0) return failure;
    const auto addresses = net::resolve(host_, port_, deadline);
    if (!addresses) return addresses.error();
    auto socket = net::connect_any(*addresses, options, deadline.left());
    if (socket && tcp_) apply(*tcp_, *socket, priority);
    return socket;
}

log::Line& operator<<(log::Line& line, const Endpoint& endpoint) noexcept
{
    if (endpoint.port_ == 0) {
        if (endpoint.local_.empty()) return line << "nowhere";
        return line << endpoint.local_.front().address;
    }
    const bool ipv6 = endpoint.host_.find(':') != std::string::npos;
    return line << (ipv6 ? "[" : "") << endpoint.host_ << (ipv6 ? "]:" : ":") << endpoint.port_;
}

void Endpoint::end_use() noexcept
{
    unused_since_.store(coarse_now().count(), std::memory_order_relaxed);
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (connections_.load(std::memory_order_relaxed) != 0) client_.note_unused();
}

} // namespace kairos::orb
