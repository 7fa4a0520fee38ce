// SPDX-License-Identifier: Apache-2.0
//
// The client threads of a load (load.h): what they call is the program's affair. One run at a time,
// from the main thread.
#pragma once

#include "bench/load.h"

#include <cstdint>
#include <functional>

namespace kairos::bench {

/// Sends the number and returns what came back. A failure is thrown.
using CubeCall = std::function<std::uint8_t(std::uint8_t number)>;
/// Called by each thread for itself, so that a connection may be its own.
using Connect = std::function<CubeCall(bool high)>;
/// Called when all are connected and have warmed up, just before they begin.
using OnReady = std::function<void()>;

/// All clients wait until the last is connected and has called, then begin together, as in the
/// paper: periodic ones are in phase, so that the high one always calls among the low ones. Ends
/// when the high client has made its calls. Throws what the first thread that failed threw.
[[nodiscard]] LoadFigures run_load(const Load& load, const Connect& connect,
                                   const OnReady& on_ready);

} // namespace kairos::bench
