// SPDX-License-Identifier: Apache-2.0
//
// What is counted about a process while `kairos count` or an experiment looks at it: one page,
// shared between the process, or its tracer, and who asked. Who asks makes the page and passes its
// descriptor in the environment; the counting side, libkairos_count.so or the tracer, only adds.
// Nothing of this is touched otherwise. Read at rest, so relaxed order suffices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kairos {

inline constexpr std::size_t syscall_numbers_max = 512;

/// The environment variable that names the descriptor of the page.
inline constexpr const char* count_descriptor_variable = "KAIROS_COUNT_FD";

struct CountPage {
    std::atomic<std::uint64_t> allocations;       ///< malloc and its family, operator new included
    std::atomic<std::uint64_t> locks;             ///< mutex, read-write and spin lock acquisitions
    std::atomic<std::uint64_t> condition_actions; ///< condition variable waits and signals
    std::atomic<std::uint64_t> requests_served;   ///< by ORBs of ours in the process
    std::atomic<bool> is_traced;                  ///< `syscalls` are being counted
    std::array<std::atomic<std::uint64_t>, syscall_numbers_max> syscalls; ///< by number
    /// Reads that take nothing and do not wait, which are not among `syscalls`: a client asks so
    /// whether its connection is still there when it has not run for 20 ms, on a busy machine.
    std::atomic<std::uint64_t> looks;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The C function of libkairos_count.so that returns the page; looked for where it may be missing.
inline constexpr const char* count_page_function = "kairos_count_page";
using CountPageFunction = CountPage*();

} // namespace kairos
