// SPDX-License-Identifier: Apache-2.0
//
// What implementations of ServingThread share: waiting for the peer of a servant's call and for
// something else that is to be served meanwhile.
#pragma once

#include "kairos/net/waker.h"
#include "kairos/orb/serving_thread.h"

#include <poll.h>
#include <span>

namespace kairos::orb {

/// Returns whether the calling thread may serve a request within those that it serves already: each
/// takes part of its stack, and a peer decides how many there are. False when three quarters of the
/// stack are full.
[[nodiscard]] bool has_stack_to_serve() noexcept;

/// Blocks until `first` is as awaited, something can be read from the descriptor `second` (-1:
/// none), or the deadline has passed. Returns which of the two it was.
[[nodiscard]] Ready wait_either(const Awaited& first, int second, Deadline deadline) noexcept;
/// Blocks until `first` is as awaited, the waker `second` is woken, or the deadline has passed;
/// returns which of the two it was. Does not look at the waker where there is too little stack left
/// to serve what it announces (has_stack_to_serve).
[[nodiscard]] Ready wait_either(const Awaited& first, const net::Waker& second,
                                Deadline deadline) noexcept;

/// Fills `polled` with what is to be polled for `awaited`. Returns false if that is ready already,
/// so that nothing need be polled.
[[nodiscard]] bool prepare(const Awaited& awaited, pollfd& polled) noexcept;

/// Blocks until something happens at one of these descriptors, or the deadline has passed; their
/// `revents` say what. A failure of the system call counts as readability of the first: the read
/// that follows will report it.
void poll_until(std::span<pollfd> polled, Deadline deadline) noexcept;

} // namespace kairos::orb
