// SPDX-License-Identifier: Apache-2.0
#include "idlc/backend.h"

namespace kairos::idlc {

void BackEnd::add_options(CLI::App& /*app*/) {}

bool BackEnd::prepare(const Show& /*show*/) { return true; }

} // namespace kairos::idlc
