// SPDX-License-Identifier: Apache-2.0
//
// Making connections. Blocks the calling thread; never asks a name server (address.h: resolve()).
// No state: any thread may connect at any time.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/net/address.h"
#include "kairos/net/socket.h"

#include <chrono>
#include <optional>
#include <span>

namespace kairos::net {

/// Returns a connected, blocking socket with these options. Queue sizes are set before connecting,
/// because TCP agrees on its window scale then. ErrorCode::unreachable with the system's errno when
/// nobody could be reached, ETIMEDOUT when it took longer than `timeout`; nullopt waits as long as
/// the system does, which for a host that drops packets is minutes.
[[nodiscard]] KAIROS_API Result<Socket>
connect(const Address& address, const SocketOptions& options = {},
        std::optional<std::chrono::nanoseconds> timeout = {});

/// Connects to the first of the addresses that can be reached, tried in order. The timeout holds
/// for all together: each attempt may use its equal share of the time that is left, so that one
/// dead address cannot use up the time of those after it. The error names every attempt.
[[nodiscard]] KAIROS_API Result<Socket>
connect_any(std::span<const Address> addresses, const SocketOptions& options = {},
            std::optional<std::chrono::nanoseconds> timeout = {});

} // namespace kairos::net
