// SPDX-License-Identifier: Apache-2.0
//
// What both journals have: how a row that was written is told from one that was damaged, and how a
// replica is given all rows anew.
#pragma once

#include "kairos/base/journal.h"
#include "kairos/base/log.h"
#include "kairos/base/shown.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kairos::journal {

/// No row has more, so that who reads one is not given whatever there is: 64 MiB, as the statements
/// have it.
inline constexpr std::size_t value_octets_max = 67'108'864;
[[nodiscard]] inline bool is_too_large(const JournalChange& change)
{
    return std::ranges::any_of(
        change.rows(), [](const JournalRow& row) { return row.value.size() > value_octets_max; });
}

/// FNV-1a over all that a row says.
[[nodiscard]] inline std::int64_t checksum_of(std::string_view key, std::string_view value) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto add = [&hash](unsigned octet) { hash = (hash ^ octet) * 0x100000001b3u; };
    for (int shift = 0; shift < 64; shift += 8)
        add(static_cast<unsigned char>(std::uint64_t{key.size()} >> shift));
    for (const std::string_view text : {key, value})
        for (const char c : text)
            add(static_cast<unsigned char>(c));
    return static_cast<std::int64_t>(hash);
}

/// What a journal says of what fails, once until something has been written. Used by one thread at
/// a time.
class JournalLog {
  public:
    JournalLog(std::string owner, std::string store)
        : beginning_(std::move(owner) + "'s store " + std::move(store) + ": ")
    {
    }
    void say_once(const std::string& what)
    {
        if (!std::exchange(has_said_, true)) log::error(beginning_ + what);
    }
    void say_written()
    {
        if (std::exchange(has_said_, false)) log::warning(beginning_ + "it is there again");
    }
    /// Few of them: a store may have millions.
    void say_damaged(std::string_view key, const std::string& why)
    {
        constexpr std::size_t lines_max = 20;
        if (damaged_ < lines_max)
            log::error(beginning_ + "the row '" + shown(std::string(key)) + "' " + why);
        if (++damaged_ == lines_max) log::error(beginning_ + "what else is damaged is not said");
    }
    void say(const std::string& what) const { log::warning(beginning_ + what); }

  private:
    const std::string beginning_;
    bool has_said_ = false;
    std::size_t damaged_ = 0;
};

/// Gives a replica rows, and remembers for which of those that it has there are none any more.
class Filling {
  public:
    /// If it `may_fail`, what the replica throws ends it; else that row is left out.
    Filling(JournalReplica& replica, JournalLog& log, bool may_fail)
        : replica_(replica), log_(log), may_fail_(may_fail)
    {
    }
    void put(std::string_view key, std::string_view value, bool is_as_written)
    {
        if (!is_as_written) return log_.say_damaged(key, "is not as it was written");
        try {
            if (!replica_.put(key, value)) log_.say_damaged(key, "says what it cannot");
        } catch (const std::exception& failure) {
            if (may_fail_) throw;
            has_refused_ = true;
            log_.say_damaged(key, std::string("is not taken in yet: ") + failure.what());
        }
    }
    void erase(std::string_view key) noexcept
    {
        try {
            replica_.erase(key);
        } catch (const std::exception& failure) {
            log_.say_damaged(key, std::string("cannot be taken out: ") + failure.what());
        }
    }
    /// Takes out, from the last to the first, what the replica has and `there`, in order, has not.
    void keep_only(const std::vector<std::string>& mine, const std::vector<std::string>& there)
    {
        std::vector<std::string> gone;
        std::ranges::set_difference(mine, there, std::back_inserter(gone));
        for (auto key = gone.rbegin(); key != gone.rend(); ++key)
            erase(*key);
    }
    [[nodiscard]] std::vector<std::string> keys() const { return replica_.keys(); }
    /// Whether the replica has thrown: it has no room now for what is there, and is to be given it
    /// again before it decides anything.
    [[nodiscard]] bool has_refused() const noexcept { return has_refused_; }

  private:
    JournalReplica& replica_;
    JournalLog& log_;
    const bool may_fail_;
    bool has_refused_ = false;
};

} // namespace kairos::journal
