// SPDX-License-Identifier: Apache-2.0
//
// The service context by which a stub says how much of its operation's deadline is left
// (docs/scheduling.md): what is left, not when that is, for the two ends have different clocks.
// Other ORBs skip it. Values.
#pragma once

#include "kairos/orb/context_list.h"
#include "kairos/orb/operation_timing.h"

#include <chrono>
#include <optional>

namespace kairos::giop {
class ServiceContexts;
}

namespace kairos::orb {

/// IOP::ServiceId: "KRO" and 3, not registered. An encapsulation of one TimeBase::TimeT, which
/// counts 100 ns; 0 when the deadline has passed.
inline constexpr std::uint32_t timing_context_id = 0x4B524F03;

/// Adds the context that says how much time is left of a deadline.
void append_time_left(ContextList& list, std::chrono::nanoseconds left);

/// Returns the time left of the deadline, not negative, that a request's contexts say; nothing if
/// they say none, or it is malformed: then the request is served as one that does not say any.
[[nodiscard]] std::optional<std::chrono::nanoseconds>
time_left_in(const giop::ServiceContexts& contexts) noexcept;

/// Returns when the operation was released, by this machine's clock: when its request arrived, less
/// what its caller had used up of the deadline by then. A caller that says more is left than the
/// IDL gives is not believed; what it says can make it late, but no more urgent than a late one.
[[nodiscard]] std::chrono::steady_clock::time_point
release_of(std::chrono::steady_clock::time_point arrived, const OperationTiming& timing,
           const giop::ServiceContexts& contexts) noexcept;

} // namespace kairos::orb
