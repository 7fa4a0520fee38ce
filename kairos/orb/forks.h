// SPDX-License-Identifier: Apache-2.0
//
// The ORBs of the process, for fork(): while it forks nobody changes what they have, so that the
// child finds it whole, and each ORB of the child is told that it was inherited (Orb::start_over).
// Any thread.
#pragma once

namespace kairos::orb {

class Orb;

/// From here on; the first time the system is asked to tell of forks.
void watch_forks(Orb& orb);
/// The ORB ends.
void forget_forks(Orb& orb) noexcept;

} // namespace kairos::orb
