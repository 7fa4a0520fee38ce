// SPDX-License-Identifier: Apache-2.0
//
// The ORBs of the process, for fork(): while it forks nobody changes what they have, so that the
// child finds it whole, and each ORB of the child is told that it was inherited (Orb::start_over).
// Any thread.
#pragma once

namespace kairos::orb {

class Orb;

/// Has the ORB told of forks from here on; the first time, registers with the system for that.
void watch_forks(Orb& orb);
/// Tells an ORB that ends of forks no more.
void forget_forks(Orb& orb) noexcept;

} // namespace kairos::orb
