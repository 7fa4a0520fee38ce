// SPDX-License-Identifier: Apache-2.0
//
// How a thread that serves requests waits for the replies to its own calls. The peer may have to
// call us back before it can reply, and if every thread that could serve that call only waited, all
// would wait for ever. Belongs to its thread; its lane knows it (lane.h).
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/net/socket.h"

namespace kairos::orb {

class ServingThread {
  public:
    /// Returns when `socket` is readable, broken or shut down, or the time is over. Meanwhile
    /// requests are served: by this thread, nested in the one that it serves, or by another that
    /// takes its place.
    virtual void wait_readable(const net::Socket& socket, Deadline deadline) noexcept = 0;

  protected:
    ~ServingThread() = default;
};

/// Blocks until one of two sockets is readable, broken or shut down, or the time is over. The
/// second may be null.
struct ReadableOf {
    bool first = false;
    bool second = false;
};
[[nodiscard]] ReadableOf wait_either(const net::Socket& first, const net::Socket* second,
                                     Deadline deadline) noexcept;

} // namespace kairos::orb
