// SPDX-License-Identifier: Apache-2.0
//
// How many bytes an operation or a struct adds to the object files of its stubs and skeletons,
// compiled and interpreted: what --code-budget is counted in. An estimate from what it is made of,
// for x86-64 and -O2; tests/profile/code_size_test.py holds it against real object files.
#pragma once

#include "idlc/profile_choice.h"

namespace kairos::idlc {

[[nodiscard]] CodeSizes cpp_code_sizes();

} // namespace kairos::idlc
