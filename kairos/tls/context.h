// SPDX-License-Identifier: Apache-2.0
//
// What the -ORBTls… options come to: a context for the clients of an ORB and one for its servers,
// which their connections share. TLS 1.2 and 1.3; no renegotiation, no compression, no early data.
#pragma once

#include "kairos/base/result.h"
#include "kairos/orb/options.h"
#include "kairos/tls/openssl.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kairos::tls {

enum class Side : std::uint8_t { client, server };

/// Returns the context of clients, or that of servers, who have to have a certificate; an error
/// names the option and the file that cannot be used.
[[nodiscard]] Result<ContextPointer> make_context(Side side, const orb::TlsOptions& options);
/// Returns the files and folders from which that is made.
[[nodiscard]] std::vector<std::string> files_of(Side side, const orb::TlsOptions& options);

} // namespace kairos::tls
