// SPDX-License-Identifier: Apache-2.0
//
// What somebody waits for at a descriptor.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>

namespace kairos::net {

enum class Interest : std::uint8_t {
    none, ///< stays registered, costs nothing, hears nothing: how a reader is throttled
    readable,
    writable,
    readable_and_writable,
};

/// Returns the `events` of a pollfd that stand for this interest; 0 for none.
[[nodiscard]] KAIROS_API short poll_events(Interest interest) noexcept;

} // namespace kairos::net
