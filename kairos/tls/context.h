// SPDX-License-Identifier: Apache-2.0
//
// What the -ORBTls… options come to: a context for the clients of an ORB and one for its servers,
// which their connections share. TLS 1.2 and 1.3; no renegotiation, no compression, no early data.
#pragma once

#include "kairos/base/result.h"
#include "kairos/orb/options.h"
#include "kairos/tls/openssl.h"

namespace kairos::tls {

/// Returns the context of clients; an error names the option and the file that cannot be used.
[[nodiscard]] Result<ContextPointer> make_client_context(const orb::TlsOptions& options);
/// Returns the context of servers, who have to have a certificate.
[[nodiscard]] Result<ContextPointer> make_server_context(const orb::TlsOptions& options);

} // namespace kairos::tls
