// SPDX-License-Identifier: Apache-2.0
//
// The time by which something must be over, absolute: what a call does one after the other, it does
// against one of these. A value.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace kairos {

class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    /// A deadline that never passes.
    constexpr Deadline() noexcept = default;
    /// A deadline this time from now; one beyond what the clock can tell never passes.
    [[nodiscard]] static Deadline after(std::chrono::nanoseconds time) noexcept
    {
        const auto now = Clock::now();
        return Deadline(time < Clock::time_point::max() - now ? now + time
                                                              : Clock::time_point::max());
    }

    [[nodiscard]] bool is_never() const noexcept { return at_ == Clock::time_point::max(); }
    [[nodiscard]] bool has_passed() const noexcept { return !is_never() && at_ <= Clock::now(); }
    /// The time until the deadline: zero when it has passed, nothing if it never does.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> left() const noexcept
    {
        if (is_never()) return std::nullopt;
        return std::max<std::chrono::nanoseconds>(at_ - Clock::now(), {});
    }
    [[nodiscard]] Clock::time_point at() const noexcept { return at_; }
    [[nodiscard]] friend Deadline earlier(Deadline left, Deadline right) noexcept
    {
        return left.at_ < right.at_ ? left : right;
    }

  private:
    explicit Deadline(Clock::time_point at) noexcept : at_(at) {}

    Clock::time_point at_ = Clock::time_point::max();
};

} // namespace kairos
