// SPDX-License-Identifier: Apache-2.0
#include "kairos/repository/open_store.h"

#include "kairos/repository/sqlite_store.h"
#ifdef KAIROS_POSTGRES
#include "kairos/repository/postgres_store.h"
#endif

#include <utility>

namespace kairos::repository {

Result<std::unique_ptr<Store>> open_store(const std::string& where)
{
    if (!where.starts_with("postgresql://") && !where.starts_with("postgres://")) {
        auto opened = SqliteStore::open(where);
        if (!opened) return opened.error();
        return std::unique_ptr<Store>(std::move(opened).value());
    }
#ifdef KAIROS_POSTGRES
    return open_postgres_store({.url = where});
#else
    return Error{ErrorCode::invalid_argument,
                 "a store in PostgreSQL: this Interface Repository was built without libpq"};
#endif
}

} // namespace kairos::repository
