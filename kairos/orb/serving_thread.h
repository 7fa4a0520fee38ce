// SPDX-License-Identifier: Apache-2.0
//
// How a thread that serves requests waits for the peers of its own calls: for their replies, and
// until they take what they are sent. A peer may have to call us back, or send us a request as
// large as ours, before it can go on, and if every thread that could serve that only waited, all
// would wait for ever. Belongs to its thread; its lane knows it (lane.h).
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/net/socket.h"

namespace kairos::orb {

/// A socket, and what is waited for there.
struct Awaited {
    const net::Socket& socket;
    net::Interest interest = net::Interest::readable; ///< or `writable`
};

class ServingThread {
  public:
    /// Returns when the socket is as awaited, broken or shut down, or the time is over; now and
    /// then for no reason. Meanwhile requests are served: by this thread, nested in the one that it
    /// serves, or by another that takes its place.
    virtual void wait(const Awaited& awaited, Deadline deadline) noexcept = 0;

  protected:
    ~ServingThread() = default;
};

/// Blocks until a write to the socket would not, or the deadline: would_block. The calling thread's
/// ServingThread, if it has one, waits instead.
[[gnu::cold]] net::IoResult wait_writable(net::Socket& socket, Deadline deadline) noexcept;

/// Blocks until one of two is as awaited, broken or shut down, or the time is over. The second may
/// be null, or of no interest.
struct Ready {
    bool first = false;
    bool second = false;
};
[[nodiscard]] Ready wait_either(const Awaited& first, const Awaited* second,
                                Deadline deadline) noexcept;

} // namespace kairos::orb
