// SPDX-License-Identifier: Apache-2.0
//
// The store of a notification service in a PostgreSQL database, which one service at a time owns.
// Others stand by, and have all that was acknowledged when it is gone.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/notification/shares.h"
#include "kairos/notification/store.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace kairos::eventstore {

struct KAIROS_API PostgresOptions {
    std::string url; ///< as libpq takes it: postgresql://user@host/database
    /// The time of each change, with everything that it waits for; then it is busy, or broken where
    /// nobody knows whether it was made.
    std::chrono::milliseconds timeout{3000};
    std::chrono::milliseconds opening_timeout{4000}; ///< of what is asked before it is open
    /// Between looks whether the store is owned still, and attempts to reach a database that is
    /// away.
    std::chrono::milliseconds watch_interval{1000};
    /// Called while another service owns the store, before that is asked again; it waits as long as
    /// it likes, and says by false that nobody wants the store any more. Where there is none the
    /// store is refused then.
    std::function<bool()> stand_by{};
    /// Called once, by any thread, when another service has become the owner: nothing is written
    /// any more, so the service that has this store is to end. It must not call the store.
    std::function<void()> lost{};
};

/// Makes the tables where there are none. Fails for a database that cannot be reached, for tables
/// of another version, and with ErrorCode::closed where another service owns them.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<notification::Store>>
open_postgres_store(const PostgresOptions& options);

/// Several stores in one database, of which each of several services has some. Makes the tables, so
/// many, where there are none. Null where the database has a store that one service has alone.
/// Fails for a database that cannot be reached. `stand_by` and `lost` of the options mean nothing.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<notification::Shares>>
open_postgres_shares(const PostgresOptions& options, unsigned count);

} // namespace kairos::eventstore
