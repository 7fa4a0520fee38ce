// SPDX-License-Identifier: Apache-2.0
//
// Connections made before they are needed (-ORBBindEarly): what the first call would wait for, it
// finds done.
#pragma once

namespace kairos::orb {

class Reference;

/// Makes the connection that calls of this thread on the reference would use, unless there is one.
/// Only logs that nobody can be reached: that is the first call's to raise.
void bind_early(Reference& reference);

} // namespace kairos::orb
