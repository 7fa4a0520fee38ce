// SPDX-License-Identifier: Apache-2.0
//
// What the programs have in common that make connections again and again, with an ORB and without:
// a thread for each, since an ORB's threads have connections of their own. Orders are "connect N"
// and "idle N".
#pragma once

#include "bench/peer.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace kairos::bench {

struct ConnectingOrder {
    bool idle = false; ///< connections that are kept, else one after the other
    std::uint32_t count = 0;
};

inline ConnectingOrder parse_connecting(const std::string& line)
{
    const bool idle = line.starts_with("idle ");
    const std::size_t at = idle ? 5 : 8;
    if (!idle && !line.starts_with("connect ")) throw std::invalid_argument("no order: " + line);
    const unsigned long count = std::stoul(line.substr(at));
    if (count == 0 || count > 100'000) throw std::invalid_argument("no number: " + line);
    return {idle, static_cast<std::uint32_t>(count)};
}

/// Has as many threads do `once`, one after the other, and returns how long that took.
template <typename Once>
double seconds_of_threads(std::uint32_t count, Once&& once)
{
    std::exception_ptr failure;
    const std::int64_t start = now_ns();
    for (std::uint32_t i = 0; i < count && !failure; ++i)
        std::thread([&] {
            try {
                once();
            } catch (...) {
                failure = std::current_exception();
            }
        }).join();
    if (failure) std::rethrow_exception(failure);
    return static_cast<double>(now_ns() - start) / 1e9;
}

inline std::string answer_of_connecting(double seconds, std::uint32_t resumed)
{
    char text[96];
    std::snprintf(text, sizeof text, "{\"seconds\":%.9f,\"resumed\":%u}", seconds, resumed);
    return text;
}

} // namespace kairos::bench
