// SPDX-License-Identifier: Apache-2.0
//
// What is counted about a measured process, in one page shared between it (or its tracer) and the
// orchestrator. The orchestrator makes the page and passes its descriptor in the environment;
// the counting side only adds. Read at rest, so relaxed order suffices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kairos::bench {

inline constexpr std::size_t syscall_numbers_max = 512;

/// The environment variable that names the descriptor of the page.
inline constexpr const char* count_descriptor_variable = "KAIROS_COUNT_FD";

struct CountPage {
    std::atomic<std::uint64_t> allocations;       ///< malloc and its family, operator new included
    std::atomic<std::uint64_t> locks;             ///< mutex, read-write and spin lock acquisitions
    std::atomic<std::uint64_t> condition_actions; ///< condition variable waits and signals
    std::array<std::atomic<std::uint64_t>, syscall_numbers_max> syscalls; ///< by number
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace kairos::bench
