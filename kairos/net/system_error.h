// SPDX-License-Identifier: Apache-2.0
//
// How this module words what the operating system refused. Private to net: cold paths only.
#pragma once

#include "kairos/base/result.h"

#include <cstring>
#include <string>
#include <string_view>

namespace kairos::net {

/// An Error whose reason is "`what`: <the system's words for `error`>".
[[nodiscard, gnu::cold]] inline Error system_error(std::string_view what, int error,
                                                   ErrorCode code = ErrorCode::system)
{
    char buffer[128];
    std::string reason(what);
    reason += ": ";
    reason += ::strerror_r(error, buffer, sizeof buffer); // GNU's: returns the text to use
    return Error{code, std::move(reason), error};
}

} // namespace kairos::net
