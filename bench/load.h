// SPDX-License-Identifier: Apache-2.0
//
// The load of the priority and concurrency experiments, as the orchestrator orders it from a client
// program: one line "load name=value …". A client of high priority calls at its rate; clients of
// low priority, a thread and where the ORB lets them a connection each, at theirs or as fast as
// they can. Every call has an octet cubed (paper 003, §4.1.2).
#pragma once

#include "bench/statistics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::bench {

struct Load {
    std::uint32_t high_calls = 0; ///< timed calls of the high client; 0: there is none
    std::uint32_t high_hz = 20;
    std::uint32_t low_clients = 0;
    std::uint32_t low_hz = 10;       ///< 0: each calls as fast as it can
    std::uint32_t compute_us = 0;    ///< of processor time, which the servant of the low ones takes
    std::uint32_t duration_ms = 0;   ///< how long, if no high client says so with its calls
    std::uint32_t request_bytes = 0; ///< what raw sockets send for one call
    std::uint32_t reply_bytes = 0;
};

[[nodiscard]] std::string format_load(const Load& load);
/// Nothing for a line that is no load, names what there is not, or asks for too much.
[[nodiscard]] std::optional<Load> parse_load(std::string_view line);

/// What the server has seen of the calls of a load.
struct Findings {
    std::uint64_t high_requests = 0;
    std::uint64_t stamped = 0;    ///< of them, those whose arrival was seen
    std::uint64_t inversions = 0; ///< of these, dispatched after a low one that arrived later
    std::uint32_t raised = 0;     ///< whether a thread of it has been given real-time priority
};

struct LoadFigures {
    LatencySummary high;
    LatencySummary low;
    double low_calls_per_s = 0;
    bool realtime = false; ///< whether the high client's thread has real-time priority
};

/// The answer to the order: a line of JSON.
[[nodiscard]] std::string format_answer(const LoadFigures& figures, const Findings& findings);

/// The number that a client sends, which also says whose request it is: 0 is the high client's.
[[nodiscard]] constexpr std::uint8_t number_of_client(std::uint32_t low_client)
{
    return static_cast<std::uint8_t>(1 + low_client % 255);
}

[[nodiscard]] constexpr std::uint8_t cubed(std::uint8_t number)
{
    return static_cast<std::uint8_t>(unsigned{number} * number * number);
}

} // namespace kairos::bench
