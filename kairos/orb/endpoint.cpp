// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/endpoint.h"

#include "kairos/base/coarse_clock.h"
#include "kairos/base/log.h"
#include "kairos/net/connector.h"
#include "kairos/net/resolver.h"
#include "kairos/orb/lane.h"
#include "kairos/orb/sides.h"
#include "kairos/orb/transport.h"

#include <functional>

namespace kairos::orb {

Result<net::Socket> Endpoint::connect(const net::SocketOptions& ordinary, Deadline deadline,
                                      First first) const
{
    const Priority priority = Lane::current().priority.value_or(0);
    const net::SocketOptions options = tcp_ ? with(*tcp_, ordinary, priority) : ordinary;
    Error failure{ErrorCode::unreachable, "no address to connect to"};
    const auto connect_locally = [&](auto suits) -> std::optional<net::Socket> {
        for (const LocalWay& way : local_) {
            if (!suits(way)) continue;
            auto socket = way.transport->connect(way.address, options, deadline);
            if (socket) return std::move(socket).value();
            // The server that made the reference is gone, or belongs to somebody else.
            log::info(socket.error().reason);
            failure = socket.error();
        }
        return std::nullopt;
    };
    const auto comes_last = [first](const LocalWay& way) {
        return first == First::sockets && way.transport->prefers_threads();
    };
    if (auto socket = connect_locally(std::not_fn(comes_last))) return std::move(*socket);
    if (port_ != 0) {
        auto socket = connect_by_tcp(options, priority, deadline);
        if (socket) return socket;
        failure = socket.error();
    }
    if (auto socket = connect_locally(comes_last)) return std::move(*socket);
    return failure;
}

Result<net::Socket> Endpoint::connect_by_tcp(const net::SocketOptions& options, Priority priority,
                                             Deadline deadline) const
{
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
