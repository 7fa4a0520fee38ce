// SPDX-License-Identifier: Apache-2.0
//
// A store by its name, as a command line has it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/repository/store.h"

#include <memory>
#include <string>

namespace kairos::repository {

/// `postgresql://…` is a PostgreSQL database; anything else is the path of a file. Fails as the
/// store of the kind does, and for kinds that this library was built without.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Store>> open_store(const std::string& where);

} // namespace kairos::repository
