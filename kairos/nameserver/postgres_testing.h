// SPDX-License-Identifier: Apache-2.0
//
// Stores in the PostgreSQL server that a test has.
#pragma once

#include "kairos/nameserver/postgres_store.h"
#include "kairos/nameserver/store_testing.h"
#include "kairos/postgres/postgres_testing.h"

namespace kairos::nameserver {

/// An empty store, and behind its back.
class PostgresBackend : public postgres::Schema {
  public:
    [[nodiscard]] std::unique_ptr<Store> open(std::size_t connections = 2) const
    {
        auto store = open_postgres_store({.url = url(), .connections = connections});
        if (!store) throw std::runtime_error(store.error().reason);
        return std::move(store).value();
    }
    /// Waits for the transactions that have changed something, also of clients that were killed.
    void settle() const
    {
        const auto connection = postgres::Connection::open(url(), "test", {});
        for (const char* sql :
             {"BEGIN", "LOCK TABLE kairos_context, kairos_binding IN ACCESS EXCLUSIVE MODE",
              "COMMIT"})
            if (!connection || !(*connection)->execute(sql).ok())
                throw std::runtime_error("the tables could not be locked");
    }
};

} // namespace kairos::nameserver
