// SPDX-License-Identifier: Apache-2.0
//
// How the program of the tests is a service that has some of the channels of a database.
#pragma once

namespace kairos::eventstore {

/// The program's first argument where it is one; those of serve_shares() follow.
inline constexpr char serve_argument[] = "serve-shares";

/// Serves at the address until SIGTERM, which it says when it does; returns the exit status.
int serve_shares(const char* url, const char* address, const char* published);

} // namespace kairos::eventstore
