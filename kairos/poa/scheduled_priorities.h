// SPDX-License-Identifier: Apache-2.0
//
// Priorities that a program has given objects after their references were made: by the ids of an
// adapter's objects, looked up by every request of such an adapter, without a lock. An adapter that
// has none pays for one look at a word.
#pragma once

#include "kairos/base/bytes.h"
#include "kairos/orb/priority.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

namespace kairos::poa {

class ScheduledPriorities {
  public:
    ScheduledPriorities() noexcept;
    ~ScheduledPriorities();
    ScheduledPriorities(const ScheduledPriorities&) = delete;
    ScheduledPriorities& operator=(const ScheduledPriorities&) = delete;

    /// Gives the object of this id a priority. One thread at a time; others may be looking.
    void set(Bytes id, orb::Priority priority);
    /// Returns the priority that the object of this id was given; nothing if none was. Any thread.
    [[nodiscard]] std::optional<orb::Priority> find(Bytes id) const noexcept
    {
        const Table* const table = table_.load(std::memory_order_acquire);
        return table == nullptr ? std::nullopt : look(*table, id);
    }
    /// Forgets all priorities. While nobody looks.
    void clear() noexcept;

  private:
    struct Table;
    [[nodiscard]] static std::optional<orb::Priority> look(const Table& table, Bytes id) noexcept;

    std::atomic<const Table*> table_{nullptr};
    std::unique_ptr<Table> owned_; // made with the first
};

} // namespace kairos::poa
