// SPDX-License-Identifier: Apache-2.0
//
// A store by its name, as a command line has it.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/notification/shares.h"
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

/// How many shares a database has where nobody says it; from 1, which is none, to 63.
inline constexpr unsigned shares_usual = 8;

/// The shares of a database that several services have together, made where there is nothing yet.
/// Null for anything that one service has alone, which is what open_store opens: a file, and a
/// database that was made for one.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<notification::Shares>>
open_shares(const std::string& where, unsigned count = shares_usual);

} // namespace kairos::eventstore
