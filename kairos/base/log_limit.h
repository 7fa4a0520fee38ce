// SPDX-License-Identifier: Apache-2.0
//
// How often lines are written that peers cause. Each kind of line has an account for every peer and
// one for all of them, in a table of fixed size: what falls into one place shares it, so that no
// number of peers takes memory. Any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace kairos::log {

class Limiter {
  public:
    using Clock = std::chrono::steady_clock;

    struct Verdict {
        bool may_be_written = false;
        std::uint64_t left_out = 0; ///< of this kind, since one was written last
    };
    /// Says whether a line may be written; to be asked once for each line.
    [[nodiscard]] Verdict ask(std::uint64_t kind, std::uint64_t peer,
                              Clock::time_point now) noexcept;
    /// Forgets all lines that were asked for.
    void forget() noexcept;

    /// Takes the lock before fork(), behind all within which lines are written; unlock_after_fork()
    /// follows in parent and child.
    void lock_for_fork() noexcept { mutex_.lock(); }
    void unlock_after_fork() noexcept { mutex_.unlock(); }

    /// The limiter of the process.
    [[nodiscard]] static Limiter& process() noexcept;

  private:
    /// So many at once, then one a second.
    struct Account {
        unsigned spent = 0;
        Clock::time_point since{}; // when it was paid back last
        std::uint64_t left_out = 0;

        void pay_back(Clock::time_point now) noexcept;
    };

    static constexpr std::size_t kinds_max = 64;
    static constexpr std::size_t peers_max = 512;

    std::mutex mutex_; // guards all; held while the process forks
    std::array<Account, kinds_max> kinds_{};
    std::array<Account, peers_max> peers_{};
};

} // namespace kairos::log
