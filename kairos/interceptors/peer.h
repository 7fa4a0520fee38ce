// SPDX-License-Identifier: Apache-2.0
//
// What Kairos tells server interceptors beside the OMG's attributes.
#pragma once

#include "kairos/base/export.h"
#include "kairos/interceptors/PortableInterceptor.h"

#include <string>

namespace kairos::interceptors {

/// Returns the address that the request came from, as "127.0.0.1:40312" or, over a Unix socket,
/// "unix:process 17, user 1000"; empty if the caller is in this process. To be called at a point:
/// throws BAD_INV_ORDER 14 elsewhere, and BAD_PARAM for what is no request of Kairos's.
[[nodiscard]] KAIROS_API std::string peer_of(PortableInterceptor::ServerRequestInfo_ptr request);

} // namespace kairos::interceptors
