// SPDX-License-Identifier: Apache-2.0
//
// Where one thread waits for others, with a deadline: a word that the system can wait for. Usually
// on the stack of the thread that waits.
//
//   owner                                        others
//   lock; nothing to do yet → prepare(); unlock  lock; something to do → call(); unlock
//   park(deadline)                               wake(place)
#pragma once

#include "kairos/base/deadline.h"

#include <atomic>
#include <cstdint>

namespace kairos::net {

class Parking {
  public:
    Parking() = default;
    Parking(const Parking&) = delete;
    Parking& operator=(const Parking&) = delete;

    /// Called by the owner, under the lock that guards what it waits for: calls of call() from here
    /// on count.
    void prepare() noexcept { called_.store(0, std::memory_order_relaxed); }
    /// Called by the owner, without the lock: returns after call(), at the deadline, or for no
    /// reason.
    void park(Deadline deadline) noexcept;

    /// Under the lock: whoever parks now returns at once. Who has parked must be woken as well.
    void call() noexcept { called_.store(1, std::memory_order_release); }
    /// Also after the lock was given back: the owner may have gone by then, and its memory may be
    /// somebody else's. Only the address is used, and nobody minds being woken for no reason.
    static void wake(const Parking* place) noexcept;

  private:
    std::atomic<std::uint32_t> called_{0};
};

} // namespace kairos::net
