// SPDX-License-Identifier: Apache-2.0
//
// The slots of an object map: memory that never moves and is never freed while the map lives, so
// that a request with a stale or forged place may look at any of them. Station 9 of the request
// walk (docs/TOUR.md). Finding an element: any thread, no lock; growing: under the map's.
#pragma once

#include "kairos/poa/servant.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace kairos::poa {

/// An array that grows without moving its elements: chunk i has `first_chunk << i` of them, so that
/// an index is split by its highest bit.
template <typename T>
class StableArray {
  public:
    /// Returns the element at an index; null for an index beyond the end.
    [[nodiscard]] T* find(std::uint32_t index) const noexcept
    {
        const std::uint64_t shifted = std::uint64_t{index} + first_chunk;
        const auto bits = static_cast<unsigned>(63 - __builtin_clzll(shifted));
        const std::size_t chunk = bits - first_chunk_bits;
        if (chunk >= chunks_max) [[unlikely]]
            return nullptr;
        T* elements = chunks_[chunk].load(std::memory_order_acquire);
        return elements == nullptr ? nullptr : elements + (shifted - (std::uint64_t{1} << bits));
    }

    [[nodiscard]] std::size_t size() const noexcept
    {
        return (std::size_t{first_chunk} << storage_.size()) - first_chunk;
    }

    /// Grows to at least so many elements. Throws std::bad_alloc; what is there stays.
    void grow(std::size_t count)
    {
        while (size() < count) {
            const std::size_t chunk = storage_.size();
            if (chunk == chunks_max) throw std::bad_alloc();
            storage_.push_back(std::make_unique<T[]>(std::size_t{first_chunk} << chunk));
            chunks_[chunk].store(storage_.back().get(), std::memory_order_release);
        }
    }

  private:
    static constexpr std::uint32_t first_chunk_bits = 6;
    static constexpr std::uint32_t first_chunk = 1u << first_chunk_bits;
    static constexpr std::size_t chunks_max = 26;

    std::array<std::atomic<T*>, chunks_max> chunks_{};
    std::vector<std::unique_ptr<T[]>> storage_;
};

/// One object. State: generation in the upper half; below it `active`, `vacant`, the kind of the
/// servant and the number of requests inside, which is no larger than Linux lets threads be.
/// Neither flag: deactivated, with requests inside still.
struct Slot {
    static constexpr std::uint64_t active = std::uint64_t{1} << 31;
    static constexpr std::uint64_t vacant = std::uint64_t{1} << 30;
    static constexpr unsigned kind_bits = 6;
    static constexpr unsigned kind_shift = 30 - kind_bits;
    static constexpr std::uint64_t inside = (std::uint64_t{1} << kind_shift) - 1;
    static constexpr unsigned generation_shift = 32;
    static constexpr std::uint32_t none = ~std::uint32_t{0}; ///< no slot has this index

    /// Returns what the map knows the servant's class by, 0 if by nothing (ObjectMap::ServantKind).
    [[nodiscard]] static constexpr std::uint32_t kind_in(std::uint64_t state) noexcept
    {
        return static_cast<std::uint32_t>(state >> kind_shift) & ((1u << kind_bits) - 1);
    }

    std::atomic<std::uint64_t> state{vacant};
    union {
        Servant* servant = nullptr; // written before `active` is set, while nobody is inside
        std::uint32_t next_free;    // while it is free
    };
};

static_assert(sizeof(Slot) == 16, "what an object costs is promised (object_map_test.cpp)");

} // namespace kairos::poa
