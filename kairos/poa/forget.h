// SPDX-License-Identifier: Apache-2.0
//
// Servants that are destroyed while they are active: who has to forget them (servant.h, `forget`).
// Nobody else takes these locks; adapters come and go with their ORBs. Any thread.
#pragma once

#include "kairos/poa/servant.h"

namespace kairos::poa {

class Adapters;

/// Has all adapters of an ORB asked to forget servants from now on, until ask_no_more().
void ask_to_forget(Adapters& adapters);
/// Has the adapters of an ORB asked no more.
void ask_no_more(Adapters& adapters) noexcept;

/// Returns what stands where a servant was while something still refers to it; it is no object, and
/// is not counted.
[[nodiscard]] Servant& gone_servant();

} // namespace kairos::poa
