// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/endpoint.h"

#include "kairos/base/coarse_clock.h"
#include "kairos/base/log.h"
#include "kairos/orb/sides.h"
#include "kairos/orb/thread_storage.h"
#include "kairos/orb/transport.h"

#include <algorithm>

namespace kairos::orb {

Result<net::Socket> Endpoint::connect(const net::SocketOptions& ordinary, Deadline deadline,
                                      First first) const
{
    const Priority priority = ThreadStorage::current().priority.value_or(0);
    const net::SocketOptions options = tcp_ ? with(*tcp_, ordinary, priority) : ordinary;
    Error failure{ErrorCode::unreachable, "no address to connect to"};
    for (const bool last : {false, true})
        for (const Way& way : ways_) {
            const bool comes_last = first == First::sockets && way.transport->prefers_threads();
            if (comes_last != last) continue;
            auto socket = way.transport->connect(way.address, options, deadline);
            const bool is_local = way.transport->local() != nullptr;
            if (socket && tcp_ && !is_local) apply(*tcp_, *socket, priority);
            if (socket) return socket;
            // The server that made the reference is gone, or belongs to somebody else.
            if (is_local) log::info(socket.error().reason);
            // Who is there says more than that nobody is elsewhere.
            if (failure.system_errno != not_trusted) failure = socket.error();
        }
    return failure;
}

const Way* Endpoint::beyond() const noexcept
{
    const auto last = std::ranges::find_if(ways_.rbegin(), ways_.rend(), [](const Way& way) {
        return way.transport->local() == nullptr;
    });
    return last == ways_.rend() ? nullptr : &*last;
}

std::uint16_t Endpoint::port() const noexcept
{
    return beyond() != nullptr ? beyond()->address.port : std::uint16_t{0};
}

bool Endpoint::same_address(const Endpoint& other) const noexcept
{
    if (beyond() == nullptr || other.beyond() == nullptr) return ways_ == other.ways_;
    return *beyond() == *other.beyond();
}

std::string Endpoint::text() const
{
    if (ways_.empty()) return "nowhere";
    return to_string(beyond() != nullptr ? *beyond() : ways_.front());
}

log::Line& operator<<(log::Line& line, const Endpoint& endpoint) noexcept
{
    if (endpoint.ways_.empty()) return line << "nowhere";
    const Way* const beyond = endpoint.beyond();
    if (beyond == nullptr) return line << "unix:" << endpoint.ways_.front().address.host;
    const auto& [host, port] = beyond->address;
    const bool ipv6 = host.find(':') != std::string::npos;
    return line << (ipv6 ? "[" : "") << host << (ipv6 ? "]:" : ":") << port;
}

void Endpoint::end_use() noexcept
{
    unused_since_.store(coarse_now().count(), std::memory_order_relaxed);
    if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (connections_.load(std::memory_order_relaxed) != 0) client_.note_unused();
}

} // namespace kairos::orb
