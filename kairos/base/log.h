// SPDX-License-Identifier: Apache-2.0
//
// One line per event, for the people who run the process: to standard error unless an application
// installs a sink of its own. What peers have a part in may be among them: control characters and
// the like are shown as \xNN (shown.h), and what they can cause as often as they like is limited.
// Standard error is never waited for: lines that it does not take at once are counted and left out.
// Never on the success path of a request.
#pragma once

#include "kairos/base/export.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace kairos::log {

enum class Level { error, warning, info, debug };

/// Receives each line without a newline. May be called from any thread, also concurrently. A line
/// at which it throws counts as lost.
using Sink = void (*)(Level, std::string_view line);

/// Installs a sink for the process; null restores standard error. Nothing counts as said any more
/// (write_limited). Not to be called while other threads log.
KAIROS_API void set_sink(Sink sink) noexcept;

/// Lines less important than this are dropped. Warnings and errors are shown by default.
void set_level(Level least) noexcept;
[[nodiscard]] bool enabled(Level level) noexcept;

/// A line put together without memory of anybody's: for where there may be none, or nothing may be
/// thrown. What does not fit is cut off, and ends with "...".
class Line {
  public:
    KAIROS_API Line& operator<<(std::string_view part) noexcept;
    Line& operator<<(const char* part) noexcept { return *this << std::string_view(part); }
    template <std::unsigned_integral Number>
        requires(!std::same_as<Number, bool>)
    Line& operator<<(Number number) noexcept
    {
        return add_number(number);
    }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

  private:
    KAIROS_API Line& add_number(std::uint64_t number) noexcept;

    std::array<char, 1024> text_;
    std::size_t size_ = 0;
};

KAIROS_API void write(Level level, std::string_view line) noexcept;
/// A line that somebody has asked for: whatever the level.
void announce(std::string_view line) noexcept;

inline void error(std::string_view line) noexcept { write(Level::error, line); }
inline void warning(std::string_view line) noexcept { write(Level::warning, line); }
inline void info(std::string_view line) noexcept { write(Level::info, line); }
inline void error(const Line& line) noexcept { write(Level::error, line.text()); }
inline void warning(const Line& line) noexcept { write(Level::warning, line.text()); }
inline void info(const Line& line) noexcept { write(Level::info, line.text()); }

/// How often one line of the program may be written for one peer, and for all: so many at once, and
/// then one a second.
inline constexpr unsigned limited_at_once_for_peer = 10;
inline constexpr unsigned limited_at_once = 100;

/// A line that a peer can cause as often as it likes. `peer` is any number of its own; which line
/// it is, the place in the program says. The next one that is written says how many were left out.
KAIROS_API void
write_limited(Level level, std::uint64_t peer, const Line& line,
              const std::source_location& place = std::source_location::current()) noexcept;

/// Lines that standard error, or the sink, did not take, since the process began.
[[nodiscard]] std::uint64_t lost_lines() noexcept;

} // namespace kairos::log
