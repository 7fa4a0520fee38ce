// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/open_store.h"

#include "kairos/nameserver/sqlite_store.h"
#ifdef KAIROS_POSTGRES
#include "kairos/nameserver/postgres_store.h"
#endif

namespace kairos::nameserver {

Result<std::unique_ptr<Store>> open_store(const std::string& where)
{
    if (!where.starts_with("postgresql://") && !where.starts_with("postgres://"))
        return open_sqlite_store({.path = where});
#ifdef KAIROS_POSTGRES
    return open_postgres_store({.url = where});
#else
    return Error{ErrorCode::invalid_argument,
                 "a store in PostgreSQL: this name server was built without libpq"};
#endif
}

} // namespace kairos::nameserver
