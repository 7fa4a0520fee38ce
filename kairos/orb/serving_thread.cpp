// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/serving_thread.h"

#include "kairos/orb/nested_wait.h"

#include <array>

namespace kairos::orb {

ReadableOf wait_either(const net::Socket& first, const net::Socket* second,
                       Deadline deadline) noexcept
{
    const ReadableOf already{first.prepare_poll(), second != nullptr && second->prepare_poll()};
    if (already.first || already.second) return already;
    std::array<pollfd, 2> polled{
        pollfd{.fd = first.descriptor(), .events = POLLIN, .revents = 0},
        pollfd{.fd = second == nullptr ? -1 : second->descriptor(), .events = POLLIN, .revents = 0},
    };
    poll_until(polled, deadline);
    return {polled[0].revents != 0, polled[1].revents != 0};
}

} // namespace kairos::orb
