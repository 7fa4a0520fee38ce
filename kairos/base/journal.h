// SPDX-License-Identifier: Apache-2.0
//
// What a service keeps over its end, behind an interface that knows neither the service nor the
// database: rows, each with a key, that are changed one change after the other. The service has all
// of them in memory too, its replica, and answers from there; services that share a database each
// have one.
#pragma once

#include "kairos/base/export.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos {

/// Whose rows they are, for files and databases that are somebody else's.
struct JournalKind {
    const char* owner;  ///< what messages call who has them: "trader"
    const char* table;  ///< of a database, and how the names of the others begin
    int application_id; ///< of a file, as SQLite has it
};

enum class JournalStatus : std::uint8_t {
    done,
    full,      ///< no room for the change: nothing happened
    busy,      ///< nobody answers in time, or others are in the way: nothing happened
    broken,    ///< it cannot be read or written: nothing happened
    uncertain, ///< it failed while the change was made durable: that may or may not be there
};

/// A row that is written, or erased.
struct JournalRow {
    std::string key;
    std::string value{};
    bool is_erased = false;
};

/// What is to be changed together: all of it is, or nothing. Used by one thread.
class JournalChange {
  public:
    explicit JournalChange(std::uint64_t number) noexcept : number_(number) {}

    /// The number that this change will have: no other change of the journal has it, nor had it,
    /// and it is greater than those of all before.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
    /// Writes a row, in the place of the one that has this key. A key may come once.
    void put(std::string key, std::string value)
    {
        rows_.push_back({.key = std::move(key), .value = std::move(value)});
    }
    void erase(std::string key) { rows_.push_back({.key = std::move(key), .is_erased = true}); }
    [[nodiscard]] const std::vector<JournalRow>& rows() const noexcept { return rows_; }

  private:
    const std::uint64_t number_;
    std::vector<JournalRow> rows_;
};

/// What a service has in memory of its journal's rows. It is called by one thread at a time.
class KAIROS_API JournalReplica {
  public:
    JournalReplica() = default;
    JournalReplica(const JournalReplica&) = delete;
    JournalReplica& operator=(const JournalReplica&) = delete;
    virtual ~JournalReplica() = default;

    /// Takes a row in, in the place of the one that has this key. False: the service has not
    /// written it like this, or what it belongs to is not there. What it throws ends
    /// Journal::begin; later, it is given the row again and again, and nothing is changed before it
    /// has taken it.
    [[nodiscard]] virtual bool put(std::string_view key, std::string_view value) = 0;
    /// The row is gone, if it was there, with what cannot be without it.
    virtual void erase(std::string_view key) = 0;
    /// The keys of all rows that it has, in their order.
    [[nodiscard]] virtual std::vector<std::string> keys() const = 0;
};

/// Any thread. Where several changes come at once they have their turns one after the other.
class KAIROS_API Journal {
  public:
    Journal() = default;
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    virtual ~Journal() = default;

    /// A number that only this journal and its copies have.
    [[nodiscard]] virtual std::uint64_t identity() const noexcept = 0;
    /// How many changes the replica has seen, those of others included.
    [[nodiscard]] virtual std::uint64_t number() const noexcept = 0;

    /// Has the replica, which must outlive end(), take in all rows, in the order of their keys; and
    /// from then on what others change: first what they have erased, from the last key to the
    /// first, then what they have written, from the first to the last. Rows that are not as they
    /// were written are left out, and the log names them. To be called once, before anything else.
    /// Throws what the replica throws.
    [[nodiscard]] virtual JournalStatus begin(JournalReplica& replica) = 0;

    /// Makes one change. When it is its turn and the replica has all changes of before, `decide`
    /// says what it is, or by false that there is none, and may throw, which changes nothing. When
    /// the change is durable, `apply` makes it in memory, before the next one has its turn; where
    /// it throws the change is `uncertain`, and the replica is given it as others' are. Neither may
    /// call somebody who waits, nor the journal.
    [[nodiscard]] virtual JournalStatus write(const std::function<bool(JournalChange&)>& decide,
                                              const std::function<void()>& apply) = 0;

    /// From here on others' changes are taken in within write() alone, and the replica is not
    /// called by any other thread. For who is about to end.
    virtual void end() noexcept = 0;
};

} // namespace kairos
