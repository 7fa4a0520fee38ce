// SPDX-License-Identifier: Apache-2.0
//
// Whether it pays to look for oneself (spin.h) before the next wait for a peer: what -ORBSpin auto
// learns of one connection. It pays while what is waited for nearly always comes in time, while
// few threads of the process do so, and while nobody else wants the processors: who is put off one
// while spinning takes it from somebody who would use it. After disappointments whoever waits
// sleeps at once, and tries again seldom, ever more seldom while that is in vain. Used by one
// thread at a time.
#pragma once

#include <cstdint>

namespace kairos::net {

/// Returns how often the calling thread has had to leave a processor to others.
[[nodiscard]] long involuntary_switches() noexcept;

class SpinHistory {
  public:
    /// `switches` is asked now and then.
    explicit SpinHistory(long (*switches)() noexcept = &involuntary_switches) noexcept
        : switches_(switches)
    {
    }

    /// Returns whether to spin now. Then `ended` must follow, by the same thread.
    [[nodiscard]] bool begins() noexcept;
    /// Whether this is the first since it slept.
    [[nodiscard]] bool tries() const noexcept { return is_try_; }
    /// Notes whether what was waited for came in time.
    void ended(bool came) noexcept;

    /// Waits that follow each other without spinning: at first, and at most.
    static constexpr std::uint16_t asleep_least = 32;
    static constexpr std::uint16_t asleep_most = 4096;
    /// Spins between two looks at whether others want the processor: after a sleep, and at most.
    static constexpr std::uint8_t between_looks_least = 4;
    static constexpr std::uint8_t between_looks = 32;

  private:
    /// A wait in vain costs as much as so many that were not spare.
    static constexpr std::int8_t miss_cost = 4;
    static constexpr std::int8_t credit_most = 8;

    void sleep() noexcept;

    long (*const switches_)() noexcept;
    long switches_before_ = 0;
    std::uint16_t asleep_ = 0; // waits that are still to be slept through
    std::uint16_t backoff_ = asleep_least;
    std::int8_t credit_ = miss_cost;
    bool is_try_ = false;
    std::uint8_t looks_after_ = between_looks_least;
    std::uint8_t until_look_ = 0; // spins; at 0 a count begins
};

} // namespace kairos::net
