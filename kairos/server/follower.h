// SPDX-License-Identifier: Apache-2.0
//
// A thread of leader-followers and what it serves: requests within requests, of one connection or
// several. Belongs to that thread, on whose stack it is.
#pragma once

#include "kairos/net/shared_poller.h"
#include "kairos/orb/serving_thread.h"
#include "kairos/server/watched_connection.h"

#include <cstdint>

namespace kairos::orb {

class Follower final : public ServingThread {
  public:
    explicit Follower(LeaderFollowers& server) : server_(server) {}
    void wait(const Awaited& awaited, Deadline deadline) noexcept override;
    /// Waits for this thread's turn and serves what it finds, until the server ends or the thread
    /// is one too many.
    void serve() noexcept;

  private:
    /// A request that waits for a call, on the stack of who serves it.
    struct Waiting {
        WatchedConnection* connection; // may be null
        bool listens;                  // for more requests of that connection
        Waiting* outer;
    };
    enum class Found : std::uint8_t { awaited, connection, poller, nothing };

    /// Serves what the poller found, if it is still there.
    void serve(const net::SharedPoller::Ready& ready, UpcallMemory& memory) noexcept;
    /// `ready` is the one whose connection is.
    [[nodiscard]] Found wait_for(const Awaited& awaited, bool in_line, Deadline deadline,
                                 Waiting*& ready) noexcept;
    /// Does one step of what there is to do on the connection of `waiting`.
    void serve_nested(Waiting& waiting, bool (WatchedConnection::*step)() noexcept) noexcept;
    void serve_found() noexcept;

    LeaderFollowers& server_;
    WatchedConnection* connection_ = nullptr; // that of the innermost request
    Waiting* waiting_ = nullptr;              // the innermost of those outside it
};

} // namespace kairos::orb
