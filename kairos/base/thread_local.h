// SPDX-License-Identifier: Apache-2.0
//
// How the call path finds what belongs to its thread.
#pragma once

/// For thread-local pointers that every call looks at: two instructions find them, not a call of
/// the loader. They lie in the memory that each thread has from its start; there the C library
/// keeps room for libraries that a program loads later, as long as they have little of the kind.
#define KAIROS_NEAR [[gnu::tls_model("initial-exec")]]
