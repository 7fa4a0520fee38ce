// SPDX-License-Identifier: Apache-2.0
//
// One line per event, for the people who run the process: to standard error unless an application
// installs a sink of its own. What peers have a part in may be among them: control characters and
// the like are shown as \xNN (shown.h). Never on the success path of a request.
#pragma once

#include "kairos/base/export.h"

#include <string_view>

namespace kairos::log {

enum class Level { error, warning, info, debug };

/// Receives each line without a newline. May be called from any thread, also concurrently.
using Sink = void (*)(Level, std::string_view line);

/// Installs a sink for the process; null restores standard error. Not to be called while other
/// threads log.
void set_sink(Sink sink) noexcept;

/// Lines less important than this are dropped. Warnings and errors are shown by default.
void set_level(Level least) noexcept;
[[nodiscard]] bool enabled(Level level) noexcept;

KAIROS_API void write(Level level, std::string_view line) noexcept;
/// A line that somebody has asked for: whatever the level.
void announce(std::string_view line) noexcept;

inline void error(std::string_view line) noexcept { write(Level::error, line); }
inline void warning(std::string_view line) noexcept { write(Level::warning, line); }
inline void info(std::string_view line) noexcept { write(Level::info, line); }

} // namespace kairos::log
