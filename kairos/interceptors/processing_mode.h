// SPDX-License-Identifier: Apache-2.0
//
// Of which calls and requests an interceptor is told: of those that stay within the process, those
// that leave it, or both (CORBA 3.3 part 1, 16.7.4).
#pragma once

#include "kairos/corba/orb.h"
#include "kairos/interceptors/PortableInterceptor.h"

namespace kairos::interceptors {

/// Makes the ORB's create_policy know PROCESSING_MODE_POLICY_TYPE.
void know_processing_modes(CORBA::ORB& orb);

/// Returns what these policies say; LOCAL_AND_REMOTE if they do not. Nil ones say nothing. Throws
/// INV_POLICY for two of them, PolicyError for others than processing modes.
[[nodiscard]] PortableInterceptor::ProcessingMode
processing_mode_of(const CORBA::PolicyList& policies);

} // namespace kairos::interceptors
