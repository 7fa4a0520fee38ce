// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/room_spin.h"

#include <algorithm>
#include <limits>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

namespace kairos::net {
namespace {

using Clock = std::chrono::steady_clock;

/// Whether another processor does what comes from the peer. On this host that is the peer's own,
/// for who sends over loopback also does what receiving is there. Not known of unix-domain sockets.
bool peer_is_elsewhere(int descriptor) noexcept
{
    int cpu = -1;
    socklen_t size = sizeof cpu;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size) == 0 && cpu >= 0 &&
           cpu != ::sched_getcpu();
}

} // namespace

RoomSpin::RoomSpin(std::chrono::microseconds max) noexcept
{
    constexpr auto most = std::chrono::microseconds(std::numeric_limits<std::uint16_t>::max());
    max_us_ = static_cast<std::uint16_t>(std::min(max, most).count());
}

bool RoomSpin::until_room(int descriptor) noexcept
{
    if (max_us_ == 0 || !peer_is_elsewhere(descriptor) || !is_worth_it()) return false;
    pollfd queue{.fd = descriptor, .events = POLLOUT, .revents = 0};
    bool came = false;
    const auto end = Clock::now() + std::chrono::microseconds(max_us_);
    do {
        ::sched_yield(); // to the peer, too, if it has come to this processor
        came = ::poll(&queue, 1, 0) != 0;
    } while (!came && Clock::now() < end);
    note(came);
    return came;
}

bool RoomSpin::is_worth_it() noexcept
{
    if (++skipped_ < seldom_) return false;
    skipped_ = 0;
    return true;
}

void RoomSpin::note(bool was_worth_it) noexcept
{
    const unsigned seldom = was_worth_it ? 1U : std::min(2U * seldom_, seldom_most);
    seldom_ = static_cast<std::uint8_t>(seldom);
}

} // namespace kairos::net
