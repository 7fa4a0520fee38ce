// SPDX-License-Identifier: Apache-2.0
//
// When a thread that has read everything of a stream of oneways should sleep for a moment, before
// it asks for more: what then comes is read at once. Otherwise it sleeps until the next message,
// and whoever sends that has to wake it, again and again, which costs a sender more than sending
// does (docs/transports.md). Owned by the thread that serves the connection.
#pragma once

#include "kairos/orb/options.h"

#include <chrono>
#include <cstddef>

namespace kairos::orb {

class StreamPause {
  public:
    using Clock = std::chrono::steady_clock;

    /// Of reads that bring less nothing is asked: those of single requests.
    static constexpr std::size_t read_min = std::size_t{8} << 10;
    /// Octets that must have come without a gap or a reply, for it to be a stream.
    static constexpr std::size_t stream_min = std::size_t{256} << 10;
    /// A longer time between two reads ends the stream.
    static constexpr std::chrono::milliseconds gap_max{1};

    /// How long pauses are; 0: there are none.
    explicit StreamPause(std::chrono::microseconds length) noexcept : length_(length) {}
    /// As the options say; none where queues could be full before it is over, as they do not grow,
    /// and for who would rather spin than sleep.
    [[nodiscard]] static StreamPause of(const Options& options, bool queues_grow) noexcept
    {
        const bool suits = queues_grow && options.socket.spin.count() == 0;
        return StreamPause(suits ? options.stream_pause : std::chrono::microseconds(0));
    }

    /// Somebody waited for an answer, and will send nothing before it has it.
    void note_reply() noexcept { streamed_ = 0; }

    /// After a read of at least `read_min` bytes, what came with which was served; `all`: nothing
    /// was left to read. How long to sleep now.
    [[nodiscard]] std::chrono::nanoseconds after_read(std::size_t bytes, bool all,
                                                      Clock::time_point now) noexcept
    {
        if (now - last_read_ > gap_max) streamed_ = 0;
        last_read_ = now;
        streamed_ += bytes;
        return all && streamed_ >= stream_min ? length_ : std::chrono::nanoseconds(0);
    }
    /// The same, and sleeps so long.
    void pause_after_read(std::size_t bytes, bool all) noexcept;

  private:
    std::chrono::microseconds length_;
    std::size_t streamed_ = 0;
    Clock::time_point last_read_{};
};

} // namespace kairos::orb
