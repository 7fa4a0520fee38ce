// SPDX-License-Identifier: Apache-2.0
#include "kairos/poa/id_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <random>

namespace kairos::poa {

namespace {

constexpr std::uint32_t size_min = 16;
constexpr std::uint32_t size_max = std::uint32_t{1} << 31;
/// What a bucket tries before another seed is; nearly all need a handful.
constexpr std::uint32_t displacements_max = std::uint32_t{1} << 16;

/// The last octets of an id: those in which ids that were made in a row differ.
std::uint32_t tail(Bytes id) noexcept
{
    std::uint32_t value = 0;
    const std::size_t count = std::min(id.size(), sizeof value);
    if (count != 0) std::memcpy(&value, id.data() + id.size() - count, count);
    return value;
}

/// The process' own.
std::uint64_t seed_of_process()
{
    static const std::uint64_t seed = [] {
        std::random_device device;
        return std::uint64_t{device()} << 32 | device();
    }();
    return seed;
}

} // namespace

// --- tables --------------------------------------------------------------------------------------

IdIndex::Table::Table(Kind table_kind, std::uint32_t size)
    : kind(table_kind), mask(size - 1), entries(new std::atomic<std::uint64_t>[size]()),
      displacements(kind == Kind::perfect ? new std::atomic<std::uint32_t>[buckets()]() : nullptr)
{
}

std::uint64_t IdIndex::hash(Bytes id, std::uint64_t seed) noexcept
{
    // Both halves of products with a secret: peers choose ids, and must not be able to choose many
    // of one hash. (A product's lower half lets differences in high bits pass, whatever the
    // secret.)
    const std::uint64_t secret = (seed + 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u | 1;
    const auto folded = [](std::uint64_t a, std::uint64_t b) {
        __extension__ using Product = unsigned __int128;
        const Product product = Product{a} * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    std::uint64_t value = (id.size() ^ seed) * 0x9E3779B97F4A7C15u;
    const auto mix = [&](std::size_t offset, std::size_t count) {
        std::uint64_t word = 0;
        std::memcpy(&word, id.data() + offset, count);
        value = folded(value ^ word, secret);
    };
    std::size_t offset = 0;
    for (; id.size() - offset >= 8; offset += 8)
        mix(offset, 8);
    if (offset != id.size()) mix(offset, id.size() - offset);
    return folded(value, secret ^ 0xC2B2AE3D27D4EB4Fu);
}

std::uint32_t IdIndex::Table::position(std::uint64_t hash,
                                       std::uint32_t displacement) const noexcept
{
    const std::uint64_t moved = (hash ^ (displacement * 0xC2B2AE3D27D4EB4Fu)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::uint32_t>(moved >> 32) & mask;
}

IdIndex::Probe IdIndex::Table::probe(Bytes id) const noexcept
{
    if (kind == Kind::linear) return {.tag = tail(id), .start = 0, .length = mask + 1};
    const std::uint64_t hashed = hash(id, seed.load(std::memory_order_relaxed));
    const auto tag = static_cast<std::uint32_t>(hashed);
    if (kind == Kind::hash) return {.tag = tag, .start = tag, .length = mask + 1};
    const std::uint32_t displacement =
        displacements[(hashed >> 32) & (buckets() - 1)].load(std::memory_order_relaxed);
    return {.tag = tag, .start = position(hashed, displacement), .length = 1};
}

/// A table with nothing in it: one of former use that is not current, or a new one. A map that
/// grows and changes for ever needs two of each size.
IdIndex::Table& IdIndex::take_table(Kind kind, std::uint32_t size)
{
    const Table* current = current_.load(std::memory_order_relaxed);
    for (const auto& table : tables_) {
        if (table->kind != kind || table->mask != size - 1 || table.get() == current) continue;
        for (std::uint32_t i = 0; i < size; ++i) // released: who sees it sees `published_` as well
            table->entries[i].store(0, std::memory_order_release);
        return *table;
    }
    tables_.push_back(std::make_unique<Table>(kind, size));
    // A perfect table's ids are the program's; its seed is what they fit with.
    if (kind == Kind::hash)
        tables_.back()->seed.store(seed_of_process(), std::memory_order_relaxed);
    return *tables_.back();
}

void IdIndex::publish(Table& table) noexcept
{
    current_.store(&table, std::memory_order_release);
    published_.fetch_add(1, std::memory_order_acq_rel);
}

void IdIndex::reset(IdStrategy strategy, std::span<const Bytes> known)
{
    if (strategy == IdStrategy::perfect) {
        const std::size_t size = std::bit_ceil(known.size() + known.size() / 4);
        if (size > size_max) throw std::bad_alloc();
        Table& table =
            take_table(Kind::perfect, std::max(size_min, static_cast<std::uint32_t>(size)));
        known_ = place_all(table, known);
        publish(table);
    } else {
        publish(take_table(strategy == IdStrategy::linear ? Kind::linear : Kind::hash, size_min));
        known_.clear();
    }
    live_ = used_ = 0;
}

// --- perfect hashing -----------------------------------------------------------------------------

IdIndex::Ids IdIndex::place_all(Table& table, std::span<const Bytes> known)
{
    const auto less = [](Bytes a, Bytes b) { return as_text(a) < as_text(b); };
    const auto same = [](Bytes a, Bytes b) { return as_text(a) == as_text(b); };
    std::vector<Bytes> ids(known.begin(), known.end());
    std::sort(ids.begin(), ids.end(), less);
    ids.erase(std::unique(ids.begin(), ids.end(), same), ids.end());
    std::vector<bool> taken(std::size_t{table.mask} + 1);
    for (std::uint64_t seed = 0;; ++seed) {
        table.seed.store(seed, std::memory_order_relaxed);
        if (try_to_place_all(table, ids, taken)) break;
    }
    Ids placed(taken.size());
    for (const Bytes id : ids)
        placed[table.probe(id).start].emplace(id.begin(), id.end());
    return placed;
}

/// Displaces the buckets one by one, the fullest first, each to where all its ids have room.
bool IdIndex::try_to_place_all(Table& table, std::span<const Bytes> known, std::vector<bool>& taken)
{
    std::fill(taken.begin(), taken.end(), false);
    std::vector<std::vector<std::uint64_t>> buckets(table.buckets());
    for (const Bytes id : known) {
        const std::uint64_t hashed = hash(id, table.seed.load(std::memory_order_relaxed));
        buckets[(hashed >> 32) & (table.buckets() - 1)].push_back(hashed);
    }
    std::vector<std::uint32_t> order(buckets.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return buckets[a].size() > buckets[b].size();
    });
    std::vector<std::uint32_t> places;
    for (const std::uint32_t bucket : order) {
        std::uint32_t displacement = 0;
        do {
            places.clear();
            for (const std::uint64_t hashed : buckets[bucket]) {
                const std::uint32_t place = table.position(hashed, displacement);
                if (taken[place]) break;
                taken[place] = true;
                places.push_back(place);
            }
            if (places.size() == buckets[bucket].size()) break;
            for (const std::uint32_t place : places)
                taken[place] = false;
        } while (++displacement != displacements_max);
        if (displacement == displacements_max) return false;
        table.displacements[bucket].store(displacement, std::memory_order_relaxed);
    }
    return true;
}

bool IdIndex::admits(Bytes id) const noexcept
{
    const Table& table = *current_.load(std::memory_order_relaxed);
    if (table.kind != Kind::perfect) return true;
    const auto& known = known_[table.probe(id).start];
    return known && as_text(*known) == as_text(id);
}

// --- changes -------------------------------------------------------------------------------------

void IdIndex::reserve()
{
    const Table& table = *current_.load(std::memory_order_relaxed);
    const std::uint32_t size = table.mask + 1;
    if (table.kind == Kind::perfect) return;
    // A linear table may be full but for the end; a hash table half full, and a quarter of it may
    // be remains.
    const bool full = table.kind == Kind::linear ? live_ + 2 > size : (live_ + 1) > size / 2;
    const bool worn = table.kind == Kind::hash && used_ + 1 > size / 4 * 3;
    if (full && size == size_max) throw std::bad_alloc();
    if (full || worn) rebuild(full ? size * 2 : size);
}

void IdIndex::rebuild(std::uint32_t size)
{
    const Table& old = *current_.load(std::memory_order_relaxed);
    Table& table = take_table(old.kind, size);
    std::uint32_t copied = 0;
    for (std::uint32_t i = 0; i <= old.mask; ++i) {
        const std::uint64_t entry = old.entries[i].load(std::memory_order_relaxed);
        const auto slot = static_cast<std::uint32_t>(entry);
        if (slot == 0 || slot == removed) continue;
        const auto tag = static_cast<std::uint32_t>(entry >> tag_shift);
        insert_into(table, tag, old.kind == Kind::linear ? copied : tag, slot - 1);
        ++copied;
    }
    publish(table);
    used_ = live_;
}

/// Takes the first place from `start` where nothing is; true if nothing ever was there.
bool IdIndex::insert_into(Table& table, std::uint32_t tag, std::uint32_t start,
                          std::uint32_t slot) noexcept
{
    for (std::uint32_t at = start;; ++at) {
        std::atomic<std::uint64_t>& entry = table.entries[at & table.mask];
        const auto there = static_cast<std::uint32_t>(entry.load(std::memory_order_relaxed));
        if (there != 0 && there != removed) continue;
        entry.store(std::uint64_t{tag} << tag_shift | (slot + 1), std::memory_order_release);
        return there == 0;
    }
}

void IdIndex::insert(Bytes id, std::uint32_t slot) noexcept
{
    Table& table = *current_.load(std::memory_order_relaxed);
    const Probe probe = table.probe(id);
    if (insert_into(table, probe.tag, probe.start, slot)) ++used_;
    ++live_;
}

void IdIndex::erase(Bytes id, std::uint32_t slot) noexcept
{
    Table& table = *current_.load(std::memory_order_relaxed);
    const auto slot_at = [&](std::uint32_t at) {
        return static_cast<std::uint32_t>(
            table.entries[at & table.mask].load(std::memory_order_relaxed));
    };
    std::uint32_t at = table.probe(id).start;
    while (slot_at(at) != slot + 1)
        ++at;
    --live_;
    table.entries[at & table.mask].store(removed, std::memory_order_release);
    // Remains that only searches which fail anyway come upon, are cleared away.
    if (table.kind != Kind::perfect && slot_at(at + 1) != 0) return;
    for (; slot_at(at) == removed; --at, --used_)
        table.entries[at & table.mask].store(0, std::memory_order_release);
}

} // namespace kairos::poa
