// SPDX-License-Identifier: Apache-2.0
//
// A journal by its name, as a command line has it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/journal.h"
#include "kairos/base/result.h"

#include <memory>
#include <string>

namespace kairos::journal {

/// `postgresql://…` is a PostgreSQL database, which services share; anything else is the path of a
/// file. Fails as the journal of that kind does, and for databases that this library was built
/// without.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Journal>> open_store(const std::string& where,
                                                                     const JournalKind& kind);

} // namespace kairos::journal
