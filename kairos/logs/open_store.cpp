// SPDX-License-Identifier: Apache-2.0
#include "kairos/logs/open_store.h"

#ifdef KAIROS_POSTGRES
#include "kairos/logs/postgres_store.h"
#endif

namespace kairos::logs {

Result<std::unique_ptr<Store>> open_named_store(const std::string& where,
                                                [[maybe_unused]] const Standby& standby)
{
    if (!where.starts_with("postgresql://") && !where.starts_with("postgres://"))
        return open_store({.path = where});
#ifdef KAIROS_POSTGRES
    return open_postgres_store({.url = where, .stand_by = standby.stand_by, .lost = standby.lost});
#else
    return Error{ErrorCode::invalid_argument,
                 "a store in PostgreSQL: this log service was built without libpq"};
#endif
}

} // namespace kairos::logs
