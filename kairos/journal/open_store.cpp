// SPDX-License-Identifier: Apache-2.0
#include "kairos/journal/open_store.h"

#include "kairos/journal/sqlite_journal.h"
#ifdef KAIROS_POSTGRES
#include "kairos/journal/postgres_journal.h"
#endif

namespace kairos::journal {

Result<std::unique_ptr<Journal>> open_store(const std::string& where, const JournalKind& kind)
{
    if (!where.starts_with("postgresql://") && !where.starts_with("postgres://"))
        return open_sqlite_journal({.path = where}, kind);
#ifdef KAIROS_POSTGRES
    return open_postgres_journal({.url = where}, kind);
#else
    return Error{ErrorCode::invalid_argument, std::string("a store in PostgreSQL: this ") +
                                                  kind.owner + " was built without libpq"};
#endif
}

} // namespace kairos::journal
