// SPDX-License-Identifier: Apache-2.0
//
// When a thread that has read everything of a stream of oneways should sleep for a moment, before
// it asks for more: what then comes is read at once. Otherwise it sleeps until the next message,
// and whoever sends that has to wake it, again and again, which costs a sender more than sending
// does (docs/transports.md). Owned by the thread that serves the connection.
#pragma once

#include "kairos/orb/options.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace kairos::orb {

class StreamPause {
  public:
    using Clock = std::chrono::steady_clock;

    /// Reads that bring fewer octets, those of single requests, are not looked at.
    static constexpr std::size_t read_min = std::size_t{8} << 10;
    /// Octets that must have come without a gap or a reply, for it to be a stream.
    static constexpr std::size_t stream_min = std::size_t{256} << 10;
    /// A longer time between two reads ends the stream.
    static constexpr std::chrono::milliseconds gap_max{1};
    /// Shorter pauses take longer to begin and to end than they are.
    static constexpr std::chrono::microseconds pause_min{4};

    /// Makes pauses of at most this length; 0: none.
    explicit StreamPause(std::chrono::microseconds length) noexcept : length_(length) {}
    /// Returns the pauses that the options ask for; none for who would rather spin than sleep.
    [[nodiscard]] static StreamPause of(const Options& options) noexcept
    {
        const bool suits = options.socket.spin.most.count() == 0 || options.socket.spin.learns;
        return StreamPause(suits ? options.stream_pause : std::chrono::microseconds(0));
    }

    /// What a read of at least `read_min` bytes brought, when its messages have been served.
    struct Read {
        std::size_t bytes = 0;
        bool all = false; ///< nothing was left to read
        /// Octets that the system queues for reading, where that does not grow.
        std::optional<std::size_t> queue_max{};
        std::size_t in_part = 0; ///< the size of a message that is not whole yet
    };

    /// Notes that somebody waited for an answer, and will send nothing before it has it.
    void note_reply() noexcept { streamed_ = 0; }

    struct Pause {
        std::chrono::nanoseconds length{0};
        bool awake = false; ///< others may run meanwhile, but this thread does not sleep
    };
    /// Returns what to do after a read whose messages have been served.
    [[nodiscard]] Pause after_read(const Read& read, Clock::time_point now) noexcept
    {
        // A queue that holds one or two of these messages is as full as it gets without our help.
        const bool fills_queue = read.queue_max && read.in_part > *read.queue_max / 3;
        if (now - last_read_ > gap_max || fills_queue) streamed_ = 0;
        if (streamed_ == 0) began_ = now;
        last_read_ = now;
        streamed_ += read.bytes;
        if (!read.all || streamed_ < stream_min) return {};
        return read.queue_max ? as_queue_permits(read, now - began_) : Pause{.length = length_};
    }
    /// Notes how long a sleep of this length really took.
    void note_slept(std::chrono::nanoseconds length, std::chrono::nanoseconds really) noexcept
    {
        late_ += (std::max(really - length, std::chrono::nanoseconds(0)) - late_) / 4;
    }
    /// Sleeps, or lets others run, as after_read says.
    void pause_after_read(const Read& read) noexcept;

  private:
    /// A queue that fills up holds the sender up, and then both sides sleep. Half of what it holds
    /// comes in so long, as fast as the stream came while it `lasted`: sleeping ends well before,
    /// at a third.
    [[nodiscard]] Pause as_queue_permits(const Read& read, std::chrono::nanoseconds lasted) noexcept
    {
        if (read.in_part != 0 || read.bytes >= *read.queue_max / 2) return {};
        const double part =
            static_cast<double>(*read.queue_max) / 2 / static_cast<double>(streamed_);
        const auto half = std::chrono::duration_cast<std::chrono::nanoseconds>(lasted * part);
        const auto third = half * 2 / 3;
        if (third < pause_min) return {};
        if (late_ <= third) return {.length = std::min<std::chrono::nanoseconds>(third, length_)};
        late_ -= late_ / late_fades; // so that sleeping is tried again
        return {.length = std::min<std::chrono::nanoseconds>(half, length_), .awake = true};
    }

    static constexpr int late_fades = 1024;

    std::chrono::microseconds length_;
    /// By how much sleeps took longer than they should, of late: on some machines by several times
    /// their length, and queues are full by then.
    std::chrono::nanoseconds late_{0};
    std::size_t streamed_ = 0;
    Clock::time_point began_{}; // the stream
    Clock::time_point last_read_{};
};

} // namespace kairos::orb
