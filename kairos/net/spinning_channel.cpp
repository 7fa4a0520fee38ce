// SPDX-License-Identifier: Apache-2.0
#include "kairos/net/spinning_channel.h"

namespace kairos::net {

namespace {

/// A look at a socket is a system call: one for each at the clock.
constexpr int looks_at_a_socket = 1;

bool is_set(ReadFlags flags, ReadFlags flag) noexcept
{
    return (static_cast<int>(flags) & static_cast<int>(flag)) != 0;
}

} // namespace

IoResult SpinningChannel::read(MutableBytes buffer, ReadFlags flags) noexcept
{
    if (is_set(flags, ReadFlags::do_not_wait | ReadFlags::wait_all))
        return plain_.read(buffer, flags);
    IoResult result;
    const auto ready = [&] {
        result = plain_.read(buffer, flags | ReadFlags::do_not_wait);
        return result.status != IoResult::Status::would_block;
    };
    const bool came = spin_.until(ready, looks_at_a_socket);
    if (came) return result;
    return polled_ ? polled_->read(buffer, flags) : plain_.read(buffer, flags);
}

IoResult SpinningChannel::wait_readable(Deadline deadline) noexcept
{
    std::byte octet{};
    const auto ready = [&] {
        return plain_.read(MutableBytes(&octet, 1), ReadFlags::peek | ReadFlags::do_not_wait)
                   .status != IoResult::Status::would_block;
    };
    if (!deadline.has_passed() && spin_.until(ready, looks_at_a_socket)) return {};
    return plain_.wait_readable(deadline.left());
}

} // namespace kairos::net
