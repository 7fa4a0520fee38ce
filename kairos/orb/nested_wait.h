// SPDX-License-Identifier: Apache-2.0
//
// What implementations of ServingThread share: waiting for the reply to a servant's call and for
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

/// As that of two sockets: until the first is readable, or the second is rung and there is stack to
/// serve what it stands for.
[[nodiscard]] ReadableOf wait_either(const net::Socket& first, const net::Bell& second,
                                     Deadline deadline) noexcept;

/// Blocks until something happens at one of these, or the time is over; `revents` say what. What
/// else goes wrong is taken for something at the first: the read that follows will say.
void poll_until(std::span<pollfd> polled, Deadline deadline) noexcept;

} // namespace kairos::orb
