// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/log.h"

#include "kairos/base/check.h"
#include "kairos/base/shown.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

namespace kairos {

void check_failed(const char* condition, const char* file, int line) noexcept
{
    std::fprintf(stderr, "kairos: %s:%d: check failed: %s\n", file, line, condition);
    std::abort();
}

namespace log {
namespace {

void write_to_stderr(Level level, std::string_view line)
{
    static constexpr const char* names[] = {"error", "warning", "info", "debug"};
    std::timespec now{};
    std::timespec_get(&now, TIME_UTC);
    std::tm utc{};
    gmtime_r(&now.tv_sec, &utc);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    // One call, so that lines of several threads do not mix.
    std::fprintf(stderr, "%s.%03ldZ kairos %s: %.*s\n", stamp, now.tv_nsec / 1'000'000,
                 names[static_cast<int>(level)], static_cast<int>(line.size()), line.data());
}

std::atomic<Sink> current_sink{&write_to_stderr};
std::atomic<Level> least_level{Level::warning};

/// Hands a line over as what it is, one line and nothing else, whoever wrote parts of it.
void hand_over(Level level, std::string_view line) noexcept
{
    const Sink sink = current_sink.load(std::memory_order_relaxed);
    if (is_shown_as_it_is(line)) return sink(level, line);
    try {
        sink(level, shown(line));
    } catch (const std::bad_alloc&) {
        sink(level, "(a line that there is no memory for)");
    }
}

} // namespace

void set_sink(Sink sink) noexcept { current_sink = sink != nullptr ? sink : &write_to_stderr; }

void set_level(Level least) noexcept { least_level = least; }

bool enabled(Level level) noexcept { return level <= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) noexcept
{
    if (enabled(level)) hand_over(level, line);
}

void announce(std::string_view line) noexcept { hand_over(Level::info, line); }

} // namespace log
} // namespace kairos
