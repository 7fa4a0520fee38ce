// SPDX-License-Identifier: Apache-2.0
//
// Asking for addresses by a deadline. The system's resolver cannot be interrupted: it asks in a
// thread of its own, whose answer nobody may be waiting for any more. Any thread.
#pragma once

#include "kairos/base/deadline.h"
#include "kairos/base/export.h"
#include "kairos/net/address.h"

namespace kairos::net {

/// How names are asked for: `resolve`, but for tests.
using Resolver = Result<std::vector<Address>> (*)(std::string_view host, std::uint16_t port);

/// As `resolve`. ErrorCode::unreachable with ETIMEDOUT when there is no answer by the deadline, and
/// with EAGAIN when too many questions are open that nobody waits for any more.
[[nodiscard]] KAIROS_API Result<std::vector<Address>>
resolve(std::string_view host, std::uint16_t port, Deadline deadline, Resolver resolver = &resolve);

} // namespace kairos::net
