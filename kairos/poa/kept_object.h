// SPDX-License-Identifier: Apache-2.0
//
// An object that stays as it is until a request to it is answered, after its servant's operation
// has returned (orb/owed_answer.h).
#pragma once

#include "kairos/base/export.h"
#include "kairos/orb/owed_answer.h"

#include <memory>

namespace kairos::poa {

/// Returns what keeps the object that the calling thread serves a request of: if it is deactivated
/// meanwhile it is not etherealized, and its adapter does not end, until this is gone. Null where
/// the thread serves none.
[[nodiscard]] KAIROS_API std::unique_ptr<orb::OwedAnswer::Kept> keep_called();

} // namespace kairos::poa
