// SPDX-License-Identifier: Apache-2.0
//
// From a servant to the slots it is in: an open-addressed table with one slot of each servant, and
// a ring through the other slots of the same. Four octets a servant and eight a slot, and every
// operation takes constant time, also for one servant that is a hundred thousand objects. Guarded
// by the map's lock.
#pragma once

#include "kairos/poa/slots.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kairos::poa {

class ServantIndex {
  public:
    /// Makes room for one servant more, and for slots with indices below the size of `slots`.
    /// Throws std::bad_alloc.
    void reserve(const StableArray<Slot>& slots);
    /// Adds a slot, which holds its servant already. After `reserve`.
    void insert(const StableArray<Slot>& slots, std::uint32_t slot) noexcept;
    /// Takes a slot out, which still holds its servant.
    void erase(const StableArray<Slot>& slots, std::uint32_t slot) noexcept;

    /// Returns one of the servant's slots, or Slot::none.
    [[nodiscard]] std::uint32_t find(const StableArray<Slot>& slots,
                                     const Servant& servant) const noexcept;
    /// Returns the next of the same servant's slots; `slot` where there is no other.
    [[nodiscard]] std::uint32_t next(std::uint32_t slot) const noexcept
    {
        return rings_[slot].next;
    }

  private:
    struct Ring {
        std::uint32_t next = Slot::none;
        std::uint32_t previous = Slot::none;
    };

    [[nodiscard]] std::size_t home(const Servant* servant) const noexcept;
    /// Returns where the servant's entry is, or the empty place where it would be.
    [[nodiscard]] std::size_t place_of(const StableArray<Slot>& slots,
                                       const Servant* servant) const noexcept;
    void erase_entry(const StableArray<Slot>& slots, std::size_t place) noexcept;

    std::vector<std::uint32_t> entries_; // power of two; Slot::none where empty
    std::vector<Ring> rings_;            // by slot
    std::size_t servants_ = 0;
};

} // namespace kairos::poa
