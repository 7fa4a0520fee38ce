// SPDX-License-Identifier: Apache-2.0
//
// KAIROS_CHECK states what only a programmer's error can make false; it stays on in release builds.
// Nothing that a peer sends may reach it: bad input is a value (result.h).
#pragma once

#include "kairos/base/export.h"

namespace kairos {

/// Prints the failed condition and its place on standard error and aborts.
[[noreturn, gnu::cold]] KAIROS_API void check_failed(const char* condition, const char* file,
                                                     int line) noexcept;

} // namespace kairos

#define KAIROS_CHECK(condition)                                                                    \
    (__builtin_expect(static_cast<bool>(condition), 1)                                             \
         ? static_cast<void>(0)                                                                    \
         : ::kairos::check_failed(#condition, __FILE__, __LINE__))
