// SPDX-License-Identifier: Apache-2.0
//
// Whether an object is there, asked within a time: its server gets a LocateRequest on a connection
// of its own. Any thread.
#pragma once

#include "kairos/ior/ior.h"

#include <chrono>

namespace kairos::nameserver {

enum class Liveness : std::uint8_t {
    not_known,
    alive, ///< the server has it, or has something else to say
    dead,  ///< no server answered in time, or it has no such object
};

/// `not_known` for a reference without an address of IIOP's. Forwards are
/// followed, but not for ever.
[[nodiscard]] Liveness probe(const ior::Ior& reference, std::chrono::nanoseconds timeout);

} // namespace kairos::nameserver
