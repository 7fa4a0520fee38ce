// SPDX-License-Identifier: Apache-2.0
//
// What this process has done so far, for programs that print or watch it (docs/counters.md). Where
// nobody counts, nothing of it costs a request anything. Any thread.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kairos {

struct KAIROS_API Counters {
    /// Requests served by ORBs started with -ORBCounters 1, and by all under `kairos count`.
    std::uint64_t requests_served = 0;
    /// How often threads, also those that have ended, gave up the processor.
    std::uint64_t voluntary_switches = 0;
    /// How often the processor was taken from threads, also from those that have ended.
    std::uint64_t involuntary_switches = 0;

    /// What the C library was asked for; counted under `kairos count`, or with libkairos_count.so
    /// loaded before libc.
    struct Library {
        std::uint64_t allocations = 0;       ///< malloc and its family, operator new included
        std::uint64_t locks = 0;             ///< mutex, read-write and spin lock acquisitions
        std::uint64_t condition_actions = 0; ///< condition variable waits and signals
    };
    std::optional<Library> library;

    /// What the kernel was asked for; counted under `kairos count --system-calls`.
    struct Kernel {
        std::uint64_t system_calls = 0;
        std::uint64_t futexes = 0; ///< of them: locks and conditions that the kernel was needed for
    };
    std::optional<Kernel> kernel;
};

[[nodiscard]] KAIROS_API Counters counters() noexcept;

/// What was done between two looks.
[[nodiscard]] KAIROS_API Counters operator-(const Counters& later,
                                            const Counters& earlier) noexcept;

/// "12 requests served; per request: 0.00 allocations, …" in one line.
[[nodiscard]] KAIROS_API std::string to_string(const Counters& counters);

} // namespace kairos
