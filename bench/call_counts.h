// SPDX-License-Identifier: Apache-2.0
//
// What calls between a running client and server cost each side, counted: N calls, then 2 N calls,
// and the second count less the first, so that neither start-up nor the order itself is in it.
#pragma once

#include "bench/counting.h"
#include "bench/experiment.h"

#include <span>

namespace kairos::bench {

/// Something for the client and for the server of a pair.
template <typename Value>
struct Sides {
    Value client;
    Value server;
};

/// How the counting is done: by a library loaded before libc, or by tracing system calls.
enum class CountingMethod { preload, trace };

/// The system with Kairos' looking for itself before it waits (-ORBSpin) turned off unless it says
/// how long: who looks calls the system as often as the other side is late, which says nothing of
/// the ORB.
[[nodiscard]] System without_spinning(System system);

[[nodiscard]] Exercise with_calls(Exercise exercise, std::uint32_t calls);

/// The counts of `calls` calls in the steady state, for each of the exercises. Where there is a
/// program between client and server it is counted in the server's place.
[[nodiscard]] Result<std::vector<Sides<Counts>>>
count_calls(const System& system, const CommonOptions& options, std::uint32_t calls,
            std::span<const Exercise> exercises, CountingMethod method);

/// The figures of a row, per call.
void set_system_calls(Row& row, const Counts& counts, double calls);
void set_heap_and_locks(Row& row, const Counts& counts, double calls);

} // namespace kairos::bench
