// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/serving_thread.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>

namespace kairos::orb {

ReadableOf wait_either(const net::Socket& first, const net::Socket* second,
                       Deadline deadline) noexcept
{
    using namespace std::chrono;
    const ReadableOf already{first.prepare_poll(), second != nullptr && second->prepare_poll()};
    if (already.first || already.second) return already;
    std::array<pollfd, 2> polled{
        pollfd{.fd = first.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = second == nullptr ? -1 : second->descriptor(), .events = POLLIN, .revents = 0},
    };
    for (;;) {
        timespec limit{};
        const auto left = deadline.left();
        if (left) {
            limit.tv_sec = static_cast<std::time_t>(duration_cast<seconds>(*left).count());
            limit.tv_nsec = static_cast<long>((*left % seconds(1)).count());
        }
        if (::ppoll(polled.data(), polled.size(), left ? &limit : nullptr, nullptr) >= 0)
            return {polled[0].revents != 0, polled[1].revents != 0};
        // Whatever else went wrong, the read that follows will say.
        if (errno != EINTR) return {.first = true};
    }
}

} // namespace kairos::orb
