// SPDX-License-Identifier: Apache-2.0
//
// How a thread that serves requests waits for the peers of its own calls: for their replies, and
// until they take what they are sent. A peer may have to call us back, or send us a request as
// large as ours, before it can go on, and if every thread that could serve that only waited, all
// would wait for ever. Belongs to its thread; its storage knows it (thread_storage.h).
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
    /// Waits until the socket is as awaited, broken or shut down, or the time is over; returns now
    /// and then for no reason. Serves requests meanwhile: by this thread, nested in the one that it
    /// serves, or by another that takes its place.
    virtual void wait(const Awaited& awaited, Deadline deadline) noexcept = 0;

  protected:
    ~ServingThread() = default;
};

/// Blocks until a write to the socket would not block, or the deadline: would_block. The calling
/// thread's ServingThread, if it has one, waits instead.
[[gnu::cold]] net::IoResult wait_writable(net::Socket& socket, Deadline deadline) noexcept;

/// Which of two awaited things happened: it is as awaited, broken or shut down.
struct Ready {
    bool first = false;
    bool second = false;
};
/// Blocks until `first` or `second` is as awaited, broken or shut down, or the deadline has passed;
/// returns which of the two it was. `second` may be null, or of no interest.
[[nodiscard]] Ready wait_either(const Awaited& first, const Awaited* second,
                                Deadline deadline) noexcept;

} // namespace kairos::orb
