// SPDX-License-Identifier: Apache-2.0
//
// When a server waits no longer for the rest of a message (-ORBReceiveTimeout). Whoever has begun
// one must go on: within the limit comes the rest of it, or `progress_min` octets more of it, from
// where the time is counted anew. So a large message over a thin line takes the time that it takes,
// and octets that drip one by one buy none. Owned by the thread that reads the connection.
#pragma once

#include "kairos/giop/fragments.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace kairos::orb {

class ReceiveLimit {
  public:
    using Clock = std::chrono::steady_clock;

    /// How many octets more of a message count as going on: no line is so slow, and whatever a
    /// thread reads at once has room for more.
    static constexpr std::size_t progress_min = 1024;

    /// Returns how long to leave between two looks, so that nobody is waited for longer than one
    /// and a half times the limit.
    [[nodiscard]] static std::chrono::nanoseconds
    between_looks(std::chrono::nanoseconds limit) noexcept
    {
        return std::max<std::chrono::nanoseconds>(limit / 4, std::chrono::milliseconds(1));
    }

    /// Returns when the connection's unfinished message, if there is one, will be late, unless more
    /// of it comes than has now. Counts from the first of these calls that sees the message, or
    /// sees it go on.
    [[nodiscard]] Clock::time_point due(const std::optional<giop::Unfinished>& message,
                                        std::chrono::nanoseconds limit,
                                        Clock::time_point now) noexcept
    {
        if (!message) {
            seen_.reset();
            return Clock::time_point::max();
        }
        const bool is_new = !seen_ || seen_->begins_at != message->begins_at;
        if (is_new || message->octets >= seen_->octets + progress_min) {
            seen_ = message;
            since_ = now;
        }
        return since_ + limit;
    }
    /// Returns, asked before each read within a message, whether its rest was late before the last
    /// of these reads already, and that has not brought it. So what came while nobody read is in
    /// time.
    [[nodiscard]] bool was_due(const std::optional<giop::Unfinished>& message,
                               std::chrono::nanoseconds limit, Clock::time_point now) noexcept
    {
        const Clock::time_point before = std::exchange(asked_at_, now);
        return due(message, limit, now) <= before;
    }
    /// Notes that nothing is read for some time.
    void stop_reading() noexcept { asked_at_ = Clock::time_point::min(); }

  private:
    std::optional<giop::Unfinished> seen_;
    Clock::time_point since_{};
    Clock::time_point asked_at_ = Clock::time_point::min(); // by was_due
};

} // namespace kairos::orb
