// SPDX-License-Identifier: Apache-2.0
#include "kairos/sqlite/store_file.h"

#include <filesystem>
#include <system_error>

namespace kairos::sqlite {
namespace {

/// Kept on the disk: more than what the log has, usually up to 1000 pages, may add to the file.
constexpr std::size_t reserve_octets = std::size_t{8} << 20;

Result<void> prepare_store_schema(Connection& connection, const StoreKind& kind)
{
    const std::string id = std::to_string(kind.application_id);
    const std::string version = std::to_string(kind.schema_version);
    const auto tables = connection.value_of("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == "0") {
        const std::string made = std::string("BEGIN IMMEDIATE;") + kind.schema +
                                 "PRAGMA application_id = " + id +
                                 ";PRAGMA user_version = " + version + ";COMMIT;";
        if (auto done = connection.execute(made.c_str()); !done) return done;
    }
    const std::string owner = kind.owner;
    if (auto ours =
            require(connection, "PRAGMA application_id", id, "is not a " + owner + "'s store");
        !ours)
        return ours;
    return require(connection, "PRAGMA user_version", version,
                   "was written by another version of the " + owner);
}

Result<std::unique_ptr<Connection>> open_writer(const StoreKind& kind, const std::string& path,
                                                std::uint32_t pages_max)
{
    auto opened = Connection::open(path);
    if (!opened) return opened;
    Connection& writer = **opened;
    if (const auto wal = require(writer, "PRAGMA journal_mode = WAL", "wal",
                                 "is where SQLite cannot keep a write-ahead log");
        !wal)
        return wal.error();
    // A row that nobody wrote like this may be anything, so the schema is not trusted either.
    // What is deleted is not overwritten: that would need as much room as it has, in the log. Which
    // is cut off where it had to become large.
    if (const auto set = writer.execute("PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL; "
                                        "PRAGMA secure_delete = OFF; "
                                        "PRAGMA journal_size_limit = 16777216");
        !set)
        return set.error();
    if (const auto ours = prepare_store_schema(writer, kind); !ours) return ours.error();
    if (pages_max != 0) {
        const std::string limit = "PRAGMA max_page_count = " + std::to_string(pages_max);
        if (const auto set = writer.execute(limit.c_str()); !set) return set.error();
    }
    if (const auto prepared = writer.prepare(kind.statements); !prepared) return prepared.error();
    return opened;
}

/// An error that names the file.
Error refused(const std::string& path, const Error& error)
{
    const bool named = error.reason.find(path) != std::string::npos;
    return {error.code, named ? error.reason : path + ": " + error.reason, error.system_errno};
}

} // namespace

Result<std::unique_ptr<StoreFile>> StoreFile::open(const StoreKind& kind, const std::string& path,
                                                   std::uint32_t pages_max)
{
    // Two names of one file must be one lock.
    std::error_code ignored;
    const auto canonical = std::filesystem::weakly_canonical(path, ignored);
    const std::string real = canonical.empty() ? path : canonical.string();

    auto lock = FileLock::take(real, kind.owner);
    if (!lock) return refused(path, lock.error());
    if (const auto made = make_private(real); !made) return refused(path, made.error());
    auto connection = open_writer(kind, real, pages_max);
    if (!connection) return refused(path, connection.error());
    return std::unique_ptr<StoreFile>(
        new StoreFile(kind, real, std::move(lock).value(), std::move(connection).value()));
}

StoreFile::StoreFile(StoreKind kind, std::string path, std::unique_ptr<FileLock> lock,
                     std::unique_ptr<Connection> connection)
    : kind_(kind), path_(std::move(path)), lock_(std::move(lock)),
      connection_(std::move(connection)), reserve_(path_ + "-room", reserve_octets)
{
}

Result<std::unique_ptr<Connection>> StoreFile::open_reader() const
{
    auto opened = Connection::open(path_);
    if (!opened) return refused(path_, opened.error());
    if (const auto set = (*opened)->execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON");
        !set)
        return refused(path_, set.error());
    if (const auto prepared = (*opened)->prepare(kind_.statements); !prepared)
        return refused(path_, prepared.error());
    return opened;
}

/// FULL: a commit returns when the log is on the disk, with all of it that was not before.
bool StoreFile::set_safe(bool safe)
{
    if (safe == is_safe_) return true;
    if (!connection_->execute(safe ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"))
        return false;
    is_safe_ = safe;
    return true;
}

} // namespace kairos::sqlite
