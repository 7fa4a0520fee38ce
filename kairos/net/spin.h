// SPDX-License-Identifier: Apache-2.0
//
// How long who waits looks for itself before it sleeps: up to a bound, and less where that was in
// vain lately. Used by one thread at a time.
#pragma once

#include <algorithm>
#include <chrono>

namespace kairos::net {

/// Whether the process may use more than one processor. On one, whoever spins keeps the peer from
/// doing what is waited for.
[[nodiscard]] bool may_spin() noexcept;

class Spin {
  public:
    /// `max` is taken for 0 where the process may not spin.
    explicit Spin(std::chrono::microseconds max) noexcept
        : max_(may_spin() ? max : std::chrono::microseconds(0)), next_(max_)
    {
    }

    /// Spins until `ready` returns true, and returns whether it did in time. Asks it `looks` times
    /// between two looks at the clock.
    template <typename Ready>
    [[nodiscard]] bool until(Ready ready, int looks) noexcept
    {
        if (ready()) return true;
        if (max_.count() == 0) return false;
        const auto end = std::chrono::steady_clock::now() + next_;
        do {
            for (int i = 0; i < looks; ++i) {
                if (ready()) {
                    next_ = std::min(next_ * 2, max_);
                    return true;
                }
                __builtin_ia32_pause();
            }
        } while (std::chrono::steady_clock::now() < end);
        next_ = std::max(next_ / 2, max_ / parts);
        return false;
    }
    /// How long the next wait spins at most.
    [[nodiscard]] std::chrono::nanoseconds next() const noexcept { return next_; }

  private:
    /// The shortest time that is spun, as a part of the longest: when it was always in vain.
    static constexpr int parts = 16;

    std::chrono::nanoseconds max_;
    std::chrono::nanoseconds next_;
};

} // namespace kairos::net
