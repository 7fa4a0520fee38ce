// SPDX-License-Identifier: Apache-2.0
//
// From an object id to a slot, by one of the strategies of paper 000 §5.3: linear search, dynamic
// hashing, or a perfect hash of ids known a priori. Station 9 of the request walk (docs/TOUR.md)
// for objects with ids of their own.
//
// A table holds candidates only: 32 bits that say something about an id, and a slot. Whoever looks
// for an id steps into the slot and compares there, so a table needs neither lock nor ids. A table
// that has been replaced may still be read: it is kept and used again for another life, and a
// search that failed in it is repeated. Searches: any thread; changes: under the map's lock.
#pragma once

#include "kairos/base/bytes.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace kairos::poa {

/// How requests find their objects. With `active` the key says the slot; ids are hashed.
/// `delayered` is `active`, and the slot leads to the operations of the servant's skeleton as well.
enum class IdStrategy : std::uint8_t { linear, hash, perfect, active, delayered };

class IdIndex {
  public:
    /// Makes an empty index for a strategy; `known` are the ids that a perfect hash is for. Throws
    /// std::bad_alloc and changes nothing.
    void reset(IdStrategy strategy, std::span<const Bytes> known);

    /// Offers `accept` the slots that may be of this id, until it returns something true, which is
    /// returned. Nothing is allocated.
    template <typename Accept>
    [[nodiscard]] auto find(Bytes id, Accept accept) const noexcept
        -> std::invoke_result_t<Accept, std::uint32_t>;

    /// Returns whether the index may have this id: false for one that a perfect hash does not know.
    /// Under the map's lock, as reserve, insert and erase.
    [[nodiscard]] bool admits(Bytes id) const noexcept;
    /// Makes room for one id more. Throws std::bad_alloc.
    void reserve();
    /// Adds an id that is admitted and not in the index, after `reserve`.
    void insert(Bytes id, std::uint32_t slot) noexcept;
    void erase(Bytes id, std::uint32_t slot) noexcept;

  private:
    enum class Kind : std::uint8_t { linear, hash, perfect };

    // An entry: tag in the upper half; below it 0 where nothing ever was (a search ends there),
    // `removed` where something was, or the slot + 1.
    static constexpr std::uint32_t removed = ~std::uint32_t{0};
    static constexpr unsigned tag_shift = 32;

    /// Where a search begins, how far it may go and what it looks for.
    struct Probe {
        std::uint32_t tag;
        std::uint32_t start;
        std::uint32_t length;
    };

    struct Table {
        Table(Kind table_kind, std::uint32_t size);
        [[nodiscard]] Probe probe(Bytes id) const noexcept;
        [[nodiscard]] std::uint32_t buckets() const noexcept { return mask / 4 + 1; }
        [[nodiscard]] std::uint32_t position(std::uint64_t hash,
                                             std::uint32_t displacement) const noexcept;

        const Kind kind;
        const std::uint32_t mask; // a power of two entries, at least two
        const std::unique_ptr<std::atomic<std::uint64_t>[]> entries;
        // Perfect: hash and displace. Ids whose hashes fall into one bucket share a displacement,
        // by which all ids have places of their own.
        const std::unique_ptr<std::atomic<std::uint32_t>[]> displacements;
        std::atomic<std::uint64_t> seed{0};
    };
    using Ids = std::vector<std::optional<std::vector<std::byte>>>;

    [[nodiscard]] static std::uint64_t hash(Bytes id, std::uint64_t seed) noexcept;
    [[nodiscard]] static Ids place_all(Table& table, std::span<const Bytes> known);
    [[nodiscard]] static bool try_to_place_all(Table& table, std::span<const Bytes> known,
                                               std::vector<bool>& taken);
    [[nodiscard]] Table& take_table(Kind kind, std::uint32_t size);
    void publish(Table& table) noexcept;
    void rebuild(std::uint32_t size);
    static bool insert_into(Table& table, std::uint32_t tag, std::uint32_t start,
                            std::uint32_t slot) noexcept;

    std::atomic<Table*> current_{nullptr};
    std::atomic<std::uint64_t> published_{0}; // how many tables were current so far
    std::vector<std::unique_ptr<Table>> tables_;
    Ids known_; // by position in a perfect table
    std::uint32_t live_ = 0;
    std::uint32_t used_ = 0; // entries that end no search: live or removed
};

template <typename Accept>
auto IdIndex::find(Bytes id, Accept accept) const noexcept
    -> std::invoke_result_t<Accept, std::uint32_t>
{
    for (;;) {
        const std::uint64_t published = published_.load(std::memory_order_acquire);
        const Table* table = current_.load(std::memory_order_acquire);
        if (table == nullptr) [[unlikely]]
            return {};
        const Probe probe = table->probe(id);
        for (std::uint32_t i = 0; i < probe.length; ++i) {
            const std::uint64_t entry =
                table->entries[(probe.start + i) & table->mask].load(std::memory_order_acquire);
            const auto slot = static_cast<std::uint32_t>(entry);
            if (slot == 0) break;
            if ((entry >> tag_shift) != probe.tag || slot == removed) continue;
            if (auto accepted = accept(slot - 1)) return accepted;
        }
        // Not there, unless this table has been replaced meanwhile.
        if (published_.load(std::memory_order_acquire) == published) return {};
    }
}

} // namespace kairos::poa
