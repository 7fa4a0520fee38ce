// SPDX-License-Identifier: Apache-2.0
//
// Repositories in the PostgreSQL server that a test has.
#pragma once

#include "kairos/postgres/postgres_testing.h"
#include "kairos/repository/open_store.h"

#include <memory>
#include <stdexcept>
#include <utility>

namespace kairos::repository {

/// An empty store, and behind its back.
class PostgresBackend : public postgres::Schema {
  public:
    [[nodiscard]] Result<std::unique_ptr<Store>> open() const { return open_store(url()); }
    /// Opens it where nothing is in the way.
    [[nodiscard]] std::unique_ptr<Store> opened() const
    {
        auto store = open();
        if (!store) throw std::runtime_error(store.error().reason);
        return std::move(store).value();
    }
    void damage() const { execute("UPDATE kairos_definition SET octets = '\\x01ff'"); }
};

} // namespace kairos::repository
