// SPDX-License-Identifier: Apache-2.0
//
// The object key of a request's target.
#pragma once

#include "kairos/base/arena.h"
#include "kairos/base/bytes.h"

namespace kairos::giop {
struct TargetAddress;
} // namespace kairos::giop

namespace kairos::orb {

/// Returns the object key of a target, however it was addressed; empty when it names no object of
/// IIOP's. Lies in the message or in the arena.
[[nodiscard]] Bytes object_key_of(const giop::TargetAddress& target, bool little_endian,
                                  Arena& arena);

} // namespace kairos::orb
