// SPDX-License-Identifier: Apache-2.0
//
// Who of those that wait is served first (-ORBDispatching): the policies of kairos/sched/
// dispatch_queue.h for requests, by what the IDL says of their operations. What decides does not
// change while a request waits, so it is worked out once, when the request was read: deadlines are
// absolute, and laxity is lost by all that wait at the same pace. Values.
#pragma once

#include "kairos/orb/operation_timing.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace kairos::orb {

/// The policies of dispatching: which waiting request is served first; among equals, the one that
/// came first.
enum class Dispatching : std::uint8_t {
    fifo, ///< who came first
    rms,  ///< the shorter period
    edf,  ///< the earlier deadline
    llf,  ///< the smaller laxity
    muf,  ///< the higher criticality, then the smaller laxity
};

/// How urgent a request is: the smallest goes first. The members decide in the order in which they
/// stand.
struct Urgency {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    std::int64_t first = none; ///< `none`: the IDL does not say what the policy asks for
    std::int64_t second = none;
    std::int64_t unimportance = none;
    std::uint64_t number = 0; ///< of its arrival; its queue gives it

    friend auto operator<=>(const Urgency&, const Urgency&) = default;
};

/// Returns the urgency of a request for an operation with this timing, or null, that was released
/// at this time: a point on any clock, the same for all requests of a queue.
[[nodiscard]] Urgency urgency_of(Dispatching dispatching, const OperationTiming* timing,
                                 std::chrono::nanoseconds released) noexcept;

} // namespace kairos::orb
