// SPDX-License-Identifier: Apache-2.0
#include "kairos/orb/nested_wait.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <pthread.h>

namespace kairos::orb {
namespace {

/// Of the calling thread: the address below which there is too little of its stack. 0: not known.
std::uintptr_t find_stack_limit() noexcept
{
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
    void* lowest = nullptr;
    std::size_t size = 0;
    const int error = ::pthread_attr_getstack(&attributes, &lowest, &size);
    ::pthread_attr_destroy(&attributes);
    return error == 0 ? reinterpret_cast<std::uintptr_t>(lowest) + size / 4 : 0;
}

} // namespace

bool has_stack_to_serve() noexcept
{
    thread_local const std::uintptr_t limit = find_stack_limit();
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > limit;
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
    const short events = interest == net::Interest::writable ? POLLOUT : POLLIN;
    polled = {.fd = awaited.socket.descriptor(), .events = events, .revents = 0};
    return interest != net::Interest::none;
}

Ready wait_either(const Awaited& first, const net::Bell& second, Deadline deadline) noexcept
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
