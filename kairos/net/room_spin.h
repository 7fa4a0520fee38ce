// SPDX-License-Identifier: Apache-2.0
//
// What who has found a socket's queue full does before it sleeps: it stays awake for a moment and
// looks whether there is room. To be woken by the peer takes longer than most queues take to empty,
// costs the peer as much, and both sides lose it with every queue that fills up. Used by the thread
// that writes.
#pragma once

#include <chrono>
#include <cstdint>

namespace kairos::net {

/// Small: every socket has one.
class RoomSpin {
  public:
    RoomSpin() noexcept = default; ///< never stays awake
    /// For so long at most.
    explicit RoomSpin(std::chrono::microseconds max) noexcept;

    /// Whether there was room, or anything else that is better found by writing, by then. At once
    /// false where waiting was in vain of late, and where the peer, as far as is known, needs the
    /// processor that the caller has.
    [[nodiscard]] bool until_room(int descriptor) noexcept;

    /// Whether to wait now: after each wait in vain twice as seldom, down to one in
    /// `seldom_most`.
    [[nodiscard]] bool is_worth_it() noexcept;
    void note(bool was_worth_it) noexcept;

    static constexpr unsigned seldom_most = 16;

  private:
    std::uint16_t max_us_ = 0;
    std::uint8_t seldom_ = 1;  // one in so many
    std::uint8_t skipped_ = 0; // since the last
};

} // namespace kairos::net
