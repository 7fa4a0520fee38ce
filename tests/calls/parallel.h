// SPDX-License-Identifier: Apache-2.0
//
// Calls of several threads to one object at the same time, as checks of any ORB on any other: each
// gets its own results, and no call waits for another's reply. Plain mapping code, for any ORB.
#pragma once

#include "peer_orb.h"

#include <string>
#include <vector>

namespace calls {

/// Makes the calls and says what did not hold; empty if all did. `own` is where the server calls
/// back to; its manager must be active.
[[nodiscard]] std::vector<std::string> call_in_parallel(Types::Echo_ptr server,
                                                        PortableServer::POA_ptr own);

/// How many threads there are at most.
constexpr int parallel_callers = 8;

} // namespace calls
