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

/// Lets other threads run that wait for the calling thread's processor, if there are any.
void leave_processor() noexcept;
/// Goes on at another processor that the calling thread may use, if there is one; from where the
/// system may move it as before. Not in threads of real time, which stay where they were put.
void move_to_another_processor() noexcept;

class Spin {
  public:
    /// Never spins where the calling thread may not. `move` is called now and then by who moves.
    explicit Spin(const SpinRule& rule,
                  void (*move)() noexcept = &move_to_another_processor) noexcept
        : max_(may_spin(rule) ? rule.most : std::chrono::microseconds(0)), next_(max_),
          move_(rule.moves ? move : nullptr)
    {
        if (rule.learns) history_.emplace();
    }

    /// Spins until `ready` returns true, and returns whether it did in time. Asks it `looks` times
    /// between two looks at the clock; not at all where it does not pay to spin.
    template <typename Ready>
    [[nodiscard]] bool until(Ready ready, int looks) noexcept
    {
        if (max_.count() == 0) return false;
        if (!history_) {
            if (ready()) return true;
            const bool came = look(ready, looks, next_);
            next_ = came ? std::min(next_ * 2, max_) : std::max(next_ / 2, max_ / parts);
            return came;
        }
        if (!history_->begins()) return false;
        const bool came = ready() || look(ready, looks, history_->tries() ? max_ * try_of : max_);
        history_->ended(came);
        return came;
    }
    /// How long the next wait spins at most, where nothing is learned.
    [[nodiscard]] std::chrono::nanoseconds next() const noexcept { return next_; }

  private:
    template <typename Ready>
    [[nodiscard]] bool look(Ready& ready, int looks, std::chrono::nanoseconds time) noexcept
    {
        const auto begin = std::chrono::steady_clock::now();
        const auto end = begin + time;
        auto leaves = history_ ? end : begin + leave_after;
        for (auto now = begin; now < end; now = std::chrono::steady_clock::now()) {
            if (now >= leaves) [[unlikely]] {
                leaves = leave();
                if (was_taken_ && ready()) {
                    note_shared();
                    return true;
                }
            }
            for (int i = 0; i < looks; ++i) {
                if (ready()) return true;
                __builtin_ia32_pause();
            }
        }
        return ready(); // who was put off the processor has not looked all the time
    }

    /// Lets others run, and returns when to do so again.
    [[nodiscard]] std::chrono::steady_clock::time_point leave() noexcept;
    /// What was waited for came while others had the processor: the peer, most likely.
    void note_shared() noexcept;

    /// The shortest time that is spun, as a part of the longest: when it was always in vain.
    static constexpr int parts = 16;
    /// Who spins whatever it costs lets others on the processor now and then: the scheduler may
    /// have put the peer there, and then nothing comes as long as it is kept from running. (Who
    /// learns is told by what did not come.)
    static constexpr std::chrono::microseconds leave_after{10};
    /// Whoever leaves a processor that nobody waits for has it back in less.
    static constexpr std::chrono::microseconds taken_by_others{3};
    /// So often the peer shares it before one of them moves; and between two moves, at first and
    /// at most, for where all processors are busy moving is in vain.
    static constexpr int shared_most = 4;
    static constexpr std::chrono::milliseconds between_moves_least{10};
    static constexpr std::chrono::seconds between_moves_most{10};

    /// Who tries waits for a peer that sleeps, too, and has to be woken: so many times as long.
    static constexpr int try_of = 4;

    std::chrono::nanoseconds max_;
    std::chrono::nanoseconds next_;
    void (*const move_)() noexcept; // null: who does not
    std::chrono::steady_clock::time_point moves_after_{};
    std::chrono::milliseconds between_moves_ = between_moves_least;
    int shared_ = 0;
    bool was_taken_ = false; // the processor, by others, when it was left; of who moves
    std::optional<SpinHistory> history_;
};

} // namespace kairos::net
