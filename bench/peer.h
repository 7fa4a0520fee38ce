// SPDX-License-Identifier: Apache-2.0
//
// A measured program's side of the line protocol: it is started by the orchestrator, which writes
// orders to its standard input and reads one line of JSON per order from its standard output. A
// server program says "ready REFERENCES" and ends when its standard input does. Main thread only.
#pragma once

#include "bench/exercise.h"
#include "bench/statistics.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <time.h>
#include <vector>

namespace kairos::bench {

struct MessageBytes {
    std::uint64_t request = 0;
    std::uint64_t reply = 0;
};

/// What a client program can be ordered to do. Failures are thrown as std::exception and answered
/// as {"error": …}.
class Client {
  public:
    virtual ~Client() = default;
    virtual LatencySummary latency(const Exercise& exercise) = 0;
    virtual double ttcp_seconds(const Exercise& exercise) = 0;
    virtual void call(const Exercise& exercise) = 0;
    virtual MessageBytes message_bytes(const Exercise& exercise) = 0;
};

/// Answers orders until "quit" or the end of standard input. Returns the program's exit status.
int serve_orders(Client& client);

/// The same for a program that is no client: `execute` carries an order out and returns the answer,
/// a line of JSON. What it throws is answered as {"error": …}.
int serve_orders(std::string_view role,
                 const std::function<std::string(const Order& order)>& execute);

/// The same for orders that are no Exercise: `execute` gets the line.
int serve_lines(std::string_view role,
                const std::function<std::string(const std::string& line)>& execute);

/// The same for a server that announces itself otherwise.
void answer_lines(const std::function<std::string(const std::string& line)>& execute);

/// Tells the orchestrator that the server can be called now.
void announce_ready(std::string_view references);

/// Blocks until the orchestrator says "quit" or is gone.
void wait_for_quit();

/// Bytes sent and received so far on all TCP connections of this process, as the kernel counts.
[[nodiscard]] MessageBytes tcp_bytes_so_far();

/// Calls made before a measurement, so that caches, buffers and connections are warm.
inline constexpr std::uint32_t warm_up_calls = 100;
inline constexpr std::uint32_t ttcp_warm_up_calls = 8;

[[nodiscard]] inline std::int64_t now_ns() noexcept
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

template <typename Call>
LatencySummary time_each(std::uint32_t calls, Call&& call)
{
    std::vector<std::int64_t> samples(calls); // touched before the clock is looked at
    for (std::int64_t& sample : samples) {
        const std::int64_t start = now_ns();
        call();
        sample = now_ns() - start;
    }
    return summarize(samples);
}

} // namespace kairos::bench
