// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/log.h"

#include "kairos/base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

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

} // namespace

void set_sink(Sink sink) noexcept { current_sink = sink != nullptr ? sink : &write_to_stderr; }

void set_level(Level least) noexcept { least_level = least; }

bool enabled(Level level) noexcept { return level <= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) noexcept
{
    if (enabled(level)) current_sink.load(std::memory_order_relaxed)(level, line);
}

void announce(std::string_view line) noexcept
{
    current_sink.load(std::memory_order_relaxed)(Level::info, line);
}

} // namespace log
} // namespace kairos
