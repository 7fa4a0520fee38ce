// SPDX-License-Identifier: Apache-2.0
#include "kairos/base/log.h"

#include "kairos/base/check.h"
#include "kairos/base/log_limit.h"
#include "kairos/base/shown.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace kairos {

void check_failed(const char* condition, const char* file, int line) noexcept
{
    std::fprintf(stderr, "kairos: %s:%d: check failed: %s\n", file, line, condition);
    std::abort();
}

namespace log {
namespace {

std::atomic<std::uint64_t> lost{0};
std::uint64_t lost_told = 0; // of these; guarded by TurnToWrite

/// One thread writes at a time, so that who finds room has it. Whoever does not get its turn soon,
/// for another process may take the room of who has it, gives up.
class TurnToWrite {
  public:
    TurnToWrite() noexcept
    {
        for (int i = 0; i < tries_max && !has_it_; ++i) {
            has_it_ = !taken_.test_and_set(std::memory_order_acquire);
            if (!has_it_) ::sched_yield();
        }
    }
    ~TurnToWrite()
    {
        if (has_it_) taken_.clear(std::memory_order_release);
    }
    TurnToWrite(const TurnToWrite&) = delete;
    TurnToWrite& operator=(const TurnToWrite&) = delete;
    [[nodiscard]] explicit operator bool() const noexcept { return has_it_; }

  private:
    static constexpr int tries_max = 10'000;
    static inline std::atomic_flag taken_;
    bool has_it_ = false;
};

/// Whether a line of up to PIPE_BUF octets would be taken at once.
bool has_room(int descriptor) noexcept
{
    pollfd polled{.fd = descriptor, .events = POLLOUT, .revents = 0};
    return ::poll(&polled, 1, 0) == 1 && (polled.revents & POLLOUT) != 0;
}

void write_to_stderr(Level level, std::string_view line) noexcept
{
    static constexpr const char* names[] = {"error", "warning", "info", "debug"};
    std::timespec now{};
    std::timespec_get(&now, TIME_UTC);
    std::tm utc{};
    gmtime_r(&now.tv_sec, &utc);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    // As a whole, so that lines of several threads do not mix, and as much as a pipe takes at once.
    constexpr std::size_t size_max = 4096;
    char text[size_max];
    const TurnToWrite turn;
    if (!turn || !has_room(STDERR_FILENO)) {
        lost.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    char missing[64] = "";
    const std::uint64_t untold = lost.load(std::memory_order_relaxed) - lost_told;
    if (untold != 0)
        std::snprintf(missing, sizeof missing, "(%llu lines that nobody read are lost) ",
                      static_cast<unsigned long long>(untold));
    const int wanted = std::snprintf(text, sizeof text, "%s.%03ldZ kairos %s: %s%.*s", stamp,
                                     now.tv_nsec / 1'000'000, names[static_cast<int>(level)],
                                     missing, static_cast<int>(line.size()), line.data());
    const auto size = std::min(static_cast<std::size_t>(std::max(wanted, 0)), size_max - 1);
    text[size] = '\n'; // in the place of the NUL
    ssize_t written = 0;
    do {
        written = ::write(STDERR_FILENO, text, size + 1);
    } while (written < 0 && errno == EINTR);
    if (written < 0)
        lost.fetch_add(1, std::memory_order_relaxed);
    else
        lost_told += untold;
}

std::atomic<Sink> current_sink{&write_to_stderr};
std::atomic<Level> least_level{Level::warning};

/// Hands a line over as what it is, one line and nothing else, whoever wrote parts of it.
void hand_over(Level level, std::string_view line) noexcept
{
    const Sink sink = current_sink.load(std::memory_order_relaxed);
    try {
        if (is_shown_as_it_is(line)) return sink(level, line);
        sink(level, shown(line));
    } catch (...) { // there is no memory for it, or the program's sink throws
        lost.fetch_add(1, std::memory_order_relaxed);
    }
}

} // namespace

Line& Line::operator<<(std::string_view part) noexcept
{
    constexpr std::string_view more = "...";
    const std::size_t room = text_.size() - size_;
    const std::size_t copied = std::min(part.size(), room);
    std::copy_n(part.data(), copied, text_.data() + size_);
    size_ += copied;
    if (part.size() > room) std::ranges::copy(more, text_.end() - more.size());
    return *this;
}

Line& Line::add_number(std::uint64_t number) noexcept
{
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), end);
}

void set_sink(Sink sink) noexcept
{
    current_sink = sink != nullptr ? sink : &write_to_stderr;
    Limiter::process().forget();
}

void set_level(Level least) noexcept { least_level = least; }

bool enabled(Level level) noexcept { return level <= least_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view line) noexcept
{
    if (enabled(level)) hand_over(level, line);
}

void announce(std::string_view line) noexcept { hand_over(Level::info, line); }

void write_limited(Level level, std::uint64_t peer, const Line& line,
                   const std::source_location& place) noexcept
{
    if (!enabled(level)) return;
    const std::uint64_t kind =
        reinterpret_cast<std::uintptr_t>(place.file_name()) * 4096 + place.line();
    const Limiter::Verdict verdict =
        Limiter::process().ask(kind, peer, std::chrono::steady_clock::now());
    if (!verdict.may_be_written) return;
    if (verdict.left_out == 0) return hand_over(level, line.text());
    Line with_count;
    with_count << "(" << verdict.left_out << " like this were left out) " << line.text();
    hand_over(level, with_count.text());
}

std::uint64_t lost_lines() noexcept { return lost.load(std::memory_order_relaxed); }

} // namespace log
} // namespace kairos
