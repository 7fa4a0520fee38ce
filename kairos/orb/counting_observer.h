// SPDX-License-Identifier: Apache-2.0
//
// Counts the requests that an ORB serves. It observes only where somebody counts (-ORBCounters,
// `kairos count`); otherwise no request knows of it. Any thread.
#pragma once

#include "kairos/orb/upcall_observer.h"

#include <cstdint>
#include <memory>

namespace kairos {
struct CountPage;
}

namespace kairos::orb {

struct Options;

/// Returns what libkairos_count.so counts, if it was loaded before libc; else null.
[[nodiscard]] const CountPage* count_page() noexcept;

[[nodiscard]] bool counts_requests(const Options& options) noexcept;

[[nodiscard]] std::unique_ptr<UpcallObserver> counting_observer();

/// Returns how many requests all ORBs of this process that count have served since it was started.
/// Calls within the process that need no messages do not count.
[[nodiscard]] std::uint64_t requests_served() noexcept;

} // namespace kairos::orb
