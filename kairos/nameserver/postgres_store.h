// SPDX-License-Identifier: Apache-2.0
//
// The store of any number of name servers in one PostgreSQL database. A change is committed when it
// is answered, and seen by all of them then. A connection that is lost is made again when it is
// needed; while that fails the store is `unreachable`. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/nameserver/store.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace kairos::nameserver {

struct KAIROS_API PostgresOptions {
    std::string url;             ///< as libpq takes it: postgresql://user@host/database
    std::size_t connections = 4; ///< calls that may be in the database at the same time
    /// The time of each operation, with everything that it waits for. When it was over, operations
    /// are unreachable at once for as long, so that those who wait do not wait one after the other.
    std::chrono::milliseconds timeout{3000};
    std::chrono::milliseconds opening_timeout{4000}; ///< of open_postgres_store
};

/// Makes the tables where there are none. Fails for a database that cannot be reached, and for
/// tables of another version.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Store>>
open_postgres_store(const PostgresOptions& options);

} // namespace kairos::nameserver
