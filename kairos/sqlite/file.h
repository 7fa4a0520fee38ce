// SPDX-License-Identifier: Apache-2.0
//
// The file of a store: one process at a time has it, and nobody but its owner reads it.
#pragma once

#include "kairos/base/result.h"
#include "kairos/sqlite/connection.h"

#include <memory>
#include <string>

namespace kairos::sqlite {

/// Makes the database's file if there is none. Before SQLite opens it: closing any descriptor of it
/// later would drop SQLite's locks. Files that were made by others, or before there was a rule, are
/// closed to all but the owner and the group, which an administrator may have meant.
[[nodiscard]] Result<void> make_private(const std::string& path);

/// Held while a process has the store open; the kernel gives it back when the process ends. A file
/// of its own: closing any descriptor of the database would drop SQLite's locks on it.
class FileLock {
  public:
    /// `owner` is what the message calls whoever has the store: "name server".
    [[nodiscard]] static Result<std::unique_ptr<FileLock>> take(const std::string& path,
                                                                const std::string& owner);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

  private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    const int descriptor_;
};

/// Runs a statement that answers with one value; fails, with what is said for that, for any other
/// value than this.
[[nodiscard]] Result<void> require(Connection& connection, const char* pragma,
                                   const std::string& expected, const std::string& otherwise);

} // namespace kairos::sqlite
