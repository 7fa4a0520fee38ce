// SPDX-License-Identifier: Apache-2.0
//
// The journal of any number of services in one PostgreSQL database: each has a replica, any of them
// changes it, and what one has changed the others take in when the database tells them.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/journal.h"
#include "kairos/base/result.h"

#include <chrono>
#include <memory>
#include <string>

namespace kairos::journal {

struct KAIROS_API PostgresOptions {
    std::string url; ///< as libpq takes it: postgresql://user@host/database
    /// The time of each change, with everything that it waits for. When it was over, changes are
    /// `busy` at once for as long, so that those who wait do not wait one after the other.
    std::chrono::milliseconds timeout{3000};
    std::chrono::milliseconds opening_timeout{4000}; ///< of open_postgres_journal
    /// Between looks whether something was missed, and attempts to reach a database that is away.
    std::chrono::milliseconds watch_interval{1000};
    /// Of what was erased so many changes ago nothing is left: a replica that is farther behind
    /// loads all rows anew.
    std::uint64_t changes_kept = 10'000;
};

/// Makes the tables where there are none. Fails for a database that cannot be reached, and for
/// tables of another version.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Journal>>
open_postgres_journal(const PostgresOptions& options, const JournalKind& kind);

} // namespace kairos::journal
