// SPDX-License-Identifier: Apache-2.0
//
// An Interface Repository in an SQLite file. One process has it open at a time.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"
#include "kairos/repository/store.h"

#include <memory>
#include <string>

namespace kairos::repository {

class KAIROS_API SqliteStore final : public Store {
  public:
    /// Opens the file, which is made if it is not there. An Error says why that cannot be: it is of
    /// somebody else, another server has it, it was written by a newer version.
    [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(const std::string& path);
    ~SqliteStore() override;

    [[nodiscard]] std::uint64_t identity() const noexcept override { return identity_; }
    [[nodiscard]] Result<Kept> read() override;
    [[nodiscard]] Result<void> write(const std::vector<const Definition*>& written,
                                     const std::vector<Key>& erased, Key next) override;

  private:
    struct Database;

    explicit SqliteStore(std::unique_ptr<Database> database);

    const std::unique_ptr<Database> database_;
    std::uint64_t identity_ = 0;
};

} // namespace kairos::repository
