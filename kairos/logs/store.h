// SPDX-License-Identifier: Apache-2.0
//
// What a log service keeps: logs, and their records as octets, behind an interface without CORBA's
// calls. Any thread.
#pragma once

#include "kairos/base/export.h"
#include "kairos/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kairos::logs {

/// A log in its store: its kind, and its id among those of the kind.
using LogKey = std::uint64_t;

/// A record. Numbers of a log's records are never used twice; times do not run backwards from one
/// to the next.
struct Row {
    std::uint64_t number = 0;
    std::uint64_t time = 0;   ///< as TimeBase::TimeT
    std::string attributes{}; ///< encapsulated; empty for none
    std::string info{};       ///< encapsulated
    /// What a record counts as that has so many octets of both.
    static constexpr std::size_t counted(std::size_t octets) noexcept { return octets + 16; }
    [[nodiscard]] std::size_t octets() const noexcept
    {
        return counted(attributes.size() + info.size());
    }
};
using RowPtr = std::shared_ptr<const Row>;

/// What is known of a record that is not read.
struct Brief {
    std::uint64_t number = 0;
    std::uint64_t time = 0;
    std::size_t octets = 0;
    std::size_t attributes = 0; ///< octets of these among them
};

/// What is counted of a log.
struct Counts {
    std::uint64_t next = 1; ///< the number of its next record
    std::uint64_t records = 0;
    std::uint64_t octets = 0;
    std::uint64_t newest = 0; ///< the time of its last record, whether that is still there or not
};

struct KeptLog {
    LogKey key = 0;
    std::string settings{}; ///< encapsulated
    Counts counts{};
};

enum class StoreStatus : std::uint8_t {
    done,
    not_found,
    full,   ///< no room for the change: nothing happened
    broken, ///< the store cannot be read or written
    busy,   ///< others took too long before: nothing happened
};

/// What a change is made of. What is not `done` or `not_found` ends the change.
class KAIROS_API Tables {
  public:
    [[nodiscard]] virtual StoreStatus insert(LogKey log, const RowPtr& row) = 0;
    [[nodiscard]] virtual StoreStatus erase(LogKey log, std::uint64_t number) = 0;
    [[nodiscard]] virtual StoreStatus set_attributes(LogKey log, std::uint64_t number,
                                                     const std::string& attributes) = 0;
    /// The first record that has this number or a larger one.
    [[nodiscard]] virtual StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) = 0;
    [[nodiscard]] virtual StoreStatus set_counts(LogKey log, const Counts& counts) = 0;
    /// Enters a log, or changes the one of this key.
    [[nodiscard]] virtual StoreStatus put_log(const KeptLog& log) = 0;
    [[nodiscard]] virtual StoreStatus erase_log(LogKey log) = 0;
    /// Changes something, so that there is a change to be made durable.
    [[nodiscard]] virtual StoreStatus touch() = 0;
    /// The last key that was chosen for a log, so that none is chosen twice.
    [[nodiscard]] virtual StoreStatus set_last_key(LogKey key) = 0;

  protected:
    ~Tables() = default;
};

/// All of it happens or nothing. Changes are made one after the other.
class Change {
  public:
    /// Anything but `done` says that the store has failed, and undoes what was done. May be called
    /// again, after undo().
    [[nodiscard]] virtual StoreStatus make(Tables& tables) = 0;
    /// What was made did not last.
    virtual void undo() noexcept = 0;
    /// Whether there is more room after it: then it may have what is kept for a full disk.
    [[nodiscard]] virtual bool makes_room() const noexcept = 0;

  protected:
    ~Change() = default;
};

/// Which records are read.
struct Span {
    std::uint64_t from = 0; ///< the first one, or the last one that may be
    bool is_backwards = false;
    std::size_t count_max = 0;
    std::size_t octets_max = 0; ///< one may exceed it
};

class KAIROS_API Store {
  public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// Whether it outlives the process.
    [[nodiscard]] virtual bool is_durable() const noexcept = 0;
    /// Fills in what was there when the store was opened. To be called once, before anything else.
    /// `last_keys` are those of Tables::set_last_key.
    [[nodiscard]] virtual StoreStatus load(std::vector<KeptLog>& logs,
                                           std::vector<LogKey>& last_keys) = 0;
    /// Returns when the change can be read; if it is to be `safe`, when it also outlasts a loss of
    /// power, with all that was changed before.
    [[nodiscard]] virtual StoreStatus change(Change& change, bool safe) = 0;
    /// Appends to `rows`. What nobody wrote like this is left out.
    [[nodiscard]] virtual StoreStatus read(LogKey log, const Span& span,
                                           std::vector<RowPtr>& rows) = 0;
    /// Appends the numbers alone; `octets_max` means nothing.
    [[nodiscard]] virtual StoreStatus read_numbers(LogKey log, const Span& span,
                                                   std::vector<std::uint64_t>& numbers) = 0;
    /// As Tables::first, of what can be read.
    [[nodiscard]] virtual StoreStatus first(LogKey log, std::uint64_t from, Brief& brief) = 0;
};

/// Makes a store of this process, of so many octets of records.
[[nodiscard]] KAIROS_API std::unique_ptr<Store> make_memory_store(std::size_t octets_max);

struct StoreOptions {
    std::string path;            ///< made if it is not there; its folder must be
    std::size_t readers = 4;     ///< reads that may run at the same time
    std::uint32_t pages_max = 0; ///< of 4 KiB, beyond which the store is full; 0: the disk's limit
};

/// Opens a store in an SQLite file. Fails for a file that is somebody else's or a later version's,
/// that cannot be written, or that another log service has open.
[[nodiscard]] KAIROS_API Result<std::unique_ptr<Store>> open_store(const StoreOptions& options);

} // namespace kairos::logs
