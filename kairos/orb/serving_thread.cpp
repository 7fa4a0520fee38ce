// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/serving_thread.h"

#include "kairos/orb/nested_wait.h"
#include "kairos/orb/thread_storage.h"

#include <array>

namespace kairos::orb {

net::IoResult wait_writable(net::Socket& socket, Deadline deadline) noexcept
{
    ServingThread* const waiter = ThreadStorage::current().serving_thread;
    if (waiter == nullptr) {
        socket.await_room();
        return socket.wait_writable(deadline.left());
    }
    if (deadline.has_passed()) return {.status = net::IoResult::Status::would_block};
    waiter->wait({.socket = socket, .interest = net::Interest::writable}, deadline);
    return {};
}

Ready wait_either(const Awaited& first, const Awaited* second, Deadline deadline) noexcept
{
    if (second != nullptr && second->interest == net::Interest::none) second = nullptr;
    std::array<pollfd, 2> polled{};
    const Ready already{!prepare(first, polled[0]),
                        second != nullptr && !prepare(*second, polled[1])};
    if (already.first || already.second) return already;
    if (second == nullptr) polled[1].fd = -1;
    poll_until(polled, deadline);
    return {polled[0].revents != 0, polled[1].revents != 0};
}

} // namespace kairos::orb
