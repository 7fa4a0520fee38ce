// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/scheduled_priorities.h"

#include <array>
#include <deque>
#include <functional>
#include <vector>

namespace kairos::poa {

/// Grows, and changes in the priorities alone: so a list may be walked while it does.
struct ScheduledPriorities::Table {
    struct Entry {
        std::vector<std::byte> id;
        std::atomic<orb::Priority> priority;
        Entry* next;
    };
    static constexpr std::size_t lists = 256;

    [[nodiscard]] static std::size_t list_of(Bytes id) noexcept
    {
        return std::hash<std::string_view>()(as_text(id)) % lists;
    }
    [[nodiscard]] Entry* find(Bytes id) const noexcept
    {
        Entry* entry = first[list_of(id)].load(std::memory_order_acquire);
        while (entry != nullptr && as_text(entry->id) != as_text(id))
            entry = entry->next;
        return entry;
    }

    std::array<std::atomic<Entry*>, lists> first{};
    std::deque<Entry> entries{}; // where they are; never moved
};

ScheduledPriorities::ScheduledPriorities() noexcept = default;

ScheduledPriorities::~ScheduledPriorities() = default;

void ScheduledPriorities::set(Bytes id, orb::Priority priority)
{
    if (!owned_) owned_ = std::make_unique<Table>();
    if (Table::Entry* const known = owned_->find(id)) {
        known->priority.store(priority, std::memory_order_relaxed);
        return;
    }
    auto& first = owned_->first[Table::list_of(id)];
    Table::Entry& entry = owned_->entries.emplace_back(std::vector(id.begin(), id.end()), priority,
                                                       first.load(std::memory_order_relaxed));
    first.store(&entry, std::memory_order_release);
    table_.store(owned_.get(), std::memory_order_release);
}

std::optional<orb::Priority> ScheduledPriorities::look(const Table& table, Bytes id) noexcept
{
    const Table::Entry* const entry = table.find(id);
    return entry == nullptr ? std::nullopt
                            : std::optional(entry->priority.load(std::memory_order_relaxed));
}

void ScheduledPriorities::clear() noexcept
{
    table_.store(nullptr, std::memory_order_relaxed);
    owned_.reset();
}

} // namespace kairos::poa
