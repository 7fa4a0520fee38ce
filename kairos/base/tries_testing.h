// SPDX-License-Identifier: Apache-2.0
//
// How often a test tries what takes many tries to be seen.
#pragma once

namespace kairos {

/// Returns `usual`, and with a sanitizer, where each try takes many times as long, an eighth.
template <typename Count>
constexpr Count tries(Count usual)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return usual / 8;
#else
    return usual;
#endif
}

} // namespace kairos
