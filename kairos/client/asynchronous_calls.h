// SPDX-License-Identifier: Apache-2.0
//
// The asynchronous calls of an ORB: how many there may be, the memory that they use again, and
// those of which nobody will hear. Owned by the Client. Any thread.
#pragma once

#include "kairos/base/intrusive_list.h"
#include "kairos/client/asynchronous.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace kairos::orb {

class AsynchronousCalls {
  public:
    explicit AsynchronousCalls(Orb& orb) noexcept : orb_(orb) {}
    ~AsynchronousCalls();
    AsynchronousCalls(const AsynchronousCalls&) = delete;
    AsynchronousCalls& operator=(const AsynchronousCalls&) = delete;

    /// Returns the memory of a call, which counts from here on. Throws TRANSIENT where there are as
    /// many as may be, std::bad_alloc.
    [[nodiscard]] AsynchronousCall& take();
    /// Takes the memory of a call back that is over, and forgotten.
    void give_back(AsynchronousCall& call) noexcept;

    /// Has the main thread, or who polls, do what is left of this call. Under the lock of a
    /// connection, perhaps.
    void post(AsynchronousCall& call) noexcept;
    /// Has a main thread that waits elsewhere look for what was posted. With no lock held.
    void announce() noexcept;
    /// Drops the calls that ended after the ORB was shut down, or that nobody polls any more, and
    /// tells of those whose thread has ended. With no lock held, by a thread that may end the ORB.
    void end() noexcept;
    /// Has the thread of a connection tell the call's listener that it is ready. Under the lock of
    /// a connection, perhaps.
    void make_ready(AsynchronousCall& call) noexcept;
    /// Returns whether there are such calls.
    [[nodiscard]] bool has_ready() const noexcept
    {
        return has_ready_.load(std::memory_order_relaxed);
    }
    /// Tells the listeners of those that there are now. By the thread of a connection, or whoever
    /// ends the ORB, with no lock held.
    void tell_ready() noexcept;
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; } ///< held while the process forks

  private:
    void drop(AsynchronousCall& call) noexcept;
    void refuse_dropped() noexcept;

    /// Calls whose memory is kept although nobody uses it.
    static constexpr std::size_t spares_max = 2048;

    Orb& orb_;
    std::atomic<bool> is_unannounced_{false};
    std::atomic<bool> has_dropped_{false};
    std::atomic<bool> has_ready_{false};
    std::mutex mutex_; // guards what follows; inside those of shared connections
    std::vector<AsynchronousCall*> spares_;
    std::size_t count_ = 0; // of those that somebody has
    IntrusiveList<AsynchronousCall, &AsynchronousCall::dropped_links_> dropped_;
    IntrusiveList<AsynchronousCall, &AsynchronousCall::ready_links_> ready_;
};

} // namespace kairos::orb
