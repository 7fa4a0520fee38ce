// SPDX-License-Identifier: Apache-2.0
//
// How often a test tries what it chooses at random.
#pragma once

namespace kairos {

/// Returns `usual`, and with AddressSanitizer, where each try takes many times as long, an eighth.
template <typename Count>
constexpr Count random_tries(Count usual)
{
#if defined(__SANITIZE_ADDRESS__)
    return usual / 8;
#else
    return usual;
#endif
}

} // namespace kairos
