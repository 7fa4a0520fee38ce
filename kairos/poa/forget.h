// SPDX-License-Identifier: Apache-2.0
//
// Servants that are destroyed while they are active: who has to forget them (servant.h, `forget`).
// Nobody else takes these locks; adapters come and go with their ORBs. Any thread.
#pragma once

#include "kairos/poa/servant.h"

namespace kairos::poa {

class Adapters;

/// All adapters of an ORB are asked from now on, until they are taken away again.
void ask_to_forget(Adapters& adapters);
void ask_no_more(Adapters& adapters) noexcept;

/// Stands where a servant was while something refers to it still: is no object, and is not counted.
[[nodiscard]] Servant& gone_servant();

} // namespace kairos::poa
