// SPDX-License-Identifier: Apache-2.0
//
// What one input of a fuzz target may cost. The harness counts while the target runs, and ends the
// program where it was more: so that a fuzzer finds what takes memory or time out of proportion as
// it finds what crashes, and every build that replays the corpus holds what was found.
#pragma once

#include <cstddef>

namespace kairos::fuzz {

/// Of an input of n octets: so many for each, and so many beside.
struct Bounds {
    /// Held on the heap at the same time, beyond what was held before. A target that keeps values
    /// says what values of its types may take.
    std::size_t octets_each = 4;
    std::size_t octets_beside = std::size_t{64} << 10;
    /// Comparisons made, by any thread, counted by the compiler that fuzzes only. Enough for text
    /// that is read, written and read again; what is not linear makes more of some KiB.
    std::size_t comparisons_each = 300;
    std::size_t comparisons_beside = 100'000;
};

/// A target that needs others defines it, and says why.
[[nodiscard]] Bounds bounds();

} // namespace kairos::fuzz
