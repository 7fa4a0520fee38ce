// SPDX-License-Identifier: Apache-2.0
//
// What somebody waits for at a descriptor.
#pragma once

#include <cstdint>

namespace kairos::net {

enum class Interest : std::uint8_t {
    none, ///< stays registered, costs nothing, hears nothing: how a reader is throttled
    readable,
    writable,
    readable_and_writable,
};

} // namespace kairos::net
