// SPDX-License-Identifier: Apache-2.0
//
// What a client of kairos-bench-load-raw sends first: who it is, and how long its messages are.
#pragma once

#include <cstdint>

namespace kairos::bench {

struct RawHello {
    enum Who : std::uint32_t { high, low, observer };
    std::uint32_t who = high;
    std::uint32_t request_bytes = 1;
    std::uint32_t reply_bytes = 1;
};

} // namespace kairos::bench
