// SPDX-License-Identifier: Apache-2.0
//
// An Interface Repository in a PostgreSQL database, for one server at a time: that has it as long
// as its connection lives. A connection that is lost is made again when it is needed.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/repository/store.h"

#include <chrono>
#include <memory>
#include <string>

namespace kairos::repository {

struct KAIROS_API PostgresOptions {
    std::string url; ///< as libpq takes it: postgresql://user@host/database
    /// The time of each statement, and to make a lost connection again. When it was over, the store
    /// is unreachable at once for as long. Three quarters of it the server may work at a statement,
    /// and may another server have what it waits for.
    std::chrono::milliseconds timeout{3000};
    std::chrono::milliseconds opening_timeout{4000}; ///< of connecting in open_postgres_store
};

/// Makes the tables where there are none. Fails for a database that cannot be reached, for tables
/// of another version, and while another server has them.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Store>>
open_postgres_store(const PostgresOptions& options);

} // namespace kairos::repository
