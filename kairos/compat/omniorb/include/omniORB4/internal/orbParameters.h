// SPDX-License-Identifier: Apache-2.0
//
// Parameters of omniORB that programs read.
#pragma once

#include "omniORB4/omniORB.h"

namespace omni::orbParameters {

/// Reads as a number: what omniORB::giopMaxMsgSize() returns at that moment.
struct MessageSizeMax {
    operator CORBA::ULong() const { return omniORB::giopMaxMsgSize(); }
};
inline constexpr MessageSizeMax giopMaxMsgSize{};

} // namespace omni::orbParameters
