// SPDX-License-Identifier: Apache-2.0
#include "kairos/eventstore/open_store.h"

#include "kairos/eventstore/sqlite_store.h"
#ifdef KAIROS_POSTGRES
#include "kairos/eventstore/postgres_store.h"
#endif

namespace kairos::eventstore {

namespace {

bool is_database(const std::string& where)
{
    return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

} // namespace

Result<std::unique_ptr<notification::Shares>> open_shares(const std::string& where,
                                                          [[maybe_unused]] unsigned count)
{
#ifdef KAIROS_POSTGRES
    if (is_database(where) && count > 1) return open_postgres_shares({.url = where}, count);
#endif
    return std::unique_ptr<notification::Shares>(); // open_store says what it is
}

Result<std::unique_ptr<notification::Store>> open_store(const std::string& where,
                                                        [[maybe_unused]] const Standby& standby)
{
    if (!is_database(where)) return open_sqlite_store({.path = where});
#ifdef KAIROS_POSTGRES
    return open_postgres_store({.url = where, .stand_by = standby.stand_by, .lost = standby.lost});
#else
    return Error{ErrorCode::invalid_argument,
                 "a store in PostgreSQL: this notification service was built without libpq"};
#endif
}

} // namespace kairos::eventstore
