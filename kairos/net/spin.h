// SPDX-License-Identifier: Apache-2.0
//
// How long who waits looks for itself before it sleeps: up to a bound, and less where that was in
// vain lately. Used by one thread at a time.
#pragma once

#include "kairos/net/socket.h"
#include "kairos/net/spin_history.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace kairos::net {

/// Whether the process may use more than one processor. On one, whoever spins keeps the peer from
/// doing what is waited for.
[[nodiscard]] bool may_spin() noexcept;
/// Whether the calling thread may spin by the rule at all.
[[nodiscard]] bool may_spin(const SpinRule& rule) noexcept;

class Spin {
  public:
    /// Never spins where the calling thread may not.
    explicit Spin(const SpinRule& rule) noexcept
        : max_(may_spin(rule) ? rule.most : std::chrono::microseconds(0)), next_(max_)
    {
        if (rule.learns) history_.emplace();
    }

    /// Spins until `ready` returns true, and returns whether it did in time. Asks it `looks` times
    /// between two looks at the clock; not at all where it does not pay to spin.
    template <typename Ready>
    [[nodiscard]] bool until(Ready ready, int looks) noexcept
    {
        if (max_.count() == 0) return false;
        if (!history_) return look(ready, looks);
        if (!history_->begins()) return false;
        const bool came = look(ready, looks);
        history_->ended(came);
        return came;
    }
    /// How long the next wait spins at most.
    [[nodiscard]] std::chrono::nanoseconds next() const noexcept { return next_; }

  private:
    template <typename Ready>
    [[nodiscard]] bool look(Ready ready, int looks) noexcept
    {
        if (ready()) return true;
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

    /// The shortest time that is spun, as a part of the longest: when it was always in vain.
    static constexpr int parts = 16;

    std::chrono::nanoseconds max_;
    std::chrono::nanoseconds next_;
    std::optional<SpinHistory> history_;
};

} // namespace kairos::net
