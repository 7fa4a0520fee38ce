// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/nested_wait.h"

#include "kairos/base/stack.h"

#include <array>
#include <cerrno>

namespace kairos::orb {
bool has_stack_to_serve() noexcept
{
    const StackBounds bounds = stack_bounds();
    return is_above(bounds.lowest + bounds.size / 4);
}

void poll_until(std::span<pollfd> polled, Deadline deadline) noexcept
{
    using namespace std::chrono;
    for (;;) {
        timespec limit{};
        const auto left = deadline.left();
        if (left) {
            limit.tv_sec = static_cast<std::time_t>(duration_cast<seconds>(*left).count());
            limit.tv_nsec = static_cast<long>((*left % seconds(1)).count());
        }
        if (::ppoll(polled.data(), polled.size(), left ? &limit : nullptr, nullptr) >= 0) return;
        if (errno == EINTR) continue;
        polled.front().revents = POLLIN;
        return;
    }
}

bool prepare(const Awaited& awaited, pollfd& polled) noexcept
{
    const net::Interest interest = awaited.socket.prepare_poll(awaited.interest);
    polled = {
        .fd = awaited.socket.descriptor(), .events = net::poll_events(interest), .revents = 0};
    return interest != net::Interest::none;
}

Ready wait_either(const Awaited& first, const net::Waker& second, Deadline deadline) noexcept
{
    return wait_either(first, has_stack_to_serve() ? second.descriptor() : -1, deadline);
}

Ready wait_either(const Awaited& first, int second, Deadline deadline) noexcept
{
    std::array<pollfd, 2> polled{};
    if (!prepare(first, polled[0])) return {.first = true};
    polled[1] = {.fd = second, .events = POLLIN, .revents = 0};
    poll_until(polled, deadline);
    return {polled[0].revents != 0, polled[1].revents != 0};
}

} // namespace kairos::orb
