// SPDX-License-Identifier: Apache-2.0
//
// A store by its name, as a command line has it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/notification/store.h"

#include <functional>
#include <memory>
#include <string>

namespace kairos::eventstore {

/// What a service does about others that have the same database, as PostgresOptions has it.
struct Standby {
    std::function<bool()> stand_by{};
    std::function<void()> lost{};
};

/// `postgresql://…` is a PostgreSQL database, of which one service at a time is the owner; anything
/// else is the path of a file. Fails as the store of the kind does, and for kinds that this library
/// was built without.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<notification::Store>>
open_store(const std::string& where, const Standby& standby = {});

} // namespace kairos::eventstore
