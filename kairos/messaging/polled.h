// SPDX-License-Identifier: Apache-2.0
//
// An asynchronous call that is polled: between its poller, the connection that it is under way on,
// and the threads that wait for it. Shared by count. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/intrusive_ptr.h"
#include "kairos/client/asynchronous.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace kairos::messaging {

/// What all polled calls of the process share: few threads poll, and a set polls several calls.
struct PollingLock {
    std::mutex mutex; // guards every Polled; inside those of shared connections
    std::condition_variable changed;
    std::uint64_t changes = 0; ///< guarded by mutex
};
[[nodiscard]] PollingLock& polling_lock() noexcept;

class Polled final : public RefCounted {
  public:
    enum class Fetch : std::uint8_t { fetched, not_there, fetched_before };

    Polled(orb::AsynchronousCall& call, const orb::Operation& operation) noexcept
        : operation_(operation), call_(&call)
    {
    }

    [[nodiscard]] const orb::Operation& operation() const noexcept { return operation_; }
    /// Sends the call.
    void send() noexcept;
    /// Waits for the end of the call, until the deadline; returns whether it is there, or was.
    [[nodiscard]] bool wait(Deadline deadline);
    /// Takes the call if it is over: the caller gives it back.
    [[nodiscard]] Fetch fetch(orb::AsynchronousCall*& call);
    /// Gives the call up, if nobody has fetched it.
    void give_up() noexcept;

  private:
    ~Polled() override = default;
    static bool posted(const orb::CallListener& listener) noexcept;
    static void dropped(const orb::CallListener& listener) noexcept;

    enum class State : std::uint8_t { under_way, over, gone };

    const orb::Operation& operation_;
    // Guarded by the lock of all.
    orb::AsynchronousCall* call_; // null once it is gone
    State state_ = State::under_way;
    bool is_posted_ = false; // there is something to do for it
    bool is_worked_ = false; // which somebody does
    bool is_given_up_ = false;
};

} // namespace kairos::messaging
