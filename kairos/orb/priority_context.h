// SPDX-License-Identifier: Apache-2.0
//
// The service contexts of Real-Time CORBA 1.2 (5.7.3 and 5.14): the priority of a request and its
// reply, and the band that a connection is for. Values.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/giop/message.h"
#include "kairos/ior/policies.h"
#include "kairos/orb/context_list.h"
#include "kairos/orb/priority.h"

#include <cstdint>
#include <optional>

namespace kairos::orb {

// IOP::ServiceId.
inline constexpr std::uint32_t priority_context_id = 10;
inline constexpr std::uint32_t priority_range_context_id = 11;

/// Adds the context that says a priority.
void append_priority(ContextList& list, Priority priority);
/// Adds the context that says which band a connection is for.
void append_priority_range(ContextList& list, const ior::PriorityBand& band);

/// Returns the priority that a request's contexts say; nothing if they say none, or if it is
/// malformed or none of CORBA's: then the request is served as one that does not say any.
[[nodiscard]] std::optional<Priority> priority_in(const giop::ServiceContexts& contexts) noexcept;

} // namespace kairos::orb
