// SPDX-License-Identifier: Apache-2.0
//
// What implementations of ServingThread share: waiting for the peer of a servant's call and for
// something else that is to be served meanwhile.
#pragma once

#include "kairos/net/bell.h"
#include "kairos/orb/serving_thread.h"

#include <poll.h>
#include <span>

namespace kairos::orb {

/// Whether the calling thread may serve a request within those that it serves already: each takes
/// part of its stack, and a peer decides how many there are. False when three quarters are full.
[[nodiscard]] bool has_stack_to_serve() noexcept;

/// As that of two sockets: until the first is as awaited, or something can be read from the
/// descriptor.
[[nodiscard]] Ready wait_either(const Awaited& first, int second, Deadline deadline) noexcept;
/// The same, until the second is rung and there is stack to serve what it stands for.
[[nodiscard]] Ready wait_either(const Awaited& first, const net::Bell& second,
                                Deadline deadline) noexcept;

/// What is to be polled for this. False: nothing, it is ready.
[[nodiscard]] bool prepare(const Awaited& awaited, pollfd& polled) noexcept;

/// Blocks until something happens at one of these, or the time is over; `revents` say what. What
/// else goes wrong is taken for something at the first: the read that follows will say.
void poll_until(std::span<pollfd> polled, Deadline deadline) noexcept;

} // namespace kairos::orb
