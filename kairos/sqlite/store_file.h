// SPDX-License-Identifier: Apache-2.0
//
// A store that one process has in one file, with a write-ahead log: what it is opened by, and how
// it is written so that a commit is as durable as it is to be.
#pragma once

#include "kairos/base/result.h"
#include "kairos/sqlite/connection.h"
#include "kairos/sqlite/file.h"
#include "kairos/sqlite/reserve.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace kairos::sqlite {

/// Whose file it is, and what is in it.
struct StoreKind {
    const char* owner;                       ///< what messages call who has it: "log service"
    int application_id;                      ///< SQLite's, in the file
    int schema_version;                      ///< likewise, as its user_version
    const char* schema;                      ///< statements that make the tables
    std::span<const char* const> statements; ///< that its connections have
};

/// What an extended code of SQLite's means for a store, whose statuses are `done`, `full`, `busy`
/// and `broken`.
template <typename Status>
[[nodiscard]] Status status_of(int code) noexcept
{
    switch (code & 0xff) {
    case SQLITE_OK:
        return Status::done;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
        return Status::full;
    case SQLITE_BUSY: // somebody else's lock, for longer than we wait
        return Status::busy;
    default:
        return Status::broken;
    }
}

/// Used by one thread at a time.
class StoreFile {
  public:
    /// Makes the file, its owner's alone, if it is not there. Fails for one that is somebody else's
    /// or a later version's, that cannot be written, or that another process has open. Beyond
    /// `pages_max` pages of 4 KiB the store is full; 0: the disk's limit.
    [[nodiscard]] static Result<std::unique_ptr<StoreFile>>
    open(const StoreKind& kind, const std::string& path, std::uint32_t pages_max);
    StoreFile(const StoreFile&) = delete;
    StoreFile& operator=(const StoreFile&) = delete;

    /// The one name that the file has.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] Connection& connection() const noexcept { return *connection_; }
    /// The room that is kept for when the disk is full.
    [[nodiscard]] Reserve& reserve() noexcept { return reserve_; }
    /// A connection of its own, for one thread that reads.
    [[nodiscard]] Result<std::unique_ptr<Connection>> open_reader() const;

    /// Has commits that follow return when they are on the disk, with all that was not before, if
    /// they are to be `safe`; else when they outlast the process. Returns false where SQLite does
    /// not do that.
    [[nodiscard]] bool set_safe(bool safe);
    /// Has the write-ahead log begin anew, in the room that it has already: for who found none.
    void begin_log_anew() { (void)connection_->value_of("PRAGMA wal_checkpoint(RESTART)"); }

  private:
    StoreFile(StoreKind kind, std::string path, std::unique_ptr<FileLock> lock,
              std::unique_ptr<Connection> connection);

    const StoreKind kind_;
    const std::string path_;
    const std::unique_ptr<FileLock> lock_;
    const std::unique_ptr<Connection> connection_;
    Reserve reserve_;
    bool is_safe_ = true; // how it was told to write
};

} // namespace kairos::sqlite
